// The ledger of this user, for the commands that write it, and what it says when it cannot.

import { AppError } from '../../errors.ts';
import { thisProcess } from '../../run/processes.ts';
import { signedHead } from '../../sealing/anchors/anchoring.ts';
import type { AnchorTools, SignedHead } from '../../sealing/anchors/place.ts';
import type { Ledger } from '../../sealing/ledger.ts';
import type { SealerOptions, SealRefusal, SealResult } from '../../sealing/sealer.ts';
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
export function signedOrThrow(result: SealResult | undefined, ledger: Ledger): SignedHead {
  const { stateRoot } = sealerOptions();
  if (result?.kind === 'refused') throw refused(result.why);
  const head = signedHead(stateRoot);
  if (result !== undefined && result.kind !== 'busy' && head !== undefined) return head;
  if (result?.kind === 'busy') {
    throw new AppError('state_unwritable', 'Another process signs at this moment.', {
      hint: 'Try it again.',
    });
  }
  if (result?.kind === 'current') throw nothingSealed();
  const why = ledger.trouble ?? 'the state root cannot be written';
  throw new AppError('state_unwritable', `The ledger cannot be signed: ${why}.`, {
    hint: 'See the rows `state root` and `free disk` of `cuff doctor`.',
  });
}

export function nothingSealed(): AppError {
  return new AppError('journal_session_not_found', 'Nothing is sealed yet.', {
    hint: 'Begin a ledger with `cuff seal --init`, or record a command.',
  });
}

const REFUSALS: Readonly<Record<SealRefusal, string>> = {
  key_gone: 'its key is gone',
  checkpoint_bad: 'its checkpoint is not signed by its key',
  ledger_truncated: 'lines that were signed are gone',
  ledger_edited: 'lines that were signed have changed',
};

function refused(why: SealRefusal): AppError {
  return new AppError('state_unwritable', `The ledger is not signed: ${REFUSALS[why]}.`, {
    hint: 'See `cuff verify`; `cuff seal --init` keeps it aside and begins another.',
  });
}
