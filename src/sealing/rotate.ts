// A new key for the same ledger. The old key signs once more, together with the new one, over a
// leaf that names the new one; then the old one is destroyed. A crash in between leaves the old key
// in force, and a leaf that names a key which never signed alone.

import { AppError } from '../errors.ts';
import { formatVerifierKey } from '../ledger/note-keys.ts';
import { newSigner, signerOf } from './keys.ts';
import type { Ledger } from './ledger.ts';
import { type SealerOptions, type SealResult, signLeaves } from './sealer.ts';

export type Rotation = {
  readonly result: SealResult;
  readonly oldVkey: string;
  readonly newVkey: string;
};

/**
 * Undefined where there is no key. Rejects with the error of the system call, or with
 * `state_unwritable` when the leaf cannot be written; then the old key stays.
 */
export async function rotateKey(
  ledger: Ledger,
  options: SealerOptions,
): Promise<Rotation | undefined> {
  const old = signerOf(options.stateRoot);
  if (old === undefined) return undefined;
  const introduce = newSigner(old);
  const newVkey = formatVerifierKey(introduce.verifier);
  ledger.note({ kind: 'key', vkey: newVkey });
  if (ledger.trouble !== undefined) {
    throw new AppError('state_unwritable', `The ledger cannot be written: ${ledger.trouble}.`, {
      hint: 'The old key stays in force.',
    });
  }
  const result = await signLeaves({ ...options, introduce });
  return { result, oldVkey: formatVerifierKey(old.verifier), newVkey };
}
