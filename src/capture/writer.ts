// Writes a capture for the portable runner, in the same format as the native one. Fails open: when
// the disk cannot take a byte the run goes on, the byte is counted as lost, and the gap is marked
// as soon as there is room again. Every append tries anew. Only a directory that is not safe, or
// that another writer has, is refused when it is opened; after that nothing here throws.
import * as nodeFs from 'node:fs';
import { basename } from 'node:path';
import { AppError, errnoOf } from '../errors.ts';
import { countNewlines } from '../text/lines.ts';
import type { CaptureFinal, CaptureMeta, Channel } from '../types.ts';
import { type CaptureEvent, encodeEvent, type Gap } from './event.ts';
import { encodeFinal, encodeIndex, slotOf } from './format.ts';
import { type FileOps, openIn, replaceIn } from './paths.ts';

// Lines that wait for room on the disk. Records beyond this are left out: their bytes stay
// readable.
const PENDING_BYTES_MAX = 262_144;

const { O_WRONLY, O_APPEND, O_CREAT, O_EXCL } = nodeFs.constants;
const APPEND = O_WRONLY | O_APPEND | O_CREAT;

type WriterOptions = {
  readonly fs?: FileOps;
  readonly now: () => number;
  /** Milliseconds since the command began. Left out where that is not known. */
  readonly elapsed?: () => number;
};

/** The writer counts the bytes itself, and ignores what the caller says about them. */
type FinalInput = Omit<CaptureFinal, 'outputBytes' | 'lostBytes'> & Partial<CaptureFinal>;

/** `dir` as `createCapture` gave it. Throws `path_unsafe` and `session_exists`. */
export function openWriter(
  dir: string,
  meta: Pick<CaptureMeta, 'outputBytesMax'>,
  options: WriterOptions,
): Writer {
  return new Writer(dir, meta.outputBytesMax, options);
}

export class Writer {
  readonly #dir: string;
  readonly #bytesMax: number;
  readonly #io: FileOps;
  readonly #now: () => number;
  readonly #elapsed: (() => number) | undefined;
  readonly #index: LineFile;
  readonly #events: LineFile;
  readonly #totalBytes: [number, number] = [0, 0];
  readonly #totalLines: [number, number] = [0, 0];
  #output: number | undefined;
  #offset = 0;
  #lost = 0;
  #gap: Gap | undefined;
  #capMarked = false;
  #closed = false;

  constructor(dir: string, bytesMax: number, options: WriterOptions) {
    const { fs: io = nodeFs, now, elapsed } = options;
    this.#dir = dir;
    this.#bytesMax = bytesMax;
    this.#io = io;
    this.#now = now;
    this.#elapsed = elapsed;
    this.#index = new LineFile(() => this.#open('index.jsonl'), io, PENDING_BYTES_MAX);
    this.#events = new LineFile(() => this.#open('events.jsonl'), io, PENDING_BYTES_MAX);
    this.#lock();
    refuseUnsafe(() => this.#openOutput());
    for (const name of ['index.jsonl', 'events.jsonl'] as const) {
      refuseUnsafe(() => io.closeSync(this.#open(name)));
    }
  }

  get outputBytes(): number {
    return this.#offset;
  }

  get lostBytes(): number {
    return this.#lost;
  }

  /** The bytes first, then their record. */
  append(channel: Channel, bytes: Uint8Array, pid?: number): void {
    if (this.#closed || bytes.length === 0) return;
    const room = Math.min(bytes.length, Math.max(0, this.#bytesMax - this.#offset));
    const { kept, error } = this.#write(bytes.subarray(0, room));
    if (kept > 0) {
      this.#markGap(); // what was lost lies before these bytes
      this.#record(channel, bytes.subarray(0, kept), pid);
    }
    if (kept < bytes.length) this.#lose(bytes.length - kept, error ?? 'cap');
  }

  event(event: CaptureEvent): void {
    if (!this.#closed) this.#events.add(encodeEvent({ offset: this.#offset, ...event }));
  }

  /** Writes final.json durably; false when it could not. Closed output closes the files. */
  finish(final: FinalInput): boolean {
    if (this.#closed) return false;
    this.#markGap();
    this.#index.flush();
    this.#events.flush();
    // final.json promises these bytes, so they must be on disk before it.
    attempt(() => this.#output !== undefined && this.#io.fsyncSync(this.#output));
    this.#index.sync();
    this.#events.sync();
    const whole = { ...final, outputBytes: this.#offset, lostBytes: this.#lost };
    const text = encodeFinal(whole, basename(this.#dir));
    const error = attempt(() =>
      replaceIn(this.#dir, 'final.json', text, { sync: true, io: this.#io }),
    );
    if (final.outputClosed) this.#close();
    return error === undefined;
  }

  #close(): void {
    this.#closed = true;
    this.#index.close();
    this.#events.close();
    const output = this.#output;
    this.#output = undefined;
    if (output !== undefined) attempt(() => this.#io.closeSync(output));
  }

  /** How much of it is in the file now, and what kept the rest out. */
  #write(bytes: Uint8Array): { readonly kept: number; readonly error: string | undefined } {
    let kept = 0;
    const error = attempt(() => {
      while (kept < bytes.length) {
        const output = this.#openOutput();
        kept += this.#io.writeSync(output, bytes, kept, bytes.length - kept);
      }
    });
    if (error === undefined) return { kept, error };
    // A write that failed may have left something all the same. The file knows.
    attempt(() => {
      const { size } = this.#io.fstatSync(this.#openOutput());
      kept = Math.max(kept, Math.min(size - this.#offset, bytes.length));
    });
    return { kept, error: kept < bytes.length ? error : undefined };
  }

  #record(channel: Channel, bytes: Uint8Array, pid: number | undefined): void {
    const slot = slotOf(channel);
    const lines = countNewlines(bytes);
    this.#totalBytes[slot] += bytes.length;
    this.#totalLines[slot] += lines;
    const line = encodeIndex({
      offset: this.#offset,
      length: bytes.length,
      channel,
      at: this.#now(),
      lines,
      totalBytes: this.#totalBytes,
      totalLines: this.#totalLines,
      ...(this.#elapsed && { t: Math.max(0, Math.round(this.#elapsed())) }),
      ...(pid !== undefined && { pid }),
    });
    this.#offset += bytes.length;
    this.#index.add(line);
  }

  #lose(count: number, reason: string): void {
    this.#lost += count;
    const lostBytes = (this.#gap?.lostBytes ?? 0) + count;
    this.#gap = { type: 'gap', offset: this.#gap?.offset ?? this.#offset, lostBytes, reason };
    // Behind the cap there is never room again, so this is said when it happens.
    if (reason === 'cap' && !this.#capMarked) {
      this.#capMarked = true;
      this.#markGap();
    }
  }

  #markGap(): void {
    if (this.#gap === undefined) return;
    const marked = this.#events.add(encodeEvent({ ...this.#gap, at: this.#now() }));
    if (marked) this.#gap = undefined;
  }

  #openOutput(): number {
    if (this.#output !== undefined) return this.#output;
    const fd = this.#open('output.bin');
    const size = this.#size(fd);
    if (size > this.#offset) {
      this.#io.closeSync(fd);
      throw taken(this.#dir);
    }
    this.#output = fd;
    return fd;
  }

  #size(fd: number): number {
    try {
      return this.#io.fstatSync(fd).size;
    } catch (error) {
      this.#io.closeSync(fd);
      throw error;
    }
  }

  #open(name: string): number {
    return openIn(this.#dir, name, APPEND, 0o600, this.#io);
  }

  /** Without flock(2): the process that makes the file is the only writer from then on. */
  #lock(): void {
    refuseUnsafe(() => {
      const fd = openIn(this.#dir, 'append.lock', O_WRONLY | O_CREAT | O_EXCL, 0o600, this.#io);
      this.#io.closeSync(fd);
    }, this.#dir);
  }
}

/** Trouble with the disk is no reason not to run: it is tried again with the next byte. */
function refuseUnsafe(action: () => void, lockedDir?: string): void {
  try {
    action();
  } catch (error) {
    if (error instanceof AppError) throw error;
    if (lockedDir !== undefined && errnoOf(error) === 'EEXIST') throw taken(lockedDir);
  }
}

function taken(dir: string): AppError {
  return new AppError('session_exists', `${dir} has a writer already.`, {
    hint: 'Start a new run: a capture has one writer for all its life.',
  });
}

/**
 * Appends lines to a file that may refuse them: what does not fit waits, in order and to the byte,
 * so that a line torn by a full disk is finished when there is room again. Never throws.
 */
class LineFile {
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
function attempt(action: () => void): string | undefined {
  try {
    action();
    return undefined;
  } catch (error) {
    // A symlink that appeared while we were writing is the one refusal of ours that can come here.
    return error instanceof AppError ? 'ELOOP' : (errnoOf(error) ?? 'EIO');
  }
}
