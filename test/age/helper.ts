// Age files in memory, and random bytes that are the same each time.
import { type Bytes, Encryption, openAge } from '../../src/age/file.ts';
import type { Recipient } from '../../src/age/recipients.ts';
import { type Identity, recipientText } from '../../src/age/x25519.ts';
import { seedOf } from '../seed.ts';

/** Around the borders of chunks, and what the program `age` writes in several. */
export const SIZES = [
  0, 1, 15, 16, 17, 4_096, 65_535, 65_536, 65_537, 65_552, 131_071, 131_072, 131_073, 196_608,
  300_000,
];

export function inMemory(bytes: Uint8Array): Bytes {
  return { size: bytes.length, read: (at, length) => bytes.subarray(at, at + length) };
}

export function to({ recipient }: Identity): Recipient {
  return { text: recipientText(recipient), key: recipient };
}

/** Encrypted in pieces of these sizes, again and again. */
export function encrypted(
  bytes: Uint8Array,
  recipients: readonly Recipient[],
  pieces: readonly number[] = [bytes.length],
): Buffer {
  const encryption = new Encryption(recipients);
  const out = [encryption.head];
  for (let at = 0, turn = 0; at < bytes.length; turn += 1) {
    const length = pieces[turn % pieces.length] ?? bytes.length;
    out.push(encryption.push(bytes.subarray(at, at + length)));
    at += length;
  }
  return Buffer.concat([...out, encryption.end()]);
}

export function decrypted(file: Uint8Array, ...identities: Identity[]): Buffer | undefined {
  const bytes = openAge(inMemory(file), 'x.age', identities);
  return bytes && Buffer.from(bytes.read(0, bytes.size));
}

/** Whole numbers below `most`, from a fixed seed (mulberry32). */
export function numbers(): (most: number) => number {
  let state = seedOf('properties');
  return (most) => {
    state = (state + 0x6d2b79f5) | 0;
    let value = Math.imul(state ^ (state >>> 15), 1 | state);
    value = (value + Math.imul(value ^ (value >>> 7), 61 | value)) ^ value;
    return ((value ^ (value >>> 14)) >>> 0) % most;
  };
}

export function noise(length: number, next: (most: number) => number): Buffer {
  return Buffer.from(Array.from({ length }, () => next(256)));
}
