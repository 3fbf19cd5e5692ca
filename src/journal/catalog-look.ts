// Which sessions the catalog has to read: new ones, and files that are not what they were when they
// were last read. A file may be emptied, written over or continued without a change of its folder,
// so each is looked at; that takes a while, and is done in small steps. Their names are read again
// only when the folder has changed.
import * as fs from 'node:fs';
import type { Entry } from '../types.ts';
import { decodeMetadata } from './entry.ts';
import { findSessionFiles, plainFile, readText, sessionFiles, sessionsDir } from './files.ts';
import { hasForm, isJournalId } from './ids.ts';
import { folderState } from './list.ts';
import { readEntries } from './reader.ts';
import { storable } from './search-text.ts';
import type { Database } from './sqlite.ts';

const SUFFIX = '.jsonl';
const STEP = 250; // a millisecond or two

/** What a session's file is, or was when it was read. */
export type FileState = {
  readonly ino: number;
  readonly size: number;
  readonly ctime: number;
};

export type Look = {
  /** New or changed, or being written, in order of time. */
  readonly names: readonly string[];
  readonly gone: readonly string[];
  /** The mark to keep once all of this is in the catalog, if it is another than is kept. */
  readonly mark?: string;
};

const NO_MARK = '';

/** Yields after every step. */
export function* look(
  database: Database,
  directory: string,
  now: number,
): Generator<void, Look, undefined> {
  const beside = yield* namesIn(directory, hasForm);
  const state = folderState(sessionsDir(directory), now);
  const [row] = database.all("SELECT value FROM about WHERE key = 'mark'");
  const kept = row?.value ?? NO_MARK;
  // The mark is of sessions/ only: with sessions of the older layout there is none.
  const same = beside.length === 0 && state?.text === kept;
  const known = yield* knownSessions(database);
  const all = same
    ? new Set(known.keys())
    : new Set([...beside, ...(yield* namesIn(sessionsDir(directory), isJournalId))]);
  const names: string[] = [];
  let count = 0;
  for (const name of all) {
    const session = known.get(name);
    known.delete(name);
    if (session === undefined || session.live || !isAs(session, fileState(directory, name))) {
      names.push(name);
    }
    count += 1;
    if (count % STEP === 0) yield;
  }
  const mark = state?.settled && beside.length === 0 ? state.text : NO_MARK;
  return { names: names.sort(), gone: [...known.keys()], ...(mark !== kept && { mark }) };
}

/** As `journalSessionIds`, a step at a time. */
function* namesIn(
  folder: string,
  isId: (name: string) => boolean,
): Generator<void, string[], undefined> {
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
      const name = file.name.slice(0, -SUFFIX.length);
      if (file.name.endsWith(SUFFIX) && file.isFile() && isId(name)) names.push(name);
      count += 1;
      if (count % STEP === 0) yield;
    }
  } finally {
    open.closeSync();
  }
  return names;
}

type Known = Map<string, FileState & { readonly live: boolean }>;

function* knownSessions(database: Database): Generator<void, Known, undefined> {
  const known: Known = new Map();
  const sql =
    'SELECT id, name, live, ino, size, ctime FROM sessions WHERE id > ? ORDER BY id LIMIT ?';
  for (let last = 0; ; ) {
    const rows = database.all(sql, last, STEP);
    for (const { id, name, live, ino, size, ctime } of rows) {
      const state = { ino: Number(ino), size: Number(size), ctime: Number(ctime) };
      known.set(String(name), { ...state, live: live === 1 });
      last = Number(id);
    }
    if (rows.length < STEP) return known;
    yield;
  }
}

export function fileState(directory: string, name: string): FileState | undefined {
  const stat =
    plainFile(sessionFiles(directory, name).entries) ??
    plainFile(findSessionFiles(directory, name)?.entries ?? '');
  return stat && { ino: stat.ino, size: stat.size, ctime: stat.ctimeMs };
}

export function isAs(before: FileState, now: FileState | undefined): boolean {
  return before.ino === now?.ino && before.size === now.size && before.ctime === now.ctime;
}

/** Somebody writes it, or may: nothing says that it has ended. */
export function isLive(directory: string, name: string): boolean {
  const text = readText(findSessionFiles(directory, name)?.metadata ?? '');
  const status = decodeMetadata(text ?? '')?.status;
  return status === undefined || status === 'active';
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
