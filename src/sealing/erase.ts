// What is deleted is written down first: the tombstone of a session is signed before its files go,
// so that a missing session is explained. Sessions that the ledger never sealed need none.

import { readUnpacked, storedMetadata } from '../journal/reader.ts';
import type { Leaf, LeafOf } from '../ledger/leaf.ts';
import { sayFirst, unsigned } from './first.ts';
import type { Ledger } from './ledger.ts';

export type Erasure = {
  readonly by: LeafOf<'tombstone'>['by'];
  /** One clause. */
  readonly why: string;
};

/**
 * To be awaited before the files are removed. Rejects with `state_unwritable` where the ledger
 * cannot be written: then they must stay.
 */
export async function buryBefore(
  ledger: Ledger | undefined,
  directory: string,
  sessions: readonly string[],
  { by, why }: Erasure,
): Promise<void> {
  const sealed = sessions.filter(
    (session) => storedMetadata(directory, session)?.sealed_by !== undefined,
  );
  if (ledger === undefined || sealed.length === 0) return;
  const journal = ledger.journal(directory);
  if (journal === undefined) throw unsigned('the journal has no name in it');
  const leaves: Leaf[] = [];
  for (const session of sealed) {
    const { count, first, last } = numbersOf(directory, session);
    leaves.push({
      kind: 'tombstone',
      journal,
      session,
      at: ledger.now(),
      by,
      count,
      first,
      last,
      why,
    });
  }
  await sayFirst(ledger, leaves);
}

function numbersOf(directory: string, session: string) {
  let [count, first, last] = [0, Number.POSITIVE_INFINITY, 0];
  readUnpacked(directory, session, (packed, entries) => {
    if (packed !== undefined && packed.counts.entry_count > 0) {
      [count, first, last] = [packed.counts.entry_count, packed.lowest, packed.highest];
    }
    for (const { entry } of entries) {
      count += 1;
      first = Math.min(first, entry.sequence_number);
      last = Math.max(last, entry.sequence_number);
    }
  });
  return count === 0 ? { count, first: null, last: null } : { count, first, last };
}
