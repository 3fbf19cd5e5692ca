// A file of a capture as bytes that are read where they are needed and never as a whole. Its size
// is the one it had when it was opened: what is appended meanwhile belongs to the next reader.
import { type LineFormat, readLines } from '../text/line-reader.ts';
import type { Hole } from '../types.ts';

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
