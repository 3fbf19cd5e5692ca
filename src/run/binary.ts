// Where the runner program is: named by CUFF_RUNNER, shipped in native/prebuilt, or built once on
// demand with `cc` into a cache keyed by its sources' hash. Several starts at once are safe: each
// builds into a file of its own and renames it into place.

import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { makeDirectories } from '../directories.ts';
import { messageOf } from '../errors.ts';
import { homeOf } from '../places.ts';
import { fnv64 } from '../text/fnv.ts';
import type { Env } from '../types.ts';

export type Runner =
  | { readonly kind: 'native'; readonly path: string }
  | { readonly kind: 'none'; readonly why: string };

const FLAGS = ['-std=c11', '-O3', '-Wall', '-Wextra', '-Werror', '-pthread'];

let found: Runner | undefined;

export function findRunner(env: Env = process.env): Runner {
  const named = env.CUFF_RUNNER;
  if (named === 'off') return { kind: 'none', why: 'CUFF_RUNNER=off' };
  if (named !== undefined && named !== '') return { kind: 'native', path: named };
  found ??= locate(env);
  return found;
}

function locate(env: Env): Runner {
  if (process.platform !== 'linux') {
    return { kind: 'none', why: `the native runner does not exist for ${process.platform}` };
  }
  const native = nativeDir(dirname(fileURLToPath(import.meta.url)));
  if (native === undefined) return { kind: 'none', why: 'native/ is not in this installation' };
  const prebuilt = join(native, 'prebuilt', `${process.platform}-${process.arch}`, 'runner');
  return existsSync(prebuilt) ? { kind: 'native', path: prebuilt } : buildOnce(native, env);
}

/** Bundled we are in dist/, from source in src/run/: native/ is one or two levels up. */
export function nativeDir(from: string): string | undefined {
  return ['..', '../..'].map((up) => join(from, up, 'native')).find((dir) => existsSync(dir));
}

function buildOnce(native: string, env: Env): Runner {
  const sources = readdirSync(native)
    .filter((name) => /\.[ch]$/.test(name))
    .sort();
  const cache = cacheDir(env);
  const target = join(cache, `runner-${fingerprint(native, sources)}`);
  if (existsSync(target)) return { kind: 'native', path: target };
  const temp = `${target}.${process.pid}.tmp`;
  try {
    makeDirectories(cache, 0o700);
    const inputs = sources.filter((name) => name.endsWith('.c')).map((name) => join(native, name));
    compile([...FLAGS, '-o', temp, ...inputs]);
    renameSync(temp, target);
    return { kind: 'native', path: target };
  } catch (error) {
    const text = messageOf(error);
    return { kind: 'none', why: text.split('\n')[0] ?? text };
  } finally {
    rmSync(temp, { force: true });
  }
}

/** The directory for results that are made once: built programs, and what was found out. */
export function cacheDir(env: Env): string {
  return join(env.XDG_CACHE_HOME || join(homeOf(env), '.cache'), 'cuff');
}

export function fingerprint(native: string, sources: readonly string[]): string {
  const hash = fnv64(sources.map((name) => readFileSync(join(native, name))));
  return `${process.arch}-${hash}`;
}

function compile(args: readonly string[]): void {
  // Static where the libc allows it: one binary for every distribution.
  for (const extra of [['-static'], []]) {
    const made = spawnSync('cc', [...args, ...extra], { encoding: 'utf8' });
    if (made.status === 0) return;
    if (extra.length === 0) {
      throw new Error(made.error ? 'no C compiler (cc) and no prebuilt runner' : made.stderr);
    }
  }
}
