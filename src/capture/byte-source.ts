// A file of a capture as bytes that are read where they are needed and never as a whole. Its size
// is the one it had when it was opened: what is appended meanwhile belongs to the next reader.
import { closeSync, constants, fstatSync, readSync } from 'node:fs';
import { errnoOf } from '../errors.ts';
import { type LineFormat, readLines } from '../text/line-reader.ts';
import type { Hole } from '../types.ts';
import { openIn } from './paths.ts';

const READ_BYTES = 65_536;

// A run of NULs can be as long as a disk block group. What is kept of it still holds whole records.
const LINE_BYTES_MAX = 1_048_576;

export type ByteSource = {
  readonly size: number;
  /** Last change, epoch milliseconds; 0 when there is no file. */
  readonly changedAt: number;
  /** At most `length` bytes from `position`; fewer only at the end. */
  read(position: number, length: number): Uint8Array;
  close(): void;
};

/** A missing file is an empty one: writers make their files when they have something to say. */
export function openSource(dir: string, name: string): ByteSource {
  const fd = openFile(dir, name);
  return fd === undefined ? EMPTY : sourceOf(fd, () => closeSync(fd));
}

export type KeptFiles = {
  /** As `openSource`, of a file that stays open behind it. */
  open(name: string): ByteSource;
  close(): void;
};

/** For a caller that reads the same growing files again and again. */
export function keepOpen(dir: string): KeptFiles {
  const files = new Map<string, number>();
  return {
    open(name) {
      const fd = files.get(name) ?? openFile(dir, name);
      if (fd === undefined) return EMPTY;
      files.set(name, fd);
      return sourceOf(fd, () => undefined);
    },
    close() {
      for (const fd of files.values()) closeSync(fd);
    },
  };
}

/** For a caller that reads the same files several times: a small one is opened and read once. */
export function readOnce(dir: string, bytesMax: number): KeptFiles {
  const files = new Map<string, ByteSource>();
  return {
    open(name) {
      const source = files.get(name) ?? openSource(dir, name);
      if (files.has(name) || source.size > bytesMax) return source;
      const small = inMemory(source);
      files.set(name, small);
      return small;
    },
    close() {},
  };
}

function inMemory(source: ByteSource): ByteSource {
  const bytes = source.read(0, source.size);
  source.close();
  return {
    size: bytes.length,
    changedAt: source.changedAt,
    read: (position, length) => bytes.subarray(position, position + Math.max(0, length)),
    close() {},
  };
}

function openFile(dir: string, name: string): number | undefined {
  try {
    return openIn(dir, name, constants.O_RDONLY);
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') return undefined;
    throw error;
  }
}

function sourceOf(fd: number, close: () => void): ByteSource {
  const { size, mtimeMs } = fstatSync(fd);
  return {
    size,
    changedAt: mtimeMs,
    read: (position, length) => readAt(fd, position, Math.min(length, size - position)),
    close,
  };
}

/** `[from, to)` in pieces of a handy size. */
export function* pieces(source: ByteSource, from: number, to: number): Generator<Uint8Array> {
  for (let at = from; at < to; ) {
    const piece = source.read(at, Math.min(READ_BYTES, to - at));
    if (piece.length === 0) return;
    yield piece;
    at += piece.length;
  }
}

/** Every intact record of the complete lines behind `from`, which is the start of a line. */
export function* recordsFrom<T>(
  source: ByteSource,
  from: number,
  format: LineFormat<T>,
): Generator<T> {
  let rest: Uint8Array = new Uint8Array();
  for (const piece of pieces(source, from, source.size)) {
    const bytes = rest.length === 0 ? piece : Buffer.concat([rest, piece]);
    const { records, end } = readLines(bytes, format);
    yield* records;
    rest = bytes.subarray(end);
    if (rest.length > LINE_BYTES_MAX) rest = rest.subarray(-READ_BYTES);
  }
}

/** The same bytes for a caller that reads many small pieces one after the other. */
export function readAhead(source: ByteSource): ByteSource {
  let start = 0;
  let window: Uint8Array = new Uint8Array();
  const read = (position: number, length: number): Uint8Array => {
    if (length >= READ_BYTES) return source.read(position, length);
    if (position < start || position + length > start + window.length) {
      start = position;
      window = source.read(position, READ_BYTES);
    }
    return window.subarray(position - start, position - start + length);
  };
  return { ...source, read };
}

/** The same bytes without `[from, to)`, for a caller that must not see the hole. */
export function without(source: ByteSource, { from, to }: Hole): ByteSource {
  const gone = to - from;
  const read = (position: number, length: number): Uint8Array => {
    if (position >= from) return source.read(position + gone, length);
    const before = source.read(position, Math.min(length, from - position));
    if (position + length <= from) return before;
    return Buffer.concat([before, source.read(to, position + length - from)]);
  };
  return { ...source, size: source.size - gone, read };
}

const EMPTY: ByteSource = {
  size: 0,
  changedAt: 0,
  read: () => new Uint8Array(),
  close: () => {},
};

function readAt(fd: number, position: number, length: number): Uint8Array {
  if (length <= 0) return new Uint8Array();
  const bytes = Buffer.allocUnsafe(length);
  let done = 0;
  while (done < length) {
    const count = readSync(fd, bytes, done, length - done, position + done);
    // Another process truncated the file: the rest cannot be read.
    if (count === 0) break;
    done += count;
  }
  return bytes.subarray(0, done);
}
