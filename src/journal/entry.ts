// What an entry and a session's metadata look like on disk; the one file that knows.
//
// An entry is one line of JSON, keys in the order below, ending in `\n`. `timestamp` has six
// digits behind the second, of which we know three. The last key is `salt` where a ledger seals
// the journal: see entry-parts.ts; readers drop it. Metadata is a JSON file for people to read, its
// times in whole seconds. Decoding fills in keys that other writers leave out, drops keys it does
// not know, and says undefined to anything that cannot be what it is said to be.
import { decisionOf } from '../text/entry-decision.ts';
import { originFields } from '../text/entry-origin.ts';
import {
  asCount,
  asObject,
  asOneOf,
  asString,
  asStrings,
  type JsonObject,
  parseObject,
} from '../text/json.ts';
import { wholeText } from '../text/utf8.ts';
import type {
  EndReason,
  Entry,
  EntrySurvivor,
  SessionMetadata,
  SessionStatus,
  VcsState,
} from '../types.ts';
import { CONTEXT_SOURCES, ENDED_BY, REDACTED_PARTS } from '../types.ts';
import { type EntryParts, entryParts, saltedLine } from './entry-parts.ts';

/** How every line begins. It cannot stand inside a line: quotes in a string are escaped. */
export const ENTRY_START = '{"entry_id":"';

const END_REASONS: readonly EndReason[] = [...ENDED_BY, 'failed', 'interrupted', 'denied'];
export const STATUSES: readonly SessionStatus[] = ['active', 'complete', 'shutdown', 'interrupted'];

// Date.parse takes much that is no time at all.
const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d/;

/** `2026-01-18T14:30:52.123000Z` */
export function entryTimestamp(at: number): string {
  return `${new Date(at).toISOString().slice(0, -1)}000Z`;
}

const TIME_MAX = Date.UTC(9999, 11, 31); // behind it years have more digits, or there is no date

/** `2026-01-18T14:30:52Z`. An impossible time, as a damaged duration makes one, is the last one. */
export function wholeSeconds(at: number): string {
  const possible = Math.min(Math.max(at, 0), TIME_MAX);
  return `${new Date(possible).toISOString().slice(0, 19)}Z`;
}

/** The line of an entry, without what came behind it: that stands in a file beside it. */
export function encodeEntry(entry: Entry): string {
  return `${jsonOf(orderedEntry(entry))}\n`;
}

/** The same with a salt, and the parts that a ledger commits to. */
export function encodeSalted(
  entry: Entry,
  salt: Uint8Array,
): { readonly text: string; readonly parts: () => EntryParts } {
  const ordered = orderedEntry(entry);
  const json = jsonOf(ordered);
  return {
    text: `${saltedLine(json, salt)}\n`,
    parts: () => entryParts(wholeEntry(ordered, json)),
  };
}

/** The entry as a reader of the line gets it. */
function wholeEntry(entry: Entry, json: string): object {
  return MARKED.test(json) ? (parseObject(json) ?? entry) : entry;
}

/** As exports have it: with `later`, where there is something. `decodeEntry` reads both. */
export function encodeJoined(entry: Entry): string {
  const { later } = entry;
  return later === undefined
    ? encodeEntry(entry)
    : `${jsonOf({ ...orderedEntry(entry), later })}\n`;
}

function orderedEntry(entry: Entry): Entry {
  return {
    entry_id: entry.entry_id,
    session_id: entry.session_id,
    sequence_number: entry.sequence_number,
    timestamp: entry.timestamp,
    duration_ms: entry.duration_ms,
    command: entry.command,
    description: entry.description,
    working_directory: entry.working_directory,
    shell: entry.shell,
    timeout_seconds: entry.timeout_seconds,
    timed_out: entry.timed_out,
    exit_code: entry.exit_code,
    stdout: entry.stdout,
    stderr: entry.stderr,
    output_truncated: entry.output_truncated,
    output_truncated_bytes: entry.output_truncated_bytes,
    environment: entry.environment,
    agent_id: entry.agent_id,
    conversation_id: entry.conversation_id,
    tool_call_id: entry.tool_call_id,
    opencuff_version: entry.opencuff_version,
    plugin_version: entry.plugin_version,
    run_id: entry.run_id,
    end_reason: entry.end_reason,
    signal: entry.signal,
    trace_id: entry.trace_id,
    context_source: entry.context_source,
    processes: entry.processes,
    failed_processes: entry.failed_processes,
    process_list: entry.process_list,
    failed_process_list: entry.failed_process_list,
    decision: entry.decision,
    ...(entry.survivors !== undefined && { survivors: entry.survivors }),
    ...(entry.leaked !== undefined && { leaked: entry.leaked }),
    ...originFields(entry),
    ...(entry.redacted !== undefined && { redacted: entry.redacted }),
  };
}

function jsonOf(entry: Entry): string {
  const text = JSON.stringify(entry);
  // Half a character is what stringify escapes; other programs refuse a line that has one.
  return HALF.test(text) ? JSON.stringify(entry, withoutHalves) : text;
}

const HALF = /\\ud[89a-f]/i;

/** In the place of half a character. */
const MARKED = /\ufffd/;

function withoutHalves(_: string, value: unknown): unknown {
  return typeof value === 'string' ? wholeText(value) : value;
}

/** `line` with or without its `\n`. */
export function decodeEntry(line: string): Entry | undefined {
  const json = parseObject(line);
  return json === undefined ? undefined : entryOf(json);
}

function entryOf(json: JsonObject): Entry | undefined {
  const fields = new Fields(json);
  const timedOut = fields.boolean('timed_out');
  const entry: Entry = {
    entry_id: fields.string('entry_id'),
    session_id: fields.string('session_id'),
    sequence_number: fields.integer('sequence_number', 1),
    timestamp: fields.time('timestamp'),
    duration_ms: fields.integer('duration_ms', 0),
    command: fields.string('command'),
    description: fields.stringOrNull('description'),
    working_directory: fields.string('working_directory'),
    shell: fields.string('shell'),
    timeout_seconds: fields.integer('timeout_seconds', 0),
    timed_out: timedOut,
    exit_code: fields.integerOrNull('exit_code'),
    stdout: fields.stringOrNull('stdout'),
    stderr: fields.stringOrNull('stderr'),
    output_truncated: fields.boolean('output_truncated'),
    output_truncated_bytes: fields.integerOrNull('output_truncated_bytes'),
    environment: fields.environment('environment'),
    agent_id: fields.stringOrNull('agent_id'),
    conversation_id: fields.stringOrNull('conversation_id'),
    tool_call_id: fields.stringOrNull('tool_call_id'),
    opencuff_version: fields.string('opencuff_version'),
    plugin_version: fields.string('plugin_version'),
    run_id: fields.stringOrNull('run_id'),
    end_reason: asOneOf(END_REASONS, json.end_reason) ?? (timedOut ? 'timeout' : 'itself'),
    signal: fields.stringOrNull('signal'),
    trace_id: fields.stringOrNull('trace_id'),
    context_source: asOneOf(CONTEXT_SOURCES, json.context_source) ?? null,
    processes: fields.countOrNull('processes'),
    failed_processes: fields.countOrNull('failed_processes'),
    process_list: fields.stringsOrNull('process_list'),
    failed_process_list: fields.stringsOrNull('failed_process_list'),
    decision: decisionOf(json.decision),
    ...survivorsField(json.survivors),
    ...leakedField(json.leaked),
    ...originFields(json),
    ...redactedField(json.redacted),
    ...laterField(json.later),
  };
  return fields.good ? entry : undefined;
}

function survivorsField(value: unknown): Pick<Entry, 'survivors'> {
  const survivors = survivorsOf(value);
  return survivors.length === 0 ? {} : { survivors };
}

function leakedField(value: unknown): Pick<Entry, 'leaked'> {
  const leaked = asStrings(value) ?? [];
  return leaked.length === 0 ? {} : { leaked };
}

function redactedField(value: unknown): Pick<Entry, 'redacted'> {
  const redacted = REDACTED_PARTS.filter((part) => asStrings(value)?.includes(part));
  return redacted.length === 0 ? {} : { redacted };
}

function survivorsOf(value: unknown): readonly EntrySurvivor[] {
  if (!Array.isArray(value)) return [];
  return value.flatMap((one) => {
    const [pid, command] = [asCount(asObject(one)?.pid), asString(asObject(one)?.command)];
    return pid === undefined || command === undefined ? [] : [{ pid, command }];
  });
}

function laterField(value: unknown): Pick<Entry, 'later'> {
  const later = decodeLater(value);
  return later === undefined ? {} : { later };
}

/** What came behind an entry; undefined for anything that is not all of it. */
export function decodeLater(value: unknown): Entry['later'] {
  const json = asObject(value);
  const [stdout, stderr] = [asString(json?.stdout), asString(json?.stderr)];
  if (stdout === undefined || stderr === undefined) return undefined;
  return { stdout, stderr, truncated: json?.truncated === true };
}

export function encodeMetadata(metadata: SessionMetadata): string {
  const ordered: SessionMetadata = {
    session_id: metadata.session_id,
    created_at: metadata.created_at,
    last_updated: metadata.last_updated,
    entry_count: metadata.entry_count,
    total_duration_ms: metadata.total_duration_ms,
    status: metadata.status,
    commands_succeeded: metadata.commands_succeeded,
    commands_failed: metadata.commands_failed,
    commands_timed_out: metadata.commands_timed_out,
    working_directory: metadata.working_directory,
    agent_id: metadata.agent_id,
    conversation_id: metadata.conversation_id,
    end_reason: metadata.end_reason,
    owner: metadata.owner,
    ...laterFields(metadata),
  };
  return `${JSON.stringify(ordered, null, 2)}\n`;
}

export function decodeMetadata(text: string): SessionMetadata | undefined {
  const json = parseObject(text);
  const status = asOneOf(STATUSES, json?.status);
  if (json === undefined || status === undefined) return undefined;
  const fields = new Fields(json);
  const metadata: SessionMetadata = {
    session_id: fields.string('session_id'),
    created_at: fields.time('created_at'),
    last_updated: fields.time('last_updated'),
    entry_count: fields.integer('entry_count', 0),
    total_duration_ms: fields.integer('total_duration_ms', 0),
    status,
    commands_succeeded: fields.integer('commands_succeeded', 0),
    commands_failed: fields.integer('commands_failed', 0),
    commands_timed_out: fields.integer('commands_timed_out', 0),
    working_directory: fields.string('working_directory'),
    agent_id: fields.stringOrNull('agent_id'),
    conversation_id: fields.stringOrNull('conversation_id'),
    end_reason: fields.stringOrNull('end_reason'),
    owner: ownerOf(json.owner),
    ...laterFields({
      group: fields.optional('group'),
      resumed_at: fields.optional('resumed_at'),
      part_of: fields.optional('part_of'),
      vcs: vcsOf(json.vcs),
      sealed_by: fields.optional('sealed_by'),
      unsealed: fields.optional('unsealed'),
    }),
  };
  return fields.good ? metadata : undefined;
}

type LaterFields = Pick<
  SessionMetadata,
  'group' | 'resumed_at' | 'part_of' | 'vcs' | 'sealed_by' | 'unsealed'
>;

/** Keys that most sessions do not need are only there when they say something. */
function laterFields(
  from: {
    readonly [K in keyof LaterFields]: LaterFields[K] | undefined;
  },
): LaterFields {
  const { group, resumed_at, part_of, vcs, sealed_by, unsealed } = from;
  return {
    ...(group !== undefined && { group }),
    ...(resumed_at !== undefined && { resumed_at }),
    ...(part_of !== undefined && { part_of }),
    ...(vcs !== undefined && { vcs }),
    ...(sealed_by !== undefined && { sealed_by }),
    ...(unsealed !== undefined && { unsealed }),
  };
}

function vcsOf(value: unknown): VcsState | undefined {
  const json = asObject(value);
  if (json === undefined) return undefined;
  const { dirty } = json;
  return {
    head: asString(json.head) ?? null,
    branch: asString(json.branch) ?? null,
    dirty: typeof dirty === 'boolean' ? dirty : null,
  };
}

function ownerOf(value: unknown): SessionMetadata['owner'] {
  const owner = asObject(value);
  const pid = asCount(owner?.pid);
  const startTime = asCount(owner?.start_time);
  return pid === undefined || startTime === undefined ? null : { pid, start_time: startTime };
}

/** Reads keys of one kind each; what was read counts only if it is `good` at the end. */
class Fields {
  readonly #json: JsonObject;
  good = true;

  constructor(json: JsonObject) {
    this.#json = json;
  }

  string(key: string): string {
    return asString(this.#json[key]) ?? this.#refuse('');
  }

  /** Missing is null. */
  stringOrNull(key: string): string | null {
    return (this.#json[key] ?? null) === null ? null : this.string(key);
  }

  optional(key: string): string | undefined {
    return this.stringOrNull(key) ?? undefined;
  }

  boolean(key: string): boolean {
    const value = this.#json[key];
    return typeof value === 'boolean' ? value : this.#refuse(false);
  }

  integer(key: string, min: number): number {
    const value = this.#json[key];
    return Number.isSafeInteger(value) && Number(value) >= min ? Number(value) : this.#refuse(0);
  }

  integerOrNull(key: string): number | null {
    if ((this.#json[key] ?? null) === null) return null;
    return this.integer(key, Number.MIN_SAFE_INTEGER);
  }

  countOrNull(key: string): number | null {
    return (this.#json[key] ?? null) === null ? null : this.integer(key, 0);
  }

  stringsOrNull(key: string): readonly string[] | null {
    if ((this.#json[key] ?? null) === null) return null;
    return asStrings(this.#json[key]) ?? this.#refuse(null);
  }

  time(key: string): string {
    const value = this.string(key);
    return TIME.test(value) && !Number.isNaN(Date.parse(value)) ? value : this.#refuse('');
  }

  environment(key: string): Readonly<Record<string, string>> | null {
    if ((this.#json[key] ?? null) === null) return null;
    const object = asObject(this.#json[key]);
    const strings = Object.values(object ?? {}).every((value) => typeof value === 'string');
    if (object === undefined || !strings) return this.#refuse(null);
    return object as Readonly<Record<string, string>>;
  }

  #refuse<T>(value: T): T {
    this.good = false;
    return value;
  }
}
