// The state that the parts of the alignment share: the bytes, the writes, and which of them were
// found.

import type { ChannelBytes } from './channel-bytes.ts';
import type { Probe } from './probe.ts';
import type { Writes } from './writes.ts';

/** A stretch of the channel. */
export type Stretch = { readonly from: number; readonly to: number };

/** Where a write was found: in several pieces if others came in between. */
export type Placement = { readonly write: number; readonly pieces: readonly Stretch[] };

/** The view of the state that the searches get. */
export type Board = {
  readonly bytes: ChannelBytes;
  readonly writes: Writes;
  readonly probes: readonly Probe[];
  /** Where a write ends if it may lie at a position, else -1. */
  fit(write: number, position: number): number;
  /** The same, only for the way of reading that was right last: for looking at many places. */
  fitAsBefore(write: number, position: number): number;
  /** Writes that may come next, in order of time; `until`: nothing that began later. */
  candidates(until?: number): number[];
  place(placed: Placement): void;
};
