// The tombstone of a whole journal: a person says that it is gone, and why.

import { parseLeaf } from '../ledger/leaf.ts';
import { journalNamed, type KnownJournal, knownJournals } from './journals.ts';
import { ledgerLines } from './leaf-lines.ts';
import type { Ledger } from './ledger.ts';

export type Forgetting =
  | { readonly kind: 'forgotten'; readonly journal: KnownJournal; readonly entries: number }
  /** Where it was seen last it still is. */
  | { readonly kind: 'there'; readonly journal: KnownJournal }
  | { readonly kind: 'was forgotten'; readonly journal: KnownJournal }
  | { readonly kind: 'unknown' };

/** `which`: the name of a journal, or the path where it was. */
export function forgetJournal(
  ledger: Ledger,
  stateRoot: string,
  which: string,
  why: string,
): Forgetting {
  const known = knownJournals(stateRoot);
  const journal = known.find((one) => one.journal === which || one.directory === which);
  if (journal === undefined) return { kind: 'unknown' };
  if (journalNamed(journal.directory) === journal.journal) return { kind: 'there', journal };
  const { entries, buried } = leavesOf(stateRoot, journal.journal);
  if (buried) return { kind: 'was forgotten', journal };
  ledger.note({
    kind: 'tombstone',
    journal: journal.journal,
    session: null,
    at: ledger.now(),
    by: 'user',
    count: entries,
    first: null,
    last: null,
    why,
  });
  return { kind: 'forgotten', journal, entries };
}

function leavesOf(stateRoot: string, journal: string): { entries: number; buried: boolean } {
  let [entries, buried] = [0, false];
  for (const { bytes } of ledgerLines(stateRoot)) {
    const leaf = parseLeaf(bytes.toString('latin1'));
    if (leaf?.kind === 'entry' && leaf.journal === journal) entries += 1;
    const whole = leaf?.kind === 'tombstone' && leaf.session === null;
    if (whole && leaf.journal === journal) buried = true;
  }
  return { entries, buried };
}
