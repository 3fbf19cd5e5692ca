// Where a journal's files are and how they are opened. What we make is closed to others (0700,
// 0600); no file of the journal is opened through a symlink; a file is replaced as a whole or not
// at all. Which directory may be a journal is decided in place.ts.
//
//   <directory>/sessions/<id>.jsonl       entries, append only
//   <directory>/sessions/<id>.jsonl.1.gz.age   its older entries, encrypted, see packed/stub.ts
//   <directory>/sessions/<id>.meta.json   metadata, replaced
//   <directory>/sessions/<id>.later.jsonl what runs printed behind their entries, append only
//   <directory>/sessions/<id>.edits.jsonl files that an agent's own tools wrote, append only
//   <directory>/index.json                derived, replaced
//   <directory>/seal.json                 its name in ledgers, see src/sealing/journals.ts
//   <directory>/<id>.jsonl, .meta.json    older layout: read, never written
import * as nodeFs from 'node:fs';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { AppError, errnoOf } from '../errors.ts';
import { EDITS, hasForm, LATER, type Random } from './ids.ts';
import { isUsualPlace, placeTrouble } from './place.ts';
import { quickSync, type Sync } from './quick-sync.ts';
import type { SealOf } from './seal.ts';

const DIRECTORY_MODE = 0o700;
const FILE_MODE = 0o600;
const STICKY = 0o1000;

const { O_RDONLY, O_WRONLY, O_APPEND, O_CREAT, O_EXCL } = nodeFs.constants;
// Not on Windows.
const O_NOFOLLOW = nodeFs.constants.O_NOFOLLOW ?? 0;
// Without it a FIFO in the place of a file would hold us until another process writes to it.
const O_NONBLOCK = nodeFs.constants.O_NONBLOCK ?? 0;

/** The calls a journal is written with, so that tests can make each of them fail. */
export type Disk = Pick<
  typeof nodeFs,
  | 'openSync'
  | 'closeSync'
  | 'writeSync'
  | 'fstatSync'
  | 'lstatSync'
  | 'mkdirSync'
  | 'chmodSync'
  | 'renameSync'
  | 'unlinkSync'
> & {
  /** One write(2), off the event loop if it is large; says how many bytes it took. */
  readonly write: (fd: number, bytes: Uint8Array) => Promise<number>;
  /** One fdatasync(2), off the event loop unless it is quick and one waits for it `alone`. */
  readonly sync: Sync;
};

/** What a journal needs from outside. */
export type JournalEnv = {
  readonly now: () => number;
  readonly fs?: Disk;
  readonly random?: Random;
  /** Calls back once after so many milliseconds, without keeping the process alive. */
  readonly later?: (ms: number, action: () => void) => () => void;
  /** The ledger that seals what is written; without it lines have no salt. */
  readonly seal?: SealOf | undefined;
};

const writeOnce = promisify(nodeFs.write);

const SMALL_BYTES = 65_536;

export const DISK: Disk = {
  // One by one: a copy of the whole module loads what Node loads only when it is asked for.
  openSync: nodeFs.openSync,
  closeSync: nodeFs.closeSync,
  writeSync: nodeFs.writeSync,
  fstatSync: nodeFs.fstatSync,
  lstatSync: nodeFs.lstatSync,
  mkdirSync: nodeFs.mkdirSync,
  chmodSync: nodeFs.chmodSync,
  renameSync: nodeFs.renameSync,
  unlinkSync: nodeFs.unlinkSync,
  // A small one is copied into memory in less time than another thread takes to wake up.
  write: async (fd, bytes) =>
    bytes.length <= SMALL_BYTES
      ? nodeFs.writeSync(fd, bytes)
      : (await writeOnce(fd, bytes)).bytesWritten,
  sync: quickSync({
    here: nodeFs.fdatasyncSync,
    away: promisify(nodeFs.fdatasync),
    clock: () => performance.now(),
  }),
};

export function later(ms: number, action: () => void): () => void {
  const timer = setTimeout(action, ms).unref();
  return () => clearTimeout(timer);
}

export function indexPath(directory: string): string {
  return join(directory, 'index.json');
}

export type SessionFiles = {
  readonly entries: string;
  readonly metadata: string;
  readonly later: string;
  readonly edits: string;
};

export function sessionsDir(directory: string): string {
  return join(directory, 'sessions');
}

/** Where a session is written. */
export function sessionFiles(directory: string, id: string): SessionFiles {
  return filesIn(sessionsDir(directory), id);
}

/** Where a session is read: in `sessions`, or beside the index as older journals have it. */
export function findSessionFiles(directory: string, id: string): SessionFiles | undefined {
  const places = [sessionFiles(directory, id), filesIn(directory, id)];
  return places.find(({ entries }) => plainFile(entries) !== undefined);
}

function filesIn(folder: string, id: string): SessionFiles {
  const path = (ending: string): string => join(folder, `${id}${ending}`);
  return {
    entries: path('.jsonl'),
    metadata: path('.meta.json'),
    later: path(`${LATER}.jsonl`),
    edits: path(`${EDITS}.jsonl`),
  };
}

/** Makes the journal's directories. Throws `journal_unwritable`. */
export function ensureJournal(directory: string, disk: Disk = DISK): void {
  const sessions = sessionsDir(directory);
  const trouble = placeTrouble(directory);
  if (trouble?.unsafe === true) {
    const words = `${directory} cannot be used as a journal: ${trouble.reason}.`;
    throw new AppError('journal_unwritable', words, { hint: trouble.hint });
  }
  try {
    const made = makeDirectory(directory, disk);
    // A directory that holds other files, too, may be a whole project: it stays as it is.
    if (made || isUsualPlace(directory) || holdsOnlyJournal(directory)) {
      closeToOthers(directory, disk);
      ignoredByGit(directory, disk);
    }
    makeDirectory(sessions, disk);
    closeToOthers(sessions, disk);
  } catch (error) {
    throw unwritable(directory, error);
  }
}

function closeToOthers(folder: string, disk: Disk): void {
  const stat = disk.lstatSync(folder);
  if (!stat.isDirectory()) throw errno('ENOTDIR', `${folder} is not a directory of its own`);
  const own = stat.uid === process.geteuid?.();
  const open = (stat.mode & 0o077) !== 0 && (stat.mode & STICKY) === 0;
  if (own && open) disk.chmodSync(folder, DIRECTORY_MODE);
}

const OURS =
  /^(sessions|index\.json|seal\.json|sessions\.list|imports\.jsonl|catalog\.db.*|\.gitignore)$/;
const PASSING = /\.(claim|tmp)$/;
const SESSION_FILE = /\.(jsonl(\.\d+\.gz\.age)?|meta\.json)$/;

function holdsOnlyJournal(directory: string): boolean {
  return nodeFs
    .readdirSync(directory)
    .every(
      (name) =>
        OURS.test(name) ||
        PASSING.test(name) ||
        (SESSION_FILE.test(name) && hasForm(name.replace(SESSION_FILE, ''))),
    );
}

/** With its parents; false if it was there. Node's own way says ENOENT for a read-only disk. */
function makeDirectory(path: string, disk: Disk): boolean {
  try {
    disk.mkdirSync(path, { mode: DIRECTORY_MODE });
    return true;
  } catch (error) {
    if (errnoOf(error) === 'EEXIST') return false;
    if (errnoOf(error) !== 'ENOENT' || dirname(path) === path) throw error;
    makeDirectory(dirname(path), disk);
    return makeDirectory(path, disk);
  }
}

/**
 * An agent that commits with `git add -A` would commit what it did, and `git status` would not be
 * what it is without us. The file ignores itself, too.
 */
function ignoredByGit(directory: string, disk: Disk): void {
  try {
    const path = join(directory, '.gitignore');
    const fd = disk.openSync(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, FILE_MODE);
    try {
      disk.writeSync(fd, '*\n');
    } finally {
      closeQuietly(fd, disk);
    }
  } catch {
    // No journal is worth less for it.
  }
}

/** A new file for entries. EEXIST when there is one: two processes never share it. */
export function createEntries(path: string, disk: Disk = DISK): number {
  return disk.openSync(path, O_WRONLY | O_APPEND | O_CREAT | O_EXCL | O_NOFOLLOW, FILE_MODE);
}

/** A file beside the entries, made by the first line that goes there. */
export function openBeside(path: string, disk: Disk = DISK): number {
  return disk.openSync(path, O_WRONLY | O_APPEND | O_CREAT | O_NOFOLLOW | O_NONBLOCK, FILE_MODE);
}

/** An existing file for entries, to write on at its end. */
export function reopenEntries(path: string, disk: Disk = DISK): number {
  return disk.openSync(path, O_WRONLY | O_APPEND | O_NOFOLLOW | O_NONBLOCK);
}

/** For a file of which nothing more is expected: everything that was promised is synced. */
export function closeQuietly(fd: number, disk: Disk): void {
  try {
    disk.closeSync(fd);
  } catch {
    // Even a close that fails has closed.
  }
}

let temps = 0;

/** Opens the file that will take the place of `path`: write it, close it, `rename` it there. */
export function openTemp(path: string, disk: Disk = DISK): { fd: number; temp: string } {
  temps += 1;
  const temp = `${path}.${process.pid}-${temps}.tmp`;
  const fd = disk.openSync(temp, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, FILE_MODE);
  return { fd, temp };
}

/** A reader sees the old file or the new one, never half of one. Not durable by itself. */
export function replaceFile(path: string, text: string, disk: Disk = DISK): void {
  const { fd, temp } = openTemp(path, disk);
  try {
    try {
      writeNow(fd, Buffer.from(text), disk);
    } finally {
      disk.closeSync(fd);
    }
    disk.renameSync(temp, path);
  } catch (error) {
    nodeFs.rmSync(temp, { force: true });
    throw error;
  }
}

/** As `replaceFile`, off the event loop; with `sync` it is on the disk before it has the name. */
export async function replaceFileLater(
  path: string,
  text: string,
  options: { readonly sync: boolean },
  disk: Disk = DISK,
): Promise<void> {
  const { fd, temp } = openTemp(path, disk);
  try {
    try {
      await writeAll(fd, Buffer.from(text), disk);
      if (options.sync) await disk.sync(fd);
    } finally {
      disk.closeSync(fd);
    }
    disk.renameSync(temp, path);
  } catch (error) {
    nodeFs.rmSync(temp, { force: true });
    throw error;
  }
}

/** `at`: a place in the file; its end where none is given. */
export function writeNow(fd: number, bytes: Uint8Array, disk: Disk, at?: number): void {
  for (let done = 0; done < bytes.length; ) {
    const place = at === undefined ? null : at + done;
    done += disk.writeSync(fd, bytes, done, bytes.length - done, place);
  }
}

/** The same off the event loop. */
export async function writeAll(fd: number, bytes: Uint8Array, disk: Disk): Promise<void> {
  for (let done = 0; done < bytes.length; ) {
    const count = await disk.write(fd, bytes.subarray(done));
    if (count === 0) throw errno('EIO', 'nothing was written');
    done += count;
  }
}

/** Opens a regular file for reading, or undefined when there is none that may be read as one. */
export function openToRead(path: string): number | undefined {
  let fd: number;
  try {
    fd = nodeFs.openSync(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
  } catch {
    return undefined; // not there, a link, or not ours to read: nothing to read in every case
  }
  if (nodeFs.fstatSync(fd).isFile()) return fd;
  nodeFs.closeSync(fd);
  return undefined;
}

export function readText(path: string): string | undefined {
  const fd = openToRead(path);
  if (fd === undefined) return undefined;
  try {
    return nodeFs.readFileSync(fd, 'utf8');
  } catch {
    return undefined; // a disk that cannot be read has nothing for us
  } finally {
    nodeFs.closeSync(fd);
  }
}

/** The size and times of a regular file, or undefined. */
export function plainFile(path: string, disk: Pick<Disk, 'lstatSync'> = DISK) {
  try {
    const stat = disk.lstatSync(path, { throwIfNoEntry: false });
    return stat?.isFile() === true ? stat : undefined;
  } catch {
    return undefined; // a parent that cannot be entered hides it as well as if it were not there
  }
}

/** The one error of writing: which file, which errno, and what to do about it. */
export function unwritable(path: string, cause: unknown): AppError {
  if (cause instanceof AppError) return cause;
  const name = errnoOf(cause) ?? 'EIO';
  return new AppError('journal_unwritable', `${path} cannot be written: ${name}.`, {
    hint: hintFor(name, dirname(path)),
    cause,
  });
}

function hintFor(name: string, folder: string): string {
  if (name === 'ENOSPC' || name === 'EDQUOT') return 'Free some disk space; it is tried again.';
  if (name === 'ENOENT') return 'It was removed or moved; the next command starts a new session.';
  return `Look at the disk and the permissions of ${folder}, or set recording.directory.`;
}

export function errno(code: string, message: string): Error {
  return Object.assign(new Error(`${code}: ${message}`), { code });
}
