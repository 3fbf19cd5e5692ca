// A file as bytes that are read where they are needed and never as a whole. Its size is the one it
// had when it was opened: what is appended meanwhile belongs to the next reader.

const READ_BYTES = 65_536;

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

/** Both have the same bytes. */
export function isSame(one: ByteSource, other: ByteSource): boolean {
  if (one.size !== other.size) return false;
  let at = 0;
  for (const bytes of pieces(other, 0, other.size)) {
    if (Buffer.compare(one.read(at, bytes.length), bytes) !== 0) return false;
    at += bytes.length;
  }
  return at === one.size;
}
