// Whether a write, of which only length and hash are known, may be what lies at a place. The hash
// is FNV-1a with 64 bits over all of it up to 256 bytes, else over the first and the last 128; in
// two halves, because a BigInt per byte would be a hundred times slower. One pass over the bytes
// answers for every length up to 256.

import type { ChannelBytes } from './channel-bytes.ts';
import { type CookedBytes, uncook } from './cooked.ts';

export const HASH_WHOLE_MAX = 256;
export const HASH_END_BYTES = 128; // of each end of a longer write
const CALL_STEPS = 16; // what asking costs, in bytes hashed
const OFFSET_HIGH = 0xcbf29ce4;
const OFFSET_LOW = 0x84222325;
const PRIME_LOW = 0x1b3; // the prime is 2^40 + this

type Hash = { readonly high: number; readonly low: number };

/** One way of reading the bytes of a channel: as they are, or as they were before the terminal. */
export class Probe {
  readonly #bytes: ChannelBytes;
  readonly #cooked: CookedBytes | undefined;
  readonly #high = new Uint32Array(HASH_WHOLE_MAX + 1);
  readonly #low = new Uint32Array(HASH_WHOLE_MAX + 1);
  readonly #written = new Uint8Array(HASH_WHOLE_MAX);
  #available = 0;
  #done = 0;
  #position = -1;
  /** What the hashes have cost so far, in bytes. */
  steps = 0;

  constructor(bytes: ChannelBytes, cooked: CookedBytes | undefined) {
    this.#bytes = bytes;
    this.#cooked = cooked;
    this.#high[0] = OFFSET_HIGH;
    this.#low[0] = OFFSET_LOW;
  }

  /** Where it ends if it may lie at `position`, else -1. */
  fits(position: number, length: number, high: number, low: number): number {
    this.#move(position);
    this.steps += CALL_STEPS;
    if (length <= HASH_WHOLE_MAX) {
      if (!this.#hashTo(length)) return -1;
      if (this.#low[length] !== low || this.#high[length] !== high) return -1;
      return this.endOf(position, length);
    }
    const end = this.endOf(position, length);
    if (end < 0 || end > this.#bytes.length || !this.#hashTo(HASH_END_BYTES)) return -1;
    const tail = this.#tail(end);
    this.steps += HASH_END_BYTES;
    const state = { high: this.#high[HASH_END_BYTES] ?? 0, low: this.#low[HASH_END_BYTES] ?? 0 };
    const found = continueHash(state, tail);
    return found.low === low && found.high === high ? end : -1;
  }

  /** Makes `high` and `low` know every length from here; how many bytes there are. */
  hashesAt(position: number, lengthMax: number): number {
    this.#move(position);
    const length = Math.min(lengthMax, this.#available);
    this.#hashTo(length);
    return length;
  }

  high(length: number): number {
    return this.#high[length] ?? 0;
  }

  low(length: number): number {
    return this.#low[length] ?? 0;
  }

  endOf(position: number, length: number): number {
    if (this.#cooked === undefined) return position + length;
    if (length > HASH_WHOLE_MAX) {
      this.steps += HASH_END_BYTES; // roughly what finding it costs
      return this.#cooked.endOf(position, length);
    }
    const cooked = this.#bytes.slice(position, 2 * length + 1);
    let at = 0;
    for (let left = length; left > 0; left -= 1) {
      at += cooked[at] === 0x0d && cooked[at + 1] === 0x0a ? 2 : 1;
    }
    return position + at;
  }

  startOf(position: number, length: number): number {
    if (this.#cooked === undefined) return position - length;
    this.steps += HASH_END_BYTES;
    return this.#cooked.startOf(position, length);
  }

  #move(position: number): void {
    if (position === this.#position) return;
    this.#position = position;
    this.#done = 0;
    if (this.#cooked === undefined) {
      this.#available = Math.min(HASH_WHOLE_MAX, this.#bytes.length - position);
    } else {
      this.#available = uncook(this.#bytes.slice(position, 2 * HASH_WHOLE_MAX + 1), this.#written);
    }
  }

  #tail(end: number): Uint8Array {
    if (this.#cooked !== undefined) return this.#cooked.tail(end, HASH_END_BYTES);
    return this.#bytes.slice(end - HASH_END_BYTES, HASH_END_BYTES);
  }

  #hashTo(length: number): boolean {
    if (length > this.#available) return false;
    if (length <= this.#done) return true;
    const [highs, lows, from] = [this.#high, this.#low, this.#done];
    const bytes = this.#cooked
      ? this.#written.subarray(from, length)
      : this.#bytes.slice(this.#position + from, length - from);
    let [high, low] = [(highs[from] ?? 0) | 0, (lows[from] ?? 0) | 0];
    for (let i = 0; i < bytes.length; i += 1) {
      low ^= bytes[i] ?? 0;
      const small = (low & 0xffff) * PRIME_LOW;
      const large = (low >>> 16) * PRIME_LOW + (small >>> 16);
      high = (Math.imul(high, PRIME_LOW) + (large >>> 16) + (low << 8)) | 0;
      low = (large << 16) | (small & 0xffff);
      highs[from + i + 1] = high;
      lows[from + i + 1] = low;
    }
    this.steps += bytes.length;
    this.#done = length;
    return true;
  }
}

/** The hash of a write whose bytes are all here. */
export function hashOf(bytes: Uint8Array): Hash {
  const start = { high: OFFSET_HIGH, low: OFFSET_LOW };
  if (bytes.length <= HASH_WHOLE_MAX) return continueHash(start, bytes);
  const first = continueHash(start, bytes.subarray(0, HASH_END_BYTES));
  return continueHash(first, bytes.subarray(bytes.length - HASH_END_BYTES));
}

function continueHash(state: Hash, bytes: Uint8Array): Hash {
  let [high, low] = [state.high | 0, state.low | 0];
  for (let i = 0; i < bytes.length; i += 1) {
    low ^= bytes[i] ?? 0;
    // In halves of 16 bits nothing leaves the integers that the engine is quick with.
    const small = (low & 0xffff) * PRIME_LOW;
    const large = (low >>> 16) * PRIME_LOW + (small >>> 16);
    high = (Math.imul(high, PRIME_LOW) + (large >>> 16) + (low << 8)) | 0;
    low = (large << 16) | (small & 0xffff);
  }
  return { high: high >>> 0, low: low >>> 0 };
}
