// The writes to one channel that processes reported, in order of time, in arrays of numbers: there
// may be hundreds of thousands. Those that are not found yet are linked, so that taking one out and
// putting it back costs nothing.

import type { OwnWrite } from '../processes/processes.ts';

const TOOK_MAX = 0xffff_ffff; // longer calls do not say how long they took
const NONE = -1;

export class Writes {
  readonly count: number;
  /** Nanoseconds behind the first: before the call, and behind it. */
  readonly at: Float64Array;
  readonly end: Float64Array;
  readonly length: Uint32Array;
  readonly high: Uint32Array;
  readonly low: Uint32Array;
  readonly process: Uint32Array;
  readonly baseNs: bigint;
  /** The bytes of all before each. */
  readonly bytesBefore: Float64Array;
  readonly #hashed: Uint8Array;
  /** Links of those not found; the last index stands for both ends. */
  readonly #next: Int32Array;
  readonly #before: Int32Array;
  readonly #found: Uint8Array;
  readonly #nextOwn: Int32Array;

  constructor(writes: readonly OwnWrite[]) {
    const sorted = inOrder(writes);
    const { length: count } = sorted;
    this.count = count;
    this.baseNs = sorted[0]?.atNs ?? 0n;
    this.at = new Float64Array(count);
    this.end = new Float64Array(count);
    this.length = new Uint32Array(count);
    this.high = new Uint32Array(count);
    this.low = new Uint32Array(count);
    this.process = new Uint32Array(count);
    this.bytesBefore = new Float64Array(count + 1);
    this.#hashed = new Uint8Array(count);
    this.#found = new Uint8Array(count);
    this.#next = Int32Array.from({ length: count + 1 }, (_, i) => (i === count ? 0 : i + 1));
    this.#before = Int32Array.from({ length: count + 1 }, (_, i) => (i === 0 ? count : i - 1));
    this.#nextOwn = new Int32Array(count).fill(NONE);
    for (const [i, write] of sorted.entries()) this.#set(i, write);
    this.#linkOwn();
  }

  isHashed(write: number): boolean {
    return this.#hashed[write] === 1;
  }

  isFound(write: number): boolean {
    return this.#found[write] === 1;
  }

  /** The first one not found, or `count`. */
  get first(): number {
    return this.#next[this.count] ?? this.count;
  }

  /** The one behind it that is not found, or `count`. */
  next(write: number): number {
    return this.#next[write] ?? this.count;
  }

  /** The one before it that is not found, or `count`. */
  before(write: number): number {
    return this.#before[write] ?? this.count;
  }

  /** The next one of the same process, or -1. */
  nextOwn(write: number): number {
    return this.#nextOwn[write] ?? NONE;
  }

  take(write: number): void {
    const [before, next] = [this.before(write), this.next(write)];
    this.#next[before] = next;
    this.#before[next] = before;
    this.#found[write] = 1;
  }

  /** In the reverse of the order in which they were taken. */
  putBack(write: number): void {
    this.#next[this.before(write)] = write;
    this.#before[this.next(write)] = write;
    this.#found[write] = 0;
  }

  #set(i: number, write: OwnWrite): void {
    this.at[i] = Number(write.atNs - this.baseNs);
    const open = write.tookNs >= TOOK_MAX;
    this.end[i] = open ? Number.POSITIVE_INFINITY : (this.at[i] ?? 0) + write.tookNs;
    this.length[i] = write.length;
    this.process[i] = write.process;
    this.bytesBefore[i + 1] = (this.bytesBefore[i] ?? 0) + write.length;
    if (write.hash === undefined) return;
    this.#hashed[i] = 1;
    this.high[i] = Number(write.hash >> 32n);
    this.low[i] = Number(write.hash & 0xffff_ffffn);
  }

  #linkOwn(): void {
    const last = new Map<number, number>();
    for (let i = this.count - 1; i >= 0; i -= 1) {
      const process = this.process[i] ?? 0;
      this.#nextOwn[i] = last.get(process) ?? NONE;
      last.set(process, i);
    }
  }
}

/** By time, without empty ones, and each once. */
function inOrder(writes: readonly OwnWrite[]): OwnWrite[] {
  const sorted = writes
    .filter(({ length }) => length > 0)
    .sort((a, b) => {
      if (a.atNs !== b.atNs) return a.atNs < b.atNs ? -1 : 1;
      return a.process - b.process || a.tookNs - b.tookNs || a.length - b.length;
    });
  return sorted.filter((write, i) => {
    const before = sorted[i - 1];
    return before === undefined || !isSame(before, write);
  });
}

function isSame(a: OwnWrite, b: OwnWrite): boolean {
  if (a.atNs !== b.atNs || a.process !== b.process || a.tookNs !== b.tookNs) return false;
  return a.length === b.length && a.hash === b.hash;
}
