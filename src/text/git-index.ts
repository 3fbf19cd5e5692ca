// The index of a git work tree: gitformat-index(5), versions 2 and 3. It says what is staged, and
// by size and time which files are as they were when git last looked.

import { createHash } from 'node:crypto';

export type TrackedFile = {
  /** Its path in the work tree, a character for each byte. */
  readonly name: string;
  readonly mode: number;
  readonly size: number;
  readonly modifiedNs: bigint;
  readonly id: string;
  /** The work tree may have another: --assume-unchanged, --skip-worktree. */
  readonly loose: boolean;
};

const HEADER = 12;
const STAT = 40; // of an entry, in front of its object id
const EXTENDED = 0x4000;
const ASSUMED = 0x8000;
const STAGE = 0x3000; // one of the sides of a conflict
const NAME_LENGTH = 0xfff;
const SKIPPED = 0x4000; // of the second flags
const INTENDED = 0x2000; // `git add -N`: there is no content yet
const DIRECTORY = 0o040000; // of a sparse index: its files are not listed

/** `unmerged`: staged is no whole state that could be committed. */
export type GitIndex = { readonly files: readonly TrackedFile[]; readonly unmerged: boolean };

/** Undefined for other versions, for more files than `filesMax`, and for what is damaged. */
export function readIndex(bytes: Buffer, idBytes: number, filesMax: number): GitIndex | undefined {
  if (bytes.length < HEADER + idBytes || bytes.toString('latin1', 0, 4) !== 'DIRC')
    return undefined;
  const version = bytes.readUInt32BE(4);
  const count = bytes.readUInt32BE(8);
  if ((version !== 2 && version !== 3) || count > filesMax) return undefined;
  const end = bytes.length - idBytes; // its own checksum
  const files: TrackedFile[] = [];
  let unmerged = false;
  let at = HEADER;
  for (let i = 0; i < count; i++) {
    const flagsAt = at + STAT + idBytes;
    if (flagsAt + 4 > end) return undefined;
    const flags = bytes.readUInt16BE(flagsAt);
    const extended = (flags & EXTENDED) !== 0;
    const more = extended ? bytes.readUInt16BE(flagsAt + 2) : 0;
    const nameAt = flagsAt + (extended ? 4 : 2);
    const nameEnd = bytes.indexOf(0, nameAt);
    const mode = bytes.readUInt32BE(at + 24);
    if (nameEnd < 0 || nameEnd >= end || mode === DIRECTORY) return undefined;
    const name = bytes.toString('latin1', nameAt, nameEnd);
    if (name.length < Math.min(flags & NAME_LENGTH, NAME_LENGTH) || leadsOut(name))
      return undefined;
    unmerged ||= (flags & STAGE) !== 0 || (more & INTENDED) !== 0;
    files.push({
      name,
      mode,
      size: bytes.readUInt32BE(at + 36),
      modifiedNs: BigInt(bytes.readUInt32BE(at + 8)) * SECOND + BigInt(bytes.readUInt32BE(at + 12)),
      id: bytes.toString('hex', at + STAT, at + STAT + idBytes),
      loose: (flags & ASSUMED) !== 0 || (more & SKIPPED) !== 0,
    });
    at += Math.ceil((nameEnd - at + 1) / 8) * 8;
  }
  return isWhole(bytes, at, end) ? { files, unmerged } : undefined;
}

const SECOND = 1_000_000_000n;

function leadsOut(name: string): boolean {
  return name === '' || name.split('/').some((part) => part === '' || part === '..');
}

/** An extension with a small letter must be understood: `link` has entries that stand elsewhere. */
function isWhole(bytes: Buffer, from: number, end: number): boolean {
  for (let at = from; at + 8 <= end; at += 8 + bytes.readUInt32BE(at + 4)) {
    if ((bytes[at] ?? 0) >= 0x61) return false;
  }
  return true;
}

/** The id of the tree that a commit of these files would have. */
export function stagedTree(files: readonly TrackedFile[], idBytes: number): string {
  const algorithm = idBytes === 32 ? 'sha256' : 'sha1';
  let next = 0;
  // Git sorts both by bytes, so that the files of a directory stand together.
  const treeBelow = (directory: string): string => {
    const parts: Buffer[] = [];
    for (let file = files[next]; file?.name.startsWith(directory); file = files[next]) {
      const rest = file.name.slice(directory.length);
      const slash = rest.indexOf('/');
      const name = slash < 0 ? rest : rest.slice(0, slash);
      const mode = slash < 0 ? file.mode.toString(8) : '40000';
      if (slash < 0) next += 1;
      const id = slash < 0 ? file.id : treeBelow(`${directory}${name}/`);
      parts.push(Buffer.from(`${mode} ${name}\0`, 'latin1'), Buffer.from(id, 'hex'));
    }
    return objectId('tree', Buffer.concat(parts), algorithm);
  };
  return treeBelow('');
}

export function objectId(
  type: 'tree' | 'blob',
  bytes: Uint8Array,
  algorithm: 'sha1' | 'sha256',
): string {
  const hash = createHash(algorithm);
  return hash.update(`${type} ${bytes.length}\0`).update(bytes).digest('hex');
}
