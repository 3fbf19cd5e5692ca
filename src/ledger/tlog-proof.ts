// A proof that anyone can keep and verify offline (C2SP tlog-proof): the place of a leaf, its
// inclusion proof, and the checkpoint, as one text. The leaf is not in it.
import { base64, fromBase64 } from './base64.ts';
import { type Checkpoint, checkpointOf, parseSize } from './checkpoint.ts';
import { formatNote, type Note, parseNote } from './note.ts';
import { type Proof, provesInclusion } from './proofs.ts';
import { leafHash } from './tree.ts';
import { parseHashes, splitOnce } from './witness.ts';

const HEAD = 'c2sp.org/tlog-proof@v1';
const PROOF_LINES_MAX = 64;

export type TlogProof = {
  readonly index: number;
  readonly proof: Proof;
  readonly checkpoint: Note;
};

export function formatTlogProof({ index, proof, checkpoint }: TlogProof): string {
  const hashes = proof.map((hash) => `${base64(hash)}\n`).join('');
  return `${HEAD}\nindex ${index}\n${hashes}\n${formatNote(checkpoint)}`;
}

/** Extra data may be there and means nothing. */
export function parseTlogProof(text: string): TlogProof | undefined {
  const [head, rest] = splitOnce(text, '\n\n');
  const [first, ...lines] = head.split('\n');
  if (first !== HEAD) return undefined;
  if (lines[0]?.startsWith('extra ')) {
    if (fromBase64(lines[0].slice('extra '.length)) === undefined) return undefined;
    lines.shift();
  }
  const [place = '', ...hashes] = lines;
  const index = place.startsWith('index ') ? parseSize(place.slice('index '.length)) : undefined;
  const proof = hashes.length > PROOF_LINES_MAX ? undefined : parseHashes(hashes);
  const checkpoint = parseNote(rest);
  if (index === undefined || proof === undefined || checkpoint === undefined) return undefined;
  return { index, proof, checkpoint };
}

/** The checkpoint, if the leaf is in its tree. Who signed it is another question. */
export function provenIn(
  line: string | Uint8Array,
  { index, proof, checkpoint }: TlogProof,
): Checkpoint | undefined {
  const tree = checkpointOf(checkpoint);
  if (tree === undefined) return undefined;
  return provesInclusion(proof, leafHash(line), index, tree) ? tree : undefined;
}
