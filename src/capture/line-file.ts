// Appends lines to a file that may refuse them: what does not fit waits, in order and to the byte,
// so that a line torn by a full disk is finished when there is room again. Never throws.
import { AppError, errnoOf } from '../errors.ts';
import type { FileOps } from './paths.ts';

export class LineFile {
  readonly #open: () => number;
  readonly #io: FileOps;
  readonly #pendingBytesMax: number;
  #fd: number | undefined;
  #pending: Uint8Array = new Uint8Array();

  constructor(open: () => number, io: FileOps, pendingBytesMax: number) {
    this.#open = open;
    this.#io = io;
    this.#pendingBytesMax = pendingBytesMax;
  }

  /** False when it was left out, because too much is waiting already. */
  add(line: string): boolean {
    const bytes = Buffer.from(line);
    if (this.#pending.length + bytes.length > this.#pendingBytesMax) {
      this.flush();
      if (this.#pending.length + bytes.length > this.#pendingBytesMax) return false;
    }
    this.#pending = this.#pending.length === 0 ? bytes : Buffer.concat([this.#pending, bytes]);
    this.flush();
    return true;
  }

  flush(): void {
    const io = this.#io;
    try {
      while (this.#pending.length > 0) {
        this.#fd ??= this.#open();
        const count = io.writeSync(this.#fd, this.#pending, 0, this.#pending.length);
        this.#pending = this.#pending.subarray(count);
      }
    } catch {
      // It stays pending, and the next line or the end of the run tries again.
    }
  }

  sync(): void {
    if (this.#fd !== undefined) attempt(() => this.#io.fsyncSync(this.#fd ?? -1));
  }

  close(): void {
    const fd = this.#fd;
    this.#fd = undefined;
    if (fd !== undefined) attempt(() => this.#io.closeSync(fd));
  }
}

/** The errno name of what went wrong, or undefined. */
export function attempt(action: () => void): string | undefined {
  try {
    action();
    return undefined;
  } catch (error) {
    // A symlink that appeared while we were writing is the one refusal of ours that can come here.
    return error instanceof AppError ? 'ELOOP' : (errnoOf(error) ?? 'EIO');
  }
}
