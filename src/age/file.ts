// An age v1 file, as the program `age` writes and reads it: encrypted for several recipients, any
// of whom can read it. Only the chunks are decrypted that hold the bytes that are asked for. A file
// that is opened has a genuine header and its genuine end, so that one that was cut off is refused
// before anything of it is read; a chunk that was changed is refused when it is read.

import { AppError } from '../errors.ts';
import { formatHeader, HEADER_BYTES_MAX, type Header, isGenuine, parseHeader } from './header.ts';
import { newFileKey, type Recipient, recipientNames } from './recipients.ts';
import {
  CHUNK_BYTES,
  openChunk,
  type PayloadShape,
  PayloadWriter,
  payloadKey,
  payloadShape,
  SALT_BYTES,
  sealedPlace,
} from './stream.ts';
import { type Identity, isWellFormed, unwrap } from './x25519.ts';

export class Encryption {
  /** The first bytes of the file. */
  readonly head: Buffer;
  readonly #fileKey: Uint8Array;
  readonly #payload: PayloadWriter;

  /** Throws `encryption_failed` where a recipient needs a program that is not there. */
  constructor(recipients: readonly Recipient[]) {
    const { fileKey, stanzas } = newFileKey(recipients);
    this.#fileKey = fileKey;
    this.#payload = new PayloadWriter(fileKey);
    this.head = Buffer.concat([formatHeader(stanzas, fileKey), this.#payload.salt]);
  }

  /** What the file goes on with; empty while a chunk is not full. */
  push(bytes: Uint8Array): Buffer {
    return this.#payload.push(bytes);
  }

  /** The last bytes of the file. */
  end(): Buffer {
    return this.#payload.end();
  }

  /** What was written, read back by its writer, who needs no identity for that. */
  open(file: Bytes, name: string): Bytes {
    return opened(file, name, headerOf(file, name), this.#fileKey);
  }
}

/** Bytes that can be read anywhere. */
export type Bytes = {
  readonly size: number;
  /** At most `length` bytes from `position`; fewer only at the end. */
  read(position: number, length: number): Uint8Array;
};

/** Undefined where none of the identities is one of its recipients. `name` is for messages. */
export function openAge(
  file: Bytes,
  name: string,
  identities: readonly Identity[],
): Bytes | undefined {
  const header = headerOf(file, name);
  const fileKey = fileKeyOf(header, identities);
  return fileKey && opened(file, name, header, fileKey);
}

function opened(file: Bytes, name: string, header: Header, fileKey: Uint8Array): Bytes {
  if (!isGenuine(header, fileKey)) throw damaged(name, 'its header was changed');
  const start = header.end + SALT_BYTES;
  const shape = payloadShape(file.size - start);
  if (shape === undefined) throw damaged(name, 'its end is missing');
  const key = payloadKey(fileKey, file.read(header.end, SALT_BYTES));
  return chunked(shape, (chunk) => {
    const { at, length } = sealedPlace(chunk);
    const last = chunk === shape.chunks - 1;
    const bytes = openChunk(key, file.read(start + at, length), chunk, last);
    if (bytes !== undefined) return bytes;
    throw damaged(name, last ? 'its end is missing or was changed' : 'bytes in it were changed');
  });
}

/** For whom it is encrypted, as far as it says. */
export function recipientsOf(file: Bytes, name: string): string[] {
  return recipientNames(headerOf(file, name).stanzas);
}

function headerOf(file: Bytes, name: string): Header {
  const header = parseHeader(file.read(0, HEADER_BYTES_MAX));
  if (header?.stanzas.every(isWellFormed)) return header;
  throw damaged(name, 'its header is not one of age');
}

function fileKeyOf({ stanzas }: Header, identities: readonly Identity[]): Buffer | undefined {
  for (const identity of identities) {
    for (const stanza of stanzas) {
      const fileKey = unwrap(stanza, identity);
      if (fileKey !== undefined) return fileKey;
    }
  }
  return undefined;
}

const KEPT_CHUNKS = 4; // a search comes back to the same few

/** The chunks that were read last are kept, for readers that take small pieces. */
function chunked({ chunks, size }: PayloadShape, open: (chunk: number) => Buffer): Bytes {
  const kept = new Map([[chunks - 1, open(chunks - 1)]]);
  const bytesOf = (chunk: number): Buffer => {
    const bytes = kept.get(chunk) ?? open(chunk);
    kept.delete(chunk);
    kept.set(chunk, bytes);
    const [oldest] = kept.keys();
    if (kept.size > KEPT_CHUNKS && oldest !== undefined) kept.delete(oldest);
    return bytes;
  };
  return {
    size,
    read(position, length) {
      const pieces: Buffer[] = [];
      const end = Math.min(position + length, size);
      for (let at = position; at < end; ) {
        const chunk = Math.floor(at / CHUNK_BYTES);
        const from = at - chunk * CHUNK_BYTES;
        const piece = bytesOf(chunk).subarray(from, from + end - at);
        pieces.push(piece);
        at += piece.length;
      }
      return pieces.length === 1 ? (pieces[0] as Buffer) : Buffer.concat(pieces);
    },
  };
}

function damaged(name: string, why: string): AppError {
  return new AppError('capture_damaged', `${name} cannot be decrypted: ${why}.`, {
    hint: 'Restore the file from a copy; nothing of it is shown, because it may be forged.',
  });
}
