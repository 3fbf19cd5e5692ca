// A leaf says what a part of an entry or a capture was without saying it: it holds
//
//   base64url(SHA-256(salt of the part || SHA-256(bytes of the part)))
//
// The salts of the parts are 16-byte slices of SHA-512("cuff/1 salts" || salt), and for a fifth
// part and more of SHA-512("cuff/1 salts 2" || salt). So one salt of 16 random bytes is stored, a
// part can be shown with its own salt alone, and a part that was removed cannot be guessed from
// its commitment once the salt it came from is gone.
import { createHash } from 'node:crypto';
import { base64url, fromBase64 } from './base64.ts';

export const ENTRY_PARTS = ['facts', 'text', 'stdout', 'stderr'] as const;
export type EntryPart = (typeof ENTRY_PARTS)[number];

/** Of names between commas; undefined where one of them is none. */
export function partsNamed(text: string): readonly EntryPart[] | undefined {
  const parts = text.split(',').map((name) => ENTRY_PARTS.find((part) => part === name.trim()));
  const known = parts.filter((part) => part !== undefined);
  return known.length === parts.length ? known : undefined;
}

export const CAPTURE_PARTS = ['meta', 'output', 'index', 'events', 'trace', 'final'] as const;

const SALT_BYTES = 16;
const HASH_TEXT_LENGTH = 43;

/** Of one part, by its place in the list of parts. */
export function partSalt(salt: Uint8Array, place: number): Buffer {
  const block = Math.floor(place / 4);
  const label = block === 0 ? 'cuff/1 salts' : `cuff/1 salts ${block + 1}`;
  const slices = createHash('sha512').update(label).update(salt).digest();
  const from = (place % 4) * SALT_BYTES;
  return slices.subarray(from, from + SALT_BYTES);
}

/** `digest`: the SHA-256 of the part's bytes, which needs no salt and can be made before. */
export function commitmentTo(digest: Uint8Array, salt: Uint8Array): string {
  return base64url(createHash('sha256').update(salt).update(digest).digest());
}

export function sha256(bytes: Uint8Array): Buffer {
  return createHash('sha256').update(bytes).digest();
}

export function isCommitment(text: string): boolean {
  return text.length === HASH_TEXT_LENGTH && fromBase64(text, 32, 'url') !== undefined;
}

export function parseSalt(text: string): Buffer | undefined {
  return fromBase64(text, SALT_BYTES, 'url');
}
