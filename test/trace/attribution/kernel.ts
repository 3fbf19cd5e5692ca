// Writers, a pipe or a terminal, and a reader, as a kernel would interleave them: what was
// captured, what the writers would say about it, and the truth about every byte.
import type { WriteRecord } from '../../../src/trace/decode/format.ts';
import type { Channel, Chunk } from '../../../src/types.ts';
import { fnv64, HEADER } from '../encode.ts';

/** `told: false` is a program without a shim. */
export type Writer = { readonly told: boolean; readonly writes: readonly Uint8Array[] };

export type Captured = {
  readonly output: Uint8Array;
  readonly chunks: readonly Chunk[];
  readonly writes: readonly (WriteRecord & { readonly process: number })[];
  /** The writer of each byte. */
  readonly truth: Int32Array;
};

export type Random = (below: number) => number;

const PAGE = 4096;
const PAGES = 16;
const TTY_BYTES = 4096;

type State = {
  readonly id: number;
  readonly writer: Writer;
  next: number;
  /** What is left of the write that goes on. */
  left: Uint8Array | undefined;
  atNs: bigint;
};

/** `busy`: how many steps of writers there are for one of the reader. */
export class Kernel {
  readonly #random: Random;
  readonly #terminal: boolean;
  readonly #states: State[];
  readonly #out: number[] = [];
  readonly #truth: number[] = [];
  readonly #chunks: Chunk[] = [];
  readonly #writes: (WriteRecord & { readonly process: number })[] = [];
  /** What nobody has read: bytes and who wrote them. */
  #pages: { bytes: number[]; from: number[] }[] = [];
  #nowNs = HEADER.startedNs;
  #chunkFrom = 0;
  #chunkNs = HEADER.startedNs;
  #holder: State | undefined;
  #cooked = true;

  constructor(writers: readonly Writer[], terminal: boolean, random: Random) {
    this.#random = random;
    this.#terminal = terminal;
    this.#states = writers.map((writer, id) => ({
      id,
      writer,
      next: 0,
      left: undefined,
      atNs: 0n,
    }));
  }

  run(options: { readonly busy: number; readonly rawShare: number }): Captured {
    while (this.#pages.length > 0 || this.#states.some((state) => !isDone(state))) {
      this.#nowNs += BigInt(1 + this.#random(20_000));
      const waiting = this.#states.filter((state) => !isDone(state));
      const state = waiting[this.#random(waiting.length)];
      if (state !== undefined && this.#random(options.busy + 1) > 0) {
        if (this.#holder === undefined) this.#cooked = this.#random(100) >= options.rawShare;
        this.#write(state);
      } else this.#readSome();
    }
    this.#endChunk();
    return {
      output: Uint8Array.from(this.#out),
      chunks: this.#chunks,
      writes: this.#writes,
      truth: Int32Array.from(this.#truth),
    };
  }

  #write(state: State): void {
    // A terminal takes one at a time.
    if (this.#holder !== undefined && this.#holder !== state) return;
    const bytes = state.writer.writes[state.next];
    if (bytes === undefined) return;
    if (state.left === undefined) {
      state.left = bytes;
      state.atNs = this.#nowNs;
    }
    const left = this.#terminal ? this.#toTerminal(state, state.left) : this.#toPipe(state, bytes);
    state.left = left;
    this.#holder = this.#terminal && left.length > 0 ? state : undefined;
    if (left.length > 0) return;
    state.left = undefined;
    state.next += 1;
    this.#nowNs += BigInt(1 + this.#random(2000));
    if (!state.writer.told) return;
    const stream: Channel = this.#terminal ? 'pty' : 'stdout';
    const tookNs = Number(this.#nowNs - state.atNs);
    const { length } = bytes;
    this.#writes.push({
      atNs: state.atNs,
      tookNs,
      stream,
      length,
      hash: fnv64(bytes),
      process: state.id,
    });
    this.#nowNs += 1n;
  }

  /** As pipe_write does: what does not fill a page first, behind the last bytes if that fits. */
  #toPipe(state: State, whole: Uint8Array): Uint8Array {
    let left = state.left ?? whole;
    const odd = whole.length % PAGE;
    const last = this.#pages.at(-1);
    if (left === whole && odd > 0 && last !== undefined && last.bytes.length + odd <= PAGE) {
      this.#add(last, left.subarray(0, odd), state.id);
      left = left.subarray(odd);
    }
    while (left.length > 0 && this.#pages.length < PAGES) {
      const page = { bytes: [], from: [] };
      this.#add(page, left.subarray(0, PAGE), state.id);
      this.#pages.push(page);
      left = left.subarray(PAGE);
    }
    return left;
  }

  #toTerminal(state: State, left: Uint8Array): Uint8Array {
    let held = this.#pages.reduce((sum, { bytes }) => sum + bytes.length, 0);
    const page = { bytes: [] as number[], from: [] as number[] };
    let taken = 0;
    while (taken < left.length && held + 2 <= TTY_BYTES) {
      const byte = left[taken] ?? 0;
      const shown = byte === 0x0a && this.#cooked ? [0x0d, 0x0a] : [byte];
      for (const one of shown) {
        page.bytes.push(one);
        page.from.push(state.id);
      }
      held += shown.length;
      taken += 1;
    }
    if (page.bytes.length > 0) this.#pages.push(page);
    return left.subarray(taken);
  }

  #add(page: { bytes: number[]; from: number[] }, bytes: Uint8Array, id: number): void {
    for (const byte of bytes) {
      page.bytes.push(byte);
      page.from.push(id);
    }
  }

  #readSome(): void {
    const count = this.#random(this.#pages.length + 1);
    const pages = this.#pages.splice(0, count);
    if (pages.length === 0) {
      if (this.#random(3) === 0) this.#endChunk();
      return;
    }
    if (this.#chunkFrom === this.#out.length) this.#chunkNs = this.#nowNs;
    for (const { bytes, from } of pages) {
      for (const byte of bytes) this.#out.push(byte);
      for (const id of from) this.#truth.push(id);
    }
    if (this.#out.length - this.#chunkFrom > 65_536 || this.#random(4) === 0) this.#endChunk();
  }

  #endChunk(): void {
    const length = this.#out.length - this.#chunkFrom;
    if (length === 0) return;
    const at = Number(this.#chunkNs / 1_000_000n);
    const channel: Channel = this.#terminal ? 'pty' : 'stdout';
    this.#chunks.push({ offset: this.#chunkFrom, length, channel, at, lines: 0 });
    this.#chunkFrom = this.#out.length;
  }
}

function isDone({ next, writer }: State): boolean {
  return next >= writer.writes.length;
}

/** Numbers that look random and are the same for the same seed. */
export function randomFrom(seed: number): Random {
  let state = seed >>> 0 || 1;
  return (below) => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return (state >>> 0) % below;
  };
}
