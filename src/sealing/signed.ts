// What a ledger says that was to be signed and is not.

import { AppError } from '../errors.ts';
import { signedHead } from './anchors/anchoring.ts';
import type { SignedHead } from './anchors/place.ts';
import type { Ledger } from './ledger.ts';
import type { SealRefusal, SealResult } from './sealer.ts';

/** Throws unless everything is signed. */
export function signedOrThrow(
  result: SealResult | undefined,
  ledger: Ledger,
  stateRoot: string,
): SignedHead {
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
