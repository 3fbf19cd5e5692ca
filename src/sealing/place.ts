// The ledger of one user on one machine: where its files are, and how they are made. It lies in the
// state root and not in a project, so that a project cannot take its evidence with it. This file is
// the map; what stands in a leaf is described in src/ledger/leaf.ts.
//
//   <state root>/seal/          0700, every file in it 0600
//     key            the signer's key, as src/ledger/note-keys.ts has it
//     epoch          the signer's key of this day, see epochs.ts; `epoch.next`, the one that begins
//     vkey           the verifier's key; the name in front of its first `+` is the origin
//     leaves         leaf i is line i with its `\n`. Append only, one write for each leaf. A line
//                    that is no leaf is what a crash left of one, or empty, where one process took
//                    the unfinished line of another for such: it is signed as it is, says nothing
//     hashes         derived: 32-byte hashes in the order of src/ledger/tree.ts
//     checkpoint     the signed note, replaced as a whole
//     introductions  notes with a \0 behind each: those in which an old key signed with its new one
//     position       derived: `SIZE BYTES\n`, where the leaves of the checkpoint end
//     journals.jsonl a line {"journal","directory","at"} whenever a journal was found in another
//                    place; the last line of a journal says where it was seen last
//     anchors.jsonl  where roots were put that others keep, see anchors/record.ts
//     anchor-troubles.json   derived: what failed the last time
//     seen-J.json    derived: how far journal J was compared with the leaves, see late.ts
//     *.claim        the process that signs, or that looks for late entries
//   <journal>/seal.json         {"journal","origin","device","inode"}, see journals.ts
//   <journal>/sessions/ID.meta.json   has the key `sealed_by`: the origin that seals the session,
//                    and `unsealed` with the reason when its writer ended with leaves that it could
//                    not write
//
// The last key of the lines of journals is `salt`: see src/journal/entry-parts.ts, which also says
// what the parts of an entry are. A line without a salt was written before there was a ledger, or
// with the ledger turned off. Raw lines are read with `linesOf` of src/journal/entry-lines.ts.
//
// R at the end of an `entry` leaf is its run. In a `late` one it stands only where something
// vouched for the entry when the leaf was made: the run whose capture had the intent to enter it
// there, or `.`, which is no run, where its session was cut off, or its writer said that it could
// not seal. Without R a late entry is unexplained. An entry may have two equal leaves; another leaf
// of the same number is none of it.

import * as fs from 'node:fs';
import { join } from 'node:path';
import { ensurePrivateDir, ensureRoot } from '../capture/paths.ts';
import { errnoOf } from '../errors.ts';
import { DISK, type Disk } from '../journal/files.ts';

const FILE_MODE = 0o600;
const { O_RDONLY, O_RDWR, O_WRONLY, O_APPEND, O_CREAT, O_EXCL } = fs.constants;
const { O_NOFOLLOW = 0, O_NONBLOCK = 0 } = fs.constants; // not on Windows

/** In the place of a run where none could vouch for an entry, but its session does. */
export const VOUCHED_BY_SESSION = '.';

export type SealFile =
  | 'key'
  | 'epoch'
  | 'epoch.next'
  | 'vkey'
  | 'leaves'
  | 'hashes'
  | 'checkpoint'
  | 'position'
  | 'introductions'
  | 'anchors.jsonl'
  | 'anchor-troubles.json'
  | 'journals.jsonl';

export function sealDir(stateRoot: string): string {
  return join(stateRoot, 'seal');
}

export function sealFile(stateRoot: string, name: SealFile | `seen-${string}.json`): string {
  return join(sealDir(stateRoot), name);
}

/** Throws the error of the system call, or `path_unsafe`. */
export function ensureSealDir(stateRoot: string): void {
  ensureRoot(stateRoot);
  ensurePrivateDir(sealDir(stateRoot));
}

export function openForAppending(path: string, disk: Disk = DISK): number {
  return openFile(path, O_WRONLY | O_APPEND | O_CREAT, disk);
}

/** To be read, and written at chosen places. */
export function openForChanges(path: string, disk: Disk = DISK): number {
  return openFile(path, O_RDWR | O_CREAT, disk);
}

export function openForReading(path: string, disk: Disk = DISK): number {
  return openFile(path, O_RDONLY, disk);
}

/** A FIFO in the place of a file would stop who opens it until another process comes. */
function openFile(path: string, flags: number, disk: Disk): number {
  const fd = disk.openSync(path, flags | O_NOFOLLOW | O_NONBLOCK, FILE_MODE);
  if (disk.fstatSync(fd).isFile()) return fd;
  disk.closeSync(fd);
  const about = { code: 'EINVAL', syscall: 'open', path };
  throw Object.assign(new Error(`EINVAL: ${path} is no file`), about);
}

/**
 * A file that another process writes to at this moment may seem to end in the middle of a line: its
 * length grows page by page. Changing the mode of a file waits until a write to it is over.
 */
export function waitForWriters(fd: number): void {
  fs.fchmodSync(fd, FILE_MODE);
}

export function readSmall(path: string): string | undefined {
  let fd: number | undefined;
  try {
    fd = openForReading(path);
    return fs.readFileSync(fd, 'utf8');
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') return undefined;
    throw error;
  } finally {
    if (fd !== undefined) fs.closeSync(fd);
  }
}

/** Makes a file that is whole as soon as it has its name; false when there is one already. */
export function createWhole(path: string, text: string, disk: Disk = DISK): boolean {
  const draft = `${path}.${process.pid}.new`;
  fs.rmSync(draft, { force: true }); // of a process that had our pid
  try {
    const fd = disk.openSync(draft, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, FILE_MODE);
    try {
      const bytes = Buffer.from(text);
      if (disk.writeSync(fd, bytes) < bytes.length) throw shortWrite(draft);
      fs.fsyncSync(fd);
    } finally {
      disk.closeSync(fd);
    }
    fs.linkSync(draft, path);
    return true;
  } catch (error) {
    if (errnoOf(error) === 'EEXIST' && fs.existsSync(path)) return false;
    throw error;
  } finally {
    fs.rmSync(draft, { force: true });
  }
}

export function shortWrite(path: string): Error {
  return Object.assign(new Error(`ENOSPC: only a part of a line fitted into ${path}`), {
    code: 'ENOSPC',
  });
}

/** As `replaceFile` of src/directories.ts, on a disk that may be a test's. */
export async function replaceDurably(
  path: string,
  text: string,
  disk: Disk,
  sync: boolean,
): Promise<void> {
  const draft = `${path}.${process.pid}.new`;
  const { O_WRONLY, O_CREAT, O_TRUNC } = fs.constants;
  const fd = disk.openSync(draft, O_WRONLY | O_CREAT | O_TRUNC, 0o600);
  try {
    const bytes = Buffer.from(text);
    if (disk.writeSync(fd, bytes) < bytes.length) throw shortWrite(path);
    if (sync) await disk.sync(fd);
  } finally {
    disk.closeSync(fd);
  }
  disk.renameSync(draft, path);
  if (sync) await syncDirectory(path, disk);
}

async function syncDirectory(path: string, disk: Disk): Promise<void> {
  let fd: number | undefined;
  try {
    fd = disk.openSync(path.slice(0, path.lastIndexOf('/')) || '/', 'r');
    await disk.sync(fd);
  } catch (error) {
    // Some file systems cannot sync a directory. The checkpoint is as durable as it can be.
    if (errnoOf(error) === undefined) throw error;
  } finally {
    if (fd !== undefined) disk.closeSync(fd);
  }
}
