// The payload of an age file: a nonce, then chunks of 64 KiB, each sealed for its place and the
// last one for being the last. So any part can be read alone, and none moved, changed or cut off.

import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto';

export const CHUNK_BYTES = 65_536;
export const SALT_BYTES = 16; // the spec calls it the nonce of the payload
const TAG_BYTES = 16;
const SEALED_BYTES = CHUNK_BYTES + TAG_BYTES;
const NONCE_BYTES = 12;
const CIPHER = 'chacha20-poly1305';

/** The bytes of a payload in order; `end` gives the last ones. */
export class PayloadWriter {
  readonly salt: Uint8Array = randomBytes(SALT_BYTES);
  readonly #key: Buffer;
  #count = 0;
  #held: Uint8Array = new Uint8Array();

  constructor(fileKey: Uint8Array) {
    this.#key = payloadKey(fileKey, this.salt);
  }

  /** A full chunk waits until it is known not to be the last one. */
  push(bytes: Uint8Array): Buffer {
    const sealed: Buffer[] = [];
    let rest = this.#held.length === 0 ? bytes : Buffer.concat([this.#held, bytes]);
    for (; rest.length > CHUNK_BYTES; rest = rest.subarray(CHUNK_BYTES)) {
      sealed.push(this.#seal(rest.subarray(0, CHUNK_BYTES), false));
    }
    this.#held = new Uint8Array(rest); // a copy: the caller may use its buffer again
    return Buffer.concat(sealed);
  }

  end(): Buffer {
    return this.#seal(this.#held, true);
  }

  #seal(chunk: Uint8Array, last: boolean): Buffer {
    const nonce = nonceOf(this.#count++, last);
    const cipher = createCipheriv(CIPHER, this.#key, nonce, { authTagLength: TAG_BYTES });
    return Buffer.concat([cipher.update(chunk), cipher.final(), cipher.getAuthTag()]);
  }
}

export type PayloadShape = { readonly chunks: number; readonly size: number };

/** Undefined for a length that no payload has (without its salt). */
export function payloadShape(sealedBytes: number): PayloadShape | undefined {
  const chunks = Math.ceil(sealedBytes / SEALED_BYTES);
  const last = sealedBytes - (chunks - 1) * SEALED_BYTES;
  // Only an empty payload has an empty chunk.
  if (chunks === 0 || last < TAG_BYTES || (last === TAG_BYTES && chunks > 1)) return undefined;
  return { chunks, size: sealedBytes - chunks * TAG_BYTES };
}

/** Where the sealed chunk lies behind the salt. */
export function sealedPlace(chunk: number): { readonly at: number; readonly length: number } {
  return { at: chunk * SEALED_BYTES, length: SEALED_BYTES };
}

/** Undefined for bytes that are not this chunk of this payload. */
export function openChunk(
  key: Uint8Array,
  sealed: Uint8Array,
  chunk: number,
  last: boolean,
): Buffer | undefined {
  const split = sealed.length - TAG_BYTES;
  if (split < 0) return undefined;
  const nonce = nonceOf(chunk, last);
  const cipher = createDecipheriv(CIPHER, key, nonce, { authTagLength: TAG_BYTES });
  cipher.setAuthTag(sealed.subarray(split));
  try {
    return Buffer.concat([cipher.update(sealed.subarray(0, split)), cipher.final()]);
  } catch {
    return undefined; // the tag says that these are not the bytes that were sealed
  }
}

export function payloadKey(fileKey: Uint8Array, salt: Uint8Array): Buffer {
  return Buffer.from(hkdfSync('sha256', fileKey, salt, 'payload', 32));
}

/** Eleven bytes of the chunk's number and one that says whether it is the last. */
function nonceOf(chunk: number, last: boolean): Buffer {
  const nonce = Buffer.alloc(NONCE_BYTES);
  nonce.writeUIntBE(chunk, 5, 6);
  nonce[NONCE_BYTES - 1] = last ? 1 : 0;
  return nonce;
}
