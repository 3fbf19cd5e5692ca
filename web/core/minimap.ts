// A session from top to bottom in a narrow strip: a bar for each command, taller the longer it
// took, and a hatched one for a pause. Long and short lie far apart, so heights grow with the
// logarithm.
import type { BlockOutcome } from '../../src/web/api.ts';

export type OutlineEntry = readonly [
  sequence: number,
  start: number,
  duration: number,
  outcome: BlockOutcome,
];

export type MapBar = {
  readonly top: number;
  readonly height: number;
  readonly kind: BlockOutcome | 'pause';
  /** Of the command, or of the one behind the pause. */
  readonly sequence: number;
};

const PAUSE_MS = 600_000; // ten minutes without a command

export function minimap(entries: readonly OutlineEntry[], height: number): MapBar[] {
  const weights: { kind: MapBar['kind']; sequence: number; weight: number }[] = [];
  let end = Number.POSITIVE_INFINITY;
  for (const [sequence, start, duration, kind] of entries) {
    if (start - end > PAUSE_MS) weights.push({ kind: 'pause', sequence, weight: 2 });
    weights.push({ kind, sequence, weight: 1 + Math.log2(1 + Math.max(0, duration) / 100) });
    end = start + Math.max(0, duration);
  }
  const whole = weights.reduce((sum, { weight }) => sum + weight, 0);
  const scale = Math.min(14, height / Math.max(1, whole)); // px of a command that took no time
  let top = 0;
  return weights.map(({ kind, sequence, weight }) => {
    const bar = { top, height: weight * scale, kind, sequence };
    top += bar.height;
    return bar;
  });
}

/** The command at a place of the strip; the last one below all of them. */
export function sequenceAt(bars: readonly MapBar[], y: number): number | undefined {
  return (bars.find(({ top, height }) => y < top + height) ?? bars.at(-1))?.sequence;
}

/** The nearest entry in a direction that did not go well. */
export function nextFailure(
  entries: readonly OutlineEntry[],
  from: number,
  direction: 1 | -1,
): number | undefined {
  const bad = entries.filter(([, , , outcome]) => outcome !== 'ok').map(([sequence]) => sequence);
  return direction === 1
    ? bad.find((sequence) => sequence > from)
    : bad.findLast((sequence) => sequence < from);
}
