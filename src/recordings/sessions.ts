// The journal for `cuff record`: which session is meant, what is in it, and what all of them come
// to. Reads only; whatever is missing or damaged is left out of an answer, never the whole answer.

import { AppError } from '../errors.ts';
import { entriesOf, type LineDamage } from '../journal/entry-lines.ts';
import { findSessionFiles } from '../journal/files.ts';
import { laterOf } from '../journal/later.ts';
import { expectedEntries, Tally } from '../journal/metadata.ts';
import {
  findSessions,
  journalSessionIds,
  mayReadSession,
  readMetadata,
  storedMetadata,
} from '../journal/reader.ts';
import { SequenceCheck, type SequenceFaults } from '../journal/sequence.ts';
import { metadataSince } from '../journal/since.ts';
import { printable } from '../text/printable.ts';
import type { Entry, SessionMetadata } from '../types.ts';

const CANDIDATES_MAX = 10; // more of them would only scroll the sentence away
const TOP_MAX = 5;

/** The one session whose id contains `part`. */
export function sessionNamed(directory: string, part: string): string {
  const found = findSessions(directory, part);
  const [only] = found;
  if (only !== undefined && found.length === 1) {
    if (mayReadSession(directory, only)) return only;
    throw new AppError('journal_unreadable', `Cannot read the session ${printable(only)}`, {
      hint: 'Hint: This user may not read its files.',
    });
  }
  if (only === undefined) throw notFound(part);
  const shown = found.slice(-CANDIDATES_MAX).map((id) => `  ${id}`);
  const more = found.length - shown.length;
  throw new AppError('usage', `'${printable(part)}' is part of ${found.length} session IDs`, {
    hint: ['Give more of one of them:', ...shown, ...(more > 0 ? [`  and ${more} more`] : [])].join(
      '\n',
    ),
  });
}

function notFound(part: string): AppError {
  return new AppError('journal_session_not_found', `Session '${printable(part)}' not found`, {
    hint: "Hint: Use 'cuff record list' to see available sessions",
  });
}

/** Ids in order of time, of sessions that have a command which began at `since` or later. */
export function sessionsSince(directory: string, since?: number): string[] {
  return journalSessionIds(directory).filter(
    (id) => metadataSince(directory, id, since) !== undefined,
  );
}

/** There is at least one session, however damaged. */
export function hasSessions(directory: string): boolean {
  return journalSessionIds(directory).length > 0;
}

type TopCommand = { readonly command: string; readonly count: number };

export type SessionReport = {
  readonly metadata: SessionMetadata;
  /** The most used first; of equally used ones, the one that came first. */
  readonly top: readonly TopCommand[];
  readonly damagedLines: number;
  /** Undefined when its entries are those that their writer left. */
  readonly sequence: SequenceFaults | undefined;
};

export function sessionReport(directory: string, id: string): SessionReport {
  const metadata = readMetadata(directory, id);
  if (metadata === undefined) throw notFound(id); // it was there a moment ago
  const counts = new Map<string, number>();
  const check = new SequenceCheck(expectedEntries(storedMetadata(directory, id)));
  const damage: LineDamage = { lines: 0, sequence: check };
  const tally = new Tally();
  for (const entry of sessionEntries(directory, id, damage)) {
    tally.add(entry);
    if (entry.redacted?.includes('text') === true) continue;
    counts.set(entry.command, (counts.get(entry.command) ?? 0) + 1);
  }
  const all = [...counts].map(([command, count]) => ({ command, count }));
  const repeated = all.filter(({ count }) => count > 1);
  // What was called once is only worth a line where nothing was called twice.
  const worth = repeated.length > 0 ? repeated : all;
  const top = worth.sort((a, b) => b.count - a.count).slice(0, TOP_MAX);
  // Counted anyway, and so true whatever the metadata says.
  const counted = { ...metadata, ...tally.counts };
  return { metadata: counted, top, damagedLines: damage.lines, sequence: check.found };
}

/** The entries of a session, read as they are asked for; of one that is gone there are none. */
export function* sessionEntries(
  directory: string,
  id: string,
  damage: LineDamage = { lines: 0 },
): Generator<Entry, void, undefined> {
  const files = findSessionFiles(directory, id);
  if (files === undefined) return;
  const later = laterOf(files.later);
  for (const { entry } of entriesOf(files.entries, 0, damage)) yield later(entry);
}

/** Sessions to be read one after the other. */
export type Selection = {
  readonly directory: string;
  readonly ids: readonly string[];
  readonly damage: LineDamage;
  /** Told the faults of each session that has some, when it was read. */
  readonly faulty: (id: string, faults: SequenceFaults) => void;
};

export type SelectedSession = {
  readonly metadata: SessionMetadata;
  readonly entries: Iterable<Entry>;
};

/** Those that are still there when it is their turn. */
export function* selectedSessions({
  directory,
  ids,
  damage,
  faulty,
}: Selection): Generator<SelectedSession, void, undefined> {
  for (const id of ids) {
    const metadata = readMetadata(directory, id);
    if (metadata === undefined) continue;
    const sequence = new SequenceCheck(expectedEntries(storedMetadata(directory, id)));
    const own: LineDamage = { lines: 0, sequence };
    yield { metadata, entries: sessionEntries(directory, id, own) };
    damage.lines += own.lines;
    if (sequence.found !== undefined) faulty(id, sequence.found);
  }
}
