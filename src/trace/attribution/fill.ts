// Records that were given up when the search went on behind them: they may lie in a hole that was
// skipped, between bytes that no process reported. Only those that fit by time are looked for, and
// only matches that cannot be chance are believed.

import type { Board, Placed } from './board.ts';
import { Effort } from './effort.ts';
import { STRENGTH_MIN } from './evidence.ts';

const AROUND = 64; // records before and behind the hole in order of time
const TRIED_MAX = 32;
const PASSES_MAX = 8;

type Hole = {
  readonly from: number;
  readonly to: number;
  /** The records beside it, or -1 at the ends. */
  readonly before: number;
  readonly behind: number;
};

/** More places, for records that have none yet. */
export function fillHoles(
  board: Board,
  placed: readonly Placed[],
  lost: readonly number[],
): Placed[] {
  const left = new Set(lost);
  const effort = new Effort(board.probes);
  const stepsMax = 100_000_000 + 5 * board.bytes.length;
  effort.begin();
  const found: Placed[] = [];
  // What is found makes holes smaller, and others come into question for them.
  for (let pass = 0; pass < PASSES_MAX && left.size > 0; pass += 1) {
    const sorted = Int32Array.from(left).sort();
    const before = found.length;
    for (const hole of holesOf(placed.concat(found), board.bytes.length)) {
      if (effort.steps > stepsMax) return found;
      const tried = candidatesFor(hole, board, sorted).filter((record) => left.has(record));
      for (const one of tried.length > 0
        ? fillHole(hole, board, tried, () => effort.steps > stepsMax)
        : []) {
        left.delete(one.record);
        found.push(one);
      }
    }
    if (found.length === before) break;
  }
  return found;
}

function* holesOf(placed: readonly Placed[], length: number): Generator<Hole> {
  const pieces = placed
    .flatMap(({ record, pieces: own }) => own.map((piece) => ({ ...piece, record })))
    .sort((a, b) => a.from - b.from);
  let [from, before] = [0, -1];
  for (const piece of pieces) {
    if (piece.from > from) yield { from, to: piece.from, before, behind: piece.record };
    [from, before] = [piece.to, piece.record];
  }
  if (from < length) yield { from, to: length, before, behind: -1 };
}

/** Those that were not over before what lies in front began, nor began when what follows was. */
function candidatesFor(hole: Hole, { records }: Board, lost: Int32Array): number[] {
  const { before, behind } = hole;
  const low = before < 0 ? 0 : Math.max(0, before - AROUND);
  const high = behind < 0 ? records.count : behind + AROUND;
  const began = before < 0 ? Number.NEGATIVE_INFINITY : (records.at[before] ?? 0);
  const over = behind < 0 ? Number.POSITIVE_INFINITY : (records.end[behind] ?? 0);
  const found: number[] = [];
  for (let i = firstFrom(lost, low); i < lost.length && found.length < TRIED_MAX; i += 1) {
    const record = lost[i] ?? 0;
    if (record >= high) break;
    const fits = (records.length[record] ?? 0) <= hole.to - hole.from;
    const timely = (records.end[record] ?? 0) >= began && (records.at[record] ?? 0) <= over;
    if (fits && timely && records.isHashed(record)) found.push(record);
  }
  return found;
}

function firstFrom(sorted: Int32Array, value: number): number {
  let [low, high] = [0, sorted.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((sorted[middle] ?? 0) < value) low = middle + 1;
    else high = middle;
  }
  return low;
}

function fillHole(
  hole: Hole,
  board: Board,
  candidates: readonly number[],
  isTooMuch: () => boolean,
): Placed[] {
  const { records } = board;
  const found: Placed[] = [];
  let left = candidates.filter((record) => (records.length[record] ?? 0) >= STRENGTH_MIN);
  for (let at = hole.from; at < hole.to && left.length > 0; ) {
    let end = at + 1;
    for (const record of left) {
      const behind = board.fit(record, at);
      if (behind < 0 || behind > hole.to) continue;
      found.push({ record, pieces: [{ from: at, to: behind }] });
      left = left.filter((other) => other !== record);
      end = behind;
      break;
    }
    at = end;
    if (isTooMuch()) break;
  }
  if (found.length > 0) return found;
  // Short ones only if nothing of the hole is left.
  const whole = candidates.find((record) => board.fit(record, hole.from) === hole.to);
  if (whole === undefined) return [];
  return [{ record: whole, pieces: [{ from: hole.from, to: hole.to }] }];
}
