// Parts of the program with the code that V8 made of them in an earlier process: compiling takes
// longer than what a hook or a shell's helper then does. `<state root>/code/<hash>` is for the user
// alone; its hash is over the text of the part and the version of Node, so that another build or
// another Node does not find it. A file that is missing, damaged or not ours costs time, no more.

import { createHash } from 'node:crypto';
import * as fs from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Script } from 'node:vm';
import { ensurePrivateDir, isPrivateDir, stateRoot } from '../capture/paths.ts';
import { namesIn, replaceFile } from '../directories.ts';
import { leadsToRemote } from '../run/mounts.ts';

const CODE_BYTES_MAX = 16 * 1024 * 1024;

const KEPT_MAX = 8; // two parts, a few versions of Node; the oldest goes

/** Starts whose functions are added: what one event does not need, another compiles. */
const LEARNING = 8;

const LEARNING_MS = 24 * 60 * 60 * 1_000; // and once a day: a policy may be new

const NAME = /^[0-9a-f]{64}$/;

const HASH_BYTES = 32;

/** `name` is a part that is built beside this program; `otherwise` loads it without a cache. */
export async function loadPart<T>(name: string, otherwise: () => Promise<T>): Promise<T> {
  const file = join(dirname(fileURLToPath(import.meta.url)), `${name}.cjs`);
  const script = scriptOf(file);
  if (script === undefined) return otherwise();
  // Its code cannot import by itself, and all that it imports is built beside this file.
  const module = { exports: {}, import: (path: string): Promise<unknown> => import(path) };
  const start = script.runInThisContext();
  start(module.exports, createRequire(file), module, file, dirname(file));
  return module.exports as T;
}

/** Undefined where there is no cache. */
function scriptOf(filename: string): Script | undefined {
  const root = stateRoot(process.env);
  if (leadsToRemote(root)) return undefined; // one that does not answer would hold this process
  try {
    if (!isPrivateDir(root)) return undefined;
    const text = fs.readFileSync(filename, 'latin1'); // a build writes ASCII
    const path = join(root, 'code', keyOf(text));
    const kept = readKept(path);
    const body = text.replace(/^#!.*/, '');
    const source = `(function(exports,require,module,__filename,__dirname){${body}\n})`;
    const script = new Script(source, { filename, cachedData: kept?.code });
    const uses = script.cachedDataRejected === true ? 0 : (kept?.uses ?? 0);
    if (uses < LEARNING || Date.now() - (kept?.at ?? 0) > LEARNING_MS) {
      process.once('exit', () => keep(path, script, Math.min(uses + 1, LEARNING)));
    }
    return script;
  } catch {
    return undefined; // not built, or not readable
  }
}

function keyOf(text: string): string {
  const { version, arch } = process;
  return createHash('sha256').update(`${version} ${arch}\0`).update(text, 'latin1').digest('hex');
}

type Kept = { readonly code: Buffer; readonly uses: number; readonly at: number };

/** V8 itself does not look whether its code is whole. */
function readKept(path: string): Kept | undefined {
  const { O_RDONLY, O_NOFOLLOW = 0, O_NONBLOCK = 0 } = fs.constants;
  if (!isPrivateDir(dirname(path))) return undefined;
  let fd: number | undefined;
  try {
    fd = fs.openSync(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
    const { uid, mode, size, mtimeMs } = fs.fstatSync(fd);
    const own = process.getuid === undefined || uid === process.getuid();
    if (!own || (mode & 0o077) !== 0 || size > CODE_BYTES_MAX) return undefined;
    const bytes = fs.readFileSync(fd);
    const rest = bytes.subarray(HASH_BYTES);
    if (!hashOf(rest).equals(bytes.subarray(0, HASH_BYTES))) return undefined;
    return { uses: rest[0] ?? 0, code: rest.subarray(1), at: mtimeMs };
  } catch {
    return undefined; // never written
  } finally {
    if (fd !== undefined) fs.closeSync(fd);
  }
}

function hashOf(bytes: Uint8Array): Buffer {
  return createHash('sha256').update(bytes).digest();
}

/** Never throws. All functions are in it that have run by now. */
function keep(path: string, script: Script, uses: number): void {
  try {
    const directory = dirname(path);
    if (!isPrivateDir(dirname(directory))) return; // a state root that was removed stays removed
    ensurePrivateDir(directory);
    const rest = Buffer.concat([Uint8Array.of(uses), script.createCachedData()]);
    replaceFile(path, Buffer.concat([hashOf(rest), rest]));
    const all = namesIn(directory).filter((name) => NAME.test(name));
    if (all.length <= KEPT_MAX) return;
    const aged = all.map((name) => ({ name, at: fs.statSync(join(directory, name)).mtimeMs }));
    aged.sort((a, b) => a.at - b.at);
    for (const { name } of aged.slice(0, -KEPT_MAX)) fs.rmSync(join(directory, name));
  } catch {
    // A read-only state root, a full disk: the next start is as slow as this one.
  }
}
