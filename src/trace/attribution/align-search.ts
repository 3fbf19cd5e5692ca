// Where a channel goes on after bytes that no process reported, or after records whose bytes never
// came: the position that leaves the fewest bytes without a writer and the fewest records without
// bytes. Nearby, every position is tried for the records that may come next; at the start of a line
// or chunk, for all records.

import type { Board, Placed } from './board.ts';
import { Effort } from './effort.ts';
import { endStrength, STRENGTH_MIN, startStrength } from './evidence.ts';
import { HASH_WHOLE_MAX } from './probe.ts';
import { RecordIndex } from './record-index.ts';

const NEAR_BYTES = 32 << 10;
const PART_BYTES = 512;
const PLACE_STEPS = 64; // what looking at a place costs besides its hashes
const AHEAD_MAX = 4096; // records
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
  readonly record: number;
  readonly position: number;
  /** Bytes that would stay without a writer, and records without bytes. */
  readonly cost: number;
  /** No record is given up. */
  readonly sure: boolean;
};

/** What one search is about. */
type Hunt = {
  readonly start: number;
  /** All records that it may be. */
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
  /** Records that were given up. */
  readonly lost: number[] = [];
  readonly #effort: Effort;
  #index: RecordIndex | undefined;
  #places = 0;

  /** As much work as is worth it: everywhere, and then where it is likely. */
  readonly #stepsMax: number;
  readonly #sparseMax: number;

  constructor(board: Board) {
    this.#board = board;
    this.#effort = new Effort(board.probes);
    this.#stepsMax = 200_000_000 + 10 * board.bytes.length;
    this.#sparseMax = 100_000_000 + 5 * board.bytes.length;
  }

  /** Where to go on with tiling, or undefined when nothing more is found. */
  from(position: number): number | undefined {
    this.#effort.begin();
    const end = this.#goOn(position);
    this.#effort.end();
    return end;
  }

  #goOn(position: number): number | undefined {
    const { records } = this.#board;
    while (records.first < records.count && this.#steps() < this.#stepsMax + this.#sparseMax) {
      const hunt = this.#hunt(position);
      this.#find(hunt);
      if (hunt.best !== undefined) return this.#settle(hunt.best, position);
      for (let i = records.first; i < hunt.to; i = records.first) this.#giveUp(i);
    }
    return undefined;
  }

  #steps(): number {
    return this.#effort.steps + this.#places * PLACE_STEPS;
  }

  #hunt(position: number): Hunt {
    const { bytes, records } = this.#board;
    const from = records.first;
    const to = Math.min(records.count, from + AHEAD_MAX);
    const firstMs = Number(records.baseNs / 1_000_000n) + (records.at[from] ?? 0) / 1e6;
    const start = Math.max(position, bytes.positionAt(firstMs - CLOCK_SLACK_MS));
    const isLong = (i: number): boolean => (records.length[i] ?? 0) > HASH_WHOLE_MAX;
    const long: number[] = [];
    for (let i = from; i < to && long.length < LONG_MAX; i = records.next(i)) {
      if (isLong(i) && records.isHashed(i)) long.push(i);
    }
    const may = this.#mayBeNext();
    const next = may.filter((i) => !isLong(i));
    const longNext = may.filter(isLong).slice(0, LONG_NEXT_MAX);
    const lengthMax = Math.max(0, ...next.map((i) => records.length[i] ?? 0));
    return { start, from, to, long, next, longNext, lengthMax, best: undefined };
  }

  /** Short records, which are easily overlooked, are not waited for here. */
  #mayBeNext(): number[] {
    const { records } = this.#board;
    const found: number[] = [];
    let latest = Number.POSITIVE_INFINITY;
    for (let i = records.first; i < records.count; i = records.next(i)) {
      if ((records.at[i] ?? 0) > latest || found.length === NEXT_MAX) break;
      const strong = (records.length[i] ?? 0) >= STRENGTH_MIN;
      if (strong) latest = Math.min(latest, records.end[i] ?? latest);
      if (records.isHashed(i)) found.push(i);
    }
    return found;
  }

  /** Where it is likely; else everywhere near, first for records that are looked up at once. */
  #find(hunt: Hunt): void {
    const { bytes } = this.#board;
    const near = Math.min(bytes.length, hunt.start + NEAR_BYTES);
    const edge = this.#findAtEdges(hunt, hunt.start, near);
    for (let from = hunt.start; from < near && isOpen(hunt, from); from += PART_BYTES) {
      const to = Math.min(near, from + PART_BYTES);
      for (let at = from; at < to; at += 1) this.#lookForNext(at, hunt);
      for (let at = from; at < to && isOpen(hunt, at); at += 1) this.#lookForLong(at, hunt);
      if (this.#steps() > this.#stepsMax) break;
    }
    this.#findAtEdges(hunt, edge, bytes.length);
  }

  #findAtEdges(hunt: Hunt, from: number, to: number): number {
    let at = from;
    while (
      at < to &&
      isOpen(hunt, at) &&
      hunt.best?.sure !== true &&
      this.#steps() < this.#stepsMax + this.#sparseMax
    ) {
      this.#lookForAll(at, hunt);
      at = this.#nextEdge(at);
    }
    return at;
  }

  /** Whether one of the records that may come next starts here. */
  #lookForNext(at: number, hunt: Hunt): void {
    const { probes, records } = this.#board;
    const [probe] = probes;
    this.#places += 1;
    if (probe === undefined) return;
    const available = probe.hashesAt(at, hunt.lengthMax);
    for (const record of hunt.next) {
      const length = records.length[record] ?? 0;
      if (length > available || probe.low(length) !== records.low[record]) continue;
      if (probe.high(length) === records.high[record]) this.#consider(record, at, hunt);
    }
  }

  #lookForLong(at: number, hunt: Hunt): void {
    this.#places += 1;
    for (const record of hunt.longNext) {
      if (this.#board.fitAsBefore(record, at) >= 0) this.#consider(record, at, hunt);
    }
  }

  #lookForAll(at: number, hunt: Hunt): void {
    const { probes, records } = this.#board;
    this.#index ??= new RecordIndex(records);
    this.#places += 1;
    for (const probe of probes) {
      const found = this.#index.matches(probe, at, hunt);
      for (const record of found) {
        const strong = (records.length[record] ?? 0) >= STRENGTH_MIN;
        if (strong || hunt.next.includes(record)) this.#consider(record, at, hunt);
      }
    }
    for (const record of hunt.long) {
      if (this.#board.fitAsBefore(record, at) >= 0) this.#consider(record, at, hunt);
    }
  }

  #consider(record: number, position: number, hunt: Hunt): void {
    const skipped = position - hunt.start;
    const lost = this.#givenUp(record);
    const limit = hunt.best?.cost ?? Number.POSITIVE_INFINITY;
    const back = lost > 0 ? this.#rowBefore(record, position, hunt.start) : 0;
    const cost = skipped + lost - 2 * back;
    if (cost >= limit) return;
    const strong = (this.#board.records.length[record] ?? 0) >= STRENGTH_MIN;
    if (!strong && !this.#chainHolds(record, position)) return;
    hunt.best = { record, position, cost, sure: lost <= back };
  }

  /** The bytes of records that lie one before the other in front of it: they are not given up. */
  #rowBefore(record: number, position: number, from: number): number {
    const { records } = this.#board;
    let start = position;
    for (let i = records.before(record); i < records.count; i = records.before(i)) {
      const at = this.#startBefore(i, start, from);
      if (at === undefined) break;
      start = at;
    }
    return position - start;
  }

  /** Short records count for something only with what follows, or at the ends of chunks. */
  #chainHolds(record: number, at: number): boolean {
    const { bytes, records } = this.#board;
    let strength = startStrength(bytes, at);
    let end = at;
    for (let i = record; i >= 0; i = records.nextOwn(i)) {
      const next = this.#board.fit(i, end);
      if (next < 0) return false;
      strength += next - end;
      end = next;
      if (strength + endStrength(bytes, end) >= STRENGTH_MIN) return true;
    }
    return false;
  }

  /** Bytes of records that were over before this one began, and would stay without a place. */
  #givenUp(record: number): number {
    const { records } = this.#board;
    const began = records.at[record] ?? 0;
    let bytes = 0;
    for (let i = records.first, counted = 0; i < record; i = records.next(i), counted += 1) {
      if (counted > COUNTED_MAX) {
        return bytes + (records.bytesBefore[record] ?? 0) - (records.bytesBefore[i] ?? 0);
      }
      if ((records.end[i] ?? 0) < began) bytes += records.length[i] ?? 0;
    }
    return bytes;
  }

  /** Puts the record there and what fits in front of it, and gives up what cannot come any more. */
  #settle({ record, position }: Anchor, from: number): number {
    const { records } = this.#board;
    const end = this.#board.fit(record, position);
    const began = records.at[record] ?? 0;
    const behind = records.next(record);
    this.#board.place({ record, pieces: [{ from: position, to: end }] });
    for (let start = position; ; ) {
      const before = this.#before(behind, start, from);
      const piece = before?.pieces[0];
      if (before === undefined || piece === undefined) break;
      this.#board.place(before);
      start = piece.from;
    }
    for (let i = records.first; i < record; ) {
      const next = records.next(i);
      if ((records.end[i] ?? 0) < began) this.#giveUp(i);
      i = next;
    }
    return end;
  }

  #giveUp(record: number): void {
    this.lost.push(record);
    this.#board.records.take(record);
  }

  /** A record, in time before `behind`, that may end where the others begin. */
  #before(behind: number, start: number, from: number): Placed | undefined {
    const { records } = this.#board;
    let i = records.before(behind);
    for (let looked = 0; looked < BACK_MAX && i < records.count; looked += 1) {
      const at = this.#startBefore(i, start, from);
      if (at !== undefined) return { record: i, pieces: [{ from: at, to: start }] };
      i = records.before(i);
    }
    return undefined;
  }

  /** Where a record starts that ends at `end`, if it may lie there and not before `from`. */
  #startBefore(record: number, end: number, from: number): number | undefined {
    const length = this.#board.records.length[record] ?? 0;
    for (const probe of end - from < length ? [] : this.#board.probes) {
      const at = probe.startOf(end, length);
      if (at >= from && this.#board.fit(record, at) === end) return at;
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
