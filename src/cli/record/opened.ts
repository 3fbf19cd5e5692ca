// The journal that a command reads, opened: it is checked, and named where that is no matter of
// course.

import { journalBelow, journalExists, type Located } from '../../recordings/directory.ts';
import { printable } from '../../text/printable.ts';
import { sayAtOnce } from '../output.ts';

export type OpenedJournal = {
  readonly directory: string;
  /** False: there is none in the usual place. */
  readonly exists: boolean;
};

/** Throws `journal_unreadable`. */
export function openJournal(located: Located): OpenedJournal {
  const { directory } = located;
  const exists = journalExists(located);
  if (exists) nameJournal(directory);
  return { directory, exists };
}

/** A person who stands elsewhere must see which recordings these are. */
export function nameJournal(directory: string): void {
  if (directory === journalBelow(process.cwd())) return;
  sayAtOnce(`Journal: ${printable(directory)}`);
}
