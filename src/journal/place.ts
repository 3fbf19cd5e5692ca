// Whether a directory may be used as a journal. A cloned repository can bring a `.cuff` that is a
// link to files of another project, and a shared directory can hold files that another user put
// there. Reading such a journal would show their content as ours, and retention would delete it.
//
// The path of a journal has no symbolic link in it, down to `sessions/`: a directory that a person
// names is resolved before it comes here. It belongs to this user or to root. In the usual place
// the recorder closes it to others; anywhere else no other user may write to it.
import * as fs from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { errnoOf } from '../errors.ts';

const WRITABLE_BY_OTHERS = 0o022;
const ROOT = 0;

export type PlaceTrouble = {
  /** What is wrong, as one clause: `/p/.cuff is a symbolic link`. */
  readonly reason: string;
  readonly hint: string;
  /** False: nothing is wrong but that it cannot be read. */
  readonly unsafe: boolean;
};

/** `<project>/.cuff/recordings` */
export function isUsualPlace(directory: string): boolean {
  const path = resolve(directory);
  return basename(path) === 'recordings' && basename(dirname(path)) === '.cuff';
}

/** Undefined when it may be used, or does not exist yet and may be made. */
export function placeTrouble(directory: string): PlaceTrouble | undefined {
  const path = resolve(directory);
  const usual = isUsualPlace(path);
  const sessions = join(path, 'sessions');
  const link = firstLink(sessions);
  if (link !== undefined) {
    const hint = 'Remove the link, or name the directory it leads to with --directory.';
    return { reason: `${link} is a symbolic link`, hint, unsafe: true };
  }
  return folderTrouble(path, usual) ?? folderTrouble(sessions, usual);
}

/** The first part of the path that is a link. */
function firstLink(path: string): string | undefined {
  if (isReal(path)) return undefined;
  const parents: string[] = [];
  for (let one = path; one !== dirname(one); one = dirname(one)) parents.unshift(one);
  for (const one of parents) {
    const stat = lstat(one);
    if (stat === undefined || typeof stat === 'string') return undefined;
    if (stat.isSymbolicLink()) return one;
  }
  return undefined;
}

function isReal(path: string): boolean {
  try {
    return fs.realpathSync.native(path) === path;
  } catch {
    return false; // it does not exist, or not yet: its parents are looked at one by one
  }
}

function folderTrouble(path: string, usual: boolean): PlaceTrouble | undefined {
  const stat = lstat(path);
  if (stat === undefined) return undefined;
  if (typeof stat === 'string') {
    const hint = 'Look at its permissions.';
    return { reason: `${path} cannot be read: ${stat}`, hint, unsafe: false };
  }
  if (!stat.isDirectory()) {
    const hint = 'Name the directory of a journal.';
    return { reason: `${path} is not a directory`, hint, unsafe: false };
  }
  return process.geteuid === undefined ? undefined : ownerTrouble(path, stat, usual);
}

function ownerTrouble(path: string, stat: fs.Stats, usual: boolean): PlaceTrouble | undefined {
  const own = stat.uid === process.geteuid?.();
  if (!own && stat.uid !== ROOT) {
    const hint = 'Set recording.directory to a directory of your own.';
    return { reason: `${path} belongs to another user (uid ${stat.uid})`, hint, unsafe: true };
  }
  if (!usual && (stat.mode & WRITABLE_BY_OTHERS) !== 0) {
    const hint = `Run: chmod go-w '${path}'`;
    return { reason: `${path} is writable by other users`, hint, unsafe: true };
  }
  return undefined;
}

/** Undefined when there is nothing; the name of the error when that cannot be known. */
function lstat(path: string): fs.Stats | string | undefined {
  try {
    return fs.lstatSync(path, { throwIfNoEntry: false });
  } catch (error) {
    const name = errnoOf(error) ?? 'EIO';
    return name === 'ENOTDIR' ? undefined : name; // the parent itself is reported
  }
}
