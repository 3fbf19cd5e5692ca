// Servers, this machine, and the room that captures take.

import type { RunSummary } from './runs.ts';

export type CapturesRoom = {
  readonly count: number;
  readonly disk_bytes: number;
  readonly packed: number;
  readonly packed_bytes: number;
  readonly plain_bytes: number;
};

/** As `status --json`, and what this machine can. */
export type HealthAnswer = {
  readonly servers: readonly {
    readonly pid: number;
    readonly started_at: string;
    readonly updated_at: string;
    readonly version: string;
    readonly project_directory: string;
    readonly directory: string;
    readonly commands: number;
    readonly entries: number;
    readonly recording_errors: number;
    readonly health: {
      readonly healthy?: boolean;
      readonly reasons?: readonly string[];
      readonly [key: string]: unknown;
    };
  }[];
  readonly runs: readonly RunSummary[];
  readonly journals: readonly {
    readonly directory: string;
    readonly sessions: number;
    readonly active_sessions: number;
    readonly entries: number;
  }[];
  readonly captures: CapturesRoom;
  readonly notices: readonly string[];
  readonly uncaptured: readonly {
    readonly session_id: string;
    readonly created_at: string;
    readonly command: string;
    readonly reason: string;
  }[];
  readonly unrecorded: readonly {
    readonly count: number;
    readonly last_at: string;
    readonly reason: string;
  }[];
  readonly anchors: Readonly<Record<string, unknown>> | null;
  /** Of the native runner and of tracing, as `cuff doctor` finds them; a name, a verdict, words. */
  readonly checks: readonly {
    readonly name: string;
    readonly ok: boolean;
    readonly detail: string;
  }[];
  /** Of the disk with the state root; null where the system does not tell. */
  readonly free_bytes: number | null;
  /** Everything is as it should be. */
  readonly healthy: boolean;
};

export type StorageAnswer = {
  readonly captures: CapturesRoom;
  /** By the day the run began, in UTC, oldest first. */
  readonly days: readonly {
    readonly day: string;
    readonly captures: number;
    readonly disk_bytes: number;
  }[];
  /** Of commands of agents by their project; `null`: of people. The largest first. */
  readonly projects: readonly {
    readonly project: string | null;
    readonly captures: number;
    readonly disk_bytes: number;
  }[];
  /** The largest captures. */
  readonly largest: readonly {
    readonly session_id: string;
    readonly disk_bytes: number;
    readonly pinned: boolean;
    readonly command: string;
  }[];
  /** What retention removes next, soonest first. */
  readonly next: readonly {
    readonly session_id: string;
    readonly at: string;
    readonly disk_bytes: number;
    readonly command: string;
  }[];
  readonly pinned: number;
  /** Of journals: deletions that the ledger remembers. */
  readonly tombstones: number;
};
