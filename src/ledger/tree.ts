// The Merkle tree of RFC 6962 over the lines of a ledger, and the order in which its hashes are
// stored: that of Go's sumdb/tlog, so that the file `hashes` can be read by programs made for it.
// A node is stored right behind the last leaf below it; only nodes of complete subtrees are stored.
//
// Sizes go beyond 32 bits, so nothing here shifts.
import { createHash } from 'node:crypto';

export const HASH_BYTES = 32;

/** The stored hash at an index; for an index that is not stored it may throw. */
export type HashAt = (index: number) => Uint8Array;

const LEAF = Uint8Array.of(0);
const NODE = Uint8Array.of(1);

/** Of a line with its `\n`. */
export function leafHash(line: string | Uint8Array): Buffer {
  return createHash('sha256').update(LEAF).update(line).digest();
}

export function nodeHash(left: Uint8Array, right: Uint8Array): Buffer {
  return createHash('sha256').update(NODE).update(left).update(right).digest();
}

/** Where node `n` of a level is stored; level 0 are the leaves. */
export function storedHashIndex(level: number, n: number): number {
  const leaf = n * 2 ** level + 2 ** level - 1; // the last one below it
  let index = 0;
  for (let rest = leaf; rest > 0; rest = Math.floor(rest / 2)) index += rest;
  return index + level;
}

/** How many hashes are stored for a tree of so many leaves. */
export function storedHashCount(size: number): number {
  return size === 0 ? 0 : storedHashIndex(0, size - 1) + 1 + trailingOnes(size - 1);
}

/** What leaf `n` adds to the stored hashes: its own, and one for each subtree it completes. */
export function hashesOfLeaf(n: number, leaf: Uint8Array, at: HashAt): Uint8Array[] {
  const hashes = [leaf];
  let node = leaf;
  for (let level = 0; level < trailingOnes(n); level += 1) {
    node = nodeHash(at(storedHashIndex(level, Math.floor(n / 2 ** level) - 1)), node);
    hashes.push(node);
  }
  return hashes;
}

/** Of the first `size` leaves. */
export function rootOf(size: number, at: HashAt): Uint8Array {
  return size === 0 ? createHash('sha256').digest() : rangeRoot(0, size, at);
}

/** Of leaves [from, to), where `from` is a multiple of the largest subtree that fits. */
export function rangeRoot(from: number, to: number, at: HashAt): Uint8Array {
  const complete: Uint8Array[] = [];
  for (let low = from; low < to; ) {
    const level = Math.floor(Math.log2(to - low));
    complete.push(at(storedHashIndex(level, low / 2 ** level)));
    low += 2 ** level;
  }
  return complete.reduceRight((right, left) => nodeHash(left, right));
}

/** The largest power of two below `count`. */
export function splitOf(count: number): number {
  return 2 ** (Math.ceil(Math.log2(count)) - 1);
}

function trailingOnes(n: number): number {
  let ones = 0;
  for (let rest = n; rest % 2 === 1; rest = Math.floor(rest / 2)) ones += 1;
  return ones;
}

const GROWTH = 2;

/** A tree in memory, or the whole content of a file `hashes`. */
export class StoredHashes {
  #bytes: Buffer;
  #count: number;
  #size = 0;

  /** Of a file that was cut or padded, the hashes of whole leaves count. */
  constructor(bytes: Uint8Array = new Uint8Array(0)) {
    this.#bytes = Buffer.from(bytes);
    this.#count = 0;
    while (storedHashCount(this.#size + 1) * HASH_BYTES <= bytes.length) this.#size += 1;
    this.#count = storedHashCount(this.#size);
  }

  /** How many leaves. */
  get size(): number {
    return this.#size;
  }

  /** All hashes, as the file has them. */
  get bytes(): Uint8Array {
    return this.#bytes.subarray(0, this.#count * HASH_BYTES);
  }

  readonly at: HashAt = (index) => {
    if (index >= this.#count) throw new RangeError(`hash ${index} of ${this.#count}`);
    return this.#bytes.subarray(index * HASH_BYTES, (index + 1) * HASH_BYTES);
  };

  leaf(n: number): Uint8Array {
    return this.at(storedHashIndex(0, n));
  }

  /** Returns the hashes that the file gets. */
  append(leaf: Uint8Array): readonly Uint8Array[] {
    const added = hashesOfLeaf(this.#size, leaf, this.at);
    const needed = (this.#count + added.length) * HASH_BYTES;
    if (needed > this.#bytes.length) {
      const grown = Buffer.alloc(needed * GROWTH);
      this.#bytes.copy(grown);
      this.#bytes = grown;
    }
    for (const hash of added) {
      this.#bytes.set(hash, this.#count * HASH_BYTES);
      this.#count += 1;
    }
    this.#size += 1;
    return added;
  }

  /** Of the first `size` leaves. */
  root(size: number = this.#size): Uint8Array {
    return rootOf(size, this.at);
  }
}
