// The entry that a recording id names. An id of an older journal does not say which session it is
// of, so two entries may have it: then both are named.

import { AppError } from '../errors.ts';
import { entriesNamed } from '../journal/entry-lines.ts';
import { findSessionFiles, plainFile } from '../journal/files.ts';
import { entryIdParts, journalIdTime } from '../journal/ids.ts';
import { laterOf } from '../journal/later.ts';
import { journalSessionIds } from '../journal/reader.ts';
import { printable } from '../text/printable.ts';
import type { Entry } from '../types.ts';

export function isEntryId(text: string): boolean {
  return entryIdParts(text) !== undefined;
}

/** Throws when there is none, or more than one. */
export function entryNamed(directory: string, id: string): Entry {
  const found = entriesWithId(directory, id);
  const [only] = found;
  if (only !== undefined && found.length === 1) return only;
  if (only === undefined) {
    throw new AppError('journal_session_not_found', `Recording '${printable(id)}' not found`, {
      hint: "Hint: Use 'cuff record search' to find commands",
    });
  }
  const rows = found.map((one) => `  ${one.entry_id} in ${one.session_id}: ${short(one.command)}`);
  throw new AppError('usage', `'${printable(id)}' is the ID of ${found.length} recordings`, {
    hint: ['Show one of their sessions with --entries:', ...rows].join('\n'),
  });
}

/** Without the digits of its session an id also names entries that have them. */
function entriesWithId(directory: string, id: string): Entry[] {
  const { at = 0, sessionEnd = '' } = entryIdParts(id) ?? {};
  const same = (entry: Entry): boolean => entry.entry_id.replace(/-[0-9a-f]{4}$/, '') === id;
  return journalSessionIds(directory).flatMap((session) => {
    const files = findSessionFiles(directory, session);
    if (files === undefined || !session.endsWith(sessionEnd)) return [];
    // A session has no entries from before it was made, nor from after it was last written, unless
    // a command was entered long after it ran: then its id says which session it is of.
    const madeAt = journalIdTime(session) ?? 0;
    const writtenAt = plainFile(files.entries)?.mtimeMs ?? 0;
    const outside = madeAt - CLOCK_MS > at || writtenAt + CLOCK_MS < at;
    if (sessionEnd === '' && outside) return [];
    const found = [...entriesNamed(files.entries, id)];
    const named = found.filter((entry) => entry.entry_id === id || same(entry));
    return named.map(laterOf(files.later));
  });
}

// Clocks are set, and a recovered entry names the time of its run.
const CLOCK_MS = 86_400_000;

const COMMAND_MAX = 60;

function short(command: string): string {
  const text = printable(command);
  return text.length <= COMMAND_MAX ? text : `${text.slice(0, COMMAND_MAX - 1)}…`;
}
