// What is checked out in a git repository, and the tree of a commit, read without running git. What
// cannot be read, or is not of the plain form that git itself writes, is undefined.

import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { inflateSync } from 'node:zlib';
import { fileIn, type GitFiles, rangeOf, textIn, withFile } from './files.ts';

const OBJECT_BYTES_MAX = 1024 * 1024; // a commit with a long message and many signatures
const PACKS_MAX = 64; // more are those of a repository that was never packed

const OBJECT_ID = /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/;

/** What is checked out: the branch, unless a commit itself is; and the commit, if there is one. */
export function headOf(files: GitFiles): { head: string | null; branch: string | null } {
  const text = textIn(join(files.gitDir, 'HEAD'))?.trimEnd() ?? '';
  if (OBJECT_ID.test(text)) return { head: text, branch: null };
  const ref = /^ref: (refs\/[^\0\n]+)$/.exec(text)?.[1];
  // A path out of the repository is the name of no ref.
  if (ref === undefined || ref.split('/').includes('..')) return { head: null, branch: null };
  const branch = ref.startsWith('refs/heads/') ? ref.slice('refs/heads/'.length) : null;
  return { head: commitOf(files, ref), branch };
}

function commitOf({ gitDir, commonDir }: GitFiles, ref: string): string | null {
  for (const dir of new Set([gitDir, commonDir])) {
    const loose = textIn(join(dir, ref))?.trimEnd() ?? '';
    if (OBJECT_ID.test(loose)) return loose;
  }
  const packed = textIn(join(commonDir, 'packed-refs')) ?? '';
  for (const line of packed.split('\n')) {
    const at = line.indexOf(' ');
    const id = line.slice(0, at);
    if (line.slice(at + 1) === ref && OBJECT_ID.test(id)) return id;
  }
  return null;
}

/** The tree of a commit. Not of one that is kept as a difference to another object. */
export function treeOf(files: GitFiles, commit: string): string | undefined {
  const objects = join(files.commonDir, 'objects');
  const loose = fileIn(join(objects, commit.slice(0, 2), commit.slice(2)), OBJECT_BYTES_MAX);
  const text = loose === undefined ? packedCommit(objects, commit) : inflated(loose.bytes);
  return /^(?:commit \d+\0)?tree ([0-9a-f]+)\n/.exec(text ?? '')?.[1];
}

function inflated(bytes: Uint8Array): string | undefined {
  try {
    return inflateSync(bytes, { maxOutputLength: OBJECT_BYTES_MAX }).toString('latin1');
  } catch {
    return undefined; // damaged, or no commit of a usual size
  }
}

function packedCommit(objects: string, commit: string): string | undefined {
  const dir = join(objects, 'pack');
  for (const name of namesIn(dir)
    .filter((one) => one.endsWith('.idx'))
    .slice(0, PACKS_MAX)) {
    const at = withFile(join(dir, name), (fd) => placeIn(fd, Buffer.from(commit, 'hex')));
    if (at === undefined) continue;
    const pack = join(dir, name.replace(/idx$/, 'pack'));
    return withFile(pack, (fd, size) => commitAt(fd, at, size));
  }
  return undefined;
}

function namesIn(dir: string): readonly string[] {
  try {
    return readdirSync(dir);
  } catch {
    return []; // no packs
  }
}

const PACK_INDEX = Buffer.from([0xff, 0x74, 0x4f, 0x63, 0, 0, 0, 2]); // `\377tOc`, version 2
const FANOUT_END = PACK_INDEX.length + 256 * 4;

/** Where an object begins in the pack of this index (gitformat-pack(5)). */
function placeIn(fd: number, id: Buffer): number | undefined {
  const head = rangeOf(fd, 0, FANOUT_END);
  if (head === undefined || !head.subarray(0, PACK_INDEX.length).equals(PACK_INDEX))
    return undefined;
  const fanout = (byte: number): number =>
    byte < 0 ? 0 : head.readUInt32BE(PACK_INDEX.length + byte * 4);
  const [first = 0] = id;
  let [low, high] = [fanout(first - 1), fanout(first)];
  const total = fanout(255);
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    const name = rangeOf(fd, FANOUT_END + middle * id.length, id.length);
    if (name === undefined) return undefined;
    const order = name.compare(id);
    if (order === 0) {
      const at = rangeOf(fd, FANOUT_END + total * (id.length + 4) + middle * 4, 4)?.readUInt32BE();
      return at === undefined || at >= 2 ** 31 ? undefined : at; // beyond 2 GiB it stands elsewhere
    }
    if (order < 0) low = middle + 1;
    else high = middle;
  }
  return undefined;
}

const COMMIT = 1;

function commitAt(fd: number, at: number, size: number): string | undefined {
  const bytes = rangeOf(fd, at, Math.min(OBJECT_BYTES_MAX, size - at));
  if (bytes === undefined || (((bytes[0] ?? 0) >> 4) & 7) !== COMMIT) return undefined;
  const begin = bytes.findIndex((byte) => byte < 0x80) + 1;
  return inflated(bytes.subarray(begin));
}
