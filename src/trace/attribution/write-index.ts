// Finds, among all writes, those whose bytes may lie at a position: by length and hash, to find
// where a stream goes on after bytes that no process reported.

import { HASH_WHOLE_MAX, type Probe } from './probe.ts';
import type { Writes } from './writes.ts';

const FILTER_BITS = 20;
const NONE = -1;

export class WriteIndex {
  readonly #writes: Writes;
  /** Which lengths there are, up to those that are hashed as a whole. */
  readonly #lengths = new Uint8Array(HASH_WHOLE_MAX + 1);
  readonly #filter = new Uint8Array(1 << (FILTER_BITS - 3));
  readonly #first = new Map<number, number>();
  readonly #same: Int32Array;
  readonly lengthMax: number;

  constructor(writes: Writes) {
    this.#writes = writes;
    this.#same = new Int32Array(writes.count).fill(NONE);
    let lengthMax = 0;
    for (let i = writes.count - 1; i >= 0; i -= 1) {
      const length = writes.length[i] ?? 0;
      if (length > HASH_WHOLE_MAX || !writes.isHashed(i)) continue;
      lengthMax = Math.max(lengthMax, length);
      this.#lengths[length] = 1;
      const [high, low] = [writes.high[i] ?? 0, writes.low[i] ?? 0];
      const key = keyOf(high, low);
      this.#same[i] = this.#first.get(key) ?? NONE;
      this.#first.set(key, i);
      const bit = bitOf(high, low);
      this.#filter[bit >> 3] = (this.#filter[bit >> 3] ?? 0) | (1 << (bit & 7));
    }
    this.lengthMax = lengthMax;
  }

  /** Writes that fit, each the first of those that are alike and not found, up to `to`. */
  matches(
    probe: Probe,
    position: number,
    { from, to }: { readonly from: number; readonly to: number },
  ): number[] {
    const found: number[] = [];
    const available = probe.hashesAt(position, this.lengthMax);
    for (let length = 1; length <= available; length += 1) {
      if (this.#lengths[length] === 0) continue;
      const [high, low] = [probe.high(length), probe.low(length)];
      const bit = bitOf(high, low);
      if (((this.#filter[bit >> 3] ?? 0) & (1 << (bit & 7))) === 0) continue;
      const write = this.#firstOf(keyOf(high, low), from, to);
      if (write !== undefined && this.#writes.length[write] === length) found.push(write);
    }
    return found;
  }

  /** Drops from the front of the list the writes behind us: no later search asks for them. */
  #firstOf(key: number, from: number, to: number): number | undefined {
    let write = this.#first.get(key) ?? NONE;
    let passed = false;
    while (write !== NONE && write < from) {
      write = this.#same[write] ?? NONE;
      passed = true;
    }
    if (passed) this.#first.set(key, write);
    while (write !== NONE && this.#writes.isFound(write)) write = this.#same[write] ?? NONE;
    return write !== NONE && write < to ? write : undefined;
  }
}

function keyOf(high: number, low: number): number {
  return (high & 0x1f_ffff) * 2 ** 32 + low;
}

function bitOf(high: number, low: number): number {
  return (low ^ high) >>> (32 - FILTER_BITS);
}
