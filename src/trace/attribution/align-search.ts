// Where a channel goes on after bytes that no process reported, or after writes whose bytes never
// came: the position that leaves the fewest bytes without a writer and the fewest writes without
// bytes. Nearby, every position is tried for the writes that may come next; at the start of a line
// or chunk, for all writes.

import type { Board, Placement } from './board.ts';
import { Effort } from './effort.ts';
import { edgeStrength, STRENGTH_MIN } from './evidence.ts';
import { HASH_WHOLE_MAX } from './probe.ts';
import { WriteIndex } from './write-index.ts';

const NEAR_BYTES = 32 << 10;
const PART_BYTES = 512;
const POSITION_STEPS = 64; // what looking at a position costs besides its hashes
const EVERYWHERE_MAX = 2; // searches' worth of work at every position
const SPARSE_MAX = 3; // and one more where a write is likely
const AHEAD_MAX = 4096; // writes
const NEXT_MAX = 32;
const LONG_NEXT_MAX = 2;
const LONG_MAX = 8;
const BACK_MAX = 16;
const COUNTED_MAX = 256;
// Clocks may be set while a run goes on, and an index line may be older than its last byte.
const CLOCK_SLACK_MS = 2000;
const NEWLINE = 0x0a;
const LINE_BYTES = 4096;

type Anchor = {
  readonly write: number;
  readonly position: number;
  /** Bytes that would stay without a writer, and writes without bytes. */
  readonly cost: number;
  /** No write is given up. */
  readonly sure: boolean;
};

/** The subject of one search. */
type Hunt = {
  readonly start: number;
  /** All writes that it may be. */
  readonly from: number;
  readonly to: number;
  readonly long: readonly number[];
  /** Those that may come next. */
  readonly next: readonly number[];
  readonly longNext: readonly number[];
  readonly lengthMax: number;
  best: Anchor | undefined;
};

export class AnchorSearch {
  readonly #board: Board;
  /** Writes that were given up. */
  readonly lost: number[] = [];
  readonly #effort: Effort;
  #index: WriteIndex | undefined;
  #positions = 0;

  constructor(board: Board) {
    this.#board = board;
    this.#effort = new Effort(board);
  }

  /** Where to go on with tiling, or undefined when nothing more is found. */
  from(position: number): number | undefined {
    return this.#effort.measure(() => this.#goOn(position));
  }

  #goOn(position: number): number | undefined {
    const { writes } = this.#board;
    while (writes.first < writes.count && this.#spent() < SPARSE_MAX) {
      const hunt = this.#hunt(position);
      this.#find(hunt);
      if (hunt.best !== undefined) return this.#settle(hunt.best, position);
      for (let i = writes.first; i < hunt.to; i = writes.first) this.#giveUp(i);
    }
    return undefined;
  }

  /** In parts of what one search is worth. */
  #spent(): number {
    return (this.#effort.steps + this.#positions * POSITION_STEPS) / this.#effort.stepsMax;
  }

  #hunt(position: number): Hunt {
    const { bytes, writes } = this.#board;
    const from = writes.first;
    const to = Math.min(writes.count, from + AHEAD_MAX);
    const firstMs = Number(writes.baseNs / 1_000_000n) + (writes.at[from] ?? 0) / 1e6;
    const start = Math.max(position, bytes.positionAt(firstMs - CLOCK_SLACK_MS));
    const isLong = (i: number): boolean => (writes.length[i] ?? 0) > HASH_WHOLE_MAX;
    const long: number[] = [];
    for (let i = from; i < to && long.length < LONG_MAX; i = writes.next(i)) {
      if (isLong(i) && writes.isHashed(i)) long.push(i);
    }
    const may = this.#mayBeNext();
    const next = may.filter((i) => !isLong(i));
    const longNext = may.filter(isLong).slice(0, LONG_NEXT_MAX);
    const lengthMax = Math.max(0, ...next.map((i) => writes.length[i] ?? 0));
    return { start, from, to, long, next, longNext, lengthMax, best: undefined };
  }

  /** Short writes, which are easily overlooked, are not waited for here. */
  #mayBeNext(): number[] {
    const { writes } = this.#board;
    const found: number[] = [];
    let latest = Number.POSITIVE_INFINITY;
    for (let i = writes.first; i < writes.count; i = writes.next(i)) {
      if ((writes.at[i] ?? 0) > latest || found.length === NEXT_MAX) break;
      const strong = (writes.length[i] ?? 0) >= STRENGTH_MIN;
      if (strong) latest = Math.min(latest, writes.end[i] ?? latest);
      if (writes.isHashed(i)) found.push(i);
    }
    return found;
  }

  /** Where it is likely; else everywhere near, first for writes that are looked up at once. */
  #find(hunt: Hunt): void {
    const { bytes } = this.#board;
    const near = Math.min(bytes.length, hunt.start + NEAR_BYTES);
    const edge = this.#findAtEdges(hunt, hunt.start, near);
    for (let from = hunt.start; from < near && isOpen(hunt, from); from += PART_BYTES) {
      const to = Math.min(near, from + PART_BYTES);
      for (let at = from; at < to; at += 1) this.#lookForNext(at, hunt);
      for (let at = from; at < to && isOpen(hunt, at); at += 1) this.#lookForLong(at, hunt);
      if (this.#spent() > EVERYWHERE_MAX) break;
    }
    this.#findAtEdges(hunt, edge, bytes.length);
  }

  #findAtEdges(hunt: Hunt, from: number, to: number): number {
    let at = from;
    while (at < to && isOpen(hunt, at) && hunt.best?.sure !== true && this.#spent() < SPARSE_MAX) {
      this.#lookForAll(at, hunt);
      at = this.#nextEdge(at);
    }
    return at;
  }

  /** Whether one of the writes that may come next starts here. */
  #lookForNext(at: number, hunt: Hunt): void {
    const { probes, writes } = this.#board;
    const [probe] = probes;
    this.#positions += 1;
    if (probe === undefined) return;
    const available = probe.hashesAt(at, hunt.lengthMax);
    for (const write of hunt.next) {
      const length = writes.length[write] ?? 0;
      if (length > available || probe.low(length) !== writes.low[write]) continue;
      if (probe.high(length) === writes.high[write]) this.#consider(write, at, hunt);
    }
  }

  #lookForLong(at: number, hunt: Hunt): void {
    this.#positions += 1;
    for (const write of hunt.longNext) {
      if (this.#board.fitAsBefore(write, at) >= 0) this.#consider(write, at, hunt);
    }
  }

  #lookForAll(at: number, hunt: Hunt): void {
    const { probes, writes } = this.#board;
    this.#index ??= new WriteIndex(writes);
    this.#positions += 1;
    for (const probe of probes) {
      const found = this.#index.matches(probe, at, hunt);
      for (const write of found) {
        const strong = (writes.length[write] ?? 0) >= STRENGTH_MIN;
        if (strong || hunt.next.includes(write)) this.#consider(write, at, hunt);
      }
    }
    for (const write of hunt.long) {
      if (this.#board.fitAsBefore(write, at) >= 0) this.#consider(write, at, hunt);
    }
  }

  #consider(write: number, position: number, hunt: Hunt): void {
    const skipped = position - hunt.start;
    const lost = this.#givenUp(write);
    const limit = hunt.best?.cost ?? Number.POSITIVE_INFINITY;
    const back = lost > 0 ? this.#rowBefore(write, position, hunt.start) : 0;
    const cost = skipped + lost - 2 * back;
    if (cost >= limit) return;
    const strong = (this.#board.writes.length[write] ?? 0) >= STRENGTH_MIN;
    if (!strong && !this.#chainHolds(write, position)) return;
    hunt.best = { write, position, cost, sure: lost <= back };
  }

  /** The bytes of writes that lie one before the other in front of it: they are not given up. */
  #rowBefore(write: number, position: number, from: number): number {
    const { writes } = this.#board;
    let start = position;
    for (let i = writes.before(write); i < writes.count; i = writes.before(i)) {
      const at = this.#startBefore(i, start, from);
      if (at === undefined) break;
      start = at;
    }
    return position - start;
  }

  /** Short writes count for something only with what follows, or at the ends of chunks. */
  #chainHolds(write: number, at: number): boolean {
    const { bytes, writes } = this.#board;
    let strength = edgeStrength(bytes, at);
    let end = at;
    for (let i = write; i >= 0; i = writes.nextOwn(i)) {
      const next = this.#board.fit(i, end);
      if (next < 0) return false;
      strength += next - end;
      end = next;
      if (strength + edgeStrength(bytes, end) >= STRENGTH_MIN) return true;
    }
    return false;
  }

  /** Bytes of writes that were over before this one began, and would stay without a place. */
  #givenUp(write: number): number {
    const { writes } = this.#board;
    const began = writes.at[write] ?? 0;
    let bytes = 0;
    for (let i = writes.first, counted = 0; i < write; i = writes.next(i), counted += 1) {
      if (counted > COUNTED_MAX) {
        return bytes + (writes.bytesBefore[write] ?? 0) - (writes.bytesBefore[i] ?? 0);
      }
      if ((writes.end[i] ?? 0) < began) bytes += writes.length[i] ?? 0;
    }
    return bytes;
  }

  /** Puts the write there and what fits in front of it, and gives up what cannot come any more. */
  #settle({ write, position }: Anchor, from: number): number {
    const { writes } = this.#board;
    const end = this.#board.fit(write, position);
    const began = writes.at[write] ?? 0;
    const behind = writes.next(write);
    this.#board.place({ write, pieces: [{ from: position, to: end }] });
    for (let start = position; ; ) {
      const before = this.#before(behind, start, from);
      const piece = before?.pieces[0];
      if (before === undefined || piece === undefined) break;
      this.#board.place(before);
      start = piece.from;
    }
    for (let i = writes.first; i < write; ) {
      const next = writes.next(i);
      if ((writes.end[i] ?? 0) < began) this.#giveUp(i);
      i = next;
    }
    return end;
  }

  #giveUp(write: number): void {
    this.lost.push(write);
    this.#board.writes.take(write);
  }

  /** A write, in time before `behind`, that may end where the others begin. */
  #before(behind: number, start: number, from: number): Placement | undefined {
    const { writes } = this.#board;
    let i = writes.before(behind);
    for (let looked = 0; looked < BACK_MAX && i < writes.count; looked += 1) {
      const at = this.#startBefore(i, start, from);
      if (at !== undefined) return { write: i, pieces: [{ from: at, to: start }] };
      i = writes.before(i);
    }
    return undefined;
  }

  /** Where a write starts that ends at `end`, if it may lie there and not before `from`. */
  #startBefore(write: number, end: number, from: number): number | undefined {
    const length = this.#board.writes.length[write] ?? 0;
    for (const probe of end - from < length ? [] : this.#board.probes) {
      const at = probe.startOf(end, length);
      if (at >= from && this.#board.fit(write, at) === end) return at;
    }
    return undefined;
  }

  /** The next place where a line or a chunk starts. */
  #nextEdge(at: number): number {
    const { bytes } = this.#board;
    const edge = Math.max(bytes.nextEdge(at), at + 1);
    for (let from = at; from < edge; from += LINE_BYTES) {
      const newline = bytes.slice(from, Math.min(LINE_BYTES, edge - from)).indexOf(NEWLINE);
      if (newline >= 0) return from + newline + 1;
    }
    return edge;
  }
}

/** Whether something better may be found there. */
function isOpen({ best, start }: Hunt, at: number): boolean {
  return best === undefined || (!best.sure && at - start < best.cost);
}
