// An anchor at a C2SP witness: it cosigns the checkpoint if that contains the one it cosigned last.
// Asked again for the same one it cosigns it again, so that a verification asks it, too.

import * as fs from 'node:fs';
import { parseSize } from '../../ledger/checkpoint.ts';
import type { Note } from '../../ledger/note.ts';
import { parseSignatures } from '../../ledger/note.ts';
import { consistencyProof } from '../../ledger/proofs.ts';
import { HASH_BYTES, type HashAt, rootOf } from '../../ledger/tree.ts';
import { cosignedAt, formatAddCheckpoint } from '../../ledger/witness.ts';
import { openForReading, sealFile } from '../place.ts';
import { type AnchorTools, AnchorTrouble, type SignedHead } from './place.ts';
import { witnessOf } from './target.ts';

const ANSWER_BYTES_MAX = 64 * 1024;

/** The witness cosigned a larger tree, or refuses this one as no continuation of the last. */
export class WitnessObjection extends AnchorTrouble {
  /** The size that it knows; undefined where it did not say. */
  readonly size: number | undefined;

  constructor(words: string, size?: number) {
    super(words);
    this.size = size;
  }
}

type Cosignature = { readonly note: Note; readonly at: number };

/** `old`: the size that the witness cosigned last, as far as is known. */
export async function askWitness(
  head: SignedHead,
  where: string,
  old: number,
  tools: AnchorTools,
): Promise<Cosignature> {
  const witness = witnessOf(where);
  if (witness === undefined) throw new AnchorTrouble('it is no address with a key');
  let answer = await post(head, witness.address, Math.min(old, head.size), tools);
  if (answer.status === 409) {
    const known = parseSize(answer.text.trim());
    if (known === undefined) throw new AnchorTrouble('it says 409 without the size that it knows');
    if (known > head.size) {
      throw new WitnessObjection(`it has seen a larger ledger, of ${known} lines`, known);
    }
    answer = await post(head, witness.address, known, tools);
  }
  if (answer.status === 422) {
    throw new WitnessObjection('it says that this is no continuation of the ledger it has seen');
  }
  if (answer.status !== 200) throw new AnchorTrouble(refusal(answer));
  const lines = parseSignatures(answer.text);
  const { text, signatures } = head.note;
  const note = { text, signatures: [...signatures, ...(lines ?? [])] };
  const seconds = cosignedAt({ text, signatures: lines ?? [] }, witness.key);
  if (seconds === undefined) throw new AnchorTrouble('its answer is not signed by its key');
  return { note, at: seconds * 1000 };
}

type Answer = { readonly status: number; readonly text: string };

const REFUSALS: Readonly<Record<number, string>> = {
  403: 'it does not know the key of this ledger: give it the line of `cuff seal key`',
  404: 'it does not know this ledger: give it the line of `cuff seal key`',
};

function refusal({ status, text }: Answer): string {
  const words = text.trim().split('\n')[0]?.slice(0, 200) ?? '';
  return REFUSALS[status] ?? `it says ${status}${words === '' ? '' : `: ${words}`}`;
}

async function post(
  head: SignedHead,
  address: string,
  old: number,
  { stateRoot, signal }: AnchorTools,
): Promise<Answer> {
  const proof = withHashes(stateRoot, head, (at) => consistencyProof(old, head.size, at));
  const body = formatAddCheckpoint({ old, proof, checkpoint: head.note });
  try {
    const options = { method: 'POST', body, signal, redirect: 'error' } as const;
    const response = await fetch(`${address}add-checkpoint`, options);
    const bytes = await limited(response);
    return { status: response.status, text: bytes.toString('utf8') };
  } catch (error) {
    if (error instanceof AnchorTrouble) throw error;
    if (signal.aborted) throw new AnchorTrouble('it did not answer in time');
    const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
    throw new AnchorTrouble(`it cannot be reached: ${String(cause)}`);
  }
}

async function limited({ body }: Response): Promise<Buffer> {
  const pieces: Uint8Array[] = [];
  let length = 0;
  for await (const piece of body ?? []) {
    length += piece.length;
    if (length > ANSWER_BYTES_MAX) throw new AnchorTrouble('its answer is too long');
    pieces.push(piece);
  }
  return Buffer.concat(pieces);
}

function withHashes<T>(stateRoot: string, head: SignedHead, use: (at: HashAt) => T): T {
  const fd = openForReading(sealFile(stateRoot, 'hashes'));
  try {
    const at: HashAt = (index) => {
      const bytes = Buffer.alloc(HASH_BYTES);
      const count = fs.readSync(fd, bytes, 0, HASH_BYTES, index * HASH_BYTES);
      if (count < HASH_BYTES) throw new AnchorTrouble('the hashes of the ledger are damaged');
      return bytes;
    };
    if (Buffer.compare(rootOf(head.size, at), head.root) !== 0) {
      throw new AnchorTrouble('the hashes of the ledger are damaged');
    }
    return use(at);
  } finally {
    fs.closeSync(fd);
  }
}
