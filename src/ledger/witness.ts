// What we and a witness say to each other (C2SP tlog-witness, tlog-cosignature). A witness cosigns
// the checkpoints of a log as long as each contains the one before it: so a log cannot show two
// histories. Its signature covers the time and the text of the checkpoint:
//
//   POST add-checkpoint    old SIZE, proof (a hash in base64 on each line), empty line, checkpoint
//   answer                 its lines for the note; or 409 and the size that it knows
import * as crypto from 'node:crypto';
import { base64, fromBase64 } from './base64.ts';
import { parseSize } from './checkpoint.ts';
import { formatNote, type Note, type NoteSignature, parseNote } from './note.ts';
import type { SignerKey, VerifierKey } from './note-keys.ts';
import type { Proof } from './proofs.ts';
import { HASH_BYTES } from './tree.ts';

export type AddCheckpoint = {
  /** The size that the witness cosigned last; 0 for none. */
  readonly old: number;
  readonly proof: Proof;
  readonly checkpoint: Note;
};

const PROOF_LINES_MAX = 63;

export function formatAddCheckpoint({ old, proof, checkpoint }: AddCheckpoint): string {
  const lines = proof.map((hash) => `${base64(hash)}\n`).join('');
  return `old ${old}\n${lines}\n${formatNote(checkpoint)}`;
}

export function parseAddCheckpoint(text: string): AddCheckpoint | undefined {
  const [head, body] = splitOnce(text, '\n\n');
  const [first = '', ...lines] = head.split('\n');
  const old = first.startsWith('old ') ? parseSize(first.slice('old '.length)) : undefined;
  const proof = parseHashes(lines);
  const checkpoint = parseNote(body);
  if (old === undefined || proof === undefined || checkpoint === undefined) return undefined;
  return proof.length > PROOF_LINES_MAX ? undefined : { old, proof, checkpoint };
}

/** Each line one hash. */
export function parseHashes(lines: readonly string[]): Buffer[] | undefined {
  const hashes = lines
    .map((line) => fromBase64(line, HASH_BYTES))
    .filter((one) => one !== undefined);
  return hashes.length === lines.length ? hashes : undefined;
}

/** Without the separator; the second is empty where there is none. */
export function splitOnce(text: string, separator: string): [before: string, after: string] {
  const at = text.indexOf(separator);
  return at < 0 ? [text, ''] : [text.slice(0, at), text.slice(at + separator.length)];
}

const TIME_BYTES = 8;

/** The line with which a witness answers. `seconds`: POSIX time. */
export function cosign(text: string, signer: SignerKey, seconds: number): NoteSignature {
  const time = Buffer.alloc(TIME_BYTES);
  time.writeBigUInt64BE(BigInt(seconds));
  const signature = crypto.sign(null, cosignedText(text, BigInt(seconds)), signer.key);
  const { name, id } = signer.verifier;
  return { name, id, bytes: Buffer.concat([time, signature]) };
}

/** When the witness saw the checkpoint, in POSIX seconds; undefined if it did not sign it. */
export function cosignedAt(note: Note, witness: VerifierKey): number | undefined {
  const { name, id, key } = witness;
  const line = note.signatures.find((one) => one.name === name && one.id === id);
  if (line === undefined || line.bytes.length <= TIME_BYTES) return undefined;
  const seconds = Buffer.from(line.bytes).readBigUInt64BE();
  const signature = line.bytes.subarray(TIME_BYTES);
  const good = crypto.verify(null, cosignedText(note.text, seconds), key, signature);
  return good && seconds <= BigInt(Number.MAX_SAFE_INTEGER) ? Number(seconds) : undefined;
}

function cosignedText(text: string, seconds: bigint): Buffer {
  return Buffer.from(`cosignature/v1\ntime ${seconds}\n${text}`);
}
