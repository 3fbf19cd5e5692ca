// Reads and replaces a configuration file of another program: as a whole or not at all, where a
// link leads to, with the rights it had.

import {
  chmodSync,
  chownSync,
  closeSync,
  fsyncSync,
  openSync,
  readFileSync,
  renameSync,
  rmdirSync,
  rmSync,
  statSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname } from 'node:path';
import { makeDirectories } from '../../directories.ts';
import { AppError, errnoOf } from '../../errors.ts';
import { realOf } from '../../places.ts';

const FILE_BYTES_MAX = 4 * 1024 * 1024; // a configuration, not data

/** The text of a file, or undefined when there is none. */
export function readConfig(path: string, shown: string): string | undefined {
  try {
    const stat = statSync(path, { throwIfNoEntry: false });
    if (stat === undefined) return undefined;
    if (!stat.isFile()) throw refused(`${shown} is not a file`);
    if (stat.size > FILE_BYTES_MAX) throw refused(`${shown} is too large to be edited`);
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(readFileSync(path));
  } catch (error) {
    if (error instanceof AppError) throw error;
    if (error instanceof TypeError) throw refused(`${shown} is not UTF-8 text`);
    throw refused(`${shown} cannot be read (${errnoOf(error) ?? error})`);
  }
}

/** Puts `after` in the place of `before`; undefined is no file. */
export function replaceConfig(
  path: string,
  shown: string,
  before: string | undefined,
  after: string | undefined,
): void {
  if (readConfig(path, shown) !== before) {
    throw refused(`${shown} was changed by another program meanwhile`);
  }
  try {
    if (after === undefined) remove(path);
    else write(path, after);
  } catch (error) {
    throw refused(`${shown} cannot be written (${errnoOf(error) ?? error})`);
  }
}

function write(path: string, text: string): void {
  makeDirectories(dirname(path));
  const target = realOf(path); // replacing a link itself would cut it
  const old = statSync(target, { throwIfNoEntry: false });
  const temp = `${target}.${process.pid}.tmp`;
  try {
    const fd = openSync(temp, 'wx', old === undefined ? 0o666 : 0o600);
    try {
      writeFileSync(fd, text);
      fsyncSync(fd);
    } finally {
      closeSync(fd);
    }
    if (old !== undefined) keepRights(temp, old);
    renameSync(temp, target);
  } catch (error) {
    rmSync(temp, { force: true });
    throw error;
  }
}

function keepRights(temp: string, { mode, uid, gid }: { mode: number; uid: number; gid: number }) {
  try {
    chownSync(temp, uid, gid);
  } catch {
    // Only root can give files away, and then it is ours anyway.
  }
  chmodSync(temp, mode & 0o7777);
}

/** A client's directory that was only there for the file goes with it. */
function remove(path: string): void {
  unlinkSync(path);
  if (!['.cursor', '.vscode'].includes(basename(dirname(path)))) return;
  try {
    rmdirSync(dirname(path));
  } catch {
    // Something else is in it.
  }
}

function refused(why: string): AppError {
  return new AppError('usage', `${why}; it was not changed.`);
}
