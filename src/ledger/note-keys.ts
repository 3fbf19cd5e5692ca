// Keys for signed notes, in the two texts that Go's note package made and C2SP took over:
//
//   NAME+ID+base64(ALGORITHM || public key)               to verify with, may go everywhere
//   PRIVATE+KEY+NAME+ID+base64(ALGORITHM || seed)         to sign with
//
// ID is the first four bytes of SHA-256(NAME || "\n" || ALGORITHM || public key), in hex. Algorithm
// 1 is Ed25519, 4 an Ed25519 key that cosigns checkpoints.
import * as crypto from 'node:crypto';
import { base64, fromBase64 } from './base64.ts';

export type KeyAlgorithm = 'ed25519' | 'cosignature';

export type VerifierKey = {
  readonly name: string;
  /** Eight hex digits. */
  readonly id: string;
  readonly algorithm: KeyAlgorithm;
  /** The 32 bytes. */
  readonly raw: Uint8Array;
  readonly key: crypto.KeyObject;
};

export type SignerKey = { readonly key: crypto.KeyObject; readonly verifier: VerifierKey };

const CODES: Readonly<Record<KeyAlgorithm, number>> = { ed25519: 1, cosignature: 4 };
const ALGORITHMS: readonly KeyAlgorithm[] = ['ed25519', 'cosignature'];

const RAW_BYTES = 32;
// What stands before the 32 bytes of an Ed25519 key in DER (RFC 8410).
const PUBLIC_DER = Buffer.from('302a300506032b6570032100', 'hex');
const PRIVATE_DER = Buffer.from('302e020100300506032b657004220420', 'hex');

/** No space of any kind, no `+`, and not empty. */
export function isKeyName(name: string): boolean {
  return name !== '' && name.isWellFormed() && !/[\s\u0085+]/.test(name);
}

/** Of `NAME+ID+BASE64`; undefined for anything else, and for an algorithm we do not know. */
export function parseVerifierKey(text: string): VerifierKey | undefined {
  const [name = '', id = '', ...rest] = text.split('+');
  const bytes = fromBase64(rest.join('+'), RAW_BYTES + 1);
  const algorithm = ALGORITHMS.find((one) => CODES[one] === bytes?.[0]);
  if (bytes === undefined || algorithm === undefined || !isKeyName(name)) return undefined;
  const key = verifierKey(name, bytes.subarray(1), algorithm);
  return key?.id === id ? key : undefined;
}

export function formatVerifierKey({ name, id, algorithm, raw }: VerifierKey): string {
  return `${name}+${id}+${coded(algorithm, raw)}`;
}

/** Of `PRIVATE+KEY+NAME+ID+BASE64`; undefined for anything else. */
export function parseSignerKey(text: string): SignerKey | undefined {
  const [first, second, name = '', id = '', ...rest] = text.split('+');
  const bytes = fromBase64(rest.join('+'), RAW_BYTES + 1);
  const algorithm = ALGORITHMS.find((one) => CODES[one] === bytes?.[0]);
  if (first !== 'PRIVATE' || second !== 'KEY' || bytes === undefined) return undefined;
  if (algorithm === undefined || !isKeyName(name)) return undefined;
  const signer = signerKey(name, bytes.subarray(1), algorithm);
  return signer.verifier.id === id ? signer : undefined;
}

export function formatSignerKey({ key, verifier }: SignerKey): string {
  const seed = key.export({ format: 'der', type: 'pkcs8' }).subarray(PRIVATE_DER.length);
  const { name, id, algorithm } = verifier;
  return `PRIVATE+KEY+${name}+${id}+${coded(algorithm, seed)}`;
}

/** `seed`: 32 random bytes. Throws a RangeError for a name that no key can have. */
export function signerKey(
  name: string,
  seed: Uint8Array,
  algorithm: KeyAlgorithm = 'ed25519',
): SignerKey {
  if (!isKeyName(name)) throw new RangeError(`no key can have the name '${name}'`);
  const der = Buffer.concat([PRIVATE_DER, seed]);
  const key = crypto.createPrivateKey({ key: der, format: 'der', type: 'pkcs8' });
  const spki = crypto.createPublicKey(key).export({ format: 'der', type: 'spki' });
  const verifier = verifierKey(name, spki.subarray(PUBLIC_DER.length), algorithm);
  if (verifier === undefined) throw new RangeError('no Ed25519 key has these bytes');
  return { key, verifier };
}

function verifierKey(
  name: string,
  raw: Uint8Array,
  algorithm: KeyAlgorithm,
): VerifierKey | undefined {
  try {
    const der = Buffer.concat([PUBLIC_DER, raw]);
    const key = crypto.createPublicKey({ key: der, format: 'der', type: 'spki' });
    return { name, id: idOf(name, raw, algorithm), algorithm, raw, key };
  } catch {
    return undefined; // bytes that OpenSSL refuses are no key
  }
}

function idOf(name: string, raw: Uint8Array, algorithm: KeyAlgorithm): string {
  const hash = crypto.createHash('sha256').update(`${name}\n`);
  return hash.update(Uint8Array.of(CODES[algorithm])).update(raw).digest('hex').slice(0, 8);
}

function coded(algorithm: KeyAlgorithm, bytes: Uint8Array): string {
  return base64(Buffer.concat([Uint8Array.of(CODES[algorithm]), bytes]));
}
