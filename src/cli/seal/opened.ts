// The ledger of this user, for the commands that write it, and what it says when it cannot.

import { AppError } from '../../errors.ts';
import { thisProcess } from '../../run/processes.ts';
import type { AnchorTools, SignedHead } from '../../sealing/anchors/place.ts';
import type { Ledger } from '../../sealing/ledger.ts';
import type { SealerOptions, SealResult } from '../../sealing/sealer.ts';
import { signedOrThrow } from '../../sealing/signed.ts';
import { storeOf } from '../../shell/captures.ts';
import { ownLedger } from '../own-ledger.ts';

const ANCHOR_WAIT_MS = 60_000;

export function sealerOptions(): SealerOptions {
  const { root: stateRoot, alive } = storeOf(process.env);
  return { stateRoot, owner: thisProcess(), alive };
}

/** To be closed. */
export function wantedLedger(): Ledger {
  const ledger = ownLedger();
  if (ledger !== undefined) return ledger;
  throw new AppError('usage', 'The ledger is turned off: `seal.enabled: false` in your settings.', {
    hint: 'Take that line out of them first.',
  });
}

export function anchorTools(): AnchorTools {
  const { root: stateRoot, now } = storeOf(process.env);
  const signal = AbortSignal.timeout(ANCHOR_WAIT_MS);
  return { stateRoot, project: process.cwd(), env: process.env, now, signal };
}

/** Throws unless everything is signed. */
export function signedHere(result: SealResult | undefined, ledger: Ledger): SignedHead {
  return signedOrThrow(result, ledger, sealerOptions().stateRoot);
}
