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
  errno,
  openTemp,
  unwritable,
  writeAll,
  writeNow,
} from './files.ts';
import { type LineSource, lineState, openLines } from './packed/source.ts';

export type LineChange = {
  /** Where the line begins, and where it ends without its `\n`. */
  readonly offset: number;
  readonly end: number;
  /** In its place, without a `\n`. */
  readonly text: Uint8Array;
};

const BLOCK_BYTES = 262_144;

/** How a file that is packed is written anew. */
export type Repack = (path: string, lines: Uint8Array) => Promise<void>;

/** The new file is on the disk when this resolves. Rejects with `journal_unwritable`. */
export async function replaceLines(
  path: string,
  changes: readonly LineChange[],
  { repack, disk = DISK }: { readonly repack: Repack; readonly disk?: Disk | undefined },
): Promise<void> {
  let source: LineSource | undefined;
  try {
    source = openLines(path, { strict: true });
    if (source === undefined) throw errno('ENOENT', 'it is gone');
    const lines = changed(source, changes);
    if (source.stub === undefined) await replaceWith(path, [lines], source.stat, disk);
    else await repack(path, Buffer.concat([...lines]));
  } catch (error) {
    throw unwritable(path, error);
  } finally {
    source?.close();
  }
}

/** These bytes in its place, on the disk when this resolves, and as old as what was there. */
export async function replaceWith(
  path: string,
  parts: readonly Iterable<Uint8Array>[],
  stat: nodeFs.Stats,
  disk: Disk,
): Promise<void> {
  const { fd, temp } = openTemp(path, disk);
  try {
    try {
      for (const part of parts) for (const piece of part) await writeAll(fd, piece, disk);
      nodeFs.futimesSync(fd, stat.atime, stat.mtime);
      await disk.sync(fd);
    } finally {
      disk.closeSync(fd);
    }
    const now = disk.lstatSync(path, { throwIfNoEntry: false });
    const same = now?.ino === stat.ino && now.dev === stat.dev && now.size === stat.size;
    if (!same) throw errno('EBUSY', 'it was changed meanwhile');
    disk.renameSync(temp, path);
  } catch (error) {
    nodeFs.rmSync(temp, { force: true });
    throw error;
  }
  await syncFolder(dirname(path), disk);
}

function* changed(source: LineSource, changes: readonly LineChange[]): Generator<Uint8Array> {
  let at = 0;
  for (const { offset, end, text } of changes) {
    yield* bytesOf(source, at, offset);
    yield text;
    at = end;
  }
  yield* bytesOf(source, at, source.size);
}

function* bytesOf(source: LineSource, from: number, to: number): Generator<Uint8Array> {
  for (let at = from; at < to; ) {
    const block = source.read(at, Math.min(BLOCK_BYTES, to - at));
    if (block.length === 0) throw errno('EIO', 'it became shorter');
    yield block;
    at += block.length;
  }
}

/** A folder that cannot be synced keeps the name as well as it can. `strict`: Linux can sync. */
export async function syncFolder(
  folder: string,
  disk: Disk,
  { strict = false }: { readonly strict?: boolean } = {},
): Promise<void> {
  let fd: number | undefined;
  try {
    fd = disk.openSync(folder, 'r');
    await disk.sync(fd);
  } catch (error) {
    if (errnoOf(error) === undefined || (strict && process.platform === 'linux')) throw error;
  } finally {
    if (fd !== undefined) closeQuietly(fd, disk);
  }
}

/** No text is longer than its line was. On the disk when this resolves. */
export async function overwriteLines(
  path: string,
  changes: readonly LineChange[],
  { repack, disk = DISK }: { readonly repack: Repack; readonly disk?: Disk | undefined },
): Promise<void> {
  if (lineState(path)?.stub !== undefined) return replaceLines(path, changes, { repack, disk });
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
