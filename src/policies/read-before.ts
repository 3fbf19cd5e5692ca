// Policies as an earlier process has read them, so that a hook that lives for a moment needs no
// parser: `<state root>/rules/<hash>` is for the user alone and has three parts. A line of JSON has
// all that reading depends on besides the text, then comes the text, then the policy that it was
// found to be. One of another text or another build does not count; only a policy is ever kept.

import * as fs from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import packageJson from '../../package.json' with { type: 'json' };
import { ensurePrivateDir, ensureRoot, isPrivateDir } from '../capture/paths.ts';
import { namesIn, replaceFile } from '../directories.ts';
import { isThere } from '../places.ts';
import { explain, judge } from '../policy/decide.ts';
import type { Policy } from '../policy/policy.ts';
import { asObject, asString, parseObject } from '../text/json.ts';
import { knowPolicy, policyId } from './decide.ts';
import { type Court, PolicyEngine, type PolicyOptions } from './engine.ts';
import type { PolicyFile, PolicyGround } from './files.ts';
import type { PolicyPlace } from './places.ts';
import { policyText } from './policy-text.ts';

const KEPT_MAX = 100; // files of projects that are worked on; the oldest goes

const NAME = /^[0-9a-f]{16}$/;

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

/** One file, with a parser only for a text that is new. */
export async function readQuickly(
  root: string,
  place: PolicyPlace,
  ground: PolicyGround,
): Promise<PolicyFile> {
  const directory = join(root, 'rules');
  const known = readBefore(directory, place, ground);
  if (known !== undefined) return known;
  const { readPolicyFile } = await import('./files.ts');
  const file = readPolicyFile(place, ground);
  // A person who only asks makes no state root.
  if (file.kind === 'good' && isPrivateDir(root)) keep(root, directory, file, ground);
  return file;
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
  const policy = keptPolicy(join(directory, nameOf(path, ground)), headOf(read.text, ground));
  if (policy === undefined) return undefined;
  return { kind: 'good', text: read.text, loaded: { policy, origin, file: path } };
}

/** Undefined: it is not kept, or not for this head. */
function keptPolicy(path: string, head: string): Policy | undefined {
  const { O_RDONLY, O_NOFOLLOW = 0, O_NONBLOCK = 0 } = fs.constants;
  try {
    const fd = fs.openSync(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
    try {
      const stat = fs.fstatSync(fd);
      const own = process.getuid === undefined || stat.uid === process.getuid();
      if (!stat.isFile() || !own || (stat.mode & 0o077) !== 0) return undefined;
      const kept = fs.readFileSync(fd, 'utf8');
      if (!kept.startsWith(head)) return undefined;
      const json = parseObject(kept.slice(head.length));
      const [policy, id] = [asObject(json?.policy), asString(json?.id)];
      const known = policy?.version === 1 || policy?.version === 2;
      const whole = known && Array.isArray(policy.policies);
      if (!whole || id === undefined || asObject(policy.scopes) === undefined) return undefined;
      knowPolicy(policy as unknown as Policy, id);
      return policy as unknown as Policy;
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
    const { policy, file = '' } = loaded;
    const found = JSON.stringify({ id: policyId(policy), policy });
    replaceFile(join(directory, nameOf(file, ground)), `${headOf(text, ground)}${found}`);
    const all = namesIn(directory).filter((name) => NAME.test(name));
    if (all.length <= KEPT_MAX) return;
    const aged = all.map((name) => ({ name, at: fs.statSync(join(directory, name)).mtimeMs }));
    aged.sort((a, b) => a.at - b.at);
    for (const { name } of aged.slice(0, all.length - KEPT_MAX)) fs.rmSync(join(directory, name));
  } catch {
    // A read-only state root, a full disk: the next hook is as slow as this one.
  }
}

/** Two files of one name take turns: which of them it is, the head tells. */
function nameOf(path: string, { home, project }: PolicyGround): string {
  let [one, other] = [0x811c9dc5, 0x01000193];
  for (const char of JSON.stringify([buildId(), home, project, path])) {
    const code = char.codePointAt(0) ?? 0;
    one = Math.imul(one ^ code, 0x01000193);
    other = Math.imul(other ^ code, 0x5bd1e995);
  }
  return [one, other].map((half) => (half >>> 0).toString(16).padStart(8, '0')).join('');
}

/** The examples in rules are judged for this home and project. */
function headOf(text: string, { home, project }: PolicyGround): string {
  return `${JSON.stringify({ build: buildId(), home, project, length: text.length })}\n${text}\n`;
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
