// `cuff verify`: whether a record is what was sealed, and how far that reaches.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { stateRoot } from '../capture/paths.ts';
import { AppError, errnoOf } from '../errors.ts';
import { base64 } from '../ledger/base64.ts';
import { type LogPolicy, parseLogPolicy } from '../ledger/log-policy.ts';
import { formatVerifierKey, parseVerifierKey, type VerifierKey } from '../ledger/note-keys.ts';
import { checkProof, isProven, type ProofCheck } from '../sealing/verify/proof.ts';
import { proofWords } from '../sealing/verify/proof-words.ts';
import { printable } from '../text/printable.ts';
import { put, putJson } from './output.ts';

type VerifyOptions = {
  readonly vkey?: string;
  readonly policy?: string;
  readonly json?: boolean;
};

/**
 * `--json`: {"proven", "leaf":{...}, "index", "checkpoint":{origin, size, root}, "in_tree",
 * "signed_by", "parts":{facts:{state, data?}, ...}, "witnesses"?:{met, cosigned}}. Exit 1 when
 * anything is wrong with it.
 */
export async function verify(proof: string, options: VerifyOptions): Promise<void> {
  const policy = options.policy === undefined ? undefined : policyIn(options.policy);
  const keys = policy !== undefined && options.vkey === undefined ? [] : [keyOf(options.vkey)];
  const reading = checkProof(textOf(proof), keys, policy);
  if (reading.kind === 'no_proof') {
    throw new AppError('usage', `${printable(proof)}: ${reading.reason}.`, {
      hint: 'Proofs are made with `cuff prove`.',
    });
  }
  const { check } = reading;
  if (!isProven(check)) process.exitCode = 1;
  if (options.json) await putJson({ proven: isProven(check), ...proofJson(check) });
  else
    await put(
      proofWords(check)
        .map((line) => `${line}\n`)
        .join(''),
    );
}

function proofJson({ leaf, checkpoint, inTree, signedBy, parts, ...rest }: ProofCheck) {
  return {
    leaf,
    index: rest.index,
    checkpoint: { ...checkpoint, root: base64(checkpoint.root) },
    in_tree: inTree,
    signed_by: signedBy === undefined ? null : formatVerifierKey(signedBy),
    parts: Object.fromEntries(parts.map(({ part, ...shown }) => [part, shown])),
    ...(rest.witnesses && { witnesses: rest.witnesses }),
  };
}

/** Without `--vkey` the key of the ledger of this user on this machine. */
function keyOf(given: string | undefined): VerifierKey {
  const own = join(stateRoot(process.env), 'seal', 'vkey');
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

function policyIn(path: string): LogPolicy {
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

function textOf(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    const why = errnoOf(error) ?? 'unknown';
    throw new AppError('usage', `${printable(path)} cannot be read: ${why}.`, {
      hint: 'Name a file that is there.',
    });
  }
}
