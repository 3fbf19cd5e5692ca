// What the page and its server say to each other: the routes, and the exact form of every answer
// and frame. The names are those of the files on disk, and of `--json` where a command has the same
// answer. Types alone and nothing of Node, so that the page can import it.
//
// Every request but `POST /api/token` carries `Authorization: Bearer TOKEN`; a POST also
// `Content-Type: application/json`. What goes wrong is an `ApiError` with its status: 400 a question
// that is none, 401 no token (any more), 403 not from here, or not for readers, 404 not there, 409
// it cannot be done now, 413 too much, 416 a range behind the end, 500 ours.
//
// GET  /api/hello                                        Hello
// GET  /api/sessions?cursor&limit&q&agent&status&project&seal&since&until   SessionsAnswer
// GET  /api/sessions/ID?from&limit&journal               SessionAnswer   from: a sequence_number
// GET  /api/sessions/ID/outline?journal                  OutlineAnswer   for the minimap
// GET  /api/runs?live&cursor&limit                       RunsAnswer      newest first
// GET  /api/runs/ID                                      RunAnswer
// GET  /api/runs/ID/bytes?stream&download                bytes, with Range; `download` names a file
// GET  /api/runs/ID/index?from&limit                     IndexAnswer     from: an offset
// GET  /api/runs/ID/place?line | offset | t              PlaceAnswer     one of the three
// GET  /api/runs/ID/find?q&regex&case&from&limit         FindAnswer
// GET  /api/runs/ID/trace                                TraceAnswer
// GET  /api/runs/ID/trace?format=chrome                  a file for Perfetto
// GET  /api/runs/ID/writes?pid                           WritesAnswer
// GET  /api/search?q&process&regex&exit&agent&project&session&since&limit   SearchAnswer
// GET  /api/stats?since&project                          StatsAnswer     as `record stats --json`
// GET  /api/activity?since&until&project&zone            ActivityAnswer  zone: minutes east of UTC
// GET  /api/verify?project&session&deep                  VerifyAnswer    as `verify --json`
// GET  /api/seal                                         SealAnswer
// GET  /api/proof/ENTRY_ID?journal                       a proof, as `cuff prove` prints it
// GET  /api/health                                       HealthAnswer    as `status --json`, and more
// GET  /api/storage                                      StorageAnswer
// GET  /api/policy?project                               PolicyAnswer
// GET  /api/questions                                    QuestionsAnswer
// POST /api/token           TokenRequest                 TokenAnswer     no token is needed
// POST /api/policy/check    CheckRequest                 CheckAnswer     judges, changes nothing
// POST /api/policy/lint     LintRequest                  LintAnswer
// POST /api/policy/whatif   WhatIfRequest                WhatIfAnswer
// POST /api/approve         ApproveRequest               ApproveAnswer
// POST /api/kill            KillRequest                  KillAnswer      as `kill --json`
// POST /api/pin             PinRequest                   PinAnswer
// POST /api/seal            {}                           SealedAnswer
// POST /api/sweep           SweepRequest                 SweepAnswer
// WS   /api/live                                         ClientMessage, ServerMessage, frames
//
// `since` and `until` are dates as the command line takes them (`7d`, `2026-01-18`) or ISO 8601.
// `project` is the directory of a project as `Hello.projects` names it; without it all of them are
// meant. Unknown parameters are refused, so that a mistyped filter is never taken for none. In a
// server that only reads, approve, kill, pin, seal and sweep are refused with 403.

import type { Entry, EntryDecision, Hole, SessionMetadata, SessionStatus } from '../types.ts';

export type ApiError = {
  readonly error: {
    /** As in src/errors.ts: `run_not_found`, `usage`, ... */
    readonly code: string;
    /** One sentence. */
    readonly message: string;
    /** What to do. */
    readonly hint: string | null;
  };
};

export type TokenRequest = {
  /** From the fragment `#code=...` of the address. */
  readonly code: string;
};

/** 401 when the code was used, is older than a minute or is none. */
export type TokenAnswer = { readonly token: string };

export type Project = {
  /** The project's directory; what `project=` takes. */
  readonly project: string;
  /** Its journal. */
  readonly directory: string;
  readonly sessions: number;
};

export type Hello = {
  readonly version: string;
  /** Kill, pin, approve, seal and sweep are refused. */
  readonly read_only: boolean;
  /** Why, as a sentence; null where they are not. */
  readonly read_only_reason: string | null;
  /** Another for each server: a page that sees another one was served by one that is gone. */
  readonly server_id: string;
  /** Where it was started; the first of `projects` where it has a journal. */
  readonly project: string;
  readonly projects: readonly Project[];
  readonly state_root: string;
  readonly now: string;
};

// Sessions

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

// Runs

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
  /** Of output.bin: newlines, and bytes by stream (stderr is apart where the transport keeps it). */
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

// Search, activity

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

// Evidence

/** Where an anchor is. */
export type Anchor = {
  readonly at: string | null;
  readonly kind: string;
  readonly where: string;
  readonly size: number;
};

export type Finding = {
  readonly wrong: boolean;
  readonly verdict: string;
  readonly journal?: string;
  readonly session?: string;
  readonly sequence?: number;
  readonly run?: string;
  readonly part?: string;
  readonly leaf?: number;
  readonly at?: string;
  readonly count?: number;
  readonly detail?: string;
};

/** As `verify --json`, and `words` as `verify` prints them: the first is the sentence. */
export type VerifyAnswer = {
  readonly intact: boolean;
  readonly origin: string | null;
  readonly ledger: {
    readonly size: number;
    readonly signed: number;
    readonly checkpoint_size: number | null;
  };
  readonly anchor: Anchor | null;
  readonly noted_anchor: Anchor | null;
  readonly outside: readonly {
    readonly kind: string;
    readonly where: string;
    readonly compared: number | null;
    readonly trouble: string | null;
  }[];
  readonly counts: {
    readonly entries: number;
    readonly anchored: number;
    readonly unsigned: number;
    readonly unsealed: number;
    readonly sessions: number;
    readonly captures: number;
  };
  readonly deep: boolean;
  readonly findings: readonly Finding[];
  readonly words: readonly string[];
  readonly verified_at: string;
};

/** Null where nothing is sealed. */
export type SealHead = {
  readonly origin: string;
  readonly size: number;
  readonly root: string;
  /** To print, or to read aloud: `CUFF 20852 7KQ2-...`. */
  readonly code: string;
};

export type SealAnswer = {
  readonly head: SealHead | null;
  /** The public key. */
  readonly vkey: string | null;
  readonly anchors: Readonly<Record<string, unknown>> | null;
};

export type SealedAnswer = SealHead & {
  readonly anchors: readonly {
    readonly kind: string;
    readonly where?: string;
    readonly size: number;
    readonly trouble: string | null;
  }[];
  readonly notices: readonly string[];
};

// Health and storage

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

// Policy

export type PolicyProblem = {
  readonly line: number;
  readonly column: number;
  readonly message: string;
  /** Of a warning. */
  readonly code?: string;
  readonly hint?: string | null;
};

export type PolicyFile = {
  readonly path: string;
  readonly origin: string;
  readonly text: string | null;
  readonly problems: readonly PolicyProblem[];
  readonly warnings: readonly PolicyProblem[];
};

/** A refused command that waits for a person, as `policy approve --json` lists it. */
export type Question = {
  readonly id: string;
  readonly command: string;
  readonly beside: readonly string[];
  readonly cwd: string;
  readonly project: string;
  readonly code: string;
  readonly message: string;
  readonly reasons: readonly string[];
  readonly asked_at: string;
  readonly agent: string | null;
  /** How it may be answered: `always` needs a question that came with nothing but text. */
  readonly spans: readonly ApprovalSpan[];
};

export type ApprovalSpan = 'once' | 'hour' | 'conversation' | 'always';

export type QuestionsAnswer = { readonly questions: readonly Question[] };

export type PolicyAnswer = {
  readonly project: string;
  /** In the order in which they count; where there is none, nothing is decided. */
  readonly files: readonly PolicyFile[];
  readonly questions: readonly Question[];
  /** A draft to begin with where there is no file. */
  readonly template: string;
};

export type LintRequest = { readonly text: string };

export type LintAnswer = {
  readonly valid: boolean;
  readonly problems: readonly PolicyProblem[];
  readonly warnings: readonly PolicyProblem[];
};

export type CheckRequest = {
  readonly command: string;
  /** Absolute; without it the project. */
  readonly cwd?: string;
  readonly project?: string;
  /** A draft; without it the policy in force. */
  readonly text?: string;
};

export type Verdict = 'allow' | 'ask' | 'deny';

export type CheckAnswer = {
  /** Null: no policy is in force. */
  readonly verdict: Verdict | null;
  readonly code: string | null;
  readonly mode: string | null;
  /** The pattern of the rule that decided. */
  readonly rule: string | null;
  /** As `policy check` says it. */
  readonly words: readonly string[];
};

export type WhatIfRequest = {
  /** The draft. */
  readonly text: string;
  readonly project?: string;
  /** As in queries; without it 30 days. */
  readonly since?: string;
};

export type WhatIfDecision = {
  readonly command: string;
  readonly cwd: string;
  readonly before: Verdict;
  readonly after: Verdict;
  /** How often it was recorded; 0: an example of a test. */
  readonly count: number;
};

export type WhatIfAnswer = LintAnswer & {
  /** Null where the draft is no policy. As `policy test --json`. */
  readonly test: {
    readonly commands: number;
    readonly distinct: number;
    readonly allow: number;
    readonly ask: number;
    readonly deny: number;
    readonly codes: readonly { readonly code: string; readonly count: number }[];
    readonly rules: readonly {
      readonly policy: string;
      readonly pattern: string;
      readonly decision: Verdict;
      readonly hits: number;
    }[];
    readonly dead_rules: readonly string[];
    readonly not_allowed: readonly {
      /** Null where it may hold a secret. */
      readonly command: string | null;
      readonly verdict: Verdict;
      readonly code: string;
      readonly count: number;
    }[];
    readonly additions: readonly { readonly pattern: string; readonly gained: number }[];
  } | null;
  /** Against the file in force; null where there is none or the draft is no policy. */
  readonly diff: {
    readonly against: string;
    readonly compared: number;
    readonly loosened: number;
    readonly tightened: number;
    /** The loosened first. */
    readonly decisions: readonly WhatIfDecision[];
  } | null;
};

/** `no`: it waits no longer, and nothing is allowed. */
export type ApproveRequest = {
  readonly id: string;
  readonly answer: ApprovalSpan | 'no';
  /** With `always`: in the project's file or in the user's; else the project's. */
  readonly scope?: 'project' | 'user';
  /** With `always`: a rule for what this covers; without it exactly the command. */
  readonly pattern?: string;
};

export type ApproveAnswer = {
  readonly id: string;
  readonly approved: ApprovalSpan | 'no';
  /** With `always`: where the rule was written. */
  readonly file?: string;
  readonly patterns?: readonly string[];
};

// Deeds

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

// WS /api/live
//
// The first message is `{"token":"..."}`; nothing is answered before it, and any other closes the
// socket with 4401, as does a token that is not (any more) one. Then:

export type ClientMessage =
  | { readonly token: string }
  /** Everything from `from` on, then what comes. A run may be followed once on a socket. */
  | { readonly sub: 'run'; readonly id: string; readonly from: number }
  | { readonly unsub: 'run'; readonly id: string }
  /** Rows that changed since. */
  | { readonly sub: 'sessions' }
  | { readonly unsub: 'sessions' }
  /** All live runs, now and whenever one begins or ends. */
  | { readonly sub: 'runs' }
  | { readonly unsub: 'runs' }
  /** All pending questions, now and whenever there are others. */
  | { readonly sub: 'questions' }
  | { readonly unsub: 'questions' };

export type ServerMessage =
  | { readonly type: 'ready'; readonly server_id: string; readonly read_only: boolean }
  /** The run is followed: its frames carry `channel`. `from` is where they begin. */
  | {
      readonly type: 'run';
      readonly id: string;
      readonly channel: number;
      readonly from: number;
      readonly output_bytes: number;
      readonly output_open: boolean;
    }
  /**
   * The page is slow: `[from, to)` was not sent. Read it by Range if it is wanted; frames go on at
   * `to`.
   */
  | {
      readonly type: 'behind';
      readonly id: string;
      readonly from: number;
      readonly to: number;
      readonly bytes: number;
    }
  /** `[from, to)` is not kept. */
  | { readonly type: 'hole'; readonly id: string; readonly hole: Hole }
  /** Its state is another, the shell is done, or (`output_open` false) nothing more can come. */
  | { readonly type: 'state'; readonly id: string; readonly run: RunSummary }
  | {
      readonly type: 'sessions';
      readonly rows: readonly SessionRow[];
      /** Ids of sessions that are gone. */
      readonly gone: readonly string[];
    }
  | { readonly type: 'runs'; readonly runs: readonly LiveRun[] }
  | { readonly type: 'questions'; readonly questions: readonly Question[] }
  /** What was asked for cannot be had; the socket stays. */
  | {
      readonly type: 'error';
      readonly code: string;
      readonly message: string;
      /** Of the run, where it is about one. */
      readonly id?: string;
    };

/**
 * A binary frame is 8 bytes and then bytes of output.bin. The 8 bytes are one unsigned number, most
 * significant byte first: the upper 16 bits are the channel, the lower 48 the offset of the first
 * byte. Frames of a channel are in order, without repetition, and whole but for what `behind` and
 * `hole` name.
 */
export const FRAME_HEAD_BYTES = 8;

/** Why the server closed a socket. */
export const CLOSE = { unauthorized: 4401, badMessage: 4400, over: 1001 } as const;

export type { Entry, EntryDecision, SessionMetadata, SessionStatus };
