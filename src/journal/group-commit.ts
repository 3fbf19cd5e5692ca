// Appends lines to one file so that each is on the disk when its promise resolves. Lines that come
// while the disk is busy share the next write and the next sync. The first failure is the last
// thing that happens here: every line not yet on the disk is refused, and every later one, so that
// no line is ever written behind half of another.
import { dirname } from 'node:path';
import type { AppError } from '../errors.ts';
import {
  closeQuietly,
  type Disk,
  errno,
  reopenEntries,
  unwritable,
  writeAll,
  writeNow,
} from './files.ts';
import { lineState } from './packed/source.ts';

const BATCH_BYTES_MAX = 16_777_216; // written from memory as one piece

type Waiting = {
  readonly bytes: Buffer;
  /** `flush` has written it already; only the sync is missing. */
  written: boolean;
  readonly resolve: () => void;
  readonly reject: (error: AppError) => void;
};

type Identity = { readonly ino: number; readonly dev: number };

export class GroupCommit {
  readonly #path: string;
  readonly #disk: Disk;
  #identity: Identity;
  #fd: number | undefined;
  #size: number;
  #nameSynced: boolean;
  #waiting: Waiting[] = [];
  #draining: Promise<void> | undefined;
  /** Between the first and the last byte of a write. */
  #writing = false;
  #broken: AppError | undefined;

  /** `fd` is open for appending, and no line in the file is unfinished. */
  constructor(path: string, fd: number, disk: Disk, made: 'new' | 'resumed') {
    this.#path = path;
    this.#disk = disk;
    this.#fd = fd;
    const { ino, dev, size } = disk.fstatSync(fd);
    this.#identity = { ino, dev };
    this.#size = size;
    this.#nameSynced = made === 'resumed';
  }

  /** Bytes in the file as far as they are on the disk. */
  get size(): number {
    return this.#size;
  }

  get broken(): AppError | undefined {
    return this.#broken;
  }

  /** Resolves when the line is on the disk. Rejects with `journal_unwritable`. */
  add(line: string): Promise<void> {
    if (this.#broken !== undefined) return Promise.reject(this.#broken);
    return new Promise((resolve, reject) => {
      this.#waiting.push({ bytes: Buffer.from(line), written: false, resolve, reject });
      // Not at once: calls made in the same turn go together.
      this.#draining ??= Promise.resolve().then(() => this.#drain());
    });
  }

  /**
   * Hands the lines that wait to the system, in one write, before it returns: they outlive this
   * process then. They are acknowledged when they are on the disk, as always. Never throws.
   */
  flush(): void {
    const batch = this.#waiting.filter(({ written }) => !written);
    // A large write may be under way on another thread; no line may stand in the middle of it.
    if (this.#writing || this.#broken !== undefined || batch.length === 0) return;
    try {
      writeNow(this.#open(), Buffer.concat(batch.map((one) => one.bytes)), this.#disk);
      for (const one of batch) one.written = true;
    } catch (error) {
      this.#fail(unwritable(this.#path, error), []);
    }
  }

  /** Waits for what is under way and lets go of the file; a later line opens it again. */
  async close(): Promise<void> {
    while (this.#draining !== undefined) await this.#draining;
    const fd = this.#fd;
    this.#fd = undefined;
    if (fd !== undefined) closeQuietly(fd, this.#disk);
  }

  /** Lets `work` put another file with the same lines in its place; lines wait meanwhile. */
  async replaced(work: () => Promise<void>): Promise<void> {
    while (this.#draining !== undefined) await this.#draining;
    if (this.#broken !== undefined) return;
    const replacing = this.#replacing(work);
    // A failure is that of the caller alone; what waits is written as ever.
    this.#draining = replacing.catch(() => undefined).then(() => this.#drain());
    await replacing;
  }

  async #replacing(work: () => Promise<void>): Promise<void> {
    this.#writing = true; // nor does `flush` write now
    const fd = this.#fd;
    this.#fd = undefined;
    if (fd !== undefined) closeQuietly(fd, this.#disk);
    try {
      await work();
    } finally {
      this.#writing = false;
    }
  }

  /** The file still has its name. False: it was removed, moved or replaced. */
  named(): boolean {
    if (this.#fd === undefined && this.#writing) return true; // it is being replaced
    const stat = this.#disk.lstatSync(this.#path, { throwIfNoEntry: false });
    return stat !== undefined && same(stat, this.#identity);
  }

  async #drain(): Promise<void> {
    while (this.#waiting.length > 0) {
      const batch = this.#takeBatch();
      try {
        await this.#commit(batch);
      } catch (error) {
        this.#fail(unwritable(this.#path, error), batch);
        break;
      }
      for (const { resolve } of batch) resolve();
    }
    this.#draining = undefined;
  }

  #takeBatch(): Waiting[] {
    let bytes = 0;
    let count = 0;
    for (const one of this.#waiting) {
      bytes += one.bytes.length;
      if (count > 0 && bytes > BATCH_BYTES_MAX) break;
      count += 1;
    }
    return this.#waiting.splice(0, count);
  }

  async #commit(lines: readonly Waiting[]): Promise<void> {
    const fd = this.#open();
    const unwritten = lines.filter(({ written }) => !written);
    const bytes = Buffer.concat(unwritten.map((one) => one.bytes));
    this.#writing = true;
    try {
      await writeAll(fd, bytes, this.#disk);
    } finally {
      this.#writing = false;
    }
    const nameSynced = this.#syncName();
    try {
      await this.#disk.sync(fd, lines.length === 1 && this.#waiting.length === 0);
    } finally {
      await nameSynced; // our caller waits until all work is done
    }
    // Bytes in a file without a name are lost as soon as it is closed.
    if (!this.named()) throw errno('ENOENT', 'the file has lost its name');
    for (const one of lines) this.#size += one.bytes.length;
  }

  #open(): number {
    if (this.#fd !== undefined) return this.#fd;
    const fd = reopenEntries(this.#path, this.#disk);
    this.#fd = fd;
    const stat = this.#disk.fstatSync(fd);
    if (!same(stat, this.#identity)) {
      // What was packed while it was closed is the same session, and goes on.
      if (lineState(this.#path)?.stub === undefined) {
        throw errno('ENOENT', 'another file has its name');
      }
      this.#identity = { ino: stat.ino, dev: stat.dev };
      this.#size = stat.size;
    }
    return fd;
  }

  /** A new file is only there after a crash of the machine if its directory knows it. */
  async #syncName(): Promise<void> {
    if (this.#nameSynced) return;
    this.#nameSynced = true;
    const sessions = dirname(this.#path);
    for (const folder of [sessions, dirname(sessions)]) {
      let fd: number | undefined;
      try {
        fd = this.#disk.openSync(folder, 'r');
        await this.#disk.sync(fd);
      } catch {
        // Some file systems cannot sync a directory. The lines are as durable as they can be.
      } finally {
        if (fd !== undefined) closeQuietly(fd, this.#disk);
      }
    }
  }

  #fail(error: AppError, batch: readonly Waiting[]): void {
    this.#broken = error;
    const refused = [...batch, ...this.#waiting];
    this.#waiting = [];
    for (const { reject } of refused) reject(error);
  }
}

function same(one: Identity, other: Identity): boolean {
  return one.ino === other.ino && one.dev === other.dev;
}
