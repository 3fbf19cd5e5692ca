// `cuff pin`: the sweep keeps a pinned capture.

import { pinRun } from '../sealing/pin.ts';
import { captureNamed, storeOf } from '../shell/captures.ts';
import { refuseAgents } from '../trust/person.ts';
import { putJson, say } from './output.ts';
import { ownLedger } from './own-ledger.ts';

/** `--json`: {"session_id","pinned"}. */
export async function pin(part: string, options: { off?: boolean; json?: boolean }): Promise<void> {
  const store = storeOf(process.env);
  const { id } = captureNamed(store, part);
  const pinned = options.off !== true;
  if (!pinned) refuseAgents(process.env, 'let go of what is kept');
  const ledger = ownLedger();
  try {
    await pinRun(store, id, { pinned, ledger });
  } finally {
    await ledger?.close();
  }
  if (options.json) return putJson({ session_id: id, pinned });
  say(
    pinned
      ? `${id} is kept until \`cuff pin --off\`.`
      : `${id} is removed when its retention is over.`,
  );
}
