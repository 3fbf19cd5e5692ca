// The capture on disk: this file owns the format and is the only place that describes it. Encoders
// give exactly these bytes; decoders never throw, check every type and range, ignore keys they do
// not know, and say undefined for what is not a whole, possible value.
//
// A capture is the directory `<state root>/sessions/<id>/` (0700, every file in it 0600):
//
// meta.json     One line of JSON and `\n`; the intent, on disk before anything is started. Keys in
//               this order: schema_version "v1alpha1", session_id, command (argv, strings),
//               shell_text (only for shell commands), working_directory (absolute), created_at,
//               retention_seconds, transport_mode "pipe|posix-pty|windows-conpty", transport
//               "pipe|merged|socket|pty", tty_attached, starter_pid, starter_start, kill_after_ms
//               (only when there is a deadline), output_bytes_max, trace (only when tracing was
//               asked for, see `meta-trace.ts`), journal (only when the command is to be an entry
//               of one, see `intent.ts`). The runner replaces the file once with runner_pid,
//               runner_start, pid, pid_start, started_at put in front of the closing brace;
//               every other byte stays. *_start is a process's start time, 0 where
//               unknown: a pid alone may be somebody else by now.
// output.bin    Every byte in order of arrival. Append only, no framing, no holes.
// index.jsonl   One line per chunk, written behind its data: {"offset","length","channel",
//               "timestamp","lines","total_bytes":[a,b],"total_lines":[a,b],"pid"?}. Records are
//               contiguous: the next offset is this offset + length. Channel is "pty", "stdout" or
//               "stderr". Totals run through this record, a for stdout or pty, b for stderr, so
//               a + b of total_bytes is offset + length: a record put together from the pieces of
//               two is told from a true one. lines counts `\n`. pid is the writer, when known.
// events.jsonl  {"type","timestamp",...}: resize {cols,rows}; signal {signal,from}; gap {offset,
//               lost_bytes,reason} with an errno name or "cap", the bytes missing at that offset;
//               shell_exited {exit_code | signal}; survivors {processes:[P]}; kill {signal,by,
//               died:[pid],alive:[pid]}; trace {enabled:false,reason} for a run that was to be
//               traced and is not. P is {"pid","start_time","command","holds_output"}.
// final.json    One line of JSON and `\n`: schema_version, session_id, state "exited|signaled|
//               failed", exit_code, signal, error, message (null where they do not apply),
//               ended_by, ended_at, output_bytes, lost_bytes, output_closed, survivors:[P].
//               Written when the shell is done and drained, and once the last survivor is gone.
// append.lock   Held by the one writer.   control   FIFO, orders to the runner.
// trace.bin     Who ran inside: native/trace.h.   pinned   Empty; the sweep keeps the capture.
//
// meta.json and final.json are replaced by temp file and rename. Times are UTC, ISO 8601 with
// milliseconds and `Z`. Lines: one write(2) each. A line counts only if it ends in `\n` and parses;
// runs of NUL, `}{` splices, torn tails and repeated lines are passed over, never repaired in
// place. Bytes of output.bin that no record covers are readable all the same.
import { RETENTION_SECONDS_DEFAULT } from '../limits.ts';
import {
  asCount,
  asCounts,
  asObject,
  asOneOf,
  asString,
  asStrings,
  asTime,
  type JsonObject,
  parseObject,
} from '../text/json.ts';
import type {
  CaptureFinal,
  CaptureMeta,
  Channel,
  Chunk,
  Outcome,
  ProcessId,
  Survivor,
  Transport,
  TransportMode,
} from '../types.ts';
import { ENDED_BY } from '../types.ts';
import { decodeIntent, encodeIntent } from './intent.ts';
import { decodeTraceKey } from './meta-trace.ts';

const SCHEMA_VERSION = 'v1alpha1';

/** The files a capture may consist of; nothing else in its directory is ours. */
export type Artifact =
  | 'meta.json'
  | 'final.json'
  | 'output.bin'
  | 'index.jsonl'
  | 'events.jsonl'
  | 'trace.bin'
  | 'append.lock'
  | 'control'
  | 'pinned';

/** meta.json as it was read: with the argv that was really started. */
export type StoredMeta = CaptureMeta & { readonly argv: readonly string[] };

/** Two totals: of stdout or pty, and of stderr. */
export type Pair = readonly [number, number];

export type IndexRecord = Chunk & { readonly totalBytes: Pair; readonly totalLines: Pair };

export function encodeMeta(meta: CaptureMeta, argv: readonly string[]): string {
  const { runner, child, killAfterMs, startedAt } = meta;
  return line({
    schema_version: SCHEMA_VERSION,
    session_id: meta.id,
    command: argv,
    ...(meta.command.kind === 'shell' && { shell_text: meta.command.text }),
    working_directory: meta.cwd,
    created_at: time(meta.createdAt),
    retention_seconds: meta.retentionSeconds,
    transport_mode: meta.transportMode,
    transport: meta.transport,
    tty_attached: meta.ttyAttached,
    starter_pid: meta.starter.pid,
    starter_start: meta.starter.startTime,
    ...(killAfterMs !== undefined && { kill_after_ms: killAfterMs }),
    output_bytes_max: meta.outputBytesMax,
    ...(meta.trace && { trace: meta.trace }),
    ...(meta.journal && { journal: encodeIntent(meta.journal) }),
    ...(runner && { runner_pid: runner.pid, runner_start: runner.startTime }),
    ...(child && { pid: child.pid, pid_start: child.startTime }),
    ...(startedAt !== undefined && { started_at: time(startedAt) }),
  });
}

/** `retentionSeconds` stands in where meta.json says nothing about it. */
export function decodeMeta(
  text: string,
  retentionSeconds = RETENTION_SECONDS_DEFAULT,
): StoredMeta | undefined {
  const json = parseObject(text);
  if (json === undefined) return undefined;
  const id = asString(json.session_id);
  const argv = asStrings(json.command);
  const cwd = asString(json.working_directory);
  const createdAt = asTime(json.created_at);
  const retention =
    json.retention_seconds === undefined ? retentionSeconds : json.retention_seconds;
  const transport = asOneOf(TRANSPORTS, json.transport);
  const transportMode = asOneOf(TRANSPORT_MODES, json.transport_mode);
  const starter = processId(json.starter_pid, json.starter_start);
  const outputBytesMax = asCount(json.output_bytes_max);
  if (id === undefined || argv === undefined || cwd === undefined) return undefined;
  if (createdAt === undefined || asCount(retention) === undefined) return undefined;
  if (transport === undefined || transportMode === undefined) return undefined;
  if (starter === undefined || outputBytesMax === undefined) return undefined;
  const shellText = asString(json.shell_text);
  return {
    id,
    argv,
    command: shellText === undefined ? { kind: 'argv', argv } : { kind: 'shell', text: shellText },
    cwd,
    createdAt,
    retentionSeconds: Number(retention),
    transport,
    transportMode,
    ttyAttached: json.tty_attached === true,
    starter,
    outputBytesMax,
    ...afterLaunch(json),
  };
}

function afterLaunch(json: JsonObject): Partial<CaptureMeta> {
  const killAfterMs = asCount(json.kill_after_ms);
  const runner = processId(json.runner_pid, json.runner_start);
  const child = processId(json.pid, json.pid_start);
  const startedAt = asTime(json.started_at);
  const journal = decodeIntent(json.journal);
  const trace = decodeTraceKey(json.trace);
  return {
    ...(trace && { trace }),
    ...(journal && { journal }),
    ...(killAfterMs !== undefined && { killAfterMs }),
    ...(runner && { runner }),
    ...(child && { child }),
    ...(startedAt !== undefined && { startedAt }),
  };
}

export function encodeFinal(final: CaptureFinal, id: string): string {
  const { outcome } = final;
  return line({
    schema_version: SCHEMA_VERSION,
    session_id: id,
    state: outcome.kind,
    exit_code: outcome.kind === 'exited' ? outcome.code : null,
    signal: outcome.kind === 'signaled' ? outcome.signal : null,
    error: outcome.kind === 'failed' ? outcome.error : null,
    message: outcome.kind === 'failed' ? outcome.message : null,
    ended_by: final.endedBy,
    ended_at: time(final.at),
    output_bytes: final.outputBytes,
    lost_bytes: final.lostBytes,
    output_closed: final.outputClosed,
    survivors: final.survivors.map(survivorOut),
  });
}

export function decodeFinal(text: string): CaptureFinal | undefined {
  const json = parseObject(text);
  if (json === undefined) return undefined;
  const outcome = outcomeIn(json);
  const at = asTime(json.ended_at);
  const endedBy = asOneOf(ENDED_BY, json.ended_by);
  const outputBytes = asCount(json.output_bytes);
  const lostBytes = asCount(json.lost_bytes);
  const survivors = survivorsIn(json.survivors);
  const { output_closed: outputClosed } = json;
  if (outcome === undefined || at === undefined || endedBy === undefined) return undefined;
  if (outputBytes === undefined || lostBytes === undefined) return undefined;
  if (typeof outputClosed !== 'boolean' || survivors === undefined) return undefined;
  const state = outcome.kind;
  return { state, outcome, at, endedBy, outputBytes, lostBytes, outputClosed, survivors };
}

function outcomeIn(json: JsonObject): Outcome | undefined {
  const code = asCount(json.exit_code);
  const signal = asString(json.signal);
  const error = asString(json.error);
  if (json.state === 'exited' && code !== undefined) return { kind: 'exited', code };
  if (json.state === 'signaled' && signal !== undefined) return { kind: 'signaled', signal };
  if (json.state !== 'failed' || error === undefined) return undefined;
  return { kind: 'failed', error, message: asString(json.message) ?? '' };
}

export function encodeIndex(record: IndexRecord): string {
  const { offset, length, channel, at, lines, totalBytes, totalLines, pid } = record;
  return line({
    offset,
    length,
    channel,
    timestamp: time(at),
    lines,
    total_bytes: totalBytes,
    total_lines: totalLines,
    ...(pid !== undefined && { pid }),
  });
}

export function decodeIndex(from: string | JsonObject): IndexRecord | undefined {
  const json = typeof from === 'string' ? parseObject(from) : from;
  const offset = asCount(json?.offset);
  const length = asCount(json?.length);
  const lines = asCount(json?.lines);
  const channel = asOneOf(CHANNELS, json?.channel);
  const at = asTime(json?.timestamp);
  const totalBytes = pair(json?.total_bytes);
  const totalLines = pair(json?.total_lines);
  if (offset === undefined || length === undefined || lines === undefined) return undefined;
  if (channel === undefined || at === undefined) return undefined;
  if (totalBytes === undefined || totalLines === undefined) return undefined;
  const pid = asCount(json?.pid);
  const record = { offset, length, channel, at, lines, totalBytes, totalLines };
  return possible(pid === undefined ? record : { ...record, pid });
}

/** A record whose numbers fit each other; undefined for one that cannot be true. */
export function possible(record: IndexRecord): IndexRecord | undefined {
  const { offset, length, lines, totalBytes, totalLines } = record;
  const slot = slotOf(record.channel);
  if (length === 0 || lines > length) return undefined;
  if (totalBytes[0] + totalBytes[1] !== offset + length) return undefined;
  return totalBytes[slot] < length || totalLines[slot] < lines ? undefined : record;
}

/** Which of the two totals a channel counts for. */
export function slotOf(channel: Channel): 0 | 1 {
  return channel === 'stderr' ? 1 : 0;
}

export type CaptureEvent = { readonly at: number } & (
  | { readonly type: 'resize'; readonly cols: number; readonly rows: number }
  | { readonly type: 'signal'; readonly signal: string; readonly from: string }
  | Gap
  | { readonly type: 'shell_exited'; readonly end: Exclude<Outcome, { kind: 'failed' }> }
  | { readonly type: 'survivors'; readonly processes: readonly Survivor[] }
  | { readonly type: 'trace'; readonly reason: string }
  | {
      readonly type: 'kill';
      readonly signal: string;
      readonly by: string;
      readonly died: readonly number[];
      readonly alive: readonly number[];
    }
);

/** Bytes that were shown but could not be kept. */
export type Gap = {
  readonly type: 'gap';
  readonly offset: number;
  readonly lostBytes: number;
  readonly reason: string;
};

export function encodeEvent(event: CaptureEvent): string {
  return line({ type: event.type, timestamp: time(event.at), ...eventOut(event) });
}

function eventOut(event: CaptureEvent): JsonObject {
  switch (event.type) {
    case 'resize':
      return { cols: event.cols, rows: event.rows };
    case 'signal':
      return { signal: event.signal, from: event.from };
    case 'gap':
      return { offset: event.offset, lost_bytes: event.lostBytes, reason: event.reason };
    case 'shell_exited':
      return event.end.kind === 'exited'
        ? { exit_code: event.end.code }
        : { signal: event.end.signal };
    case 'survivors':
      return { processes: event.processes.map(survivorOut) };
    case 'trace':
      return { enabled: false, reason: event.reason };
    case 'kill':
      return { signal: event.signal, by: event.by, died: event.died, alive: event.alive };
  }
}

export function decodeEvent(from: string | JsonObject): CaptureEvent | undefined {
  const json = typeof from === 'string' ? parseObject(from) : from;
  const at = asTime(json?.timestamp);
  if (json === undefined || at === undefined) return undefined;
  switch (json.type) {
    case 'resize': {
      const [cols, rows] = [asCount(json.cols), asCount(json.rows)];
      if (cols === undefined || rows === undefined) return undefined;
      return { type: 'resize', at, cols, rows };
    }
    case 'signal': {
      const signal = asString(json.signal);
      const from = asString(json.from) ?? '';
      return signal === undefined ? undefined : { type: 'signal', at, signal, from };
    }
    case 'gap': {
      const [offset, lostBytes] = [asCount(json.offset), asCount(json.lost_bytes)];
      const reason = asString(json.reason);
      if (offset === undefined || lostBytes === undefined || reason === undefined) return undefined;
      return { type: 'gap', at, offset, lostBytes, reason };
    }
    case 'shell_exited': {
      const state = typeof json.signal === 'string' ? 'signaled' : 'exited';
      const end = outcomeIn({ ...json, state });
      return end === undefined || end.kind === 'failed' ? undefined : { type: json.type, at, end };
    }
    case 'survivors': {
      const processes = survivorsIn(json.processes);
      return processes && { type: 'survivors', at, processes };
    }
    case 'trace': {
      const reason = json.enabled === false ? asString(json.reason) : undefined;
      return reason === undefined ? undefined : { type: 'trace', at, reason };
    }
    case 'kill': {
      const [signal, by] = [asString(json.signal), asString(json.by)];
      const [died, alive] = [asCounts(json.died), asCounts(json.alive)];
      if (signal === undefined || by === undefined || !died || !alive) return undefined;
      return { type: 'kill', at, signal, by, died, alive };
    }
    default:
      return undefined; // a later version's event
  }
}

const TIME_MAX = Date.UTC(9999, 11, 31); // years have four digits

const CHANNELS: readonly Channel[] = ['pty', 'stdout', 'stderr'];
const TRANSPORTS: readonly Transport[] = ['pipe', 'merged', 'socket', 'pty'];
const TRANSPORT_MODES: readonly TransportMode[] = ['posix-pty', 'windows-conpty', 'pipe'];

function line(json: JsonObject): string {
  return `${JSON.stringify(json)}\n`;
}

/** A clock that is not a time at all must not stop a run from being recorded. */
function time(at: number): string {
  return new Date(Math.min(Math.max(at || 0, 0), TIME_MAX)).toISOString();
}

function pair(value: unknown): Pair | undefined {
  const [a, b, ...rest] = asCounts(value) ?? [];
  return a === undefined || b === undefined || rest.length > 0 ? undefined : [a, b];
}

function processId(pid: unknown, startTime: unknown): ProcessId | undefined {
  const [id, start] = [asCount(pid), asCount(startTime)];
  // Signals to pid 0 go to ourselves: never let one out of a damaged file.
  return id === undefined || id === 0 || start === undefined
    ? undefined
    : { pid: id, startTime: start };
}

function survivorOut(survivor: Survivor): JsonObject {
  const { pid, startTime, command, holdsOutput } = survivor;
  return { pid, start_time: startTime, command, holds_output: holdsOutput };
}

function survivorsIn(value: unknown): Survivor[] | undefined {
  if (!Array.isArray(value)) return undefined;
  const found = value.map(survivorIn).filter((one) => one !== undefined);
  return found.length === value.length ? found : undefined;
}

function survivorIn(value: unknown): Survivor | undefined {
  const json = asObject(value);
  const id = processId(json?.pid, json?.start_time);
  const command = asString(json?.command);
  if (id === undefined || command === undefined) return undefined;
  return { ...id, command, holdsOutput: json?.holds_output === true };
}
