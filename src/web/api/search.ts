// Search, and what the agents did as numbers.

import type { EntryDecision } from '../../types.ts';
import type { BlockOutcome, Edit, Facet, SequenceFaults } from './sessions.ts';

/** As in `record search --json`. */
export type SearchHit = {
  readonly session_id: string;
  readonly entry_id: string;
  readonly sequence_number: number;
  readonly timestamp: string;
  readonly command: string;
  readonly exit_code: number | null;
  readonly agent_id: string | null;
  readonly field: string;
  readonly offset: number;
  readonly snippet: string;
  /** Where in the snippet, in UTF-16 code units. */
  readonly match: readonly [number, number];
  readonly project: string;
  readonly journal: string;
  /** The capture, where the entry names one. */
  readonly run_id: string | null;
  readonly decision: EntryDecision | null;
};

export type SearchAnswer = {
  readonly hits: readonly SearchHit[];
  /** There may be older ones. */
  readonly limited: boolean;
  readonly not_searched: {
    readonly damaged_lines: number;
    readonly cut_outputs: number;
    readonly unreadable_sessions?: number;
  };
  /** Of these hits. */
  readonly facets: {
    readonly exit: Facet;
    readonly agent: Facet;
    readonly project: Facet;
    readonly verdict: Facet;
    readonly day: Facet;
  };
  readonly edits: readonly (Edit & { readonly project: string })[];
};

/** As `record stats --json`. */
export type StatsAnswer = {
  readonly since: string | null;
  readonly sessions: number;
  readonly commands: number;
  readonly total_duration_ms: number;
  readonly average_duration_ms: number;
  readonly longest: { readonly command: string; readonly duration_ms: number } | null;
  readonly exit_codes: {
    readonly zero: number;
    readonly one: number;
    readonly other: number;
    readonly none: number;
  };
  readonly frequency: readonly { readonly command: string; readonly count: number }[];
  readonly sequence_faults?: SequenceFaults;
};

/** Commands by how they ended. Their sum is all of them. */
export type OutcomeCounts = Readonly<Record<BlockOutcome, number>>;

export type ActivityAnswer = {
  readonly since: string | null;
  readonly until: string;
  readonly commands: number;
  readonly outcomes: OutcomeCounts;
  /** Minutes of each bucket of `timeline`: 60 up to three days, else a day. */
  readonly bucket_minutes: number;
  /** In order; buckets without a command are left out. */
  readonly timeline: readonly (OutcomeCounts & { readonly start: string })[];
  /** `heat[weekday][hour]` is a number of commands; weekday 0 is Monday, in the zone asked for. */
  readonly heat: readonly (readonly number[])[];
  /** By the time they took, the longest first; commands in their normal form. */
  readonly top: readonly {
    readonly command: string;
    readonly count: number;
    readonly failed: number;
    readonly duration_ms: number;
  }[];
  /** The same by failures; only those that failed. */
  readonly failing: ActivityAnswer['top'];
  /** Bytes that commands printed, by day (`2026-01-18`), of captures that are there. */
  readonly output: readonly { readonly day: string; readonly bytes: number }[];
  readonly agents: Facet;
};
