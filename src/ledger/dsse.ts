// Envelopes (DSSE v1): a payload of some type, and signatures over both. What is signed is
//
//   DSSEv1 <bytes of the type> <type> <bytes of the payload> <payload>
//
// so that a signature holds for no other type. Ours carry in-toto statements.
import * as crypto from 'node:crypto';
import { base64 } from './base64.ts';
import type { SignerKey } from './note-keys.ts';

export type Envelope = {
  readonly payloadType: string;
  /** base64 */
  readonly payload: string;
  readonly signatures: readonly { readonly keyid: string; readonly sig: string }[];
};

/** `keyid` is `NAME+ID`, as the verifier key of a note begins. */
export function signEnvelope(
  payloadType: string,
  payload: string,
  { key, verifier: { name, id } }: SignerKey,
): Envelope {
  const signature = crypto.sign(null, signedBytes(payloadType, payload), key);
  return {
    payloadType,
    payload: base64(Buffer.from(payload)),
    signatures: [{ keyid: `${name}+${id}`, sig: base64(signature) }],
  };
}

function signedBytes(type: string, payload: string): Buffer {
  const length = Buffer.byteLength;
  return Buffer.from(`DSSEv1 ${length(type)} ${type} ${length(payload)} ${payload}`);
}
