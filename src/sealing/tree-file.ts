// The file `hashes`: the tree over the leaves, in the order of src/ledger/tree.ts. It is derived:
// the root that it gives is compared with the one that was signed, and what does not fit is made
// anew from the leaves. Written in pieces, read at single places.

import * as fs from 'node:fs';
import { DISK, type Disk } from '../journal/files.ts';
import {
  HASH_BYTES,
  type HashAt,
  hashesOfLeaf,
  leafHash,
  rootOf,
  storedHashCount,
  storedHashIndex,
} from '../ledger/tree.ts';
import { shortWrite } from './place.ts';

export class TreeFile {
  readonly #fd: number;
  readonly #path: string;
  readonly #disk: Disk;
  #size: number;
  /** Hashes that are not in the file yet, and the index of the first. */
  #fresh: Uint8Array[] = [];
  #freshFrom: number;

  /** `fd` is open for changes; the first `size` leaves are taken to be in the file. */
  constructor(path: string, fd: number, size: number, disk: Disk = DISK) {
    this.#path = path;
    this.#fd = fd;
    this.#disk = disk;
    this.#size = size;
    this.#freshFrom = storedHashCount(size);
  }

  get size(): number {
    return this.#size;
  }

  readonly #at: HashAt = (index) => {
    const fresh = this.#fresh[index - this.#freshFrom];
    if (fresh !== undefined) return fresh;
    const bytes = Buffer.alloc(HASH_BYTES);
    const count = fs.readSync(this.#fd, bytes, 0, HASH_BYTES, index * HASH_BYTES);
    if (count < HASH_BYTES) throw new RangeError(`there is no hash ${index}`);
    return bytes;
  };

  /** Undefined where the file does not reach so far. */
  root(): Uint8Array | undefined {
    try {
      return rootOf(this.#size, this.#at);
    } catch (error) {
      if (error instanceof RangeError) return undefined;
      throw error;
    }
  }

  /** The last leaf is this line. */
  endsWith(line: Uint8Array): boolean {
    return Buffer.compare(this.#at(storedHashIndex(0, this.#size - 1)), leafHash(line)) === 0;
  }

  append(line: Uint8Array): void {
    for (const hash of hashesOfLeaf(this.#size, leafHash(line), this.#at)) this.#fresh.push(hash);
    this.#size += 1;
  }

  /** Throws the error of the system call. */
  flush(): void {
    const bytes = Buffer.concat(this.#fresh);
    const written = this.#disk.writeSync(
      this.#fd,
      bytes,
      0,
      bytes.length,
      this.#freshFrom * HASH_BYTES,
    );
    if (written < bytes.length) throw shortWrite(this.#path);
    this.#freshFrom += this.#fresh.length;
    this.#fresh = [];
  }
}
