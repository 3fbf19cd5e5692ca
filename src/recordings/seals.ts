// What the ledger says of sessions: one that a person looks at is verified, of many is told what
// the files say of themselves.

import { storedMetadata } from '../journal/reader.ts';
import { type Badge, listedBadges, verifiedBadge } from '../sealing/badges.ts';
import { journalName } from '../sealing/journals.ts';
import { verifyRecord } from '../sealing/verify/record.ts';
import { storeOf } from '../shell/captures.ts';

/** Undefined where nothing of it was sealed here. */
export function sealOf(directory: string, session: string): Badge | undefined {
  const stored = storedMetadata(directory, session);
  if (stored?.sealed_by === undefined) return undefined;
  const store = storeOf(process.env);
  const verification = verifyRecord({ store, directories: [directory], only: session });
  const listed = listedBadges(store.root, journalName(directory), [stored]).get(session);
  return verifiedBadge(verification, { active: stored.status === 'active', listed });
}

export function sealsOf(
  directory: string,
  ids: readonly string[],
): (session: string) => Badge | undefined {
  if (ids.length === 1) return (session) => sealOf(directory, session);
  const stored = ids.map((id) => storedMetadata(directory, id)).filter((one) => one !== undefined);
  const { root } = storeOf(process.env);
  const badges = listedBadges(root, journalName(directory), stored);
  return (session) => badges.get(session);
}
