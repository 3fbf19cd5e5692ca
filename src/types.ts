// The values that cross between rooms. Unions, not bags of optionals: a state that cannot
// happen cannot be written down. Everything here is plain data and safe to serialise.

/** The environment of a process, as Node has it. */
export type Env = { readonly [name: string]: string | undefined };

/** A command: text for a shell, or a program with its arguments. */
export type Command =
  /** `shell` is bash unless it is given. */
  | { readonly kind: 'shell'; readonly text: string; readonly shell?: string }
  | { readonly kind: 'argv'; readonly argv: readonly string[] };

/** How the command's output reaches us. Only `pipe` and `socket` keep the streams apart. */
export type Transport = 'pipe' | 'merged' | 'socket' | 'pty';

export const TRACE_SETTINGS = ['on', 'off', 'auto'] as const;

/** `auto`: where the self-test passes. A run that cannot be traced goes on untraced. */
export type TraceSetting = (typeof TRACE_SETTINGS)[number];

/** Where attribution comes from: the kernel's word on sockets, else what processes tell. */
export type TraceMode = 'socket' | 'pipe' | 'pty';

/** Whether a run is traced, where that was asked for. */
export type CaptureTrace =
  | { readonly enabled: true; readonly mode: TraceMode }
  | { readonly enabled: false; readonly reason: string };

/** Seed 004's names for the transport, as they stand in meta.json and on the wire. */
export type TransportMode = 'posix-pty' | 'windows-conpty' | 'pipe';

/** `unknown`: bytes without a record, of a run whose streams were apart. */
export type Channel = 'pty' | 'stdout' | 'stderr' | 'unknown';

export type CaptureState = 'starting' | 'running' | 'exited' | 'signaled' | 'failed' | 'expired';

/** A process is its pid and its start time; a pid alone may be another process by now. */
export type ProcessId = {
  readonly pid: number;
  /** Clock ticks since boot on Linux (/proc/PID/stat field 22); 0 where unknown. */
  readonly startTime: number;
};

export type Outcome =
  | { readonly kind: 'exited'; readonly code: number }
  | { readonly kind: 'signaled'; readonly signal: string }
  /** It never started, or its runner was killed (`runner_lost`). `error` is an errno name. */
  | { readonly kind: 'failed'; readonly error: string; readonly message: string };

export const ENDED_BY = ['itself', 'timeout', 'kill', 'shutdown', 'cancelled', 'capture'] as const;

/** What ended it: `capture` is a strict run that could not be recorded any more. */
export type EndedBy = (typeof ENDED_BY)[number];

export type Ended = {
  /** Epoch milliseconds. */
  readonly at: number;
  readonly outcome: Outcome;
  readonly endedBy: EndedBy;
};

/** One index record: `length` bytes at `offset` of output.bin came from one channel at one time. */
export type Chunk = {
  readonly offset: number;
  readonly length: number;
  readonly channel: Channel;
  /** Epoch milliseconds; 0 for bytes whose index record was lost. */
  readonly at: number;
  /** Newlines inside this chunk. */
  readonly lines: number;
  /** Milliseconds since the command began, on a clock that does not jump; not in older captures. */
  readonly t?: number;
  /** The writer, where the kernel told us (socket transport). */
  readonly pid?: number;
};

/** `[from, to)` of a file that was given back to the disk. */
export type Hole = { readonly from: number; readonly to: number };

export type StreamTotals = { readonly bytes: number; readonly lines: number };

/** Text computed from a capture for a reader. Lines are numbered from 1. */
export type View = {
  readonly text: string;
  /** Byte offsets, in the selected stream, of the first byte shown and behind the last one. */
  readonly from: number;
  readonly to: number;
  readonly firstLine: number;
  readonly lastLine: number;
  /** True totals of the selected stream, equal to `wc -c` and `wc -l` (plus an unfinished line). */
  readonly totals: StreamTotals;
  readonly shown: StreamTotals;
  readonly cut: 'none' | 'lines' | 'bytes';
  /** The first line shown is only the end of a longer line (tail), or the last only its start. */
  readonly partialLine: boolean;
  /** The file that holds the bytes. */
  readonly path: string;
  /** Byte offsets, in the selected stream, of a middle that is not kept. */
  readonly hole?: Hole;
};

/** A process a run left behind when its shell was done. */
export type Survivor = ProcessId & {
  readonly command: string;
  /** It still holds the run's output open, so more may come. */
  readonly holdsOutput: boolean;
};

/** The client's name for a run: `bash_3`, 1000. */
export type RunHandle = string | number;

/** Which conversation of which client a run belongs to. */
export type RunOwner = {
  readonly dialect: string;
  /** The project's directory, absolute. */
  readonly project: string;
  readonly client: string | null;
  readonly conversationId: string | null;
};

/** meta.json: the write-ahead intent. `child` and `runner` are added once they exist. */
export type CaptureMeta = {
  readonly id: string;
  readonly command: Command;
  readonly cwd: string;
  readonly createdAt: number;
  readonly retentionSeconds: number;
  readonly transport: Transport;
  readonly transportMode: TransportMode;
  readonly ttyAttached: boolean;
  /** The starter, so that a run that never got a runner is not "starting" forever. */
  readonly starter: ProcessId;
  readonly killAfterMs?: number;
  readonly outputBytesMax: number;
  /** Present when tracing was asked for. */
  readonly trace?: CaptureTrace;
  readonly runner?: ProcessId;
  readonly child?: ProcessId;
  /** Epoch milliseconds at which `child` was started. */
  readonly startedAt?: number;
  /** Present for a command that is to be an entry of a journal. */
  readonly journal?: JournalIntent;
  /** Present for a run of an agent. */
  readonly owner?: RunOwner;
  /** It was made in a sandbox and moved here later. */
  readonly source?: 'spool';
  /** Its command is not known to this reader. */
  readonly encrypted?: true;
  readonly inMemory?: true; // and all else of it is gone
};

/** final.json: how it ended. Written when the shell is done; rewritten once the output closed. */
export type CaptureFinal = Ended & {
  readonly state: 'exited' | 'signaled' | 'failed';
  readonly outputBytes: number;
  readonly lostBytes: number;
  /** False while survivors may still write: more bytes can come. */
  readonly outputClosed: boolean;
  readonly survivors: readonly Survivor[];
  /** The middle of more output than may be kept; part of `outputBytes` and of `lostBytes`. */
  readonly hole?: Hole;
};

/** How a session ended; `end_reason` says why. */
export type SessionStatus = 'active' | 'complete' | 'shutdown' | 'interrupted';

/** The agent, conversation and call as the client names them: nothing of it is checked. */
export type AgentContext = {
  readonly agentId: string | null;
  readonly conversationId: string | null;
  readonly toolCallId: string | null;
  readonly traceId: string | null;
};

/** How one command ended, for the audit. `interrupted`: cuff was gone before it ended. */
export type EndReason = EndedBy | 'failed' | 'interrupted' | 'denied';

/**
 * One line of the journal, in the names and the order of seed 000; what follows `plugin_version` is
 * ours. `timestamp` is the start. `exit_code` is null when it timed out, was killed or never
 * started.
 */
export type Entry = {
  readonly entry_id: string;
  readonly session_id: string;
  readonly sequence_number: number;
  readonly timestamp: string;
  readonly duration_ms: number;
  readonly command: string;
  readonly description: string | null;
  readonly working_directory: string;
  readonly shell: string;
  /** Its deadline; 0 where it had none. */
  readonly timeout_seconds: number;
  readonly timed_out: boolean;
  readonly exit_code: number | null;
  readonly stdout: string | null;
  readonly stderr: string | null;
  readonly output_truncated: boolean;
  /** The original size when it was truncated. */
  readonly output_truncated_bytes: number | null;
  readonly environment: Readonly<Record<string, string>> | null;
  readonly agent_id: string | null;
  readonly conversation_id: string | null;
  readonly tool_call_id: string | null;
  readonly opencuff_version: string;
  readonly plugin_version: string;
  /** The capture with the bytes, while it is kept. */
  readonly run_id: string | null;
  readonly end_reason: EndReason;
  readonly signal: string | null;
  readonly trace_id: string | null;
  /** Where agent_id, conversation_id and tool_call_id come from. */
  readonly context_source: ContextSource | null;
  /** The number of processes; null when it was not traced. */
  readonly processes: number | null;
  /** How many of them failed; null when that is not known. */
  readonly failed_processes: number | null;
  /** The processes inside, as a person would type them, each once; null when it is not known. */
  readonly process_list: readonly string[] | null;
  /** Those that failed, and how: `false: exit 1`. */
  readonly failed_process_list: readonly string[] | null;
  /** The decision of the policy; null where there is none. */
  readonly decision: EntryDecision | null;
  /** Processes that it left running; not there when it left none. */
  readonly survivors?: readonly EntrySurvivor[];
  /** Variables whose secret values it printed; not there when it printed none. */
  readonly leaked?: readonly string[];
  /** Not there for a command that went through a tool of ours. */
  readonly source?: EntrySource;
  /** All that the shell was given, where the agent had put its command into a wrapper. */
  readonly shell_text?: string;
  /** The shell was given a wrapper of unknown form: `command` is the whole text. */
  readonly wrapper?: 'unknown';
  /** Parts that a person took out of the record later; not there for an entry that is whole. */
  readonly redacted?: readonly (typeof REDACTED_PARTS)[number][];
  /** What they printed afterwards. Readers add it; the line in the journal never changes. */
  readonly later?: LaterOutput['output'];
};

/** What of an entry can be taken out. `text`: the words of the command, and what describes it. */
export const REDACTED_PARTS = ['facts', 'text', 'stdout', 'stderr'] as const;

/** `self-reported`: by the call. `environment`: by the variables that the agent gave its shell. */
export const CONTEXT_SOURCES = ['self-reported', 'environment'] as const;

type ContextSource = (typeof CONTEXT_SOURCES)[number];

export const ENTRY_SOURCES = ['shell', 'hook', 'transcript', 'spool'] as const;

/** How we came to know of a command that an agent ran by itself. */
type EntrySource = (typeof ENTRY_SOURCES)[number];

export type EntrySurvivor = { readonly pid: number; readonly command: string };

/** A line of `<sid>.later.jsonl`: the output of an entry's run after its answer. */
export type LaterOutput = {
  readonly entry_id: string;
  readonly survivors: readonly EntrySurvivor[];
  readonly output: {
    readonly stdout: string;
    readonly stderr: string;
    /** There was more than an entry may hold. */
    readonly truncated: boolean;
  };
};

export const DECISION_VERDICTS = ['allow', 'ask', 'deny'] as const;
export const DECISION_MODES = ['record', 'warn', 'enforce'] as const;
export const DECISION_APPROVALS = ['elicitation', 'grant'] as const;
export const DECISION_MAKERS = ['person', 'config', 'hook', 'agent'] as const;

/** The policy's word on a command, as the journal keeps it. Its code says why. */
export type EntryDecision = {
  readonly verdict: (typeof DECISION_VERDICTS)[number];
  readonly code: string;
  /** The consequence of the verdict: only `enforce` refuses. */
  readonly mode: (typeof DECISION_MODES)[number];
  /** The pattern of the rule that decided. */
  readonly rule: string | null;
  /** How a person approved a command that the policy asks about. */
  readonly approved: (typeof DECISION_APPROVALS)[number] | null;
  /** Who decided, where it was not our policy: as the agent's own transcript says. */
  readonly by?: (typeof DECISION_MAKERS)[number] | undefined;
  /** Judged with the command: `env CI` (the name alone), `stdin`, `shell zsh`, `typed`. */
  readonly beside?: readonly string[] | undefined;
  /** Protected files that became others while it ran in a sandbox: `new CLAUDE.md`. */
  readonly changed?: readonly string[] | undefined;
};

/** The part of an entry that is known from a trace. */
export type EntryProcesses = Pick<
  Entry,
  'processes' | 'failed_processes' | 'process_list' | 'failed_process_list'
>;

/** An entry before it belongs to a session. */
export type EntryDraft = Omit<Entry, 'entry_id' | 'session_id' | 'sequence_number' | 'later'>;

/** `<sid>.meta.json`, field for field; what follows `conversation_id` is ours. */
export type SessionMetadata = {
  readonly session_id: string;
  readonly created_at: string;
  readonly last_updated: string;
  readonly entry_count: number;
  readonly total_duration_ms: number;
  readonly status: SessionStatus;
  readonly commands_succeeded: number;
  readonly commands_failed: number;
  readonly commands_timed_out: number;
  readonly working_directory: string;
  readonly agent_id: string | null;
  readonly conversation_id: string | null;
  readonly end_reason: string | null;
  /** The process that writes this session: while it lives, no other may. */
  readonly owner: { readonly pid: number; readonly start_time: number } | null;
  /** The property that its entries share: `day 2026-1-18`, `conversation conv_abc123`. */
  readonly group?: string;
  /** When another server went on with it for the last time. */
  readonly resumed_at?: string;
  /** The session of the same group that another server was writing when this one began. */
  readonly part_of?: string;
  /** The project's git repository when the session began; only inside of one. */
  readonly vcs?: VcsState;
  /** The ledger that seals it. */
  readonly sealed_by?: string;
  /** Why leaves of it were not written when its writer ended. */
  readonly unsealed?: string;
};

/** Null: it could not be told, or there is none. */
export type VcsState = {
  readonly head: string | null;
  readonly branch: string | null;
  /** Tracked files differ from the commit. */
  readonly dirty: boolean | null;
};

/** The part of an entry that is known before the run: enough to write it if its writer dies. */
export type JournalIntent = {
  /** Absolute path of the journal. */
  readonly directory: string;
  /** Null: the journal could not be written when the command began. */
  readonly sessionId: string | null;
  readonly draft: Omit<
    EntryDraft,
    | 'duration_ms'
    | 'timed_out'
    | 'exit_code'
    | 'stdout'
    | 'stderr'
    | 'output_truncated'
    | 'output_truncated_bytes'
    | 'end_reason'
    | 'signal'
    | 'run_id'
    | 'survivors'
    | 'leaked'
    | keyof EntryProcesses
  >;
  readonly captureOutput: boolean;
  /** How much of each stream the entry may hold. */
  readonly outputBytesMax: number;
  /** Secrets of the environment must not be in the entry's copy. */
  readonly redact: boolean;
};

export type PersonQuestion = {
  readonly message: string;
  readonly choices: readonly { readonly value: string; readonly title: string }[];
};

/**
 * `none`: time was over, the question was closed, or the call was cancelled. `unseen`: the answer,
 * whatever it was, came sooner than a person can read the question.
 */
export type PersonAnswer =
  | { readonly kind: 'chosen'; readonly value: string }
  | { readonly kind: 'declined' }
  | { readonly kind: 'none' }
  | { readonly kind: 'unseen' };

export type AskPerson = (question: PersonQuestion) => Promise<PersonAnswer>;

export type Health = Readonly<Record<string, unknown>> & {
  readonly healthy: boolean;
  /** Whatever is not as it should be, one sentence each. */
  readonly reasons: readonly string[];
};

export type LogLevel = 'debug' | 'info' | 'warn' | 'error';

export type Log = (
  level: LogLevel,
  message: string,
  fields?: Readonly<Record<string, unknown>>,
) => void;

/** Why a server stops: its client is gone, or it was told to. */
export type StopCause = 'client' | 'signal';
