// Where captures live and how their files are opened. Every open of a capture's file, for reading
// or writing, goes through `openIn`: the directory must really be `<root>/sessions/<id>`, the file
// must really lie in it, and a file that others could read is closed to them. A planted symlink,
// dangling or not, is refused with `path_unsafe` before a byte is read or written.

import * as nodeFs from 'node:fs';
import { userInfo } from 'node:os';
import { basename, dirname, isAbsolute, join, resolve, win32 } from 'node:path';
import { makeDirectories, openToUs } from '../directories.ts';
import { AppError, errnoOf } from '../errors.ts';
import { SESSION_ID_LENGTH_MAX } from '../limits.ts';
import type { Env } from '../types.ts';

const DIRECTORY_MODE = 0o700;
const FILE_MODE = 0o600;
const STICKY = 0o1000;

// Not on Windows; there `openIn` looks before it opens.
const O_NOFOLLOW = nodeFs.constants.O_NOFOLLOW ?? 0;
const O_NONBLOCK = nodeFs.constants.O_NONBLOCK ?? 0;

/** The file system calls a capture is written with, so that tests can make each of them fail. */
export type FileOps = Pick<
  typeof nodeFs,
  | 'openSync'
  | 'closeSync'
  | 'writeSync'
  | 'fsyncSync'
  | 'fstatSync'
  | 'lstatSync'
  | 'fchmodSync'
  | 'renameSync'
>;

export function stateRoot(
  env: Env,
  platform: string = process.platform,
  home: string = homeOf(env),
): string {
  const named = env.CUFF_STATE_ROOT || env.DERUN_STATE_ROOT;
  if (named) return resolve(named);
  if (platform === 'win32') {
    const local = env.LOCALAPPDATA || win32.join(env.USERPROFILE || home, 'AppData', 'Local');
    return win32.join(local, 'derun', 'state');
  }
  const xdg = env.XDG_STATE_HOME;
  // The XDG specification: a relative path is invalid and must be ignored.
  return xdg && isAbsolute(xdg) ? join(xdg, 'derun') : join(home, '.local', 'state', 'derun');
}

/** An empty or relative HOME would put it into whatever directory this process is in. */
function homeOf({ HOME }: Env): string {
  if (HOME !== undefined && isAbsolute(HOME)) return HOME;
  try {
    const { homedir } = userInfo();
    if (isAbsolute(homedir)) return homedir;
  } catch {
    // A user without an entry has no home: nothing is captured, and a message says so.
  }
  return '/nonexistent';
}

export function sessionsDir(root: string): string {
  return join(root, 'sessions');
}

/** Where the files of a capture are: `sessions/<id>`, or in memory for as long as it says so. */
export function captureDir(root: string, id: string): string {
  const home = homeDir(root, id);
  return memoryOf(home) ?? home;
}

export function homeDir(root: string, id: string): string {
  assertSessionId(id);
  return join(root, 'sessions', id);
}

/** In the directory of a capture: where its files are meanwhile. See `in-memory.ts`. */
export const LIVE = 'live';

/** Back, in the directory in memory. */
export const HOME = 'home';

/** Only a directory of ours that says that it belongs to this one, and no link on the way. */
function memoryOf(home: string): string | undefined {
  if (nodeFs.lstatSync(join(home, LIVE), { throwIfNoEntry: false })?.isFile() !== true) return;
  const dir = pathIn(home, LIVE);
  if (dir === undefined || basename(dir) !== basename(home)) return undefined;
  const folders = [dir, dirname(dir), dirname(dirname(dir)), home];
  if (basename(dirname(dir)) !== 'sessions' || !folders.every(isPrivateDir)) return undefined;
  const back = pathIn(dir, HOME);
  return back !== undefined && isSameDir(back, home) ? dir : undefined;
}

/** The directory on the disk of one in memory; undefined where that does not say so any more. */
export function diskDirOf(dir: string): string | undefined {
  const home = hasIn(dir, HOME) ? pathIn(dir, HOME) : undefined;
  return home !== undefined && memoryOf(home) === dir ? home : undefined;
}

function pathIn(dir: string, name: string): string | undefined {
  try {
    const path = nodeFs.readFileSync(join(dir, name), 'utf8').trim();
    return isAbsolute(path) ? path : undefined;
  } catch {
    return undefined; // gone meanwhile, or not ours
  }
}

/** A state root may be reached by several paths. */
function isSameDir(one: string, other: string): boolean {
  const [a, b] = [one, other].map((path) => nodeFs.statSync(path, { throwIfNoEntry: false }));
  return a !== undefined && b !== undefined && a.dev === b.dev && a.ino === b.ino;
}

export function isSessionId(id: string): boolean {
  if (id.length > SESSION_ID_LENGTH_MAX || id === '.' || id === '..') return false;
  return /^[A-Za-z0-9._][A-Za-z0-9._-]*$/.test(id);
}

export function assertSessionId(id: string): void {
  if (isSessionId(id)) return;
  throw new AppError('session_id_invalid', `'${id.slice(0, 200)}' is no session id.`, {
    hint: `Use up to ${SESSION_ID_LENGTH_MAX} of A-Z a-z 0-9 . _ - and no '-' in front.`,
  });
}

/** `20261115-213835-1a2b3c4d`: sorts by time, in UTC. */
export function newSessionId(now: number, random: () => number = Math.random): string {
  const digits = new Date(now).toISOString().replace(/\D/g, '');
  const hex = Math.floor(random() * 0x1_0000_0000)
    .toString(16)
    .padStart(8, '0');
  return `${digits.slice(0, 8)}-${digits.slice(8, 14)}-${hex}`;
}

/** The second a generated id was made in (epoch ms), or undefined for an id that a user chose. */
export function sessionIdTime(id: string): number | undefined {
  const match = /^(\d{4})(\d\d)(\d\d)-(\d\d)(\d\d)(\d\d)-[0-9a-f]{8}$/.exec(id);
  if (match === null) return undefined;
  const [, year, month, day, hour, minute, second] = match;
  const at = Date.parse(`${year}-${month}-${day}T${hour}:${minute}:${second}Z`);
  return Number.isNaN(at) ? undefined : at;
}

/** The root itself may be a symlink: where it points to is the user's choice, not an attack. */
export function ensureRoot(root: string): void {
  const link = nodeFs.lstatSync(root, { throwIfNoEntry: false })?.isSymbolicLink() === true;
  ensurePrivateDir(link ? realPath(root) : root);
}

/** A directory of ours, not a link to one, that only we can enter. */
export function isPrivateDir(path: string): boolean {
  try {
    return isPrivate(path);
  } catch {
    return false; // ENOTDIR and EACCES: below a file, or where we may not look
  }
}

/** The same; throws where we cannot look, so that the system's reason is known. */
export function isPrivate(path: string): boolean {
  const stat = nodeFs.lstatSync(path, { throwIfNoEntry: false });
  if (stat?.isDirectory() !== true) return false;
  if (process.platform === 'win32') return true;
  return (stat.mode & 0o7777) === DIRECTORY_MODE && stat.uid === process.getuid?.();
}

/** Makes a directory only we can enter; one that was there before is closed to others. */
export function ensurePrivateDir(path: string): void {
  let stat = nodeFs.lstatSync(path, { throwIfNoEntry: false });
  if (stat === undefined) {
    makeDirectories(path, DIRECTORY_MODE);
    stat = nodeFs.lstatSync(path);
  }
  if (!stat.isDirectory()) throw unsafe(path, 'is not a directory of its own');
  if (process.platform === 'win32' || (stat.mode & 0o777) === DIRECTORY_MODE) return;
  // A shared directory like /tmp must stay open to other users.
  if ((stat.mode & STICKY) !== 0 || path === dirname(path)) throw unsafe(path, 'is shared');
  if (!ours(stat.uid)) throw unsafe(path, 'belongs to another user');
  nodeFs.chmodSync(path, DIRECTORY_MODE);
}

/**
 * The directory of a capture is really there: neither `sessions` nor `sessions/<id>` is a symlink,
 * so that its real path is the real path of the root and these two names. Says false when there
 * is none.
 */
export function checkCaptureDir(dir: string, io: Pick<FileOps, 'lstatSync'> = nodeFs): boolean {
  const sessions = dirname(dir);
  assertSessionId(basename(dir));
  if (basename(sessions) !== 'sessions') throw unsafe(dir, 'is not in a sessions directory');
  for (const path of [sessions, dir]) {
    const stat = io.lstatSync(path, { throwIfNoEntry: false });
    if (stat === undefined) return false;
    if (!stat.isDirectory()) throw unsafe(path, 'is not a directory of its own');
  }
  return true;
}

/** Opens a file of a capture. Throws `path_unsafe`, or the error of the system call (ENOENT...). */
export function openIn(
  dir: string,
  name: string,
  flags: number,
  mode: number = FILE_MODE,
  io: FileOps = nodeFs,
): number {
  const path = join(dir, name);
  if (basename(name) !== name || name === '..') throw unsafe(path, 'is no file of a capture');
  checkCaptureDir(dir, io);
  if (O_NOFOLLOW === 0) assertPlain(path, name, io);
  let fd: number;
  try {
    // Without O_NONBLOCK, opening a FIFO in the place of a file would block until a writer comes.
    fd = io.openSync(path, flags | O_NOFOLLOW | O_NONBLOCK, mode);
  } catch (error) {
    // O_EXCL says that something is there, and a symlink is something.
    if (errnoOf(error) === 'EEXIST') assertPlain(path, name, io);
    throw opening(path, name, error);
  }
  try {
    const stat = io.fstatSync(fd);
    const expected = stat.isFile() || (name === 'control' && stat.isFIFO());
    if (!expected) throw unsafe(path, 'is not a regular file');
    const writing = (flags & (nodeFs.constants.O_WRONLY | nodeFs.constants.O_RDWR)) !== 0;
    // Open to others, or by a umask of 0277 closed to ourselves.
    if (writing && (stat.mode & 0o777) !== mode && ours(stat.uid)) io.fchmodSync(fd, mode);
  } catch (error) {
    io.closeSync(fd);
    throw error;
  }
  return fd;
}

/** Replaces a file as a whole: a reader sees the old or the new one, never half of one. */
export function replaceIn(
  dir: string,
  name: string,
  text: string,
  options: { readonly sync?: boolean; readonly io?: FileOps } = {},
): void {
  const io = options.io ?? nodeFs;
  assertPlain(join(dir, name), name, io);
  const temp = writeTemp(dir, name, text, options.sync === true, io);
  try {
    io.renameSync(temp, join(dir, name));
  } catch (error) {
    nodeFs.rmSync(temp, { force: true });
    throw error;
  }
}

/**
 * Makes a file in one piece; says false when there is one already: of two creators one wins. Until
 * it is written a reader sees only its beginning, which is why its last byte is a newline. `fresh`:
 * the caller has just made the directory, so there is nothing in it to be careful about.
 */
export function createIn(dir: string, name: string, text: string, fresh: boolean): boolean {
  const path = join(dir, name);
  const { O_WRONLY, O_CREAT, O_EXCL } = nodeFs.constants;
  const flags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW;
  let fd: number;
  try {
    fd = fresh ? nodeFs.openSync(path, flags, FILE_MODE) : openIn(dir, name, flags);
  } catch (error) {
    if (errnoOf(error) === 'EEXIST') return false;
    throw error;
  }
  writeAll(fd, path, text, nodeFs, () => fresh && openToUs(path, FILE_MODE));
  return true;
}

function writeTemp(dir: string, name: string, text: string, sync: boolean, io: FileOps): string {
  const { O_WRONLY, O_CREAT, O_TRUNC } = nodeFs.constants;
  const temp = `${name}.${process.pid}.tmp`;
  const fd = openIn(dir, temp, O_WRONLY | O_CREAT | O_TRUNC, FILE_MODE, io);
  writeAll(fd, join(dir, temp), text, io, () => sync && io.fsyncSync(fd));
  return join(dir, temp);
}

/** Fills the new file at `path` and closes it; one that cannot be filled is removed. */
function writeAll(fd: number, path: string, text: string, io: FileOps, finish: () => void): void {
  const bytes = Buffer.from(text);
  try {
    for (let done = 0; done < bytes.length; ) {
      done += io.writeSync(fd, bytes, done, bytes.length - done);
    }
    finish();
  } catch (error) {
    nodeFs.rmSync(path, { force: true });
    throw error;
  } finally {
    io.closeSync(fd);
  }
}

/** A small file as text, or undefined when there is none. */
export function readTextIn(dir: string, name: string): string | undefined {
  let fd: number;
  try {
    fd = openIn(dir, name, nodeFs.constants.O_RDONLY);
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') return undefined;
    throw error;
  }
  try {
    return nodeFs.readFileSync(fd, 'utf8');
  } finally {
    nodeFs.closeSync(fd);
  }
}

export function hasIn(dir: string, name: string): boolean {
  return nodeFs.lstatSync(join(dir, name), { throwIfNoEntry: false }) !== undefined;
}

function assertPlain(path: string, name: string, io: Pick<FileOps, 'lstatSync'>): void {
  const stat = io.lstatSync(path, { throwIfNoEntry: false });
  const expected = stat === undefined || stat.isFile() || (name === 'control' && stat.isFIFO());
  if (!expected) throw unsafe(path, 'is not a regular file');
}

/** The error for a file of a capture that cannot be opened. */
function opening(path: string, name: string, error: unknown): unknown {
  const errno = errnoOf(error) ?? '';
  if (['ELOOP', 'EMLINK'].includes(errno)) return unsafe(path, 'is a symlink', error);
  // ENXIO is how a socket says so; for the FIFO it means that the runner is gone.
  const wrongKind = errno === 'EISDIR' || (errno === 'ENXIO' && name !== 'control');
  return wrongKind ? unsafe(path, 'is not a regular file', error) : error;
}

function realPath(path: string): string {
  try {
    return nodeFs.realpathSync.native(path);
  } catch (error) {
    throw unsafe(path, 'is a symlink to nowhere', error);
  }
}

function ours(uid: number): boolean {
  const self = process.getuid?.();
  return self === undefined || self === 0 || self === uid;
}

function unsafe(path: string, what: string, cause?: unknown): AppError {
  return new AppError('path_unsafe', `${path} ${what}.`, {
    hint: 'Look at who put it there, then remove it or choose another CUFF_STATE_ROOT.',
    ...(cause !== undefined && { cause }),
  });
}
