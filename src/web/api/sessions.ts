// Sessions, and their commands as blocks.

import type { Entry, SessionMetadata } from '../../types.ts';
import type { RunState } from './runs.ts';

export type Seal = 'anchored' | 'sealed' | 'open' | 'recovered' | 'gap' | 'tampered';

/** `refused`: the policy, or a person, said no. `none`: killed, or it never started. */
export type BlockOutcome = 'ok' | 'failed' | 'refused' | 'timed_out' | 'none';

/** As `record list --json` has it, and what a list shows besides. */
export type SessionRow = SessionMetadata & {
  readonly parts?: readonly string[];
  readonly seal?: Seal;
  readonly project: string;
  readonly journal: string;
  /** Its writer lives and its status is `active`. */
  readonly live: boolean;
  /** Null where it is not known: it is counted for the sessions that are shown. */
  readonly commands_refused: number | null;
  readonly last_command: LastCommand | null;
  /** Its runs that are pinned. */
  readonly pinned: number;
  /** Whole days until retention deletes it; null where nothing does. */
  readonly days_left: number | null;
};

type LastCommand = {
  readonly command: string;
  readonly timestamp: string;
  readonly outcome: BlockOutcome;
};

/** How many sessions have each value, by all other filters. */
export type Facet = readonly { readonly value: string; readonly count: number }[];

export type SessionsAnswer = {
  /** Newest first. */
  readonly sessions: readonly SessionRow[];
  /** For the next page; null: that was the last. */
  readonly cursor: string | null;
  /** How many the filters leave. */
  readonly total: number;
  readonly facets: {
    readonly agent: Facet;
    readonly status: Facet;
    readonly project: Facet;
    readonly seal: Facet;
  };
};

export type Edit = {
  readonly timestamp: string;
  readonly tool: string;
  readonly path: string;
  readonly lines_added: number | null;
  readonly lines_removed: number | null;
  readonly hash_before: string | null;
  readonly hash_after: string | null;
  readonly failed: boolean;
  readonly agent_id: string | null;
  readonly conversation_id: string | null;
  readonly tool_call_id: string | null;
};

/** Text of one channel; escape sequences are in it. Line ends are kept. */
export type OutputPart = {
  readonly channel: 'stdout' | 'stderr' | 'pty' | 'unknown';
  readonly text: string;
};

/** The first and the last lines of what a command printed. */
export type BlockOutput = {
  /** `entry`: the capture is gone, so stdout stands before stderr. */
  readonly source: 'capture' | 'entry' | 'none';
  readonly head: readonly OutputPart[];
  /** Empty where `head` has everything. */
  readonly tail: readonly OutputPart[];
  /** Between the two. */
  readonly omitted_lines: number;
  readonly bytes: number;
  readonly lines: number;
};

export type FileChange = {
  readonly path: string;
  readonly how: 'new' | 'changed' | 'removed';
  /** `sandbox`: seen by it. `tool`: by a file tool of the agent. */
  readonly by: 'sandbox' | 'tool';
};

/** What is known of the capture of a block. Null in `Block.run`: there is none any more. */
export type BlockRun = {
  readonly session_id: string;
  readonly state: RunState;
  readonly output_open: boolean;
  readonly pinned: boolean;
  readonly traced: boolean;
};

/** One entry, its line in the journal and what belongs to it. */
export type Block = Omit<Entry, 'stdout' | 'stderr' | 'later'> & {
  readonly outcome: BlockOutcome;
  readonly output: BlockOutput;
  readonly run: BlockRun | null;
  readonly files: readonly FileChange[];
  /** Why the policy decided so: its sentence, where the entry has a decision. */
  readonly why: string | null;
};

export type SequenceFaults = {
  readonly skipped: number;
  readonly repeated: number;
  readonly backward: number;
  readonly missing: number;
};

export type SessionAnswer = {
  readonly session: SessionRow;
  readonly top_commands: readonly { readonly command: string; readonly count: number }[];
  readonly sequence_faults?: SequenceFaults;
  readonly damaged_lines: number;
  /** In the order of the journal. */
  readonly blocks: readonly Block[];
  /** `from` of the next page; null: that was the last. */
  readonly next: number | null;
  /** Files that the agent's own tools wrote: all of the session. */
  readonly edits: readonly Edit[];
};

export type OutlineAnswer = {
  /** Of every entry: sequence_number, start (epoch ms), duration_ms, outcome. */
  readonly entries: readonly (readonly [number, number, number, BlockOutcome])[];
};
