// Parts of the program with the code that V8 made of them in an earlier process: compiling takes
// longer than what a hook or a shell's helper then does. `<state root>/code/<name>` is for the user
// alone; its name is the hash of the part and the version of Node, so that another build or another
// Node does not find it. A file that is missing, damaged or not ours costs time, no more.

import * as fs from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Script } from 'node:vm';
import { ensurePrivateDir, isPrivateDir, stateRoot } from '../capture/paths.ts';
import { namesIn, replaceFile } from '../directories.ts';
import { errnoOf } from '../errors.ts';
import { leadsToRemote } from '../run/mounts.ts';

const CODE_BYTES_MAX = 16 * 1024 * 1024;

const KEPT_MAX = 8; // two parts, a few versions of Node; the oldest goes

/** Starts whose functions are added: what one event does not need, another compiles. */
const LEARNING = 8;

const LEARNING_MS = 24 * 60 * 60 * 1_000; // and once a day: a policy may be new

const NAME = /^[0-9a-f]{64}/;

const HASH_LENGTH = 64; // in letters

/** `name` is a part that is built beside this program; `otherwise` loads it from its source. */
export async function loadPart<T>(name: string, otherwise: () => Promise<T>): Promise<T> {
  const file = join(dirname(fileURLToPath(import.meta.url)), `${name}.cjs`);
  const text = builtText(file);
  if (text === undefined) return otherwise();
  // Its code cannot import by itself, and all that it imports is built beside this file.
  const module = { exports: {}, import: (path: string): Promise<unknown> => import(path) };
  const start = scriptOf(file, text).runInThisContext();
  start(module.exports, require, module, file, dirname(file));
  return module.exports as T;
}

function builtText(file: string): string | undefined {
  try {
    return fs.readFileSync(file, 'latin1'); // a build writes ASCII
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') return undefined;
    throw error;
  }
}

/** The part is one function; where there is no cache, V8 compiles it anew. */
function scriptOf(filename: string, text: string): Script {
  const path = placeOf(text);
  const kept = path === undefined ? undefined : readKept(path);
  const script = new Script(text, { filename, cachedData: kept?.code });
  const uses = script.cachedDataRejected === true ? 0 : (kept?.uses ?? 0);
  const learns = uses < LEARNING || Date.now() - (kept?.at ?? 0) > LEARNING_MS;
  if (path !== undefined && learns) {
    process.once('exit', () => keep(path, script, Math.min(uses + 1, LEARNING)));
  }
  return script;
}

/** Undefined where nothing is kept: in a root of others, or one that may not answer. */
function placeOf(text: string): string | undefined {
  const root = stateRoot(process.env);
  if (leadsToRemote(root) || !isPrivateDir(root)) return undefined;
  // The build puts the hash of the part at its end.
  const build = text.slice(-HASH_LENGTH);
  const { version, arch } = process;
  return NAME.test(build) ? join(root, 'code', `${build}-${version}-${arch}`) : undefined;
}

type Kept = { readonly code: Buffer; readonly uses: number; readonly at: number };

/**
 * V8 itself does not look whether its code is whole, so that it is there twice: to compare both
 * takes a tenth of the time in which Node can load its hashes.
 */
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
    const half = bytes.subarray(0, bytes.length / 2);
    if (half.length === 0 || !half.equals(bytes.subarray(half.length))) return undefined;
    return { uses: half[0] ?? 0, code: half.subarray(1), at: mtimeMs };
  } catch {
    return undefined; // never written
  } finally {
    if (fd !== undefined) fs.closeSync(fd);
  }
}

/** Never throws. All functions are in it that have run by now. */
function keep(path: string, script: Script, uses: number): void {
  try {
    const directory = dirname(path);
    if (!isPrivateDir(dirname(directory))) return; // a state root that was removed stays removed
    ensurePrivateDir(directory);
    const half = [Uint8Array.of(uses), script.createCachedData()];
    replaceFile(path, Buffer.concat([...half, ...half]));
    const all = namesIn(directory).filter((name) => NAME.test(name));
    if (all.length <= KEPT_MAX) return;
    const aged = all.map((name) => ({ name, at: fs.statSync(join(directory, name)).mtimeMs }));
    aged.sort((a, b) => a.at - b.at);
    for (const { name } of aged.slice(0, -KEPT_MAX)) fs.rmSync(join(directory, name));
  } catch {
    // A read-only state root, a full disk: the next start is as slow as this one.
  }
}
