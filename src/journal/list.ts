// The newest sessions of a journal without reading the others, for a command line that answers
// before it is noticed: reading twenty thousand names alone takes half as long as Node's start.
//
// `sessions.list` holds the names as they were when `sessions/` last changed, newest first:
//
//   cuff-sessions 1 <inode> <ctime in ns> <count>     of sessions/ when its names were read
//   20260118_171522_c9d5e1f4-e8b9                     a session, by the time in its id
//   20260118_160315 nightly                           or by the time it was made, if it has none
//
// so that its first kilobyte is enough for the newest twenty. It is believed only while inode and
// ctime are those of the folder, so it cannot be stale; it is derived, and a reader that cannot
// write it reads the names again. Metadata is never kept in it.
import * as fs from 'node:fs';
import { join } from 'node:path';
import type { SessionMetadata } from '../types.ts';
import { type JournalEnv, openToRead, readText, replaceFile, sessionsDir } from './files.ts';
import { dateAndTime, hasForm, isJournalId } from './ids.ts';
import { placeTrouble } from './place.ts';
import { readMetadata } from './reader.ts';
import { metadataSince } from './since.ts';

const SUFFIX = '.jsonl';
// A line is shorter, as a rule; where it is not, the whole list is read, as for many sessions.
const LINE_LENGTH = 40;
const LINES_MAX = 1000;
const TIME_LENGTH = '20260118_143052'.length;
// Two changes within one tick of the file system's clock leave the same ctime.
const SETTLED_MS = 2000;

export type SessionList = {
  /** Newest first. */
  readonly sessions: readonly SessionMetadata[];
  /** How many more there are that were not asked for. */
  readonly more: number;
};

export type ListQuery = {
  /** Only sessions with a command that began then or later (epoch ms). */
  readonly since?: number;
  readonly limit: number;
};

export function listSessions(directory: string, query: ListQuery, env: JournalEnv): SessionList {
  if (placeTrouble(directory) !== undefined) return NOTHING;
  const few = query.since === undefined && query.limit <= LINES_MAX ? query.limit : undefined;
  const newest = choose(directory, query, keysOf(directory, few, env));
  // Some of the newest were no sessions, so others have to take their place.
  return newest ?? choose(directory, query, keysOf(directory, undefined, env)) ?? NOTHING;
}

const NOTHING: SessionList = { sessions: [], more: 0 };

/** Undefined when there are too few keys to tell. */
function choose(
  directory: string,
  query: ListQuery,
  { count, keys }: Keys,
): SessionList | undefined {
  const sessions: SessionMetadata[] = [];
  let more = 0;
  for (const key of keys) {
    const full = sessions.length === query.limit;
    // Of those that are only counted, empty ones are rare, and looking at each takes too long.
    if (full && query.since === undefined) more += 1;
    else {
      const metadata = metadataSince(directory, idOf(key), query.since);
      if (metadata !== undefined && full) more += 1;
      else if (metadata !== undefined) sessions.push(metadata);
    }
  }
  const unknown = count - keys.length;
  return unknown > 0 && sessions.length < query.limit
    ? undefined
    : { sessions, more: more + unknown };
}

/** `count` sessions, newest first; not all of their keys if those of the newest will do. */
type Keys = { readonly count: number; readonly keys: readonly string[] };

function keysOf(directory: string, few: number | undefined, env: JournalEnv): Keys {
  // The older layout has its sessions beside the index. Usually there are none, so no list.
  const beside = idsIn(directory).filter(hasForm);
  const found = keysInSessions(directory, beside.length === 0 ? few : undefined, env);
  if (beside.length === 0) return found;
  const keys = [...new Set([...beside, ...found.keys])].sort().reverse();
  return { count: keys.length, keys };
}

function keysInSessions(directory: string, few: number | undefined, env: JournalEnv): Keys {
  const state = folderState(sessionsDir(directory), env.now());
  if (state === undefined) return { count: 0, keys: [] };
  const path = join(directory, 'sessions.list');
  const head = `cuff-sessions 1 ${state.text} `;
  const kept = keptKeys(path, head, few) ?? keptKeys(path, head, undefined);
  if (kept !== undefined) return kept;
  const ids = idsIn(sessionsDir(directory));
  const keys = ids.flatMap((id) => keyOf(directory, id) ?? []).sort();
  keys.reverse();
  if (state.settled && keys.length > 0) {
    try {
      replaceFile(path, `${[`${head}${keys.length}`, ...keys].join('\n')}\n`, env.fs);
    } catch {
      // Without it the next one reads the names again.
    }
  }
  return { count: keys.length, keys };
}

/** Undefined when the list is not of this state of the folder, or has not all it should. */
function keptKeys(path: string, head: string, few: number | undefined): Keys | undefined {
  const text = few === undefined ? readText(path) : readStart(path, (few + 2) * LINE_LENGTH);
  if (text === undefined || !text.startsWith(head)) return undefined;
  const [first = '', ...keys] = text.split('\n');
  keys.pop(); // what is behind the last line end: nothing, or part of a line
  const count = Number(first.slice(head.length));
  return keys.length === count || keys.length >= (few ?? count + 1) ? { count, keys } : undefined;
}

export type FolderState = {
  /** The same as long as no name in the folder came, went or was replaced. */
  readonly text: string;
  /** False while a change could still leave the same text, so it must not be kept. */
  readonly settled: boolean;
};

export function folderState(folder: string, now: number): FolderState | undefined {
  try {
    const { ino, ctimeNs, ctimeMs } = fs.statSync(folder, { bigint: true });
    return { text: `${ino} ${ctimeNs}`, settled: now - Number(ctimeMs) > SETTLED_MS };
  } catch {
    return undefined; // no such folder
  }
}

function readStart(path: string, lengthMax: number): string | undefined {
  const fd = openToRead(path);
  if (fd === undefined) return undefined;
  try {
    const bytes = Buffer.allocUnsafe(lengthMax);
    return bytes.toString('latin1', 0, fs.readSync(fd, bytes, 0, lengthMax, 0));
  } catch {
    return undefined; // a disk that cannot be read has nothing for us
  } finally {
    fs.closeSync(fd);
  }
}

function idsIn(folder: string): string[] {
  let names: string[];
  try {
    names = fs.readdirSync(folder);
  } catch {
    return []; // not there, or not ours to read
  }
  return names.filter((name) => name.endsWith(SUFFIX)).map((name) => name.slice(0, -SUFFIX.length));
}

/** What a session is sorted by. Most ids begin with their time and are their own key. */
function keyOf(directory: string, id: string): string | undefined {
  if (hasForm(id)) return id;
  if (!isJournalId(id)) return undefined;
  const made = Date.parse(readMetadata(directory, id)?.created_at ?? '');
  return `${dateAndTime(Number.isNaN(made) ? 0 : made)} ${id}`;
}

function idOf(key: string): string {
  return key[TIME_LENGTH] === ' ' ? key.slice(TIME_LENGTH + 1) : key;
}
