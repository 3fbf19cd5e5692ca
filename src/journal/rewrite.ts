// Changes lines that are written, which redaction alone does. A file of entries is replaced by one
// with other lines: after a crash there is the old one or the new one. A file beside the entries
// may get a line at this moment from a process that ended a run, so its line is written over where
// it stands, filled up with spaces.
import * as nodeFs from 'node:fs';
import { dirname } from 'node:path';
import { errnoOf } from '../errors.ts';
import {
  closeQuietly,
  DISK,
  type Disk,
  openTemp,
  openToRead,
  unwritable,
  writeAll,
  writeNow,
} from './files.ts';

export type LineChange = {
  /** Where the line begins, and where it ends without its `\n`. */
  readonly offset: number;
  readonly end: number;
  /** In its place, without a `\n`. */
  readonly text: Uint8Array;
};

const BLOCK_BYTES = 262_144;

/** The new file is on the disk when this resolves. Rejects with `journal_unwritable`. */
export async function replaceLines(
  path: string,
  changes: readonly LineChange[],
  disk: Disk = DISK,
): Promise<void> {
  const from = openToRead(path);
  try {
    if (from === undefined) throw Object.assign(new Error('it is gone'), { code: 'ENOENT' });
    const { fd, temp } = openTemp(path, disk);
    try {
      try {
        const stat = nodeFs.fstatSync(from);
        for (const piece of changed(from, stat.size, changes)) await writeAll(fd, piece, disk);
        // What was recorded is as old as it was.
        nodeFs.futimesSync(fd, stat.atime, stat.mtime);
        await disk.sync(fd);
      } finally {
        disk.closeSync(fd);
      }
      disk.renameSync(temp, path);
    } catch (error) {
      nodeFs.rmSync(temp, { force: true });
      throw error;
    }
    await syncFolder(dirname(path), disk);
  } catch (error) {
    throw unwritable(path, error);
  } finally {
    if (from !== undefined) nodeFs.closeSync(from);
  }
}

function* changed(fd: number, size: number, changes: readonly LineChange[]): Generator<Uint8Array> {
  let at = 0;
  for (const { offset, end, text } of changes) {
    yield* bytesOf(fd, at, offset);
    yield text;
    at = end;
  }
  yield* bytesOf(fd, at, size);
}

function* bytesOf(fd: number, from: number, to: number): Generator<Uint8Array> {
  for (let at = from; at < to; ) {
    const block = Buffer.allocUnsafe(Math.min(BLOCK_BYTES, to - at));
    const count = nodeFs.readSync(fd, block, 0, block.length, at);
    if (count === 0) throw Object.assign(new Error('it became shorter'), { code: 'EIO' });
    yield block.subarray(0, count);
    at += count;
  }
}

/** Of a folder that cannot be synced the new name is as durable as it can be. */
async function syncFolder(folder: string, disk: Disk): Promise<void> {
  let fd: number | undefined;
  try {
    fd = disk.openSync(folder, 'r');
    await disk.sync(fd);
  } catch (error) {
    if (errnoOf(error) === undefined) throw error;
  } finally {
    if (fd !== undefined) closeQuietly(fd, disk);
  }
}

/** No text is longer than its line was. On the disk when this resolves. */
export async function overwriteLines(
  path: string,
  changes: readonly LineChange[],
  disk: Disk = DISK,
): Promise<void> {
  const { O_WRONLY, O_NOFOLLOW = 0, O_NONBLOCK = 0 } = nodeFs.constants;
  try {
    const fd = disk.openSync(path, O_WRONLY | O_NOFOLLOW | O_NONBLOCK);
    try {
      for (const { offset, end, text } of changes) {
        const line = Buffer.alloc(end - offset, ' ');
        if (text.length > line.length) throw new RangeError('a line that is too long');
        line.set(text);
        writeNow(fd, line, disk, offset);
      }
      await disk.sync(fd);
    } finally {
      closeQuietly(fd, disk);
    }
  } catch (error) {
    throw unwritable(path, error);
  }
}
