// For whom a file is encrypted: X25519 recipients, for which we need nothing, and those that only
// the program `age` knows (ssh keys, plugins). A stanza of our own names them all, so that whoever
// cannot read a file can be told who can; other readers of age pass over it.

import { randomBytes } from 'node:crypto';
import type { FileKey, Stanza } from './header.ts';
import { wrappedByAge } from './program.ts';
import { FILE_KEY_BYTES, parseRecipient, wrap } from './x25519.ts';

export type Recipient = {
  readonly text: string;
  /** Undefined for one of a kind that only the program `age` knows. */
  readonly key: Uint8Array | undefined;
};

const NAMES = 'cuff-recipients';

// A plugin's recipients are `age1NAME1...`. A text cannot be an option of the program.
const OTHERS =
  /^(?:ssh-(?:ed25519|rsa) [A-Za-z0-9+/]+={0,2}(?: [ -~]*)?|age1[a-z0-9+._-]+1[a-z0-9]+)$/;

/** Undefined for a text that is no recipient. */
export function recipientOf(text: string): Recipient | undefined {
  const key = parseRecipient(text);
  return key !== undefined || OTHERS.test(text) ? { text, key } : undefined;
}

export function newFileKey(recipients: readonly Recipient[]): FileKey {
  const keys = recipients.map(({ key }) => key).filter((key) => key !== undefined);
  const texts = recipients.map(({ text }) => text);
  const own = keys.length === recipients.length;
  const { fileKey, stanzas } = own ? wrappedByUs(keys) : wrappedByAge(texts);
  const names = Buffer.from(texts.join('\n'));
  return { fileKey, stanzas: [...stanzas, { type: NAMES, args: [], body: names }] };
}

/** What the file says of itself; of one that was not written by us, the kinds of its recipients. */
export function recipientNames(stanzas: readonly Stanza[]): string[] {
  const names = stanzas.find(({ type }) => type === NAMES);
  if (names !== undefined) return Buffer.from(names.body).toString('utf8').split('\n');
  const kinds = stanzas.map(({ type }) => type).filter((type) => !/-grease$/.test(type));
  return kinds.map((kind) => (kind === 'scrypt' ? 'a passphrase' : `a recipient of ${kind}`));
}

function wrappedByUs(keys: readonly Uint8Array[]): FileKey {
  const fileKey = randomBytes(FILE_KEY_BYTES);
  return { fileKey, stanzas: keys.map((key) => wrap(fileKey, key)) };
}
