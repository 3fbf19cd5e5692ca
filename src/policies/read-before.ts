// Policies as an earlier process has read them, so that a hook that lives for a moment needs no
// parser: `<state root>/rules/<hash>.json` has the policy that a text was found to be, for the user
// alone. The hash is over the text and everything else that reading depends on, so that a file of
// another text, or of another build, is simply not found. What is no policy is never kept.

import * as fs from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import packageJson from '../../package.json' with { type: 'json' };
import { ensurePrivateDir, ensureRoot, isPrivateDir } from '../capture/paths.ts';
import { namesIn, replaceFile } from '../directories.ts';
import { isThere } from '../places.ts';
import { explain, judge } from '../policy/decide.ts';
import type { Policy } from '../policy/policy.ts';
import { sha256 } from '../text/hash.ts';
import { asObject, parseObject } from '../text/json.ts';
import { type Court, PolicyEngine, type PolicyOptions } from './engine.ts';
import type { PolicyFile, PolicyGround } from './files.ts';
import type { PolicyPlace } from './places.ts';
import { policyText } from './policy-text.ts';

const KEPT_MAX = 100; // projects that are worked on; the oldest goes

const NAME = /^[0-9a-f]{64}\.json$/;

/** As `PolicyEngine.open` without a watch, with a parser only for texts that are new. */
export async function openQuickly(options: PolicyOptions): Promise<PolicyEngine> {
  const directory = join(options.stateRoot, 'rules');
  const still = { ...options, watch: false };
  let missed = false;
  const known: Court['readPolicyFile'] = (place, ground) => {
    const file = readBefore(directory, place, ground);
    missed ||= file === undefined;
    return file ?? { kind: 'none' };
  };
  const quick = PolicyEngine.open({ ...still, halts: true }, courtOf(known));
  if (!missed) return quick;
  quick.close();
  const { readPolicyFile } = await import('./files.ts');
  return PolicyEngine.open(
    still,
    courtOf((place, ground) => {
      const file = readPolicyFile(place, ground);
      if (file.kind === 'good') keep(options.stateRoot, directory, file, ground);
      return file;
    }),
  );
}

function courtOf(readPolicyFile: Court['readPolicyFile']): Court {
  return { explain, judge, readPolicyFile };
}

/** Undefined: a parser has to look at it. */
function readBefore(
  directory: string,
  { path, origin, named, piped }: PolicyPlace,
  ground: PolicyGround,
): PolicyFile | undefined {
  if (!named && !isThere(path)) return { kind: 'none' };
  const read = piped === true ? { why: 'a pipe' } : policyText(path, false);
  if ('why' in read || !isPrivateDir(directory)) return undefined;
  const policy = keptPolicy(join(directory, keyOf(read.text, ground)));
  if (policy === undefined) return undefined;
  return { kind: 'good', text: read.text, loaded: { policy, origin, file: path } };
}

function keptPolicy(path: string): Policy | undefined {
  const { O_RDONLY, O_NOFOLLOW = 0, O_NONBLOCK = 0 } = fs.constants;
  try {
    const fd = fs.openSync(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
    try {
      const stat = fs.fstatSync(fd);
      const own = process.getuid === undefined || stat.uid === process.getuid();
      if (!stat.isFile() || !own || (stat.mode & 0o077) !== 0) return undefined;
      const json = parseObject(fs.readFileSync(fd, 'utf8'));
      const whole = json?.version === 1 && Array.isArray(json.policies) && asObject(json.scopes);
      return whole ? (json as unknown as Policy) : undefined;
    } finally {
      fs.closeSync(fd);
    }
  } catch {
    return undefined; // not kept yet, or no longer
  }
}

/** Never throws: a policy that cannot be kept is read anew. */
function keep(
  root: string,
  directory: string,
  { text, loaded }: Extract<PolicyFile, { kind: 'good' }>,
  ground: PolicyGround,
): void {
  try {
    ensureRoot(root);
    ensurePrivateDir(directory);
    replaceFile(join(directory, keyOf(text, ground)), JSON.stringify(loaded.policy));
    const all = namesIn(directory).filter((name) => NAME.test(name));
    if (all.length <= KEPT_MAX) return;
    const aged = all.map((name) => ({ name, at: fs.statSync(join(directory, name)).mtimeMs }));
    aged.sort((a, b) => a.at - b.at);
    for (const { name } of aged.slice(0, all.length - KEPT_MAX)) fs.rmSync(join(directory, name));
  } catch {
    // A read-only state root, a full disk: the next hook is as slow as this one.
  }
}

/** The examples in rules are judged for this home and project. */
function keyOf(text: string, { home, project }: PolicyGround): string {
  const parts = [buildId(), home, project, text].map((part) => `${part.length} ${part}`);
  return `${sha256(parts.join(''))}.json`;
}

/** Of the program that reads: another build may read the same text in another way. */
function buildId(): string {
  try {
    const { size, mtimeMs } = fs.statSync(fileURLToPath(import.meta.url));
    return `${packageJson.version} ${size} ${mtimeMs}`;
  } catch {
    return packageJson.version;
  }
}
