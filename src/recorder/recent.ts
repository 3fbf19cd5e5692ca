// The last entries of a conversation, or of a whole journal for a caller that names none, read from
// the ends of the session files, newest first, until there are enough.

import { errnoOf } from '../errors.ts';
import { decodeMetadata } from '../journal/entry.ts';
import { entriesIn, entriesOf } from '../journal/entry-lines.ts';
import { findSessionFiles, plainFile, readText } from '../journal/files.ts';
import { lineState, openLines } from '../journal/packed/source.ts';
import {
  findSessions,
  journalSessionIds,
  type ReadSession,
  readSession,
} from '../journal/reader.ts';
import type { Entry } from '../types.ts';

// Beyond these only sessions of long ago could have newer entries, and those that are open are
// named by their writer.
const SESSIONS_MAX = 500;

const TAIL_BYTES = 262_144; // read from the end first, then twice as much, until it is enough

/** For a list, which does not show it: there may be megabytes of it. */
function withoutOutput(entry: Entry): Entry {
  const { later: _, ...rest } = entry;
  return { ...rest, stdout: null, stderr: null };
}

/** The one session whose id contains `part`, without the output of its commands. */
export function sessionNamed(directory: string, part: string): ReadSession | undefined {
  const [id, ...others] = findSessions(directory, part);
  if (id === undefined || others.length > 0) return undefined;
  return readSession(directory, id, withoutOutput);
}

/** Newest first, without output. `open`: sessions that may have new entries, however old. */
export function recentEntries(
  directory: string,
  count: number,
  open: readonly string[],
  conversationId: string | null,
): readonly Entry[] {
  const wanted = (entry: Entry): boolean =>
    conversationId === null || entry.conversation_id === conversationId;
  const ids = new Set([...open, ...journalSessionIds(directory).slice(-SESSIONS_MAX)]);
  const files = [...ids].flatMap((id) => {
    const found = findSessionFiles(directory, id);
    const stat = found && plainFile(found.entries);
    if (found === undefined || stat === undefined) return [];
    return [{ id, path: found.entries, changedAt: stat.mtimeMs }];
  });
  files.sort((a, b) => b.changedAt - a.changedAt);
  let newest: Entry[] = [];
  for (const { id, path, changedAt } of files) {
    const last = newest.length < count ? undefined : newest.at(-1);
    // What began after the last one shown was written after it began.
    if (last !== undefined && changedAt < Date.parse(last.timestamp)) break;
    if (conversationId !== null && !mayHave(directory, id, conversationId)) continue;
    const found = tailOf(path, count, wanted);
    newest = [...newest, ...found].sort(newestFirst).slice(0, count);
  }
  return newest;
}

/** A session of one conversation has no entries of another. */
function mayHave(directory: string, id: string, conversationId: string): boolean {
  const files = findSessionFiles(directory, id);
  const metadata = decodeMetadata((files && readText(files.metadata)) ?? '');
  const ofOne = metadata?.group?.startsWith('conversation ') === true;
  return !ofOne || metadata.conversation_id === conversationId;
}

/** Without those that are encrypted for others. */
function tailOf(path: string, count: number, wanted: (entry: Entry) => boolean): Entry[] {
  const { size = 0 } = lineState(path) ?? {};
  for (let window = TAIL_BYTES; ; window *= 2) {
    const from = Math.max(0, size - window);
    // A line that the window cuts in two does not count as an entry.
    const entries: Entry[] = [];
    const locked = readInto(entries, path, from, wanted);
    if (entries.length >= count || from === 0 || locked) return entries.slice(-count);
  }
}

/** True where no identity here reads all of them; then those that are plain are there. */
function readInto(
  entries: Entry[],
  path: string,
  from: number,
  wanted: (entry: Entry) => boolean,
): boolean {
  try {
    for (const { entry } of entriesOf(path, from, { lines: 0 })) {
      if (wanted(entry)) entries.push(withoutOutput(entry));
    }
    return false;
  } catch (error) {
    if (errnoOf(error) !== 'decryption_failed') throw error;
    const plain = openLines(path);
    for (const { entry } of plain ? entriesIn(plain, plain.packedBytes, { lines: 0 }) : []) {
      if (wanted(entry)) entries.push(withoutOutput(entry));
    }
    return true;
  }
}

function newestFirst(a: Entry, b: Entry): number {
  if (a.timestamp !== b.timestamp) return a.timestamp < b.timestamp ? 1 : -1;
  return b.sequence_number - a.sequence_number;
}
