// `cuff verify PROOF`: the proof of one entry, checked with a key and nothing else.

import { AppError } from '../errors.ts';
import { base64 } from '../ledger/base64.ts';
import { formatVerifierKey } from '../ledger/note-keys.ts';
import { checkProof, isProven, type ProofCheck } from '../sealing/verify/proof.ts';
import { proofWords } from '../sealing/verify/proof-words.ts';
import { printable } from '../text/printable.ts';
import { put, putJson } from './output.ts';
import { keyOf, policyIn, textOf } from './verify-inputs.ts';

type ProofOptions = { readonly vkey?: string; readonly policy?: string; readonly json?: boolean };

/**
 * `--json`: {"proven", "leaf":{...}, "index", "checkpoint":{origin, size, root}, "in_tree",
 * "signed_by", "parts":{facts:{state, data?}, ...}, "witnesses"?:{met, cosigned}}. Exit 1 when
 * anything is wrong with it.
 */
export async function verifyProof(proof: string, options: ProofOptions): Promise<void> {
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
