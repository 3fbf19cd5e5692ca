// A proof of one entry in a ledger of three lines, made with the room alone.
import { checkpointText } from '../../../src/ledger/checkpoint.ts';
import {
  commitmentTo,
  ENTRY_PARTS,
  type EntryPart,
  partSalt,
  sha256,
} from '../../../src/ledger/commitments.ts';
import { formatLeaf } from '../../../src/ledger/leaf.ts';
import { signNote } from '../../../src/ledger/note.ts';
import { signerKey } from '../../../src/ledger/note-keys.ts';
import { inclusionProof } from '../../../src/ledger/proofs.ts';
import { formatTlogProof } from '../../../src/ledger/tlog-proof.ts';
import { leafHash, StoredHashes } from '../../../src/ledger/tree.ts';
import { cosign } from '../../../src/ledger/witness.ts';

const ORIGIN = 'cuff.local/abcdefghijklm';
export const KEY = signerKey(ORIGIN, new Uint8Array(32).fill(7));
export const WITNESS = signerKey('w.example', new Uint8Array(32).fill(9), 'cosignature');

const SALT = new Uint8Array(16).fill(5);
const DATA: Readonly<Record<EntryPart, string>> = {
  facts: '{"exit_code":0}',
  text: '{"command":"npm test"}',
  stdout: 'fine\n',
  stderr: '',
};

function commitment(part: EntryPart): string {
  return commitmentTo(sha256(Buffer.from(DATA[part])), partSalt(SALT, ENTRY_PARTS.indexOf(part)));
}

export const LEAF = formatLeaf({
  kind: 'entry',
  journal: 'j',
  session: '20260118_143052_a7b3c9d2-e4f5',
  sequence: 3,
  at: 0,
  origin: 'live',
  facts: commitment('facts'),
  text: commitment('text'),
  stdout: commitment('stdout'),
  stderr: null,
  run: null,
});

/** `seconds`: when the witness saw it, if it did. */
export function proofOf(shown: readonly EntryPart[], seconds?: number) {
  const tree = new StoredHashes();
  for (const line of ['a\n', LEAF, 'b\n']) tree.append(leafHash(line));
  const text = checkpointText({ origin: ORIGIN, size: 3, root: tree.root() });
  const note = signNote(text, [KEY]);
  const lines = seconds === undefined ? [] : [cosign(text, WITNESS, seconds)];
  const checkpoint = { ...note, signatures: [...note.signatures, ...lines] };
  const proof = formatTlogProof({ index: 1, proof: inclusionProof(1, 3, tree.at), checkpoint });
  const parts = ENTRY_PARTS.filter((part) => shown.includes(part)).map((part) => {
    const salt = partSalt(SALT, ENTRY_PARTS.indexOf(part)).toString('base64url');
    return [part, { salt, data: DATA[part] }] as const;
  });
  return { cuff_proof: 1, leaf: LEAF, parts: Object.fromEntries(parts), proof };
}
