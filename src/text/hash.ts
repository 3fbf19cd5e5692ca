// What is known again by its content. Short texts are hashed here (SHA-256, FIPS 180-4), because
// loading Node's crypto takes longer than all else that a hook does to name its files.

import { createHash } from 'node:crypto';

const LENGTH_MAX = 2_000; // characters; from here on crypto is quicker, loading included

/** SHA-256, in hexadecimal digits. */
export function sha256(content: string | Uint8Array): string {
  if (typeof content === 'string' && content.length <= LENGTH_MAX) return shortHash(content);
  return createHash('sha256').update(content).digest('hex');
}

function shortHash(text: string): string {
  const blocks = padded(Buffer.from(text));
  const state = Int32Array.from(START);
  const words = new Int32Array(64);
  for (let at = 0; at < blocks.length; at += 64) {
    for (let i = 0; i < 16; i += 1) words[i] = blocks.readInt32BE(at + i * 4);
    addBlock(state, words);
  }
  const digest = Buffer.alloc(32);
  state.forEach((word, at) => {
    digest.writeInt32BE(word, at * 4);
  });
  return digest.toString('hex');
}

/** A bit, zeros, and the length in bits at the end of the last block. */
function padded(bytes: Buffer): Buffer {
  const blocks = Buffer.alloc(Math.ceil((bytes.length + 9) / 64) * 64);
  bytes.copy(blocks);
  blocks[bytes.length] = 0x80;
  blocks.writeUInt32BE(bytes.length * 8, blocks.length - 4);
  return blocks;
}

/** Without a function for the turns: V8 would compile it anew for being called so often. */
function addBlock(state: Int32Array, words: Int32Array): void {
  for (let i = 16; i < 64; i += 1) {
    const x = words[i - 15] ?? 0;
    const y = words[i - 2] ?? 0;
    const s0 = ((x >>> 7) | (x << 25)) ^ ((x >>> 18) | (x << 14)) ^ (x >>> 3);
    const s1 = ((y >>> 17) | (y << 15)) ^ ((y >>> 19) | (y << 13)) ^ (y >>> 10);
    words[i] = (words[i - 16] ?? 0) + s0 + (words[i - 7] ?? 0) + s1;
  }
  let [a = 0, b = 0, c = 0, d = 0, e = 0, f = 0, g = 0, h = 0] = state;
  for (let i = 0; i < 64; i += 1) {
    const s1 = ((e >>> 6) | (e << 26)) ^ ((e >>> 11) | (e << 21)) ^ ((e >>> 25) | (e << 7));
    const one = (h + s1 + ((e & f) ^ (~e & g)) + (ROUNDS[i] ?? 0) + (words[i] ?? 0)) | 0;
    const s0 = ((a >>> 2) | (a << 30)) ^ ((a >>> 13) | (a << 19)) ^ ((a >>> 22) | (a << 10));
    const two = s0 + ((a & b) ^ (a & c) ^ (b & c));
    h = g;
    g = f;
    f = e;
    e = (d + one) | 0;
    d = c;
    c = b;
    b = a;
    a = (one + two) | 0;
  }
  [a, b, c, d, e, f, g, h].forEach((word, at) => {
    state[at] = (state[at] ?? 0) + word;
  });
}

/** The first 32 bits behind the point: of square roots of primes, and of cube roots. */
const START = primes(8).map((prime) => fraction(Math.sqrt(prime)));
const ROUNDS = Int32Array.from(primes(64), (prime) => fraction(Math.cbrt(prime)));

function primes(count: number): readonly number[] {
  const found: number[] = [];
  for (let one = 2; found.length < count; one += 1) {
    if (found.every((prime) => one % prime !== 0)) found.push(one);
  }
  return found;
}

function fraction(root: number): number {
  return ((root % 1) * 2 ** 32) | 0;
}
