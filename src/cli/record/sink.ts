// Where an export goes: stdout, or a file that appears whole. What is written may hold secrets of
// the user who ran the commands, so the file is for its owner only.

import {
  closeSync,
  openSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  writeSync,
} from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { errnoOf } from '../../errors.ts';
import { printable } from '../../text/printable.ts';
import { put } from '../output.ts';

const BATCH_LENGTH = 65_536; // one write for many small pieces

/** The file that writing to `path` would replace, with every link resolved. */
export function replacedBy(path: string): string | undefined {
  const there = statSync(path, { throwIfNoEntry: false });
  return there?.isFile() === true ? realpathSync(path) : undefined;
}

/** The name of a file that was written to `path`: what a link leads to, not the link. */
export function realFile(path: string): string {
  const real = replacedBy(path) ?? resolve(path);
  return real === resolve(path) ? path : real;
}

/** Calls `make` with the path to write to; a file that is there is replaced when that is done. */
export async function replacing<T>(
  path: string,
  make: (temp: string) => T | Promise<T>,
): Promise<T> {
  const there = statSync(path, { throwIfNoEntry: false });
  // A pipe or a device is written to, not replaced; of a link, what it points to is replaced.
  if (there !== undefined && !there.isFile()) return named(path, path, () => make(path));
  const target = there === undefined ? resolve(path) : realpathSync(path);
  const temp = join(dirname(target), `.${basename(target)}.${process.pid}.tmp`);
  try {
    const made = await named(target, temp, () => make(temp));
    renameSync(temp, target);
    return made;
  } catch (error) {
    rmSync(temp, { force: true });
    throw error;
  }
}

/** What the system refuses about `written` is said of the file that was asked for. */
async function named<T>(path: string, written: string, make: () => T | Promise<T>): Promise<T> {
  try {
    return await make();
  } catch (error) {
    const errno = errnoOf(error);
    if (errno === undefined || (error as NodeJS.ErrnoException).path !== written) throw error;
    const folder = dirname(path);
    const isFolder = statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
    const refused = errno === 'ENOENT' ? `there is no directory ${printable(folder)}` : errno;
    const reason = isFolder ? 'it is a directory' : refused;
    throw Object.assign(error as Error, { message: `Cannot write ${printable(path)}: ${reason}` });
  }
}

/** All pieces, to a file or to stdout. */
export async function write(
  path: string | undefined,
  pieces: Iterable<string>,
  step: () => void,
): Promise<void> {
  if (path === undefined) return drain(pieces, process.stdout.isTTY === true ? shown : put, step);
  await replacing(path, async (temp) => {
    // A temporary file is new: a link that another user put in its place is not followed.
    const fd = openSync(temp, temp === path ? 'w' : 'wx', 0o600);
    try {
      await drain(pieces, (text) => writeAll(fd, text), step);
    } finally {
      closeSync(fd);
    }
  });
}

/** A recorded text must not move the cursor of a reader; a file or a pipe gets every byte. */
function shown(text: string): Promise<void> {
  return put(text.split(/\r?\n/).map(printable).join('\n'));
}

async function drain(
  pieces: Iterable<string>,
  out: (text: string) => void | Promise<void>,
  step: () => void,
): Promise<void> {
  let batch = '';
  for (const piece of pieces) {
    batch += piece;
    step();
    if (batch.length < BATCH_LENGTH) continue;
    await out(batch);
    batch = '';
  }
  if (batch !== '') await out(batch);
}

function writeAll(fd: number, text: string): void {
  const bytes = Buffer.from(text);
  for (let done = 0; done < bytes.length; ) done += writeSync(fd, bytes, done);
}
