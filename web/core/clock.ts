// When the player writes what: the recorded times, with long pauses made short, at a speed.

export type Beat = {
  readonly offset: number;
  readonly length: number;
  /** Milliseconds since the command began. */
  readonly t: number;
};

export const SPEEDS = [0.25, 0.5, 1, 2, 4, 8, 16] as const;
export const IDLE_CAPS = [0.5, 1, 2, 5, 0] as const; // seconds; 0: pauses as they were
const STEP_MS = 20; // what was written together is one step

/** How long to wait before a beat, in milliseconds of the viewer. */
export function waitBefore(beat: Beat, last: number, speed: number, idleCap: number): number {
  const pause = Math.max(0, beat.t - last);
  const capped = idleCap > 0 ? Math.min(pause, idleCap * 1_000) : pause;
  return capped / speed;
}

/** The beats that make the next step. */
export function stepOf(beats: readonly Beat[]): readonly Beat[] {
  const first = beats[0];
  if (first === undefined) return [];
  const end = beats.findIndex((beat) => beat.t - first.t > STEP_MS);
  return end < 0 ? beats : beats.slice(0, end);
}

export function otherSpeed(speed: number, step: 1 | -1): number {
  const at = (SPEEDS as readonly number[]).indexOf(speed);
  return SPEEDS[Math.min(SPEEDS.length - 1, Math.max(0, at + step))] ?? 1;
}

/** Keyframes are as far apart as this: to seek never writes more. */
export const KEYFRAME_BYTES = 262_144;

/** The last keyframe at or before an offset. */
export function keyframeBefore(offsets: Iterable<number>, target: number): number | undefined {
  let best: number | undefined;
  for (const one of offsets) if (one <= target && (best === undefined || one > best)) best = one;
  return best;
}
