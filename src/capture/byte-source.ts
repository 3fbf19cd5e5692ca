// Readers of the bytes of a capture's file.
import { type ByteSource, pieces } from '../bgzf/bytes.ts';
import { type LineFormat, readLines } from '../text/line-reader.ts';
import type { Hole } from '../types.ts';

export { type ByteSource, pieces };

const READ_BYTES = 65_536;

// A run of NULs can be as long as a disk block group. What is kept of it still holds whole records.
const LINE_BYTES_MAX = 1_048_576;

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
