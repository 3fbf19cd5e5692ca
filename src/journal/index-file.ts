// index.json: one row for each session, for programs that do not read them all. It is
// derived and may be deleted at any time; its text is a function of the sessions alone, so that it
// comes back equal.
import { asCount, asObject, asOneOf, asString, parseObject } from '../text/json.ts';
import type { SessionMetadata, SessionStatus } from '../types.ts';
import { STATUSES, wholeSeconds } from './entry.ts';
import {
  findSessionFiles,
  indexPath,
  type JournalEnv,
  plainFile,
  readText,
  replaceFile,
} from './files.ts';
import { journalSessionIds, readMetadata } from './reader.ts';

const CLOCK_SLACK_MS = 2000; // times of files are coarse on some file systems

export type SessionIndexEntry = {
  readonly session_id: string;
  readonly created_at: string;
  readonly last_updated: string;
  readonly entry_count: number;
  readonly status: SessionStatus;
  readonly file_size_bytes: number;
};

export type RecordingIndex = {
  readonly version: '1.0';
  /** When the last of its sessions was. */
  readonly last_updated: string;
  readonly total_sessions: number;
  readonly total_entries: number;
  readonly sessions: Readonly<Record<string, SessionIndexEntry>>;
};

export type Rows = Map<string, SessionIndexEntry>;

/** The index as it is true now; its file is written anew when it was missing, stale or damaged. */
export function readIndex(directory: string, env: JournalEnv): RecordingIndex {
  const rows = trueRows(directory);
  const text = encodeIndex(rows, env.now());
  if (rows.size > 0 && readText(indexPath(directory)) !== text) {
    try {
      replaceFile(indexPath(directory), text, env.fs);
    } catch {
      // A reader who may not write has the answer all the same.
    }
  }
  return indexOf(rows, env.now());
}

/** Undefined when it is damaged or does not add up. */
export function decodeIndex(text: string): RecordingIndex | undefined {
  const json = parseObject(text);
  const sessions = asObject(json?.sessions);
  const updated = asString(json?.last_updated);
  if (json?.version !== '1.0' || sessions === undefined || updated === undefined) return undefined;
  const rows: Rows = new Map();
  for (const [id, value] of Object.entries(sessions)) {
    const row = decodeRow(value);
    if (row?.session_id !== id) return undefined;
    rows.set(id, row);
  }
  const index = { ...indexOf(rows, 0), last_updated: updated };
  const sums = index.total_sessions === json.total_sessions;
  return sums && index.total_entries === json.total_entries ? index : undefined;
}

function decodeRow(value: unknown): SessionIndexEntry | undefined {
  const json = asObject(value);
  const id = asString(json?.session_id);
  const created = asString(json?.created_at);
  const updated = asString(json?.last_updated);
  const count = asCount(json?.entry_count);
  const status = asOneOf(STATUSES, json?.status);
  const size = asCount(json?.file_size_bytes);
  if (id === undefined || created === undefined || updated === undefined) return undefined;
  if (count === undefined || status === undefined || size === undefined) return undefined;
  return {
    session_id: id,
    created_at: created,
    last_updated: updated,
    entry_count: count,
    status,
    file_size_bytes: size,
  };
}

export function indexRow(metadata: SessionMetadata, sizeBytes: number): SessionIndexEntry {
  return {
    session_id: metadata.session_id,
    created_at: metadata.created_at,
    last_updated: metadata.last_updated,
    entry_count: metadata.entry_count,
    status: metadata.status,
    file_size_bytes: sizeBytes,
  };
}

function indexOf(rows: Rows, now: number): RecordingIndex {
  const { sessions: _, ...totals } = totalsOf(rows, now);
  return { ...totals, sessions: Object.fromEntries(rows) };
}

function totalsOf(rows: Rows, now: number): RecordingIndex {
  let last = '';
  let entries = 0;
  for (const row of rows.values()) {
    if (row.last_updated > last) last = row.last_updated;
    entries += row.entry_count;
  }
  return {
    version: '1.0',
    last_updated: last === '' ? wholeSeconds(now) : last,
    total_sessions: rows.size,
    total_entries: entries,
    sessions: {},
  };
}

// Rows never change once they are made, and nearly all are written again and again.
const texts = new WeakMap<SessionIndexEntry, string>();

function rowText(id: string, row: SessionIndexEntry): string {
  let text = texts.get(row);
  if (text === undefined) {
    text = `    ${JSON.stringify(id)}: ${JSON.stringify(row, null, 2).replaceAll('\n', '\n    ')}`;
    texts.set(row, text);
  }
  return text;
}

/** What JSON.stringify with two spaces would give. */
export function encodeIndex(rows: Rows, now: number): string {
  const empty = JSON.stringify(totalsOf(rows, now), null, 2);
  if (rows.size === 0) return `${empty}\n`;
  const body = [...rows].map(([id, row]) => rowText(id, row)).join(',\n');
  return `${empty.slice(0, -'{}\n}'.length)}{\n${body}\n  }\n}\n`;
}

function trueRows(directory: string): Rows {
  const read = rowReader(directory);
  const rows: Rows = new Map();
  for (const id of journalSessionIds(directory)) {
    const row = read(id);
    if (row !== undefined) rows.set(id, row);
  }
  return rows;
}

/** Gives rows of the file where they can be believed, and of the sessions themselves elsewhere. */
export function rowReader(directory: string): (id: string) => SessionIndexEntry | undefined {
  const path = indexPath(directory);
  const known = decodeIndex(readText(path) ?? '')?.sessions ?? {};
  const writtenAt = plainFile(path)?.mtimeMs ?? 0;
  return (id) => {
    const row = Object.hasOwn(known, id) ? known[id] : undefined;
    const fresh = row !== undefined && isFresh(directory, row, writtenAt);
    return fresh ? row : rowOf(directory, id);
  };
}

function isFresh(directory: string, row: SessionIndexEntry, writtenAt: number): boolean {
  const files = findSessionFiles(directory, row.session_id);
  if (row.status === 'active' || files === undefined) return false;
  const before = writtenAt - CLOCK_SLACK_MS;
  const entries = plainFile(files.entries);
  const metadata = plainFile(files.metadata);
  if (entries?.size !== row.file_size_bytes || metadata === undefined) return false;
  return entries.mtimeMs < before && metadata.mtimeMs < before;
}

/** The same as long as nothing was written to the files of a session. */
export function filesState(directory: string, id: string): string {
  const files = findSessionFiles(directory, id);
  const states = [files?.entries, files?.metadata].map((path) => plainFile(path ?? ''));
  return states.map((stat) => `${stat?.ino} ${stat?.size} ${stat?.ctimeMs}`).join(' ');
}

export function rowOf(directory: string, id: string): SessionIndexEntry | undefined {
  const metadata = readMetadata(directory, id);
  const files = metadata === undefined ? undefined : findSessionFiles(directory, id);
  if (metadata === undefined || files === undefined) return undefined; // removed meanwhile
  return indexRow(metadata, plainFile(files.entries)?.size ?? 0);
}
