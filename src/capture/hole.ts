// The middle of a capture that exceeded its limit: a hole in output.bin and one in index.jsonl,
// announced in events.jsonl before the runner makes or extends them. A hole reads as NULs, so
// nothing may be shown from it. After reading bytes of a live run, the reader checks the events
// again, and starts over if the hole has reached those bytes.
import { readLines } from '../text/line-reader.ts';
import type { Hole } from '../types.ts';
import type { ByteSource } from './byte-source.ts';
import { decodeEvent, type Gap } from './event.ts';

// The last announcement is among the last lines, unless there were many survivors to list.
const TAIL_BYTES = 65_536;

export type Holes = { readonly output: Hole | undefined; readonly index: Hole | undefined };

const NONE: Holes = { output: undefined, index: undefined };

/** The holes announced so far. Each announcement names all of the hole. */
export function holesIn(events: ByteSource): Holes {
  const gap = lastIn(events, events.size - TAIL_BYTES) ?? lastIn(events, 0);
  return gap === undefined ? NONE : { output: gap.hole, index: gap.indexHole };
}

function lastIn(events: ByteSource, position: number): Gap | undefined {
  const from = Math.max(0, position);
  const bytes = events.read(from, events.size - from);
  let last: Gap | undefined;
  for (const event of readLines(bytes, { decode: decodeEvent }).records) {
    if (event.type !== 'gap' || event.hole === undefined) continue;
    if (event.hole.to > (last?.hole?.to ?? 0)) last = event;
  }
  return last;
}

/** Bytes were read that are part of the hole by now: the reader has to start over. */
export class HoleMoved extends Error {}

/** The same bytes; reading throws `HoleMoved` rather than give some that are gone. */
export function holeChecked(output: ByteSource, eventsNow: () => ByteSource): ByteSource {
  let known = 0;
  let hole: Hole | undefined;
  const moved = (from: number, to: number): boolean => {
    const events = eventsNow();
    try {
      if (events.size !== known) hole = holesIn(events).output;
      known = events.size;
    } finally {
      events.close();
    }
    return hole !== undefined && from < hole.to && to > hole.from;
  };
  const read = (position: number, length: number): Uint8Array => {
    const bytes = output.read(position, length);
    if (bytes.length > 0 && moved(position, position + bytes.length)) throw new HoleMoved();
    return bytes;
  };
  return { ...output, read };
}
