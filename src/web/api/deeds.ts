// What a person does from the page.

import type { RunState } from './runs.ts';

export type KillRequest = {
  readonly id: string;
  /** `TERM`, `INT`, ...; without it the run is ended: TERM, some seconds, KILL. */
  readonly signal?: string;
};

/** As `kill --json`. */
export type KillAnswer = {
  readonly session_id: string;
  readonly result: 'ended' | 'signaled' | 'already_over' | 'still_alive';
  readonly state: RunState;
  readonly exit_code: number | null;
  readonly signal: string | null;
  readonly ended_by: string | null;
  readonly processes: readonly {
    readonly pid: number;
    readonly command: string;
    readonly alive: boolean;
  }[];
};

/** One run, or all of a session. */
export type PinRequest =
  | { readonly run: string; readonly pinned: boolean }
  | { readonly session: string; readonly pinned: boolean };

export type PinAnswer = { readonly runs: readonly string[]; readonly pinned: boolean };

export type SweepRequest = { readonly dry_run: boolean };

export type SweepAnswer = {
  readonly dry_run: boolean;
  /** Removed, or that would be. */
  readonly removed: readonly string[];
  readonly kept: number;
  readonly failed: readonly { readonly session_id: string; readonly error: string }[];
};
