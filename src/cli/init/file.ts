// Reads and replaces a configuration file of another program: as a whole or not at all, where a
// link leads to, with the rights it had. A link that leads out of the directory that the file
// belongs to is refused: what lies there is not what the user was shown.

import * as fs from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { existingAbove } from '../../directories.ts';
import { AppError, errnoOf } from '../../errors.ts';
import { nameWithin, realOf } from '../../places.ts';

const FILE_BYTES_MAX = 4 * 1024 * 1024; // a configuration, not data

/** The file system calls that change something, so that tests can make each of them fail. */
export type ConfigDisk = Pick<
  typeof fs,
  | 'chmodSync'
  | 'chownSync'
  | 'closeSync'
  | 'fsyncSync'
  | 'mkdirSync'
  | 'openSync'
  | 'renameSync'
  | 'rmdirSync'
  | 'rmSync'
  | 'unlinkSync'
  | 'writeFileSync'
>;

/** One file, before and after; undefined is no file. */
export type Change = {
  readonly path: string;
  readonly before: string | undefined;
  readonly after: string | undefined;
};

type Options = {
  readonly disk?: ConfigDisk;
  /** Of a file that is new. */
  readonly mode?: number;
};

/** The text of a file, or undefined when there is none. */
export function readConfig(path: string, shown: string): string | undefined {
  try {
    const stat = fs.statSync(path, { throwIfNoEntry: false });
    if (stat === undefined) return undefined;
    if (!stat.isFile()) throw refused(`${shown} is not a file`);
    if (stat.size > FILE_BYTES_MAX) throw refused(`${shown} is too large to be edited`);
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(fs.readFileSync(path));
  } catch (error) {
    if (error instanceof AppError) throw error;
    if (error instanceof TypeError) throw refused(`${shown} is not UTF-8 text`);
    throw refused(`${shown} cannot be read (${errnoOf(error) ?? error})`);
  }
}

/** Throws unless the file, or what a link leads to, is below one of the directories. */
export function assertInside(path: string, shown: string, roots: readonly string[]): void {
  const above = existingAbove(path);
  const real = join(realOf(above), path.slice(above.length));
  const dangling = fs.lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() === true;
  if (dangling && !fs.existsSync(path)) throw refused(`${shown} is a link that leads nowhere`);
  if (roots.some((root) => nameWithin(realOf(resolve(root)), real) !== undefined)) return;
  throw refused(`${shown} is a link that leads out of its directory, to ${real}`);
}

/** Puts `after` in the place of `before`. Directories that are missing are made. */
export function replaceConfig(
  { path, before, after }: Change,
  shown: string,
  { disk = fs, mode = 0o666 }: Options = {},
): void {
  if (readConfig(path, shown) !== before) {
    throw refused(`${shown} was changed by another program meanwhile`);
  }
  try {
    if (after === undefined) remove(path, disk);
    else write(path, after, mode, disk);
  } catch (error) {
    throw refused(`${shown} cannot be written (${errnoOf(error) ?? error})`);
  }
}

/** The directories that have to be made for a file, outermost first. */
export function missingDirectories(path: string): string[] {
  const missing: string[] = [];
  for (let at = dirname(path); !fs.existsSync(at); at = dirname(at)) missing.unshift(at);
  return missing;
}

/** Directories go with the file that they were made for, if they are empty; innermost first. */
export function removeEmpty(directories: readonly string[], disk: ConfigDisk = fs): void {
  for (const directory of directories) {
    try {
      disk.rmdirSync(directory);
    } catch {
      return; // something else is in it
    }
  }
}

function write(path: string, text: string, mode: number, disk: ConfigDisk): void {
  for (const directory of missingDirectories(path)) disk.mkdirSync(directory);
  const target = realOf(path); // replacing a link itself would cut it
  const old = fs.statSync(target, { throwIfNoEntry: false });
  // Hidden, because some clients run every file of a directory.
  const temp = join(dirname(target), `.${basename(target)}.${process.pid}.tmp`);
  try {
    disk.rmSync(temp, { force: true }); // of a process that had our pid
    const fd = disk.openSync(temp, 'wx', old === undefined ? mode : 0o600);
    try {
      disk.writeFileSync(fd, text);
      disk.fsyncSync(fd);
    } finally {
      disk.closeSync(fd);
    }
    if (old !== undefined) keepRights(temp, old, disk);
    disk.renameSync(temp, target);
  } catch (error) {
    disk.rmSync(temp, { force: true });
    throw error;
  }
}

type Rights = { readonly mode: number; readonly uid: number; readonly gid: number };

function keepRights(temp: string, { mode, uid, gid }: Rights, disk: ConfigDisk): void {
  try {
    disk.chownSync(temp, uid, gid);
  } catch {
    // Only root can give files away, and then it is ours anyway.
  }
  disk.chmodSync(temp, mode & 0o7777);
}

/** A client's directory that was only there for the file goes with it. */
function remove(path: string, disk: ConfigDisk): void {
  disk.unlinkSync(path);
  if (['.cursor', '.vscode'].includes(basename(dirname(path)))) removeEmpty([dirname(path)], disk);
}

function refused(why: string): AppError {
  return new AppError('usage', `${why}; it was not changed.`);
}
