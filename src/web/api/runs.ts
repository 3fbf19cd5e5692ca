// Runs: what is known of a capture, where something is in its output, and its processes.

import type { EntryDecision } from '../../types.ts';

export type RunState = 'starting' | 'running' | 'exited' | 'signaled' | 'failed' | 'expired';

/** As in `cuff ls --json`. */
export type RunSummary = {
  readonly session_id: string;
  readonly state: RunState;
  readonly reason: string | null;
  readonly exit_code: number | null;
  readonly signal: string | null;
  readonly ended_by: string | null;
  readonly created_at: string;
  readonly ended_at: string | null;
  readonly command: readonly string[] | null;
  readonly shell_text: string | null;
  readonly working_directory: string | null;
  readonly transport_mode: string | null;
  readonly retention_seconds: number | null;
  readonly output_bytes: number;
  readonly lost_bytes: number;
  /** Why the end of the output may be missing. */
  readonly unread?: string;
  /** More bytes may come. */
  readonly output_open: boolean;
  readonly pinned: boolean;
  readonly trace: { readonly enabled: boolean; readonly [key: string]: unknown } | null;
  readonly path: string;
};

/** As in `cuff ps --json`. */
export type RunProcess = {
  readonly pid: number;
  readonly parent_pid: number;
  readonly start_time: number;
  readonly age_ms: number | null;
  readonly command: string;
  readonly holds_output: boolean;
};

/** A live run, for the wall. */
export type LiveRun = RunSummary & {
  readonly agent: string | null;
  readonly agent_session: string | null;
  readonly tool_call: string | null;
  readonly runner_pid: number | null;
  readonly runner_alive: boolean;
  readonly processes: readonly RunProcess[];
};

export type RunsAnswer = {
  /** With `live=1` all that are live, as `LiveRun`; else a page of all there are. */
  readonly runs: readonly (RunSummary | LiveRun)[];
  readonly cursor: string | null;
  readonly total: number;
};

/** A line of events.jsonl; the head of src/capture/format.ts describes each type. */
export type RunEvent = {
  readonly type: 'resize' | 'signal' | 'gap' | 'shell_exited' | 'survivors' | 'trace' | 'kill';
  readonly timestamp: string;
  readonly offset?: number;
  readonly [key: string]: unknown;
};

export type Survivor = {
  readonly pid: number;
  readonly start_time: number;
  readonly command: string;
  readonly holds_output: boolean;
};

export type RunFinal = {
  readonly state: 'exited' | 'signaled' | 'failed';
  readonly exit_code: number | null;
  readonly signal: string | null;
  readonly error: string | null;
  readonly message: string | null;
  readonly ended_by: string;
  readonly ended_at: string;
  readonly output_bytes: number;
  readonly lost_bytes: number;
  readonly output_closed: boolean;
  readonly survivors: readonly Survivor[];
  readonly hole?: readonly [number, number];
};

export type RunAnswer = {
  readonly run: RunSummary;
  readonly meta: {
    readonly transport: string;
    readonly tty_attached: boolean;
    readonly started_at: string | null;
    readonly kill_after_ms: number | null;
    readonly output_bytes_max: number;
    /** The names of variables that its entry keeps; never their values. */
    readonly environment_names: readonly string[];
    readonly source: string | null;
    readonly owner: Readonly<Record<string, unknown>> | null;
  } | null;
  readonly final: RunFinal | null;
  readonly events: readonly RunEvent[];
  /** Printed and not there, and why. */
  readonly missing: { readonly bytes: number; readonly reasons: readonly string[] };
  /** The middle of output.bin that is not kept. */
  readonly hole: readonly [number, number] | null;
  /** Of output.bin: newlines, and bytes by stream; stderr is apart where the transport keeps it. */
  readonly totals: {
    readonly bytes: number;
    readonly lines: number;
    readonly stdout_bytes: number;
    readonly stderr_bytes: number;
  };
  /** How its bytes lie on the disk. */
  readonly stored: 'plain' | 'packed' | 'encrypted';
  /** Live processes. */
  readonly processes: readonly RunProcess[];
  /** Its entry, where it has one. */
  readonly entry: {
    readonly journal: string;
    readonly session_id: string;
    readonly entry_id: string;
    readonly sequence_number: number;
    readonly decision: EntryDecision | null;
  } | null;
  /** Epoch milliseconds of the time that `t` of an index record counts from. */
  readonly t0: number;
};

/**
 * `GET /api/runs/ID/bytes`: `application/octet-stream` with `Accept-Ranges: bytes`. `Range:
 * bytes=A-B` gives 206 with `Content-Range: bytes A-B/TOTAL`, at most 4 MiB at once: read on behind
 * what came. Without a Range the whole is streamed. Bytes of a hole are passed over: the range that
 * came says where it begins, and `X-Cuff-Hole: FROM-TO` which bytes are not kept. `stream` is
 * `all`, `stdout` or `stderr`, and positions are those in that stream.
 */
export type BytesQuery = { readonly stream?: 'all' | 'stdout' | 'stderr' };

/** A line of index.jsonl. */
export type IndexRecord = {
  readonly offset: number;
  readonly length: number;
  readonly channel: 'stdout' | 'stderr' | 'pty' | 'unknown';
  readonly timestamp: string;
  /** Newlines in it. */
  readonly lines: number;
  /** Milliseconds since the command began; null in older captures. */
  readonly t: number | null;
  readonly pid?: number;
};

export type IndexAnswer = {
  readonly records: readonly IndexRecord[];
  /** `from` of the next page. */
  readonly next: number;
  /** It is at the end of what is captured so far. */
  readonly eof: boolean;
  /** `eof`, and nothing more can come. */
  readonly final: boolean;
  /** The number of the line, from 1, that `records[0].offset` is in. */
  readonly line: number;
};

/** The start of a line near what was asked for. */
export type PlaceAnswer = {
  /** From 1. */
  readonly line: number;
  readonly offset: number;
  readonly t: number | null;
  /** Lines so far. */
  readonly lines: number;
  readonly bytes: number;
};

export type FindAnswer = {
  readonly matches: readonly {
    readonly offset: number;
    readonly length: number;
    /** From 1. */
    readonly line: number;
  }[];
  /** In the bytes that this answer looked at, also where more than `limit` matched. */
  readonly count: number;
  /** `from` of the next request; null: the end was reached. At most 64 MiB are searched at once. */
  readonly next: number | null;
};

export type TraceProcess = {
  readonly pid: number;
  readonly ppid: number;
  /** Nanoseconds since `started_at`. */
  readonly start_ns: number;
  readonly end_ns: number | null;
  readonly images: readonly {
    readonly exe: string;
    readonly argv: readonly string[];
    readonly cwd: string;
    readonly start_ns: number;
    readonly argv_length?: number;
    readonly redacted?: unknown;
    readonly env?: Readonly<Record<string, string>>;
  }[];
  readonly exit_code: number | null;
  readonly signal: string | null;
  /** Bytes written, by channel. */
  readonly bytes: Readonly<Record<string, number>>;
  readonly sources: readonly string[];
  readonly pid_namespace?: number;
  readonly forked?: true;
  readonly static?: true;
  readonly failed_execs?: readonly { readonly file: string; readonly errno: string | number }[];
  readonly [key: string]: unknown;
};

/** As `cuff trace ID --json`. */
export type TraceAnswer = {
  readonly capture_id: string;
  readonly enabled: boolean;
  /** Why it was not traced. */
  readonly reason?: string;
  readonly mode?: string | null;
  readonly started_at?: string;
  readonly capabilities: Readonly<Record<string, boolean>>;
  readonly processes: readonly TraceProcess[];
  readonly unattributed_bytes: number;
  readonly untraced: readonly { readonly reason: string; readonly [key: string]: unknown }[];
};

export type WritesAnswer = {
  readonly pid: number;
  /** Ranges of output.bin that it wrote, in order: offset, length, channel. */
  readonly ranges: readonly (readonly [number, number, string])[];
};
