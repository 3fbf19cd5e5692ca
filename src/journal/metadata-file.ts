// The metadata file of one session while it is written: at most once a second as entries come, and
// durably at the end. Nothing here throws: readers count the lines of a session whose metadata is
// behind, and what could not be written is tried again with the next change.
import type { SessionMetadata } from '../types.ts';
import { encodeMetadata } from './entry.ts';
import {
  closeQuietly,
  DISK,
  type Disk,
  type JournalEnv,
  later,
  replaceFile,
  replaceFileLater,
} from './files.ts';

const INTERVAL_MS = 1000; // temp and rename cost many times an append

export class MetadataFile {
  readonly #path: string;
  readonly #described: () => boolean;
  readonly #env: JournalEnv;
  readonly #disk: Disk;
  #written: SessionMetadata | undefined;
  #writtenAt: number;
  #cancelTimer: (() => void) | undefined;
  /** What the file says is not on the disk for certain. */
  #unsynced = false;
  latest: SessionMetadata;

  /** `described` says whether there still is a session; `written`, what the file says already. */
  constructor(
    path: string,
    described: () => boolean,
    env: JournalEnv,
    latest: SessionMetadata,
    written: SessionMetadata | undefined,
  ) {
    this.#path = path;
    this.#described = described;
    this.#env = env;
    this.#disk = env.fs ?? DISK;
    this.#written = written;
    this.#writtenAt = env.now();
    this.latest = latest;
  }

  /** The file says the latest, or there is nothing left for it to describe. */
  get current(): boolean {
    return this.#written === this.latest;
  }

  /** It is to be written again though nothing may have changed. */
  forget(): void {
    this.#written = undefined;
  }

  writeSoon(): void {
    if (this.#cancelTimer !== undefined) return;
    const passed = Math.max(0, this.#env.now() - this.#writtenAt); // clocks go backwards
    const wait = Math.max(0, INTERVAL_MS - passed);
    this.#cancelTimer = (this.#env.later ?? later)(wait, () => {
      this.#cancelTimer = undefined;
      this.#writeNow();
    });
  }

  /** Writes the latest now; should that fail, the next change tries again. */
  write(): void {
    this.cancel();
    this.#writeNow();
  }

  /** There is nothing left to describe. */
  abandon(): void {
    this.cancel();
    this.#written = this.latest;
    this.#unsynced = false;
  }

  /** Hands the end to the system before it returns; `writeEnd` makes it durable. Never throws. */
  writeEndNow(metadata: SessionMetadata): void {
    this.cancel();
    try {
      if (this.#described()) replaceFile(this.#path, encodeMetadata(metadata), this.#disk);
      if (metadata === this.latest) this.#written = metadata;
      this.#unsynced = true;
    } catch {
      // `writeEnd` tries again, and recovery looks after a session that stays `active`.
    }
  }

  cancel(): void {
    this.#cancelTimer?.();
    this.#cancelTimer = undefined;
  }

  #writeNow(): void {
    const { latest } = this;
    this.#writtenAt = this.#env.now();
    try {
      if (this.#described()) replaceFile(this.#path, encodeMetadata(latest), this.#disk);
      this.#written = latest;
    } catch {
      // The next change tries again.
    }
  }

  /** Resolves when the latest is on the disk, or could not be put there. */
  async writeEnd(): Promise<void> {
    this.cancel();
    if (this.current) {
      await this.#sync();
      return;
    }
    const { latest } = this;
    try {
      if (this.#described()) {
        await replaceFileLater(this.#path, encodeMetadata(latest), { sync: true }, this.#disk);
      }
      this.#written = latest;
      this.#unsynced = false;
    } catch {
      // Asked again it tries again, and recovery looks after what stays `active`.
    }
  }

  async #sync(): Promise<void> {
    if (!this.#unsynced) return;
    this.#unsynced = false;
    let fd: number | undefined;
    try {
      fd = this.#disk.openSync(this.#path, 'r');
      await this.#disk.sync(fd);
    } catch {
      // The end is written; only a crash of the machine could still lose it.
    } finally {
      if (fd !== undefined) closeQuietly(fd, this.#disk);
    }
  }
}
