// The sessions of a journal, as they are true now: what their lines say counts, whatever became of
// their metadata. Nothing is written and nothing throws; how damaged lines are read is a matter of
// entry-lines.ts.
import * as fs from 'node:fs';
import { errnoOf } from '../errors.ts';
import type { Entry, SessionMetadata } from '../types.ts';
import { decodeMetadata } from './entry.ts';
import { entriesIn, entriesOf, type LineDamage, type PlacedEntry, tallyOf } from './entry-lines.ts';
import { findSessionFiles, plainFile, readText, sessionsDir } from './files.ts';
import { hasForm, isJournalId } from './ids.ts';
import { laterOf } from './later.ts';
import { metadataOf, Tally } from './metadata.ts';
import { openLines } from './packed/source.ts';
import type { PackedFacts } from './packed/stub.ts';
import { placeTrouble } from './place.ts';

export type ReadSession = {
  readonly metadata: SessionMetadata;
  readonly entries: Entry[];
  /** Lines that are not one whole entry, an unfinished last one included. */
  readonly damagedLines: number;
};

/** Every session of a journal, sorted by id and so by time; none of one that is not safe. */
export function journalSessionIds(directory: string): string[] {
  if (placeTrouble(directory) !== undefined) return [];
  const older = namesIn(directory).filter(hasForm);
  const ids = new Set([...older, ...namesIn(sessionsDir(directory)).filter(isJournalId)]);
  return [...ids].sort();
}

/** How many sessions this user may not read, such as those of an agent that ran as root. */
export function unreadableSessions(directory: string): number {
  return journalSessionIds(directory).filter((id) => !mayReadSession(directory, id)).length;
}

export function mayReadSession(directory: string, id: string): boolean {
  const files = findSessionFiles(directory, id);
  if (files === undefined) return true; // removed meanwhile
  try {
    fs.accessSync(files.entries, fs.constants.R_OK);
    return true;
  } catch (error) {
    return errnoOf(error) === 'ENOENT';
  }
}

function namesIn(folder: string): string[] {
  try {
    return fs
      .readdirSync(folder, { withFileTypes: true })
      .filter((file) => file.name.endsWith('.jsonl') && file.isFile())
      .map((file) => file.name.slice(0, -'.jsonl'.length));
  } catch {
    return []; // no such folder, or none that we may read: no sessions
  }
}

/** The sessions whose id has `part` in it; the one that is `part` itself stands alone. */
export function findSessions(directory: string, part: string): string[] {
  if (part === '') return [];
  const ids = journalSessionIds(directory);
  return ids.includes(part) ? [part] : ids.filter((id) => id.includes(part));
}

/** `keep` makes less of an entry for those who do not need all of it: there may be megabytes. */
export function readSession(
  directory: string,
  id: string,
  keep: (entry: Entry) => Entry = (entry) => entry,
): ReadSession | undefined {
  const found = readStored(directory, id);
  if (found === undefined) return undefined;
  const damage = { lines: 0 };
  const tally = new Tally();
  const entries: Entry[] = [];
  const later = laterOf(found.later);
  for (const { entry } of entriesOf(found.entries, 0, damage)) {
    entries.push(keep(later(entry)));
    tally.add(entry);
  }
  const metadata = metadataOf(id, found.stored, tally, found.stat.mtimeMs);
  return { metadata, entries, damagedLines: damage.lines };
}

/**
 * The metadata of a session, as it is true now. Its file is believed when the session has ended
 * and no line came after it; else the lines are counted.
 */
export function readMetadata(directory: string, id: string): SessionMetadata | undefined {
  const found = readStored(directory, id);
  if (found === undefined) return undefined;
  const { stored, stat } = found;
  const written = plainFile(found.metadata)?.mtimeMs ?? 0;
  if (stored !== undefined && stored.status !== 'active' && stat.mtimeMs <= written) {
    return { ...stored, session_id: id };
  }
  return metadataOf(id, stored, tallyOf(found.entries), stat.mtimeMs);
}

function readStored(directory: string, id: string) {
  const files = isJournalId(id) ? findSessionFiles(directory, id) : undefined;
  const stat = files === undefined ? undefined : plainFile(files.entries);
  if (files === undefined || stat === undefined) return undefined;
  const stored = decodeMetadata(readText(files.metadata) ?? '');
  return { ...files, stat, stored };
}

/** What its metadata file says, however old that is. */
export function storedMetadata(directory: string, id: string): SessionMetadata | undefined {
  return decodeMetadata(readText(findSessionFiles(directory, id)?.metadata ?? '') ?? '');
}

/**
 * Reads a session without a key: the facts of entries that are packed, and the entries that are
 * not. Undefined where there is none.
 */
export function readUnpacked<T>(
  directory: string,
  id: string,
  read: (facts: PackedFacts | undefined, entries: Iterable<PlacedEntry>) => T,
  damage: LineDamage = { lines: 0 },
): T | undefined {
  const files = isJournalId(id) ? findSessionFiles(directory, id) : undefined;
  const source = files && openLines(files.entries);
  if (source === undefined) return undefined;
  try {
    return read(source.stub?.facts, entriesIn(source, source.packedBytes, damage));
  } finally {
    source.close();
  }
}

/** The entries from a byte on, which must be the start of a line. Reads as it is asked. */
export function* readEntries(
  directory: string,
  id: string,
  fromByte = 0,
  damage: LineDamage = { lines: 0 },
): Generator<PlacedEntry, void, undefined> {
  const files = isJournalId(id) ? findSessionFiles(directory, id) : undefined;
  if (files !== undefined) yield* entriesOf(files.entries, fromByte, damage);
}
