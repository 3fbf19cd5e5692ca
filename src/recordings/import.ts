// Commands that were recorded elsewhere become sessions of this journal. A file is read twice, so
// that each session is written in one go whatever the order of its lines. `imports.jsonl` in the
// journal says which files were taken in: a line {"sha256","session_id"} for every session that
// was begun, then one {"sha256","done",...}. A file that is done is not taken in again; one that
// was begun and not finished is taken out first, so that nothing is there twice or in half.

import { isUtf8 } from 'node:buffer';
import { appendFileSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import packageJson from '../../package.json' with { type: 'json' };
import { ensureJournal, findSessionFiles, readText } from '../journal/files.ts';
import { isJournalId } from '../journal/ids.ts';
import { type ImportedLine, importLine, type LineProblem } from '../journal/import-line.ts';
import { appendLater } from '../journal/later.ts';
import { removeSession } from '../journal/retention.ts';
import { type SessionWriter, startSession } from '../journal/writer.ts';
import { processAlive, thisProcess } from '../run/processes.ts';
import { buryBefore } from '../sealing/erase.ts';
import type { Ledger } from '../sealing/ledger.ts';
import { asString, type JsonObject, parseObject } from '../text/json.ts';
import type { Entry, LaterOutput } from '../types.ts';
import { type FileLine, LineSource } from './file-lines.ts';

const IN_FLIGHT_MAX = 256; // entries that share a write to the disk
const IN_FLIGHT_BYTES_MAX = 16_777_216;
const REFUSED_MAX = 1000; // of more, only the number is kept

type RefusedLine = LineProblem & { readonly line: number };

type ImportedSession = {
  readonly session_id: string;
  /** What it was called in the file. */
  readonly label: string | null;
  readonly entries: number;
};

export type ImportResult = {
  readonly sha256: string;
  /** The same file was taken in before: nothing was done. */
  readonly again: boolean;
  readonly sessions: readonly ImportedSession[];
  readonly entries: number;
  /** The first of them. */
  readonly refused: readonly RefusedLine[];
  readonly refusedCount: number;
};

export type ImportOptions = {
  readonly now: () => number;
  /** Seals what is imported. */
  readonly ledger?: Ledger | undefined;
  /** Called for every entry that is in the journal. */
  readonly step?: () => void;
  /** Called with the bytes of every line that is not. */
  readonly reject?: (line: Uint8Array) => void;
};

type Place = Pick<FileLine, 'offset' | 'length'>;

export async function importLines(
  directory: string,
  path: string,
  options: ImportOptions,
): Promise<ImportResult> {
  const source = new LineSource(path);
  try {
    const sha256 = source.hash();
    const before = register(directory, sha256);
    const known = { sha256, sessions: [], entries: 0, refused: [], refusedCount: 0 };
    if (before.done) return { ...known, again: true, sessions: before.sessions.map(unnamed) };
    const erasure = { by: 'user', why: 'an import that did not end is done again' } as const;
    await buryBefore(options.ledger, directory, before.sessions, erasure);
    for (const id of before.sessions) removeSession(directory, id);
    const scanned = scan(source, defaultsFor(source, options), options);
    const sessions: ImportedSession[] = [];
    for (const [label, places] of scanned.groups) {
      sessions.push(
        ...(await importSession({ directory, source, sha256, label, places }, options)),
      );
    }
    const entries = sessions.reduce((sum, session) => sum + session.entries, 0);
    if (sessions.length > 0) {
      note(directory, { sha256, done: true, file: basename(path), at: isoNow(options), sessions });
    }
    const { refused, refusedCount } = scanned;
    return { sha256, again: false, sessions, entries, refused, refusedCount };
  } finally {
    source.close();
  }
}

/** Sorts the lines by session, in the order they first appear, and refuses what is no command. */
function scan(source: LineSource, defaults: Defaults, options: ImportOptions) {
  const groups = new Map<string | null, Place[]>();
  const refused: RefusedLine[] = [];
  let refusedCount = 0;
  for (const line of source.lines()) {
    if (line.bytes?.every(isBlank) === true) continue;
    const read = lineOf(line.bytes, defaults);
    if ('problem' in read) {
      refusedCount += 1;
      if (refused.length < REFUSED_MAX) refused.push({ line: line.number, problem: read.problem });
      options.reject?.(source.at(line));
      continue;
    }
    const label = read.session ?? null;
    const places = groups.get(label);
    const place = { offset: line.offset, length: line.length };
    if (places === undefined) groups.set(label, [place]);
    else places.push(place);
  }
  return { groups, refused, refusedCount };
}

type Defaults = Parameters<typeof importLine>[1];

function defaultsFor(source: LineSource, { now }: ImportOptions): Defaults {
  const cwd = dirname(resolve(source.path));
  return { cwd, now: Math.min(source.modifiedAt, now()), version: packageJson.version };
}

function lineOf(bytes: Buffer | undefined, defaults: Defaults): ImportedLine | LineProblem {
  if (bytes === undefined) return { problem: 'too long' };
  if (!isUtf8(bytes)) return { problem: 'not UTF-8' };
  const text = bytes.toString('utf8');
  return importLine(text.startsWith('\ufeff') ? text.slice(1) : text, defaults);
}

function isBlank(byte: number): boolean {
  return byte === 0x20 || byte === 0x09 || byte === 0x0d;
}

type Job = {
  readonly directory: string;
  readonly source: LineSource;
  readonly sha256: string;
  readonly label: string | null;
  readonly places: readonly Place[];
};

async function importSession(job: Job, options: ImportOptions): Promise<ImportedSession[]> {
  const defaults = defaultsFor(job.source, options);
  const flight = new Flight();
  let writer: SessionWriter | undefined;
  const later: LaterOutput[] = [];
  let clock = 0;
  let entries = 0;
  try {
    for (const place of job.places) {
      const read = lineOf(job.source.at(place), defaults);
      if ('problem' in read) continue; // it was a command a moment ago: the file was changed
      const { draft } = read;
      const startedAt = Date.parse(draft.timestamp);
      // The session is dated by its commands, not by when it came here.
      clock = Math.max(clock, writer === undefined ? startedAt : startedAt + draft.duration_ms);
      writer ??= begin(job, read, () => clock, options);
      clock = Math.max(clock, startedAt + draft.duration_ms);
      await flight.add(writer.append(draft).then(noteLater(read, later)), place.length);
      entries += 1;
      options.step?.();
    }
    await flight.landed();
    if (writer !== undefined) {
      const seal = options.ledger?.sealOf('import');
      await appendLater(job.directory, writer.id, later, {
        now: options.now,
        seal,
        writers: { owner: thisProcess(), alive: processAlive },
      });
    }
  } finally {
    await writer?.finalize(writer.broken ? 'interrupted' : 'complete', 'imported');
  }
  return writer === undefined ? [] : [{ session_id: writer.id, label: job.label, entries }];
}

/** Keeps what came behind an entry until that has its id here. */
function noteLater({ later: output }: ImportedLine, all: LaterOutput[]): (entry: Entry) => void {
  return ({ entry_id, survivors = [] }) => {
    if (output !== undefined) all.push({ entry_id, survivors, output });
  };
}

function begin(
  job: Job,
  first: ImportedLine,
  now: () => number,
  options: ImportOptions,
): SessionWriter {
  const facts = {
    workingDirectory: first.draft.working_directory,
    agentId: first.draft.agent_id,
    conversationId: first.conversation,
    owner: thisProcess(), // while it lives the session is not taken for a forgotten one
  };
  // Its metadata is written once, at its end.
  const env = { now, later: () => () => undefined, seal: options.ledger?.sealOf('import') };
  const writer = startSession(job.directory, facts, env);
  note(job.directory, { sha256: job.sha256, session_id: writer.id });
  return writer;
}

/** Entries on their way to the disk: many together, but never more than fit into memory. */
class Flight {
  #waiting: Promise<unknown>[] = [];
  #bytes = 0;

  async add(entry: Promise<unknown>, bytes: number): Promise<void> {
    this.#waiting.push(entry);
    this.#bytes += bytes;
    if (this.#waiting.length >= IN_FLIGHT_MAX || this.#bytes > IN_FLIGHT_BYTES_MAX) {
      await this.landed();
    }
  }

  async landed(): Promise<void> {
    const all = this.#waiting;
    this.#waiting = [];
    this.#bytes = 0;
    await Promise.all(all);
  }
}

type Registration = { readonly done: boolean; readonly sessions: readonly string[] };

/** What is known about a file. One whose sessions were all removed since may come again. */
function register(directory: string, sha256: string): Registration {
  const lines = (readText(registerPath(directory)) ?? '').split('\n').map(parseObject);
  const known = lines.filter((line): line is JsonObject => line?.sha256 === sha256);
  const sessions = known
    .map(({ session_id }) => asString(session_id) ?? '')
    .filter((id) => isJournalId(id) && findSessionFiles(directory, id) !== undefined);
  return { done: sessions.length > 0 && known.some(({ done }) => done === true), sessions };
}

function note(directory: string, line: JsonObject): void {
  ensureJournal(directory);
  appendFileSync(registerPath(directory), `${JSON.stringify(line)}\n`, { mode: 0o600 });
}

function registerPath(directory: string): string {
  return join(directory, 'imports.jsonl');
}

function unnamed(session_id: string): ImportedSession {
  return { session_id, label: null, entries: 0 };
}

function isoNow({ now }: ImportOptions): string {
  return new Date(now()).toISOString();
}
