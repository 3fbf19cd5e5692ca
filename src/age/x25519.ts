// X25519 keys of age: their texts, and how the key of one file is wrapped for a recipient and
// unwrapped by an identity (C2SP age, "The X25519 recipient type").

import {
  createCipheriv,
  createDecipheriv,
  createPrivateKey,
  createPublicKey,
  diffieHellman,
  hkdfSync,
  type KeyObject,
  randomBytes,
} from 'node:crypto';
import { bech32, fromBech32 } from './bech32.ts';
import { base64, fromBase64, type Stanza } from './header.ts';

const KEY_BYTES = 32;
const TAG_BYTES = 16;
export const FILE_KEY_BYTES = 16;

/** What stands in front of a raw key in the two forms that OpenSSL reads. */
const PKCS8 = Buffer.from('302e020100300506032b656e04220420', 'hex');
const SPKI = Buffer.from('302a300506032b656e032100', 'hex');

const NONCE = Buffer.alloc(12); // the wrapping key is used once
const TYPE = 'X25519';
const INFO = 'age-encryption.org/v1/X25519';

export type Identity = {
  readonly secret: Uint8Array;
  /** The same as OpenSSL has it: making it takes longer than all else that a small read needs. */
  readonly key: KeyObject;
  readonly recipient: Uint8Array;
};

export function newIdentity(): Identity {
  return identityOf(randomBytes(KEY_BYTES));
}

/** `AGE-SECRET-KEY-1...` */
export function identityText({ secret }: Identity): string {
  return bech32({ prefix: 'age-secret-key-', bytes: secret }).toUpperCase();
}

/** Undefined for a text that is no X25519 identity. */
export function parseIdentity(text: string): Identity | undefined {
  const key = text === text.toUpperCase() ? fromBech32(text) : undefined;
  if (key?.prefix !== 'age-secret-key-' || key.bytes.length !== KEY_BYTES) return undefined;
  return identityOf(key.bytes);
}

/** `age1...` */
export function recipientText(recipient: Uint8Array): string {
  return bech32({ prefix: 'age', bytes: recipient });
}

/** Undefined for a text that is no X25519 recipient. */
export function parseRecipient(text: string): Uint8Array | undefined {
  const key = text === text.toLowerCase() ? fromBech32(text) : undefined;
  if (key?.prefix !== 'age' || key.bytes.length !== KEY_BYTES) return undefined;
  try {
    wrap(Buffer.alloc(FILE_KEY_BYTES), key.bytes);
    return key.bytes;
  } catch {
    return undefined; // a point of low order, with which OpenSSL agrees on no secret
  }
}

export function wrap(fileKey: Uint8Array, recipient: Uint8Array): Stanza {
  const once = newIdentity();
  const key = wrappingKey(shared(once.key, recipient), once.recipient, recipient);
  const cipher = createCipheriv('chacha20-poly1305', key, NONCE, { authTagLength: TAG_BYTES });
  const body = Buffer.concat([cipher.update(fileKey), cipher.final(), cipher.getAuthTag()]);
  return { type: TYPE, args: [base64(once.recipient)], body };
}

/** False for a stanza of this type that does not have its form. */
export function isWellFormed({ type, args, body }: Stanza): boolean {
  if (type !== TYPE) return true;
  const share = fromBase64(args[0] ?? '');
  const sized = share?.length === KEY_BYTES && body.length === FILE_KEY_BYTES + TAG_BYTES;
  return sized && args.length === 1;
}

const KEPT_KEYS = 64; // of the files of ten captures

/** Keys of files that were read last: an identity that is in memory could make them anew. */
const unwrapped = new WeakMap<Identity, Map<string, Buffer>>();

/** Undefined where it was wrapped for another recipient. */
export function unwrap(stanza: Stanza, identity: Identity): Buffer | undefined {
  const name = `${stanza.args[0]} ${base64(stanza.body)}`;
  const kept = unwrapped.get(identity) ?? new Map<string, Buffer>();
  unwrapped.set(identity, kept);
  const known = stanza.type === TYPE ? kept.get(name) : undefined;
  const fileKey = known ?? agreed(stanza, identity);
  if (fileKey === undefined || known !== undefined) return fileKey;
  const [oldest] = kept.keys();
  if (kept.size >= KEPT_KEYS && oldest !== undefined) kept.delete(oldest);
  kept.set(name, fileKey);
  return fileKey;
}

function agreed(stanza: Stanza, identity: Identity): Buffer | undefined {
  const { type, args, body } = stanza;
  const share = fromBase64(args[0] ?? '');
  if (type !== TYPE || share === undefined || !isWellFormed(stanza)) return undefined;
  try {
    const key = wrappingKey(shared(identity.key, share), share, identity.recipient);
    const cipher = createDecipheriv('chacha20-poly1305', key, NONCE, { authTagLength: TAG_BYTES });
    cipher.setAuthTag(body.subarray(FILE_KEY_BYTES));
    return Buffer.concat([cipher.update(body.subarray(0, FILE_KEY_BYTES)), cipher.final()]);
  } catch {
    return undefined; // not for this identity, or a share of low order, which OpenSSL refuses
  }
}

function identityOf(secret: Uint8Array): Identity {
  const der = Buffer.concat([PKCS8, secret]);
  const key = createPrivateKey({ key: der, format: 'der', type: 'pkcs8' });
  const { x } = createPublicKey(key).export({ format: 'jwk' });
  return { secret, key, recipient: Buffer.from(x ?? '', 'base64url') };
}

function shared(privateKey: KeyObject, publicBytes: Uint8Array): Buffer {
  const publicKey = createPublicKey({
    key: Buffer.concat([SPKI, publicBytes]),
    format: 'der',
    type: 'spki',
  });
  return diffieHellman({ privateKey, publicKey });
}

function wrappingKey(secret: Buffer, share: Uint8Array, recipient: Uint8Array): Buffer {
  const salt = Buffer.concat([share, recipient]);
  return Buffer.from(hkdfSync('sha256', secret, salt, INFO, KEY_BYTES));
}
