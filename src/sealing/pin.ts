// Keeping a capture beyond its retention, and letting go of it: the ledger says both.

import { pinCapture, type Store } from '../shell/captures.ts';
import { sayFirst } from './first.ts';
import type { Ledger } from './ledger.ts';

/** Without a ledger where the user wants none. */
export async function pinRun(
  store: Store,
  id: string,
  { pinned, ledger }: { readonly pinned: boolean; readonly ledger: Ledger | undefined },
): Promise<void> {
  const leaf = { run: id, at: store.now() };
  if (pinned) ledger?.note({ kind: 'pin', ...leaf });
  else await sayFirst(ledger, [{ kind: 'unpin', ...leaf }]);
  pinCapture(store, id, pinned);
}
