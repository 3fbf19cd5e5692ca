// Which sessions the catalog has to read: new ones, and files that are not what they were when they
// were last read. A file may be emptied, written over or continued without a change of its folder,
// so each is looked at; that takes a while, and is done in small steps. Their names are read again
// only when the folder has changed.
//
// What a file was is kept as one text: its inode, size and ctime (an mtime can be set back). The
// database gives those of many sessions as one text, too: a row each takes ten times as long.
import * as fs from 'node:fs';
import type { Entry, SessionMetadata } from '../types.ts';
import { findSessionFiles, plainFile, sessionsDir } from './files.ts';
import { hasForm, isJournalId, LATER } from './ids.ts';
import { folderState } from './list.ts';
import { readEntries } from './reader.ts';
import { storable } from './search-text.ts';
import type { Database } from './sqlite.ts';

const SUFFIX = '.jsonl';
const STEP = 250; // a millisecond or two
const ROWS_STEP = 2_000; // the same, of rows that come as one text

/** What a session's file is, or was when it was read. */
export type FileState = {
  readonly ino: number;
  readonly size: number;
  readonly ctime: number;
};

export function stateText({ ino, size, ctime }: FileState): string {
  return `${ino} ${size} ${ctime}`;
}

export function stateFrom(text: string): FileState {
  const [ino = 0, size = 0, ctime = 0] = text.split(' ').map(Number);
  return { ino, size, ctime };
}

export type Look = {
  /** New or changed, or being written, in order of time. */
  readonly names: readonly string[];
  readonly gone: readonly string[];
  /** What to keep in `about` once all of this is in the catalog, if it is not kept yet. */
  readonly about: Readonly<Record<string, string>>;
};

const NO_MARK = '';

/** Yields after every step. */
export function* look(
  database: Database,
  directory: string,
  now: number,
): Generator<void, Look, undefined> {
  const beside = (yield* namesIn(directory)).filter(hasForm);
  const state = folderState(sessionsDir(directory), now);
  const kept = aboutOf(database, 'mark') ?? NO_MARK;
  // The mark is of sessions/ only: with sessions of the older layout there is none.
  const same = beside.length === 0 && state?.text === kept;
  const known = yield* knownSessions(database);
  const found = same ? undefined : yield* namesIn(sessionsDir(directory));
  const all = found && new Set([...beside, ...found.filter(isJournalId)]);
  const names = yield* changedOf(directory, all ?? known.keys(), known);
  const gone = all === undefined ? [] : [...known.keys()].filter((name) => !all.has(name));
  const mark = state?.settled && beside.length === 0 ? state.text : NO_MARK;
  const later = found?.filter((name) => name.endsWith(LATER)).join('\n');
  const about = {
    ...(mark !== kept && { mark }),
    ...(later !== undefined && later !== aboutOf(database, 'later') && { later }),
  };
  return { names: names.sort(), gone, about };
}

function* changedOf(
  directory: string,
  names: Iterable<string>,
  known: ReadonlyMap<string, string>,
): Generator<void, string[], undefined> {
  const folder = sessionsDir(directory);
  const changed: string[] = [];
  let count = 0;
  for (const name of names) {
    const before = known.get(name);
    const state = before === LIVE ? undefined : fileState(directory, name, folder);
    if (state === undefined || before !== stateText(state)) changed.push(name);
    count += 1;
    if (count % STEP === 0) yield;
  }
  return changed;
}

/** The files of sessions whose output went on behind their entries, as of the last look. */
export function laterNames(database: Database): string[] {
  const text = aboutOf(database, 'later') ?? '';
  return text === '' ? [] : text.split('\n').map((name) => `${name}${SUFFIX}`);
}

function aboutOf(database: Database, key: string): string | undefined {
  const [row] = database.all('SELECT value FROM about WHERE key = ?', key);
  return row === undefined ? undefined : String(row.value);
}

/** The names of all files with entries, or what is like them, a step at a time. */
function* namesIn(folder: string): Generator<void, string[], undefined> {
  const names: string[] = [];
  let open: fs.Dir;
  try {
    open = fs.opendirSync(folder, { bufferSize: STEP });
  } catch {
    return names; // no such folder, or none that we may read
  }
  try {
    let count = 0;
    for (let file = open.readSync(); file !== null; file = open.readSync()) {
      if (file.name.endsWith(SUFFIX) && file.isFile()) {
        names.push(file.name.slice(0, -SUFFIX.length));
      }
      count += 1;
      if (count % STEP === 0) yield;
    }
  } finally {
    open.closeSync();
  }
  return names;
}

/** In the place of a state: it is looked at again whatever its file is. */
const LIVE = '';

/** The state each session had when it was read. */
function* knownSessions(database: Database): Generator<void, Map<string, string>, undefined> {
  const known = new Map<string, string>();
  const sql = `SELECT max(id) AS last,
    group_concat(name || ' ' || iif(live, '${LIVE}', state), char(10)) AS text
    FROM (SELECT id, name, live, state FROM sessions WHERE id > ? ORDER BY id LIMIT ?)`;
  for (let last = 0; ; ) {
    const [row] = database.all(sql, last, ROWS_STEP);
    if (typeof row?.text !== 'string') return known;
    for (const line of row.text.split('\n')) {
      const end = line.indexOf(' ');
      known.set(line.slice(0, end), line.slice(end + 1));
    }
    last = Number(row.last);
    yield;
  }
}

export function fileState(
  directory: string,
  name: string,
  folder = sessionsDir(directory),
): FileState | undefined {
  // `join` takes as long as looking at the file.
  const stat =
    plainFile(`${folder}/${name}${SUFFIX}`) ??
    plainFile(findSessionFiles(directory, name)?.entries ?? '');
  return stat && { ino: stat.ino, size: stat.size, ctime: stat.ctimeMs };
}

export function isAs(before: FileState, now: FileState | undefined): boolean {
  return before.ino === now?.ino && before.size === now.size && before.ctime === now.ctime;
}

/** A server writes it, or may: nothing says that it has ended. */
export function isLive(metadata: SessionMetadata | undefined): boolean {
  return metadata === undefined || metadata.status === 'active';
}

/** The entry whose line begins there, if it is the one that did when the catalog read it. */
export function entryAt(
  directory: string,
  name: string,
  offset: number,
  entryId: string,
): Entry | undefined {
  for (const { entry, offset: at } of readEntries(directory, name, offset)) {
    if (at !== offset) return undefined;
    if (storable(entry.entry_id) === entryId) return entry;
  }
  return undefined;
}
