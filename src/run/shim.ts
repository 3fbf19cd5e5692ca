// Where the shim is: named by CUFF_SHIM, shipped in native/prebuilt, or made once on demand in a
// cache, with `cc` from its sources or from the shipped one where that cannot stay where it is.
// What is found is a directory with one library per kind of program, which a loader reaches through
// `LD_PRELOAD=DIR/$LIB/libcuff-shim.so`. Several first uses at once are safe: each makes a
// directory of its own and renames it into place.

import { spawnSync } from 'node:child_process';
import {
  existsSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { makeDirectories } from '../directories.ts';
import { messageOf } from '../errors.ts';
import type { Env } from '../types.ts';
import { cacheDir, fingerprint, nativeDir } from './binary.ts';

export type Shim =
  | { readonly kind: 'shim'; readonly dir: string }
  | { readonly kind: 'none'; readonly why: string };

const FILE = 'libcuff-shim.so';
/** The directory that musl opens under this literal name, and that every other loader looks for. */
const LITERAL = join('$LIB', FILE);

/** Which directories hold the shim itself, and which a stub of which kind. */
type Layout = { readonly shim: readonly string[]; readonly stubs: Record<string, string[]> };

const LAYOUTS: Readonly<Record<string, Layout>> = {
  x64: {
    shim: ['$LIB', 'lib64', 'lib/x86_64-linux-gnu'],
    stubs: {
      i386: ['lib', 'lib32', 'lib/i386-linux-gnu'],
      x32: ['libx32', 'lib/x86_64-linux-gnux32'],
    },
  },
  arm64: {
    shim: ['$LIB', 'lib64', 'lib', 'lib/aarch64-linux-gnu'],
    stubs: { arm: ['lib32', 'lib/arm-linux-gnueabihf', 'lib/arm-linux-gnueabi'] },
  },
};
const LOADER = '/lib64/ld-linux-x86-64.so.2';

let found: Shim | undefined;

export function findShim(env: Env = process.env): Shim {
  const named = env.CUFF_SHIM;
  if (named === 'off') return none('CUFF_SHIM=off');
  if (named !== undefined && named !== '') return shimIn(named, 'CUFF_SHIM: ');
  found ??= locate(env);
  return found;
}

function none(why: string): Shim {
  return { kind: 'none', why };
}

function shimIn(dir: string, who = ''): Shim {
  const why = whyNot(dir);
  return why === undefined ? { kind: 'shim', dir } : none(`${who}${why}`);
}

/** A loader splits LD_PRELOAD at these, and expands what begins with a dollar. */
function whyNot(dir: string): string | undefined {
  if (!dir.startsWith('/')) return `${dir} is not an absolute path`;
  if (/[: $]/.test(dir)) return `${dir} has a colon, a space or a dollar in its path`;
  if (!existsSync(join(dir, LITERAL))) return `there is no ${LITERAL} in ${dir}`;
  return undefined;
}

function locate(env: Env): Shim {
  const layout = LAYOUTS[process.arch];
  if (process.platform !== 'linux' || layout === undefined) {
    return none(`the shim does not exist for ${process.platform}-${process.arch}`);
  }
  const native = nativeDir(dirname(fileURLToPath(import.meta.url)));
  if (native === undefined) return none('native/ is not in this installation');
  const prebuilt = join(native, 'prebuilt', `linux-${process.arch}`, 'shim');
  const fits = !libIsWide();
  if (fits && whyNot(prebuilt) === undefined) return { kind: 'shim', dir: prebuilt };
  try {
    const library = join(prebuilt, LITERAL);
    return makeOnce(env, join(native, 'shim'), existsSync(library) ? library : undefined);
  } catch (error) {
    const text = messageOf(error);
    return none(text.split('\n')[0] ?? text);
  }
}

/** On Arch or Nix `$LIB` of 64-bit programs is `lib`, elsewhere that of 32-bit ones. */
function libIsWide(): boolean {
  if (process.arch !== 'x64' || !existsSync(LOADER)) return false;
  return basename(dirname(realpathSync(LOADER))) === 'lib';
}

function makeOnce(env: Env, sources: string, library: string | undefined): Shim {
  const cache = cacheDir(env);
  const dir = join(cache, `shim-${keyOf(sources, library)}${libIsWide() ? '-lib' : ''}`);
  if (existsSync(join(dir, LITERAL))) return shimIn(dir);
  const temp = `${dir}.${process.pid}.tmp`;
  try {
    makeDirectories(temp, 0o700);
    const built = library ?? compile(sources, temp);
    layOut(temp, sources, readFileSync(built));
    if (built !== library) rmSync(built);
    renameSync(temp, dir);
  } catch (error) {
    // Another process was quicker: a directory that exists is complete, because of the rename.
    if (!existsSync(join(dir, LITERAL))) throw error;
  } finally {
    rmSync(temp, { recursive: true, force: true });
  }
  return shimIn(dir);
}

function keyOf(sources: string, library: string | undefined): string {
  if (library !== undefined) return fingerprint(dirname(library), [FILE]);
  const shared = ['trace.h', 'secret-words.h'].map((name) => join('..', name));
  return fingerprint(sources, [...readdirSync(sources).sort(), ...shared]);
}

function layOut(dir: string, sources: string, shim: Buffer): void {
  const { shim: folders, stubs } = LAYOUTS[process.arch] ?? { shim: [], stubs: {} };
  for (const line of readFileSync(join(sources, 'stubs'), 'utf8').trim().split('\n')) {
    const [name = '', hex = ''] = line.split(' ');
    for (const folder of stubs[name] ?? []) put(join(dir, folder), Buffer.from(hex, 'hex'));
  }
  for (const folder of libIsWide() ? [...folders, 'lib'] : folders) put(join(dir, folder), shim);
}

function put(folder: string, content: Buffer): void {
  makeDirectories(folder);
  writeFileSync(join(folder, FILE), content, { mode: 0o755 });
}

/** Gives the library, in `dir`. */
function compile(sources: string, dir: string): string {
  const out = join(dir, FILE);
  const lines = readFileSync(join(sources, 'flags'), 'utf8').split('\n').filter(Boolean);
  const flags = lines
    .map((line) => line.split(' '))
    .filter(([first, rest]) => rest === undefined || first === process.arch)
    .map((words) => words.at(-1) ?? '');
  const inputs = readdirSync(sources).filter((name) => name.endsWith('.c'));
  const script = `-Wl,-T,${join(sources, 'shim.ld')}`;
  const paths = inputs.sort().map((name) => join(sources, name));
  const made = spawnSync('cc', [...flags, script, '-s', '-o', out, ...paths], { encoding: 'utf8' });
  if (made.status === 0) return out;
  throw new Error(made.error ? 'no C compiler (cc) and no prebuilt shim' : made.stderr);
}
