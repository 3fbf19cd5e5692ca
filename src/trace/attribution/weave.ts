// Long writes that got between each other on a pipe. A write of more than PIPE_BUF bytes waits
// while the pipe is full, and others come in between. Once all are found, length and hash of each
// say where it starts and ends; between those, whole writes of others are known by their hash, and
// the rest belongs to the open one. If two are open at once, a page could be from either: those
// bytes stay without a writer.

import type { Board, Placement, Stretch } from './board.ts';
import { Effort } from './effort.ts';
import { STRENGTH_MIN } from './evidence.ts';
import { HASH_END_BYTES, hashOf } from './probe.ts';

const PAGE_BYTES = 4096; // how a pipe is filled; also PIPE_BUF, up to which writes stay whole
const NODES_MAX = 200;
const LONG_MAX = 8;
const OPEN_MAX = 4;
const ROW_MAX = 2; // pieces in a row that nothing confirms at once

/** A write of which some pieces are there; `alone`: nothing else was open with it. */
type Open = {
  readonly write: number;
  readonly pieces: (Stretch & { readonly alone: boolean })[];
  left: number;
};

export class Weave {
  readonly #board: Board;
  readonly #effort: Effort;
  #open: Open[] = [];
  #done: Placement[] = [];
  /** How to take everything back, the last first. */
  readonly #undo: (() => void)[] = [];
  #nodes = 0;

  constructor(board: Board) {
    this.#board = board;
    this.#effort = new Effort(board);
  }

  /** Places everything up to where all that is open has ended; undefined if that does not fit. */
  from(position: number): number | undefined {
    return this.#effort.measure(() => this.#explain(position));
  }

  #explain(position: number): number | undefined {
    for (let row = 1; row <= ROW_MAX; row += 1) {
      this.#nodes = 0;
      this.#done = [];
      this.#open = [];
      const end = this.#try(position, row, row);
      if (end === undefined) continue;
      const done = this.#done;
      this.#takeBack(0);
      for (const placed of done) this.#board.place(placed);
      this.#done = [];
      return end;
    }
    return undefined;
  }

  /** Goes on from where everything before is explained. */
  #go(position: number, row: number): number | undefined {
    const mark = this.#undo.length;
    const at = this.#certain(position);
    if (this.#open.length === 0) return at;
    const end = this.#try(at, row, row);
    if (end === undefined) this.#takeBack(mark);
    return end;
  }

  /** Tries every piece that may lie here, up to what is certain. */
  #try(at: number, left: number, row: number): number | undefined {
    this.#nodes += 1;
    if (this.#nodes > NODES_MAX || this.#effort.isSpent) return undefined;
    for (const { length, take } of this.#piecesAt(at, left === row)) {
      const mark = this.#undo.length;
      take();
      const end = this.#behind(at + length, left, row);
      if (end !== undefined) return end;
      this.#takeBack(mark);
    }
    return undefined;
  }

  /** More of a write that is open, if one may go on here, or the first piece of another. */
  *#piecesAt(at: number, goesOn: boolean): Generator<{ length: number; take: () => void }> {
    for (const open of goesOn ? [...this.#open] : []) {
      for (let length = PAGE_BYTES; length < open.left; length += PAGE_BYTES) {
        yield { length, take: () => this.#extend(open, at, length) };
      }
    }
    if (this.#open.length === OPEN_MAX) return;
    for (const write of this.#longOnes()) {
      for (const length of firstPieces(this.#board.writes.length[write] ?? 0)) {
        yield { length, take: () => this.#start(write, at, length) };
      }
    }
  }

  #behind(at: number, left: number, row: number): number | undefined {
    if (at >= this.#board.bytes.length) return undefined;
    if (this.#isCertain(at)) return this.#go(at, row);
    return left > 1 ? this.#try(at, left - 1, row) : undefined;
  }

  /** Writes that may begin now and need not stay whole. */
  #longOnes(): number[] {
    const { writes } = this.#board;
    return this.#candidates()
      .filter((i) => (writes.length[i] ?? 0) > PAGE_BYTES && writes.isHashed(i))
      .slice(0, LONG_MAX);
  }

  /** Nothing that began when something open was already over. */
  #candidates(): number[] {
    const { end } = this.#board.writes;
    return this.#board.candidates(Math.min(...this.#open.map(({ write }) => end[write] ?? 0)));
  }

  #isCertain(at: number): boolean {
    return this.#whole(at) !== undefined || this.#open.some((open) => this.#ends(open, at));
  }

  /** Takes whole writes and ends of open ones, as long as there are any. */
  #certain(position: number): number {
    for (let at = position; ; ) {
      const write = this.#whole(at);
      const open = write === undefined ? this.#open.find((one) => this.#ends(one, at)) : undefined;
      if (write === undefined && open === undefined) return at;
      if (write !== undefined) {
        const to = this.#board.fit(write, at);
        this.#take(write);
        this.#finish({ write, pieces: [{ from: at, to }] });
        at = to;
      } else if (open !== undefined) {
        at = this.#close(open, at);
      }
      if (this.#open.length === 0) return at;
    }
  }

  #whole(at: number): number | undefined {
    const { length } = this.#board.writes;
    return this.#candidates().find(
      (i) => (length[i] ?? 0) >= STRENGTH_MIN && this.#board.fit(i, at) >= 0,
    );
  }

  /** Whether the rest of a write, from here on, has the end of it. */
  #ends({ write, pieces, left }: Open, at: number): boolean {
    const { bytes, writes } = this.#board;
    const all = [...pieces, { from: at, to: at + left }];
    if (at + left > bytes.length) return false;
    const first = gather(all, (piece, count) => bytes.slice(piece.from, count));
    const last = gather(all.reverse(), (piece, count) => bytes.slice(piece.to - count, count));
    const { high, low } = hashOf(Buffer.concat([...first, ...last.reverse()]));
    return writes.high[write] === high && writes.low[write] === low;
  }

  #start(write: number, from: number, length: number): void {
    this.#take(write);
    const whole = this.#board.writes.length[write] ?? 0;
    const open: Open = { write, pieces: [], left: whole };
    this.#open.push(open);
    this.#undo.push(() => this.#open.pop());
    this.#extend(open, from, length);
  }

  #extend(open: Open, from: number, length: number): void {
    open.pieces.push({ from, to: from + length, alone: this.#open.length === 1 });
    open.left -= length;
    this.#undo.push(() => {
      open.pieces.pop();
      open.left += length;
    });
  }

  #close(open: Open, at: number): number {
    const place = this.#open.indexOf(open);
    const to = at + open.left;
    const last = { from: at, to, alone: this.#open.length === 1 };
    const pieces = [...open.pieces, last].filter(({ alone }) => alone);
    this.#open.splice(place, 1);
    this.#undo.push(() => this.#open.splice(place, 0, open));
    this.#finish({ write: open.write, pieces });
    return to;
  }

  #take(write: number): void {
    this.#board.writes.take(write);
    this.#undo.push(() => this.#board.writes.putBack(write));
  }

  #finish(placed: Placement): void {
    this.#done = [...this.#done, placed];
    this.#undo.push(() => {
      this.#done = this.#done.slice(0, -1);
    });
  }

  #takeBack(mark: number): void {
    while (this.#undo.length > mark) this.#undo.pop()?.();
  }
}

/** A piece that does not fill a page may have been appended to the page of another writer first. */
function* firstPieces(whole: number): Generator<number> {
  const odd = whole % PAGE_BYTES;
  for (let full = 0; full < whole; full += PAGE_BYTES) {
    if (full > 0) yield full;
    if (odd > 0 && full + odd < whole) yield full + odd;
  }
}

/** As many bytes of the pieces as the hash has of each end. */
function gather(
  pieces: readonly Stretch[],
  slice: (piece: Stretch, count: number) => Uint8Array,
): Uint8Array[] {
  const found: Uint8Array[] = [];
  let missing = HASH_END_BYTES;
  for (const piece of pieces) {
    if (missing === 0) break;
    const part = slice(piece, Math.min(missing, piece.to - piece.from));
    found.push(part);
    missing -= part.length;
  }
  return found;
}
