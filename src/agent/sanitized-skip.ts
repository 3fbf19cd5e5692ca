// Passing by the middle of much output: what a reader of clean text needs to go on near the end of
// a stream as if it had read all of it, and how much of it was passed by.

import { type Source, totalsOf, withSnapshot } from '../capture/snapshot.ts';
import {
  keptFrom,
  newlinesBefore,
  type Stream,
  streamBytes,
  streamTotals,
} from '../capture/stream.ts';

// The longest string that the sanitiser takes for one: behind so many bytes it reads a stream as
// it would have from its start.
const RUN_UP_BYTES = 1024 * 1024;

export type Passed = {
  /** For the sanitiser alone, which starts anew with it; undefined when nothing was passed by. */
  readonly runUp: Uint8Array | undefined;
  /** What follows, as it was printed. */
  readonly bytes: Uint8Array;
  /** What is before `bytes`, the run-up included. */
  readonly skipped: { readonly bytes: number; readonly newlines: number };
};

const NOTHING_SKIPPED = { bytes: 0, newlines: 0 };

/** The last `bytesMax` bytes of a stream that lie between two cursors. */
export function passBy(
  capture: Source,
  channel: Stream,
  { from, to, bytesMax }: { readonly from: number; readonly to: number; readonly bytesMax: number },
): Passed {
  return withSnapshot(capture, (snapshot) => {
    const before = (end: number): ReturnType<typeof streamTotals> =>
      streamTotals(totalsOf({ ...snapshot, end: Math.min(end, snapshot.end) }), channel);
    const [first, last] = [before(from), before(to).bytes];
    const read = (start: number, end: number): Uint8Array =>
      streamBytes(snapshot, channel, start, end);
    const floor = keptFrom(snapshot, channel);
    const start = Math.max(last - bytesMax, first.bytes < floor && floor <= last ? floor : 0);
    if (start - RUN_UP_BYTES <= first.bytes && start !== floor) {
      return { runUp: undefined, bytes: read(first.bytes, last), skipped: NOTHING_SKIPPED };
    }
    const newlines = newlinesBefore(snapshot, channel, start) - first.lines;
    return {
      runUp: read(Math.max(floor, start - RUN_UP_BYTES), start),
      bytes: read(start, last),
      skipped: { bytes: start - first.bytes, newlines },
    };
  });
}
