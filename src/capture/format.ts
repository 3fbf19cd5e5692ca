// The capture on disk: this file owns the format and is the only place that describes it. Encoders
// give exactly these bytes; decoders never throw, check every type and range, ignore unknown keys,
// and return undefined for a value that is not whole or not possible.
//
// A capture is the directory `<state root>/sessions/<id>/` (0700, every file in it 0600):
//
// meta.json     One line of JSON and `\n`; the intent, on disk before anything is started. Keys in
//               this order: schema_version "v1alpha1", session_id, command (argv, strings),
//               shell_text (only for shell commands), working_directory (absolute), created_at,
//               retention_seconds, transport_mode "pipe|posix-pty|windows-conpty", transport
//               "pipe|merged|socket|pty", tty_attached, starter_pid, starter_start, kill_after_ms
//               (only when there is a deadline), output_bytes_max, trace (only when tracing was
//               asked for: {"enabled":true,"mode":"socket|pipe|pty"} if the processes report to
//               trace.bin, {"enabled":false,"reason"} if they cannot), journal (only when the
//               command is to be an entry of one, see `intent.ts`), owner (only for an agent's
//               run, see `owner.ts`), source ("spool", only for a capture that was made in a
//               sandbox and moved here).
//               The runner replaces the file once with runner_pid,
//               runner_start, pid, pid_start, started_at put in front of the closing brace;
//               every other byte stays. *_start is a process's start time, 0 where
//               unknown: a pid alone may be reused.
// output.bin    Every byte in order of arrival, at its true offset. Append only, no framing. Above
//               the cap (output_bytes_max) the runner gives the middle back to the disk: a hole,
//               announced by gap events before it is made. Its bytes were printed and are gone.
// index.jsonl   One line per chunk, written behind its data: {"offset","length","channel",
//               "timestamp","lines","total_bytes":[a,b],"total_lines":[a,b],"t"?,"pid"?}. Records
//               are contiguous: the next offset is this offset + length. Channel is "pty",
//               "stdout" or "stderr". Totals run through this record, a for stdout or pty, b for
//               stderr, so a + b of total_bytes is offset + length: a record put together from the
//               pieces of two is told from a true one. lines counts `\n`. t is the time of the
//               first byte in milliseconds since the command began, on a clock that does not jump.
//               pid is the writer, when known.
// events.jsonl  {"type","timestamp","offset",...}; offset is the byte of output.bin before which it
//               happened. resize {cols,rows}, the first one the size a pty begins with; signal
//               {signal,from}; gap {lost_bytes,reason,hole?,index_hole?}: an errno name or "cap",
//               the bytes missing at that offset; with hole, those of [offset, offset + lost_bytes)
//               of output.bin: hole:[from,to] is all of the hole so far, index_hole the one in
//               index.jsonl; shell_exited {exit_code | signal};
//               survivors {processes:[P]}; kill {signal,by,died:[pid],alive:[pid]}; trace {enabled:
//               false,reason} for a run that was to be traced and is not. P is {"pid","start_time",
//               "command","holds_output"}.
// final.json    One line of JSON and `\n`: schema_version, session_id, state "exited|signaled|
//               failed", exit_code, signal, error, message (null where they do not apply),
//               ended_by, ended_at, output_bytes (where output.bin ends), lost_bytes (a hole
//               included), output_closed, survivors:[P], hole? ([from,to] of output.bin).
//               Written when the shell is done and drained, and once the last survivor is gone.
// append.lock   Held by the one writer.   control   FIFO, orders to the runner.
// claim-N       The server that took over an agent's run from a dead one: `owner.ts`.
// spooled       Of a capture that is, or was, in a spool: {"mark"}, see src/shell/spool-place.ts.
// adopted, entry-reach   What the journal has of the run: `entry-marks.ts`.
// trace.bin     The processes: native/trace.h.   pinned   Empty; the sweep keeps the capture.
//
// When the run is over, output.bin, index.jsonl, events.jsonl and trace.bin may be packed: then
// there is NAME.gz in the place of NAME, as `src/bgzf/member.ts` describes it, and for more than
// one member NAME.gz.gzi, its table (`src/bgzf/table.ts`). Where both NAME and NAME.gz are there,
// NAME counts. *.tmp is what a packer left that was killed.
// They may also be encrypted (`packed/encrypt.ts`): then there is NAME.gz.age, and NAME.gz.gzi.age,
// which are age files (`src/age/file.ts`) of NAME.gz and its table. The words of meta.json and
// final.json are then in meta.json.age and final.json.age, and both say "encrypted":true: see
// `words.ts`. While a run goes on all of them may be in memory: see `in-memory.ts`.
//
// meta.json is made in place, in one write; later it and final.json are replaced by temp file and
// rename. Times are UTC, ISO 8601 with milliseconds and `Z`. Lines: one write(2) each. A line
// counts only if it ends in `\n` and parses; runs of NUL, `}{` splices, torn tails and repeated
// lines are passed over, never repaired in place. Bytes of output.bin that no record covers are
// readable all the same.
import { RETENTION_SECONDS_DEFAULT } from '../limits.ts';
import {
  asCount,
  asCounts,
  asObject,
  asOneOf,
  asString,
  asStrings,
  asTime,
  defined,
  type JsonObject,
  parseObject,
  whole,
} from '../text/json.ts';
import type {
  CaptureFinal,
  CaptureMeta,
  CaptureTrace,
  Channel,
  Chunk,
  Command,
  Hole,
  Outcome,
  ProcessId,
  Survivor,
  TraceMode,
  Transport,
  TransportMode,
} from '../types.ts';
import { ENDED_BY } from '../types.ts';
import { decodeIntent, encodeIntent } from './intent.ts';
import { decodeOwner, encodeOwner } from './owner.ts';

const SCHEMA_VERSION = 'v1alpha1';

/** Files that are packed when the run is over. */
export const PACKABLE = ['output.bin', 'index.jsonl', 'events.jsonl', 'trace.bin'] as const;

/** meta.json as it was read: with the argv that was really started. */
export type StoredMeta = CaptureMeta & { readonly argv: readonly string[] };

/** Two totals: of stdout or pty, and of stderr. */
export type Pair = readonly [number, number];

export type IndexRecord = Chunk & { readonly totalBytes: Pair; readonly totalLines: Pair };

export function encodeMeta(meta: CaptureMeta, argv: readonly string[]): string {
  const { runner, child, killAfterMs, startedAt, trace, journal, owner, source } = meta;
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
    ...(trace && { trace }),
    ...(journal && { journal: encodeIntent(journal) }),
    ...(owner && { owner: encodeOwner(owner) }),
    ...(source && { source }),
    ...(runner && { runner_pid: runner.pid, runner_start: runner.startTime }),
    ...(child && { pid: child.pid, pid_start: child.startTime }),
    ...(startedAt !== undefined && { started_at: time(startedAt) }),
  });
}

/** The beginning of an encoded meta.json, without its end. */
export function isCut(text: string): boolean {
  const start = `{"schema_version":"${SCHEMA_VERSION}"`;
  return !text.endsWith('\n') && text.slice(0, start.length) === start.slice(0, text.length);
}

/** `retentionSeconds` stands in where meta.json says nothing about it. */
export function decodeMeta(
  text: string,
  retentionSeconds = RETENTION_SECONDS_DEFAULT,
): StoredMeta | undefined {
  const json = parseObject(text);
  if (json === undefined) return undefined;
  const required = whole({
    id: asString(json.session_id),
    argv: asStrings(json.command),
    cwd: asString(json.working_directory),
    createdAt: asTime(json.created_at),
    retentionSeconds: asCount(
      json.retention_seconds === undefined ? retentionSeconds : json.retention_seconds,
    ),
    transport: asOneOf(TRANSPORTS, json.transport),
    transportMode: asOneOf(TRANSPORT_MODES, json.transport_mode),
    starter: processId(json.starter_pid, json.starter_start),
    outputBytesMax: asCount(json.output_bytes_max),
  });
  if (required === undefined) return undefined;
  const shell = asString(json.shell_text);
  const command: Command =
    shell === undefined ? { kind: 'argv', argv: required.argv } : { kind: 'shell', text: shell };
  return { ...required, command, ttyAttached: json.tty_attached === true, ...optionalKeys(json) };
}

/** Keys that only some captures have, or only after the launch. */
function optionalKeys(json: JsonObject): Partial<CaptureMeta> {
  return defined({
    trace: traceIn(json.trace),
    journal: decodeIntent(json.journal),
    owner: decodeOwner(json.owner),
    source: asOneOf(['spool'], json.source),
    encrypted: asOneOf([true], json.encrypted),
    inMemory: asOneOf([true], json.in_memory),
    killAfterMs: asCount(json.kill_after_ms),
    runner: processId(json.runner_pid, json.runner_start),
    child: processId(json.pid, json.pid_start),
    startedAt: asTime(json.started_at),
  });
}

function traceIn(value: unknown): CaptureTrace | undefined {
  const json = asObject(value);
  const mode = asOneOf(TRACE_MODES, json?.mode);
  if (json?.enabled === true) return mode && { enabled: true, mode };
  const reason = asString(json?.reason);
  return json?.enabled === false && reason !== undefined ? { enabled: false, reason } : undefined;
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
    ...(final.hole && { hole: [final.hole.from, final.hole.to] }),
  });
}

export function decodeFinal(text: string): CaptureFinal | undefined {
  const json = parseObject(text);
  if (json === undefined) return undefined;
  const final = whole({
    outcome: outcomeIn(json),
    at: asTime(json.ended_at),
    endedBy: asOneOf(ENDED_BY, json.ended_by),
    outputBytes: asCount(json.output_bytes),
    lostBytes: asCount(json.lost_bytes),
    outputClosed: asOneOf([true, false], json.output_closed),
    survivors: survivorsIn(json.survivors),
  });
  return final && { ...final, state: final.outcome.kind, ...defined({ hole: holeIn(json.hole) }) };
}

export function outcomeIn(json: JsonObject): Outcome | undefined {
  const code = asCount(json.exit_code);
  const signal = asString(json.signal);
  const error = asString(json.error);
  if (json.state === 'exited' && code !== undefined) return { kind: 'exited', code };
  if (json.state === 'signaled' && signal !== undefined) return { kind: 'signaled', signal };
  if (json.state !== 'failed' || error === undefined) return undefined;
  return { kind: 'failed', error, message: asString(json.message) ?? '' };
}

export function encodeIndex(record: IndexRecord): string {
  const { offset, length, channel, at, lines, totalBytes, totalLines, t, pid } = record;
  return line({
    offset,
    length,
    channel,
    timestamp: time(at),
    lines,
    total_bytes: totalBytes,
    total_lines: totalLines,
    ...(t !== undefined && { t }),
    ...(pid !== undefined && { pid }),
  });
}

export function decodeIndex(from: string | JsonObject): IndexRecord | undefined {
  const json = typeof from === 'string' ? parseObject(from) : from;
  const optional = defined({ t: asCount(json?.t), pid: asCount(json?.pid) });
  const record = whole({
    offset: asCount(json?.offset),
    length: asCount(json?.length),
    channel: asOneOf(CHANNELS, json?.channel),
    at: asTime(json?.timestamp),
    lines: asCount(json?.lines),
    totalBytes: pair(json?.total_bytes),
    totalLines: pair(json?.total_lines),
  });
  return record && possible({ ...record, ...optional });
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

const TIME_MAX = Date.UTC(9999, 11, 31); // years have four digits

const CHANNELS: readonly Channel[] = ['pty', 'stdout', 'stderr'];
const TRACE_MODES: readonly TraceMode[] = ['socket', 'pipe', 'pty'];
const TRANSPORTS: readonly Transport[] = ['pipe', 'merged', 'socket', 'pty'];
const TRANSPORT_MODES: readonly TransportMode[] = ['posix-pty', 'windows-conpty', 'pipe'];

export function line(json: JsonObject): string {
  return `${JSON.stringify(json)}\n`;
}

/** A clock that is not a time at all must not stop a run from being recorded. */
export function time(at: number): string {
  return new Date(Math.min(Math.max(at || 0, 0), TIME_MAX)).toISOString();
}

function pair(value: unknown): Pair | undefined {
  const [a, b, ...rest] = asCounts(value) ?? [];
  return a === undefined || b === undefined || rest.length > 0 ? undefined : [a, b];
}

export function holeIn(value: unknown): Hole | undefined {
  const [from, to] = pair(value) ?? [0, 0];
  return from < to ? { from, to } : undefined;
}

function processId(pid: unknown, startTime: unknown): ProcessId | undefined {
  const [id, start] = [asCount(pid), asCount(startTime)];
  // Signals to pid 0 go to ourselves: never let one out of a damaged file.
  return id === undefined || id === 0 || start === undefined
    ? undefined
    : { pid: id, startTime: start };
}

export function survivorOut(survivor: Survivor): JsonObject {
  const { pid, startTime, command, holdsOutput } = survivor;
  return { pid, start_time: startTime, command, holds_output: holdsOutput };
}

export function survivorsIn(value: unknown): Survivor[] | undefined {
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
