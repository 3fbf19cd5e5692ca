// Frames in one order, whatever order they came in: by time, and where that is equal, by what can
// only come first. The same frame twice is one frame.

import type { Frame } from '../decode/format.ts';

const RANK: Readonly<Record<Frame['type'], number>> = {
  fork: 0,
  start: 1,
  exec: 2,
  execfail: 3,
  write: 4,
  exit: 5,
  reap: 6,
  drop: 7,
};

export function inOrder<T extends Frame>(frames: readonly T[]): T[] {
  const sorted = isSorted(frames) ? frames : [...frames].sort(compare);
  return sorted.filter((frame, i) => {
    const before = sorted[i - 1];
    return before === undefined || compare(before, frame) !== 0;
  });
}

function isSorted(frames: readonly Frame[]): boolean {
  return frames.every((frame, i) => {
    const before = frames[i - 1];
    return before === undefined || compare(before, frame) <= 0;
  });
}

function compare(a: Frame, b: Frame): number {
  if (a.atNs !== b.atNs) return a.atNs < b.atNs ? -1 : 1;
  if (a === b) return 0;
  const rank = RANK[a.type] - RANK[b.type];
  if (rank !== 0) return rank;
  const [left, right] = [text(a), text(b)];
  return left < right ? -1 : left > right ? 1 : 0;
}

function text(frame: Frame): string {
  return JSON.stringify(frame, (_, value) => (typeof value === 'bigint' ? `${value}` : value));
}
