// What the parts of the alignment share: the bytes, the records, and which of them have a place.

import type { ChannelBytes } from './channel-bytes.ts';
import type { Probe } from './probe.ts';
import type { Records } from './records.ts';

/** A stretch of the channel. */
export type Stretch = { readonly from: number; readonly to: number };

/** Where a record was found: in several pieces if others came in between. */
export type Placed = { readonly record: number; readonly pieces: readonly Stretch[] };

/** What the helpers may know about the state. */
export type Board = {
  readonly bytes: ChannelBytes;
  readonly records: Records;
  readonly probes: readonly Probe[];
  /** Where a record ends if it may lie at a position, else -1. */
  fit(record: number, position: number): number;
  /** The same, only for the way of reading that was right last: for looking at many places. */
  fitAsBefore(record: number, position: number): number;
  /** Records that may come next, in order of time; `until`: nothing that began later. */
  candidates(until?: number): number[];
  place(placed: Placed): void;
};
