// What is lost from a record is written down first: its leaf is in the signed ledger before
// anything is changed or deleted. A ledger that cannot be written stops that, and nothing else.

import { setTimeout as delay } from 'node:timers/promises';
import { AppError } from '../errors.ts';
import { formatLeaf, type Leaf } from '../ledger/leaf.ts';
import type { Ledger } from './ledger.ts';

const SIGN_TRIES = 100;
const SIGN_PAUSE_MS = 50; // another process is signing, which takes a few milliseconds

/** Rejects with `state_unwritable` unless they are in the signed ledger. */
export async function sayFirst(ledger: Ledger | undefined, leaves: readonly Leaf[]): Promise<void> {
  if (ledger === undefined) return;
  for (const leaf of leaves) {
    formatLeaf(leaf); // throws for what none can say; `note` would only log it
    ledger.note(leaf);
  }
  for (let tries = 1; ledger.trouble === undefined; tries += 1) {
    const sealed = await ledger.sign();
    if (sealed?.kind === 'signed' || sealed?.kind === 'current') return;
    if (sealed?.kind === 'refused') throw unsigned(sealed.why);
    if (sealed === undefined || tries === SIGN_TRIES) break;
    await delay(SIGN_PAUSE_MS);
  }
  throw unsigned(ledger.trouble ?? 'it cannot be signed');
}

export function unsigned(why: string): AppError {
  return new AppError('state_unwritable', `The ledger cannot be written (${why}).`, {
    hint: 'Nothing was changed, because no leaf would say so. See what is wrong: cuff verify',
  });
}
