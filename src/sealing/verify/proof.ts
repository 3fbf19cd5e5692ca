// The proof of one entry as a file: its leaf, the parts that are shown, and a C2SP proof that the
// leaf is in a signed tree:
//
//   {"cuff_proof":1,"leaf":"cuff/1 entry ...","parts":{"facts":{"salt","data"},...},"proof":"..."}
//
// `salt` is that of the part alone; `data` are its bytes as text. What is verified here needs
// nothing but the file and a public key.
import { type Checkpoint, checkpointOf } from '../../ledger/checkpoint.ts';
import {
  commitmentTo,
  ENTRY_PARTS,
  type EntryPart,
  parseSalt,
  sha256,
} from '../../ledger/commitments.ts';
import { epochDay } from '../../ledger/epoch.ts';
import { type LeafOf, parseLeaf } from '../../ledger/leaf.ts';
import { type LogPolicy, quorumOf } from '../../ledger/log-policy.ts';
import { checkSignature } from '../../ledger/note.ts';
import type { VerifierKey } from '../../ledger/note-keys.ts';
import { parseTlogProof, provenIn, type TlogProof } from '../../ledger/tlog-proof.ts';
import { asObject, asString, parseObject } from '../../text/json.ts';

export type ShownPart = {
  readonly part: EntryPart;
  readonly state: 'as_sealed' | 'changed' | 'not_shown' | 'nothing';
  readonly data?: string;
};

export type ProofCheck = {
  readonly leaf: LeafOf<'entry'>;
  readonly index: number;
  readonly checkpoint: Checkpoint;
  /** The leaf is in the tree that the checkpoint names. */
  readonly inTree: boolean;
  /** The key that signed the checkpoint, of those that were given. */
  readonly signedBy: VerifierKey | undefined;
  readonly parts: readonly ShownPart[];
  /** Where a policy says which witnesses must have seen the checkpoint. */
  readonly witnesses: { readonly met: boolean; readonly cosigned: readonly string[] } | undefined;
};

export type ProofReading =
  | { readonly kind: 'checked'; readonly check: ProofCheck }
  | { readonly kind: 'no_proof'; readonly reason: string };

/** Never throws, whatever the text is. */
export function checkProof(
  text: string,
  keys: readonly VerifierKey[],
  policy?: LogPolicy,
): ProofReading {
  const json = parseObject(text);
  if (json?.cuff_proof !== 1) return refused('it is no proof that cuff wrote');
  const line = asString(json.leaf) ?? '';
  const leaf = parseLeaf(line);
  if (leaf?.kind !== 'entry') return refused('its leaf is not that of an entry');
  const proof = parseTlogProof(asString(json.proof) ?? '');
  const checkpoint = proof && checkpointOf(proof.checkpoint);
  if (proof === undefined || checkpoint === undefined) return refused('its proof cannot be read');
  const parts = shownParts(leaf, asObject(json.parts) ?? {});
  return {
    kind: 'checked',
    check: {
      leaf,
      index: proof.index,
      checkpoint,
      inTree: provenIn(line, proof) !== undefined,
      signedBy: signerOf(proof, checkpoint, [...keys, ...(policy?.logs ?? [])]),
      parts,
      witnesses: policy && quorumOf(policy, proof.checkpoint),
    },
  };
}

function refused(reason: string): ProofReading {
  return { kind: 'no_proof', reason };
}

/** A key counts for the log of its own name, and that of a day for its log. */
function signerOf(
  { checkpoint: note }: TlogProof,
  { origin }: Checkpoint,
  keys: readonly VerifierKey[],
): VerifierKey | undefined {
  return keys
    .filter(({ algorithm }) => algorithm === 'ed25519')
    .filter(({ name }) => name === origin || epochDay(name, origin) !== undefined)
    .find((key) => checkSignature(note, key) === 'verified');
}

function shownParts(
  leaf: LeafOf<'entry'>,
  shown: { readonly [part: string]: unknown },
): readonly ShownPart[] {
  return ENTRY_PARTS.map((part) => {
    const [commitment, json] = [leaf[part], asObject(shown[part])];
    if (json === undefined) {
      return { part, state: commitment === null ? 'nothing' : 'not_shown' };
    }
    const [salt, data] = [parseSalt(asString(json.salt) ?? ''), asString(json.data) ?? ''];
    const found = salt && commitmentTo(sha256(Buffer.from(data)), salt);
    return { part, state: found === commitment ? 'as_sealed' : 'changed', data };
  });
}

/** Nothing that was checked speaks against it. */
export function isProven({ inTree, signedBy, parts, witnesses }: ProofCheck): boolean {
  const intact = parts.every(({ state }) => state !== 'changed');
  return inTree && signedBy !== undefined && intact && (witnesses?.met ?? true);
}
