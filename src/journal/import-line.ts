// One line of another program's record of commands as the start of an entry. `command` is all it
// must have; what else it has must be what it says it is, or the line is refused with the reason:
// a field that is quietly dropped would be lost. Lines of our own exports are understood, too.
import { asObject, type JsonObject, parseObject } from '../text/json.ts';
import type { Entry, EntryDraft } from '../types.ts';
import { decodeEntry, entryTimestamp } from './entry.ts';

export type ImportedLine = {
  /** What its session was called where it came from. */
  readonly session: string | undefined;
  /** What the session belongs to, as far as that is said. */
  readonly conversation: string | null;
  readonly draft: EntryDraft;
  /** What came behind it. */
  readonly later?: Entry['later'];
};

export type LineProblem = { readonly problem: string };

export type ImportDefaults = {
  readonly cwd: string;
  /** For lines that do not say when; epoch milliseconds. */
  readonly now: number;
  readonly version: string;
};

const TIME_MAX = Date.UTC(9999, 11, 31); // years have four digits
const SECONDS_MAX = 100_000_000_000; // a number below this is seconds, above it milliseconds

export function importLine(text: string, defaults: ImportDefaults): ImportedLine | LineProblem {
  const own = decodeEntry(text);
  if (own !== undefined) {
    const { entry_id: _, session_id, sequence_number: __, later, ...draft } = own;
    // Only a line that has the word is read a second time.
    const dropped = later === undefined && text.includes('"later":');
    if (dropped && parseObject(text)?.later !== undefined) {
      return { problem: 'later is not the output of both streams' };
    }
    const line = { session: session_id, conversation: own.conversation_id, draft };
    return later === undefined ? line : { ...line, later };
  }
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return { problem: 'not JSON' };
  }
  const json = asObject(value);
  return json === undefined ? { problem: 'not a JSON object' } : foreignLine(json, defaults);
}

function foreignLine(json: JsonObject, defaults: ImportDefaults): ImportedLine | LineProblem {
  const fields = new Fields(json);
  const command = fields.string('command') ?? '';
  const timedOut = fields.boolean('timed_out') ?? false;
  const agent = fields.string('agent_id');
  const session = fields.label('session') ?? fields.label('session_id') ?? undefined;
  const draft: EntryDraft = {
    timestamp: entryTimestamp(fields.time('timestamp') ?? defaults.now),
    duration_ms: Math.round(fields.number('duration_ms') ?? 0),
    command,
    description: fields.string('description'),
    working_directory: fields.string('cwd') ?? fields.string('working_directory') ?? defaults.cwd,
    shell: fields.string('shell') ?? '',
    timeout_seconds: 0, // it is not known that there was a limit
    timed_out: timedOut,
    exit_code: fields.integer('exit_code'),
    stdout: fields.string('stdout'),
    stderr: fields.string('stderr'),
    output_truncated: false,
    output_truncated_bytes: null,
    environment: null,
    agent_id: agent,
    conversation_id: fields.string('conversation_id'),
    tool_call_id: null,
    opencuff_version: defaults.version,
    plugin_version: 'import',
    run_id: null,
    end_reason: timedOut ? 'timeout' : 'itself',
    signal: null,
    trace_id: null,
    context_source: agent === null ? null : 'self-reported',
    processes: null,
    failed_processes: null,
    process_list: null,
    failed_process_list: null,
    decision: null,
  };
  if (fields.problem !== undefined) return { problem: fields.problem };
  if (command === '') return { problem: 'no command' };
  return { session, conversation: draft.conversation_id ?? session ?? null, draft };
}

/** Null is the same as missing. The first thing that is not what it should be is the problem. */
class Fields {
  readonly #json: JsonObject;
  problem: string | undefined;

  constructor(json: JsonObject) {
    this.#json = json;
  }

  string(key: string): string | null {
    const value = this.#given(key);
    if (value === null || typeof value === 'string') return value;
    return this.#refuse(key, 'a string');
  }

  label(key: string): string | null {
    const value = this.#given(key);
    return typeof value === 'number' ? String(value) : this.string(key);
  }

  boolean(key: string): boolean | null {
    const value = this.#given(key);
    if (value === null || typeof value === 'boolean') return value;
    return this.#refuse(key, 'true or false');
  }

  number(key: string): number | null {
    const value = this.#given(key);
    if (value === null) return null;
    const good = typeof value === 'number' && value >= 0 && value <= Number.MAX_SAFE_INTEGER;
    return good ? value : this.#refuse(key, 'a number from 0');
  }

  integer(key: string): number | null {
    const value = this.#given(key);
    if (value === null) return null;
    return Number.isSafeInteger(value) ? Number(value) : this.#refuse(key, 'a whole number');
  }

  /** ISO 8601, or a number of seconds or milliseconds since 1970. */
  time(key: string): number | null {
    const value = this.#given(key);
    if (value === null) return null;
    const at =
      typeof value === 'number'
        ? value * (Math.abs(value) < SECONDS_MAX ? 1000 : 1)
        : isoTime(typeof value === 'string' ? value : '');
    return at >= 0 && at <= TIME_MAX ? at : this.#refuse(key, 'a time');
  }

  #given(key: string): unknown {
    return Object.hasOwn(this.#json, key) ? (this.#json[key] ?? null) : null;
  }

  #refuse(key: string, wanted: string): null {
    this.problem ??= `${key} is not ${wanted}`;
    return null;
  }
}

const ISO = /^\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?(Z|[+-]\d\d:?\d\d)?)?$/;

/** What says no zone is in UTC, as everything here is. NaN for what is no time. */
function isoTime(text: string): number {
  const found = ISO.exec(text);
  if (found === null) return Number.NaN;
  return Date.parse(text.length > 10 && found[1] === undefined ? `${text}Z` : text);
}
