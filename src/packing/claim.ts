// The right to encrypt one capture. `cuff run` does it beside servers and `cuff sweep`, and of two
// that write the same files at once one could remove what the other has not written yet.
import { randomInt } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { namesIn } from '../directories.ts';
import { AppError } from '../errors.ts';
import { type Claim, claimIn } from '../journal/claim.ts';
import type { ProcessId } from '../types.ts';

const SUBJECT = 'encrypt';
const TRIES_MAX = 5; // two that come at once both step back
const PAUSE_MS_MAX = 20;

/** Undefined if it is not `due`, or another process does it. Rejects if no file can be made. */
export async function claimToEncrypt(
  dir: string,
  owner: ProcessId,
  alive: (one: ProcessId) => boolean,
  due: () => boolean,
): Promise<Claim | undefined> {
  for (let tries = 1; tries <= TRIES_MAX; tries += 1) {
    if (!due()) return undefined;
    const claim = claimIn(dir, SUBJECT, owner, alive);
    if (claim !== undefined && due()) return claim;
    claim?.release();
    await delay(randomInt(1, PAUSE_MS_MAX));
  }
  const others = namesIn(dir).some((name) => name.startsWith(`${SUBJECT}-`));
  if (others || !due()) return undefined;
  throw new AppError('encryption_failed', `No file can be made in ${dir}.`, {
    hint: 'Look at its disk and its mode, then run `cuff sweep`.',
  });
}
