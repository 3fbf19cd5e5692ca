// Signed notes (C2SP signed-note, and Go's sumdb/note before it): a text that ends in `\n`, an
// empty line, and one or more lines `— NAME base64(ID || signature)`. Lines of keys that the reader
// does not know are ignored; a line that claims a known key and does not verify spoils the note.
import * as crypto from 'node:crypto';
import { base64, fromBase64 } from './base64.ts';
import { isKeyName, type SignerKey, type VerifierKey } from './note-keys.ts';

export type NoteSignature = {
  readonly name: string;
  /** Of the key: eight hex digits. */
  readonly id: string;
  /** Behind the key's id. */
  readonly bytes: Uint8Array;
};

export type Note = {
  /** With its last `\n`. */
  readonly text: string;
  readonly signatures: readonly NoteSignature[];
};

const DASH = '\u2014 ';
const ID_BYTES = 4;
const SIGNATURES_MAX = 100; // as Go's reader: nothing that is honest has more

/** Undefined for anything that is no note. No signature is verified yet. */
export function parseNote(from: string): Note | undefined {
  const split = from.lastIndexOf('\n\n');
  if (split < 0 || !from.isWellFormed() || hasControl(from)) return undefined;
  const text = from.slice(0, split + 1);
  const signatures = parseSignatures(from.slice(split + 2));
  return signatures && { text, signatures };
}

/** Lines of signatures alone, as a witness answers with. */
export function parseSignatures(text: string): NoteSignature[] | undefined {
  const lines = text.split('\n');
  if (lines.pop() !== '' || lines.length === 0 || lines.length > SIGNATURES_MAX) return undefined;
  const signatures = lines.map(parseSignature).filter((one) => one !== undefined);
  return signatures.length === lines.length ? signatures : undefined;
}

function parseSignature(line: string): NoteSignature | undefined {
  if (!line.startsWith(DASH)) return undefined;
  const [name = '', coded = '', ...rest] = line.slice(DASH.length).split(' ');
  const bytes = fromBase64(coded);
  if (bytes === undefined || bytes.length <= ID_BYTES) return undefined;
  if (!isKeyName(name) || rest.length > 0) return undefined;
  return {
    name,
    id: bytes.subarray(0, ID_BYTES).toString('hex'),
    bytes: bytes.subarray(ID_BYTES),
  };
}

export function formatNote({ text, signatures }: Note): string {
  return `${text}\n${signatures.map(formatSignature).join('')}`;
}

export function formatSignature({ name, id, bytes }: NoteSignature): string {
  return `${DASH}${name} ${base64(Buffer.concat([Buffer.from(id, 'hex'), bytes]))}\n`;
}

/** `text` ends in `\n` and has no other control character. */
export function signNote(text: string, signers: readonly SignerKey[]): Note {
  if (!text.endsWith('\n') || hasControl(text)) throw new RangeError('no text for a note');
  const signatures = signers.map(({ key, verifier: { name, id } }) => {
    return { name, id, bytes: crypto.sign(null, Buffer.from(text), key) };
  });
  return { text, signatures };
}

export type SignatureCheck = 'verified' | 'wrong' | 'absent';

/** What the note has from an Ed25519 key: the first line of the key decides, as in Go's reader. */
export function checkSignature(note: Note, { name, id, key }: VerifierKey): SignatureCheck {
  const found = note.signatures.find((one) => one.name === name && one.id === id);
  if (found === undefined) return 'absent';
  const good = crypto.verify(null, Buffer.from(note.text), key, found.bytes);
  return good ? 'verified' : 'wrong';
}

function hasControl(text: string): boolean {
  return /[\0-\x09\x0b-\x1f]/.test(text);
}
