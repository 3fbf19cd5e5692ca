// The bytes of one channel in the order in which they came, by position, without the bytes that
// other channels wrote in between. Read in blocks, because a capture may be larger than memory.

import type { Chunk } from '../../types.ts';

/** Bytes of output.bin; fewer where it ends. */
export type ReadBytes = (offset: number, length: number) => Uint8Array;

const BLOCK_BYTES = 1 << 20;
const BLOCKS_KEPT = 4;
const SPAN_BYTES_MAX = 4 << 20; // of the file in one read
const HOLE_BYTES_MAX = 64 << 10; // of other channels that are read along

export class ChannelBytes {
  readonly length: number;
  readonly #chunks: readonly Chunk[];
  readonly #read: ReadBytes;
  /** Where each chunk starts in the channel, and the end. */
  readonly #starts: Float64Array;
  /** The latest time up to each chunk. */
  readonly #times: Float64Array;
  readonly #blocks = new Map<number, Uint8Array>();
  #last: { readonly start: number; readonly bytes: Uint8Array } = {
    start: 0,
    bytes: new Uint8Array(),
  };

  /** `chunks` are those of the channel, in order. */
  constructor(chunks: readonly Chunk[], read: ReadBytes) {
    this.#chunks = chunks;
    this.#read = read;
    this.#starts = new Float64Array(chunks.length + 1);
    this.#times = new Float64Array(chunks.length);
    let time = 0;
    for (const [i, { length, at }] of chunks.entries()) {
      this.#starts[i + 1] = (this.#starts[i] ?? 0) + length;
      time = Math.max(time, at);
      this.#times[i] = time;
    }
    this.length = this.#starts[chunks.length] ?? 0;
  }

  /** At most `length` bytes; good until the next call. */
  slice(position: number, length: number): Uint8Array {
    const end = Math.min(this.length, position + length);
    if (position < 0 || end <= position) return new Uint8Array();
    const { start, bytes } = this.#last;
    if (position >= start && end <= start + bytes.length) {
      return bytes.subarray(position - start, end - start);
    }
    const first = Math.floor(position / BLOCK_BYTES);
    const block = this.#block(first);
    const from = position - first * BLOCK_BYTES;
    if (from + (end - position) <= block.length) return block.subarray(from, from + end - position);
    const joined = new Uint8Array(end - position);
    for (let at = position; at < end; ) {
      const number = Math.floor(at / BLOCK_BYTES);
      const part = this.#block(number).subarray(at - number * BLOCK_BYTES);
      joined.set(part.subarray(0, end - at), at - position);
      at = (number + 1) * BLOCK_BYTES;
    }
    return joined;
  }

  byte(position: number): number | undefined {
    return this.slice(position, 1)[0];
  }

  /** Whether a chunk starts there; one ends where the next one starts. */
  isEdge(position: number): boolean {
    return this.#starts[this.#chunkAt(position)] === position || position === this.length;
  }

  /** The next place behind `position` where a chunk starts. */
  nextEdge(position: number): number {
    return this.#starts[this.#chunkAt(position) + 1] ?? this.length;
  }

  /** When the bytes at a position were read, in epoch milliseconds. */
  timeAt(position: number): number {
    return this.#times[this.#chunkAt(position)] ?? 0;
  }

  /** The first position whose bytes were not read before a time. */
  positionAt(ms: number): number {
    return this.#starts[lowerBound(this.#times, ms)] ?? this.length;
  }

  /** Where a stretch of the channel lies in the file: one or more pieces. */
  *pieces(from: number, to: number): Generator<{ offset: number; length: number }> {
    for (let i = this.#chunkAt(from), at = from; at < to && i < this.#chunks.length; i += 1) {
      const start = this.#starts[i] ?? 0;
      const length = Math.min(to, this.#starts[i + 1] ?? to) - at;
      if (length > 0) yield { offset: (this.#chunks[i]?.offset ?? 0) + at - start, length };
      at += length;
    }
  }

  #chunkAt(position: number): number {
    return lowerBound(this.#starts, position + 1) - 1;
  }

  #block(number: number): Uint8Array {
    let bytes = this.#blocks.get(number);
    if (bytes === undefined) {
      bytes = this.#load(number * BLOCK_BYTES);
      const [oldest] = this.#blocks.keys();
      if (this.#blocks.size >= BLOCKS_KEPT && oldest !== undefined) this.#blocks.delete(oldest);
      this.#blocks.set(number, bytes);
    }
    this.#last = { start: number * BLOCK_BYTES, bytes };
    return bytes;
  }

  #load(start: number): Uint8Array {
    const end = Math.min(this.length, start + BLOCK_BYTES);
    const bytes = new Uint8Array(end - start);
    let at = 0;
    for (const { offset, pieces, length } of spansOf(this.pieces(start, end))) {
      const span = this.#read(offset, length);
      for (const piece of pieces) {
        const from = piece.offset - offset;
        bytes.set(span.subarray(from, from + piece.length), at);
        at += piece.length;
      }
    }
    return bytes;
  }
}

type Piece = { readonly offset: number; readonly length: number };

/** Pieces that lie near each other are read together. */
function* spansOf(pieces: Iterable<Piece>): Generator<Piece & { readonly pieces: Piece[] }> {
  let span: { offset: number; length: number; pieces: Piece[] } | undefined;
  for (const piece of pieces) {
    const end = piece.offset + piece.length;
    const hole = span === undefined ? 0 : piece.offset - span.offset - span.length;
    const near = hole >= 0 && hole <= HOLE_BYTES_MAX;
    if (span !== undefined && near && end - span.offset <= SPAN_BYTES_MAX) {
      span.length = end - span.offset;
      span.pieces.push(piece);
    } else {
      if (span !== undefined) yield span;
      span = { ...piece, pieces: [piece] };
    }
  }
  if (span !== undefined) yield span;
}

/** The first index whose value is at least `value`; `values` ascend. */
export function lowerBound(values: Float64Array | Int32Array, value: number): number {
  let [low, high] = [0, values.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((values[middle] ?? 0) < value) low = middle + 1;
    else high = middle;
  }
  return low;
}
