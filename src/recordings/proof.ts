// The proof of one command, found by its id: what `cuff prove` writes and the page offers.

import { AppError, isAppError } from '../errors.ts';
import { ENTRY_PARTS, type EntryPart } from '../ledger/commitments.ts';
import { knownJournals } from '../sealing/journals.ts';
import type { PlacedEntry, ProvenEntry } from '../sealing/prove.ts';
import { printable } from '../text/printable.ts';
import type { Entry } from '../types.ts';
import { entryNamed, isEntryId } from './entry.ts';
import { sessionEntries, sessionNamed } from './sessions.ts';

/** Of the journal here, else of any other that this ledger seals. */
export function placedEntry(here: string, stateRoot: string, id: string): PlacedEntry {
  const others = knownJournals(stateRoot).map(({ directory }) => directory);
  for (const directory of new Set([here, ...others])) {
    try {
      const entry = isEntryId(id) ? entryNamed(directory, id) : entryAt(directory, id);
      if (entry !== undefined) return { ...entry, directory };
    } catch (error) {
      if (!isAppError(error) || error.code !== 'journal_session_not_found') throw error;
    }
  }
  throw noEntry(id);
}

/** `SESSION#N`, as `cuff record search` shows an entry. Throws where there is no such session. */
function entryAt(directory: string, id: string): Entry | undefined {
  const [, part = '', number] = /^(.+)#(\d{1,9})$/.exec(id) ?? [];
  if (number === undefined) throw noEntry(id);
  for (const entry of sessionEntries(directory, sessionNamed(directory, part))) {
    if (entry.sequence_number === Number(number)) return entry;
  }
  return undefined;
}

/** Throws `not_provable` where a part was redacted. */
export function proofJson(proven: ProvenEntry, wanted: readonly EntryPart[]) {
  for (const part of wanted) refuseRedacted(proven, part);
  const parts = ENTRY_PARTS.filter((part) => wanted.includes(part)).flatMap((part) => {
    const shown = proven.parts[part];
    return shown === undefined ? [] : [[part, shown] as const];
  });
  const { line: leaf, proof } = proven;
  return { cuff_proof: 1, leaf, parts: Object.fromEntries(parts), proof };
}

export function refuseRedacted({ id, redacted }: ProvenEntry, part: EntryPart): void {
  const why = redacted[part];
  if (why === undefined) return;
  throw new AppError(
    'not_provable',
    `${printable(id)}: ${part} was redacted, "${printable(why)}".`,
    { hint: 'Nothing can show it any more; the other parts still can be proven.' },
  );
}

export function noEntry(id: string | undefined): AppError {
  const words =
    id === undefined ? 'Which entry is to be proven?' : `There is no entry '${printable(id)}'.`;
  return new AppError('usage', words, {
    hint: 'Give its id, or SESSION#N as `cuff record search TEXT` shows it.',
  });
}
