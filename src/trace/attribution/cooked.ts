// Output that a terminal changed on the way: with ONLCR each `\n` is `\r\n`. Finds positions in
// such bytes by the length that was written, without walking through all of them.

import { type ChannelBytes, lowerBound } from './channel-bytes.ts';

const BLOCK_BYTES = 256;
const CR = 0x0d;
const LF = 0x0a;

export class CookedBytes {
  readonly #bytes: ChannelBytes;
  /** How many bytes had been written where each block starts. */
  #written: Float64Array | undefined;
  #tail = new Uint8Array();

  constructor(bytes: ChannelBytes) {
    this.#bytes = bytes;
  }

  /** Where something of this length ends that starts at `position`; -1 behind the end. */
  endOf(position: number, length: number): number {
    return this.#positionOf(this.#writtenBefore(position) + length);
  }

  /** Where something of this length starts that ends at `position`; -1 before the start. */
  startOf(position: number, length: number): number {
    return this.#positionOf(this.#writtenBefore(position) - length);
  }

  /** The last `count` bytes that were written before `position`, or fewer; until the next call. */
  tail(position: number, count: number): Uint8Array {
    const from = Math.max(0, position - 2 * count - 1);
    if (this.#tail.length <= 2 * count) this.#tail = new Uint8Array(2 * count + 1);
    const written = this.#tail;
    const length = uncook(this.#bytes.slice(from, position - from), written);
    return written.subarray(Math.max(0, length - count), length);
  }

  #writtenBefore(position: number): number {
    const block = Math.floor(position / BLOCK_BYTES);
    const start = block * BLOCK_BYTES;
    const pairs = countPairs(this.#bytes, start, position);
    return (this.#index()[block] ?? 0) + position - start - pairs;
  }

  #positionOf(written: number): number {
    if (written < 0) return -1;
    const index = this.#index();
    const block = Math.max(0, lowerBound(index, written + 1) - 1);
    let left = written - (index[block] ?? 0);
    const start = block * BLOCK_BYTES;
    const bytes = this.#bytes.slice(start, BLOCK_BYTES + 2);
    let at = 0;
    let before = this.#bytes.byte(start - 1);
    while (left > 0 && at < bytes.length) {
      const byte = bytes[at];
      if (byte !== LF || before !== CR) left -= 1;
      before = byte;
      at += 1;
    }
    if (left > 0) return -1;
    // Not between the two halves of a newline.
    return start + at + (before === CR && bytes[at] === LF ? 1 : 0);
  }

  #index(): Float64Array {
    if (this.#written !== undefined) return this.#written;
    const { length } = this.#bytes;
    const index = new Float64Array(Math.floor(length / BLOCK_BYTES) + 1);
    let written = 0;
    for (let block = 0; block < index.length; block += 1) {
      index[block] = written;
      const start = block * BLOCK_BYTES;
      const end = Math.min(length, start + BLOCK_BYTES);
      written += end - start - countPairs(this.#bytes, start, end);
    }
    this.#written = index;
    return index;
  }
}

/** `\r\n` whose second half is in this stretch, which is within a block. */
function countPairs(bytes: ChannelBytes, from: number, to: number): number {
  const start = Math.max(0, from - 1);
  const slice = bytes.slice(start, to - start);
  const part = Buffer.from(slice.buffer, slice.byteOffset, slice.length);
  let count = 0;
  for (let at = part.indexOf(LF); at >= 0; at = part.indexOf(LF, at + 1)) {
    if (start + at >= from && part[at - 1] === CR) count += 1;
  }
  return count;
}

/** Writes into `written` what became `cooked`, as much as fits; the number of bytes. */
export function uncook(cooked: Uint8Array, written: Uint8Array): number {
  let length = 0;
  for (let at = 0; at < cooked.length && length < written.length; at += 1) {
    const byte = cooked[at] ?? 0;
    if (byte === CR && cooked[at + 1] === LF) continue;
    written[length] = byte;
    length += 1;
  }
  return length;
}
