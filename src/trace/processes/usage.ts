// What a process used, by the reports about its end: its own, or that of the runner, to which the
// kernel tells it. Both come from getrusage(2), whose peak of memory is that of the process: at its
// fork it has what its parent has, and an exec does not reset it.

import type { UsageReport } from '../decode/format.ts';
import type { Life } from './lives.ts';
import type { PeakMemory } from './process.ts';

const COPY_BYTES = 512 * 1024; // what a child may touch between its fork and its exec

export type Usage = {
  readonly cpuNs: number | undefined;
  readonly peak: PeakMemory | undefined;
  /** With what it had before its program. */
  readonly peakBytes: number | undefined;
};

/** What is known of its programs and its parent. */
type Around = {
  readonly images: number;
  /** It never became a program of its own. */
  readonly isCopy: boolean;
  readonly parentPeak: number | undefined;
};

export function usageOf(life: Life, around: Around): Usage {
  const said = reported(life);
  const bytes = said?.peakBytes;
  if (bytes === undefined) return { cpuNs: said?.cpuNs, peakBytes: bytes, peak: undefined };
  const known = around.isCopy || limitsBefore(life, around).some((limit) => bytes > limit);
  const peak = { kind: known ? 'known' : 'at most', bytes } as const;
  return { cpuNs: said?.cpuNs, peakBytes: bytes, peak };
}

/** The runner's report is complete, and no process can have made it up. */
function reported({ said, reaps }: Life): UsageReport | undefined {
  const waited = reaps.find(({ usage }) => usage !== undefined);
  const own = said.findLast(({ type }) => type === 'exit' || type === 'start');
  return waited?.usage ?? (own?.type === 'exit' ? own.usage : undefined);
}

/** What it had before its last program was not more than each of these. */
function limitsBefore({ said }: Life, { images, parentPeak }: Around): number[] {
  const told = said.flatMap((frame) => (frame.type === 'start' ? [frame.peakBefore] : []));
  const limits = [images > 1 ? told.at(-1) : told.findLast((one) => one !== undefined)];
  // A copy has no more than its original ever had.
  if (images <= 1 && parentPeak !== undefined) limits.push(parentPeak + COPY_BYTES);
  return limits.filter((one) => one !== undefined);
}
