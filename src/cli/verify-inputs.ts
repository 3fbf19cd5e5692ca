// The keys, policies and files that `cuff verify` is given, read with a sentence for each mistake.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { stateRoot } from '../capture/paths.ts';
import { AppError, errnoOf } from '../errors.ts';
import { type LogPolicy, parseLogPolicy } from '../ledger/log-policy.ts';
import { parseVerifierKey, type VerifierKey } from '../ledger/note-keys.ts';
import { sealDir } from '../sealing/verify/gather.ts';
import { printable } from '../text/printable.ts';

/** Without `--vkey` the key of the ledger of this user on this machine. */
export function keyOf(given: string | undefined): VerifierKey {
  const own = join(sealDir(stateRoot(process.env)), 'vkey');
  const text = given?.includes('+') ? given : readable(given ?? own);
  if (text === undefined && given === undefined) {
    throw new AppError('usage', 'There is no ledger here, so no key to verify with.', {
      hint: 'Give the public key of the ledger with --vkey.',
    });
  }
  const key = parseVerifierKey((text ?? textOf(given ?? own)).trim());
  if (key?.algorithm === 'ed25519') return key;
  const name = printable(given ?? own);
  throw new AppError('usage', `${name} is no public key of a ledger.`, {
    hint: 'It looks like NAME+8 HEX DIGITS+BASE64; `<state root>/seal/vkey` has it.',
  });
}

export function policyIn(path: string): LogPolicy {
  const reading = parseLogPolicy(textOf(path));
  if (reading.kind === 'policy') return reading.policy;
  const { line, reason } = reading;
  throw new AppError('usage', `${printable(path)}, line ${line}: ${printable(reason)}.`, {
    hint: 'A policy has lines log, witness, group and quorum: c2sp.org/tlog-policy.',
  });
}

function readable(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return undefined; // the caller says what is missing
  }
}

export function textOf(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    const why = errnoOf(error) ?? 'unknown';
    throw new AppError('usage', `${printable(path)} cannot be read: ${why}.`, {
      hint: 'Name a file that is there.',
    });
  }
}
