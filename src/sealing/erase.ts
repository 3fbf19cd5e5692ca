// What is deleted is written down first: the tombstone of a session is signed before its files go,
// so that a missing session is explained. Sessions that the ledger never sealed need none.

import { readEntries, storedMetadata } from '../journal/reader.ts';
import type { LeafOf } from '../ledger/leaf.ts';
import type { Ledger } from './ledger.ts';

export type Erasure = {
  readonly by: LeafOf<'tombstone'>['by'];
  /** One clause. */
  readonly why: string;
};

/** To be awaited before the files are removed. Never rejects. */
export async function buryBefore(
  ledger: Ledger | undefined,
  directory: string,
  sessions: readonly string[],
  { by, why }: Erasure,
): Promise<void> {
  const journal = sessions.length === 0 ? undefined : ledger?.journal(directory);
  if (ledger === undefined || journal === undefined) return;
  let buried = false;
  for (const session of sessions) {
    if (storedMetadata(directory, session)?.sealed_by === undefined) continue;
    const { count, first, last } = numbersOf(directory, session);
    ledger.note({
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
    buried = true;
  }
  if (buried) await ledger.sign();
}

function numbersOf(directory: string, session: string) {
  let [count, first, last] = [0, Number.POSITIVE_INFINITY, 0];
  for (const { entry } of readEntries(directory, session)) {
    count += 1;
    first = Math.min(first, entry.sequence_number);
    last = Math.max(last, entry.sequence_number);
  }
  return count === 0 ? { count, first: null, last: null } : { count, first, last };
}
