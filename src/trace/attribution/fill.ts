// Writes that were given up when the search went on behind them: they may lie in a hole that was
// skipped, between bytes that no process reported. Only those that fit by time are looked for, and
// only matches that cannot be chance are believed.

import type { Board, Placement } from './board.ts';
import { lowerBound } from './channel-bytes.ts';
import { Effort } from './effort.ts';
import { STRENGTH_MIN } from './evidence.ts';

const AROUND = 64; // writes before and behind the hole in order of time
const TRIED_MAX = 32;
const PASSES_MAX = 8;

type Hole = {
  readonly from: number;
  readonly to: number;
  /** The writes beside it, or -1 at the ends. */
  readonly before: number;
  readonly behind: number;
};

/** Placements for writes that have none yet. */
export function fillHoles(
  board: Board,
  placed: readonly Placement[],
  lost: readonly number[],
): Placement[] {
  const left = new Set(lost);
  const effort = new Effort(board);
  const found: Placement[] = [];
  // Each write that is found makes a hole smaller, so that other writes come into question.
  for (let pass = 0; pass < PASSES_MAX && left.size > 0; pass += 1) {
    const sorted = Int32Array.from(left).sort();
    const before = found.length;
    for (const hole of holesOf(placed.concat(found), board.bytes.length)) {
      if (effort.isSpent) return found;
      const tried = candidatesFor(hole, board, sorted).filter((write) => left.has(write));
      for (const one of fillHole(hole, board, tried, effort)) {
        left.delete(one.write);
        found.push(one);
      }
    }
    if (found.length === before) break;
  }
  return found;
}

function* holesOf(placed: readonly Placement[], length: number): Generator<Hole> {
  const pieces = placed
    .flatMap(({ write, pieces: own }) => own.map((piece) => ({ ...piece, write })))
    .sort((a, b) => a.from - b.from);
  let [from, before] = [0, -1];
  for (const piece of pieces) {
    if (piece.from > from) yield { from, to: piece.from, before, behind: piece.write };
    [from, before] = [piece.to, piece.write];
  }
  if (from < length) yield { from, to: length, before, behind: -1 };
}

/** Writes that fit by time between the writes before and behind the hole. */
function candidatesFor(hole: Hole, { writes }: Board, lost: Int32Array): number[] {
  const { before, behind } = hole;
  const low = before < 0 ? 0 : Math.max(0, before - AROUND);
  const high = behind < 0 ? writes.count : behind + AROUND;
  const began = before < 0 ? Number.NEGATIVE_INFINITY : (writes.at[before] ?? 0);
  const over = behind < 0 ? Number.POSITIVE_INFINITY : (writes.end[behind] ?? 0);
  const found: number[] = [];
  for (let i = lowerBound(lost, low); i < lost.length && found.length < TRIED_MAX; i += 1) {
    const write = lost[i] ?? 0;
    if (write >= high) break;
    const fits = (writes.length[write] ?? 0) <= hole.to - hole.from;
    const timely = (writes.end[write] ?? 0) >= began && (writes.at[write] ?? 0) <= over;
    if (fits && timely && writes.isHashed(write)) found.push(write);
  }
  return found;
}

function fillHole(
  hole: Hole,
  board: Board,
  candidates: readonly number[],
  effort: Effort,
): Placement[] {
  const { writes } = board;
  const found: Placement[] = [];
  let left = candidates.filter((write) => (writes.length[write] ?? 0) >= STRENGTH_MIN);
  for (let at = hole.from; at < hole.to && left.length > 0; ) {
    let end = at + 1;
    for (const write of left) {
      const behind = board.fit(write, at);
      if (behind < 0 || behind > hole.to) continue;
      found.push({ write, pieces: [{ from: at, to: behind }] });
      left = left.filter((other) => other !== write);
      end = behind;
      break;
    }
    at = end;
    if (effort.isSpent) break;
  }
  if (found.length > 0) return found;
  // Short ones only if nothing of the hole is left.
  const whole = candidates.find((write) => board.fit(write, hole.from) === hole.to);
  if (whole === undefined) return [];
  return [{ write: whole, pieces: [{ from: hole.from, to: hole.to }] }];
}
