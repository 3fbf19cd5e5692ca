// The journal that a command reads, opened: it is checked, and named where that is no matter of
// course.

import {
  type JournalLocation,
  type JournalPlace,
  journalBelow,
  journalExists,
  otherJournal,
} from '../../recordings/directory.ts';
import { printable } from '../../text/printable.ts';
import { sayAtOnce } from '../output.ts';

export type OpenedJournal = {
  readonly directory: string;
  /** False: there is none in the usual place. */
  readonly exists: boolean;
};

/** Throws `journal_unreadable`. */
export function openJournal(located: JournalLocation): OpenedJournal {
  const { directory, because } = located;
  const exists = journalExists(located);
  if (exists || because !== undefined) nameJournal(located);
  const other = otherJournal(located, process.env);
  if (other !== undefined) {
    sayAtOnce(`More of this project is in another journal: --directory ${printable(other)}`);
  }
  return { directory, exists };
}

/** A person who stands elsewhere must see which recordings these are. */
export function nameJournal({ directory, because }: JournalPlace): void {
  if (directory === journalBelow(process.cwd())) return;
  const why = because === undefined ? '' : `, because ${printable(because)}`;
  sayAtOnce(`Journal: ${printable(directory)}${why}`);
}
