// Appends leaves, one write each and without a sync: the checkpoint that signs them syncs them.
// Several processes append to one file, and the order in the file is the order of the tree. What
// cannot be written is kept in memory and comes before the next leaf; nothing here throws.

import * as fs from 'node:fs';
import { errnoOf } from '../errors.ts';
import { DISK, type Disk } from '../journal/files.ts';
import {
  ensureSealDir,
  openForAppending,
  openForReading,
  sealFile,
  shortWrite,
  waitForWriters,
} from './place.ts';

const WAITING_MAX = 10_000; // 2.3 MB; entries of later ones are sealed as late ones
const NEWLINE = 0x0a;

export class Appender {
  readonly #stateRoot: string;
  readonly #path: string;
  readonly #disk: Disk;
  #fd: number | undefined;
  #identity: { readonly ino: number; readonly dev: number } | undefined;
  /** Where the file ended when we wrote to it last, in a whole line. */
  #wholeTo = 0;
  #waiting: string[] = [];
  #lost = 0;
  /** Why the last leaf could not be written. */
  trouble: string | undefined;

  constructor(stateRoot: string, disk: Disk = DISK) {
    this.#stateRoot = stateRoot;
    this.#path = sealFile(stateRoot, 'leaves');
    this.#disk = disk;
  }

  /** Leaves that were to be written and are not. */
  get missing(): number {
    return this.#waiting.length + this.#lost;
  }

  /** `leaf` with its `\n`. True when it and all before it are in the file. */
  append(leaf: string): boolean {
    if (this.#waiting.length >= WAITING_MAX) this.#lost += 1;
    else this.#waiting.push(leaf);
    return this.flush();
  }

  flush(): boolean {
    while (this.#waiting.length > 0) {
      const [first = ''] = this.#waiting;
      try {
        this.#write(first);
      } catch (error) {
        this.trouble = errnoOf(error) ?? 'unknown';
        this.close();
        return false;
      }
      this.#waiting.shift();
    }
    this.trouble = undefined;
    return true;
  }

  close(): void {
    const fd = this.#fd;
    this.#fd = undefined;
    if (fd === undefined) return;
    try {
      this.#disk.closeSync(fd);
    } catch {
      // Even a close that fails has closed.
    }
  }

  #write(leaf: string): void {
    const fd = this.#open();
    let { size } = this.#disk.lstatSync(this.#path);
    // A write that was cut short, by a crash or a full disk, must not spoil the leaf behind it.
    let torn = this.#endsTorn(size);
    if (torn) {
      waitForWriters(fd);
      ({ size } = this.#disk.lstatSync(this.#path));
      torn = this.#endsTorn(size);
    }
    const bytes = Buffer.from(torn ? `\n${leaf}` : leaf);
    if (this.#disk.writeSync(fd, bytes) < bytes.length) throw shortWrite(this.#path);
    this.#wholeTo = size + bytes.length;
  }

  #endsTorn(size: number): boolean {
    return size !== this.#wholeTo && size > 0 && !endsWhole(this.#path, size);
  }

  /** The file that has the name now: it may have been restored from a backup, or removed. */
  #open(): number {
    const stat = this.#disk.lstatSync(this.#path, { throwIfNoEntry: false });
    const same = stat?.ino === this.#identity?.ino && stat?.dev === this.#identity?.dev;
    if (this.#fd !== undefined && stat !== undefined && same) return this.#fd;
    this.close();
    if (stat === undefined) ensureSealDir(this.#stateRoot);
    const fd = openForAppending(this.#path, this.#disk);
    this.#fd = fd;
    const { ino, dev } = this.#disk.fstatSync(fd);
    this.#identity = { ino, dev };
    this.#wholeTo = 0;
    return fd;
  }
}

function endsWhole(path: string, size: number): boolean {
  const fd = openForReading(path);
  try {
    const last = Buffer.alloc(1);
    return fs.readSync(fd, last, 0, 1, size - 1) === 1 && last[0] === NEWLINE;
  } finally {
    fs.closeSync(fd);
  }
}
