// Encrypts the capture of `cuff run` and `derun run` before they end as the command did. Loaded
// only where the user's own settings name recipients.

import { randomInt } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { bringHome } from '../capture/in-memory.ts';
import { encryptCapture } from '../capture/packed/encrypt.ts';
import { stateRoot } from '../capture/paths.ts';
import { messageOf } from '../errors.ts';
import { claimToEncrypt } from '../packing/claim.ts';
import { mayBeEncrypted } from '../packing/due.ts';
import { ownRecipients } from '../packing/recipients.ts';
import { thisProcess } from '../run/processes.ts';
import { sealCaptures } from '../sealing/captures.ts';
import { openStore } from '../shell/store.ts';
import { say } from './output.ts';
import { ownLedger } from './own-ledger.ts';
import { safeWords } from './safe-words.ts';

const SEAL_TRIES_MAX = 50;
const PAUSE_MS_MAX = 20;

/** Never rejects: the command is over, and what went wrong is said. */
export async function encryptRun(id: string, dir: string): Promise<void> {
  try {
    const recipients = ownRecipients(process.cwd(), process.env);
    if (recipients.length === 0) return;
    const store = openStore(stateRoot(process.env));
    const ledger = ownLedger();
    if (ledger !== undefined) {
      const options = { ledger, store, owner: thisProcess(), ids: [id] };
      // Another process may seal at this moment, as many runs at once do.
      for (let tries = 1; tries <= SEAL_TRIES_MAX; tries += 1) {
        await sealCaptures(options);
        const waits = mayBeEncrypted(store, id, { sealed: false, entered: true });
        if (!waits || mayBeEncrypted(store, id, { sealed: true, entered: true })) break;
        await delay(randomInt(1, PAUSE_MS_MAX));
      }
      await ledger.close();
    }
    // One that a process left behind still prints to is for the next server or `cuff sweep`.
    const sealed = ledger !== undefined;
    const due = (): boolean => mayBeEncrypted(store, id, { sealed, entered: true });
    const claim = await claimToEncrypt(dir, thisProcess(), store.alive, due);
    if (claim === undefined) return; // or another process is at it
    try {
      encryptCapture(dir, recipients);
      bringHome(dir);
    } finally {
      claim.release();
    }
  } catch (error) {
    say(safeWords(`cuff: run ${id} is not encrypted: ${messageOf(error)}`));
  }
}
