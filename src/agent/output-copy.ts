// Copies of a run's output as files of their own, for answers that name one: live, so that the
// file follows the run until nothing more can come, or in one go from a stream that is captured. A
// disk that fails, or a server that stops, costs the copy and nothing else: it stays as far as it
// came, and says why.

import { randomBytes } from 'node:crypto';
import * as nodeFs from 'node:fs';
import { dirname, join } from 'node:path';
import { type ReadResult, readOutput } from '../capture/reader.ts';
import type { Store } from '../capture/store.ts';
import { follow } from '../capture/wait.ts';
import { messageOf } from '../errors.ts';
import { type Cleaning, Feed, type Part } from '../shell/output/feed.ts';
import { aborted } from '../shell/run.ts';
import { missingMark, missingText } from '../text/missing.ts';
import type { SanitizeOptions } from '../text/sanitize.ts';
import type { Ended } from '../types.ts';
import { lostOutput, unreadOutput } from './aftermath.ts';
import type { AgentRun } from './agent-run.ts';

const DIRECTORY_MODE = 0o700;
const FILE_MODE = 0o600;
const TURN_BYTES = 4 * 1024 * 1024; // copied in one go; then others get their turn
// A live copy must keep up with the program; cleaning is work, and other callers want their turn.
const PIECE_BYTES = { raw: 1024 * 1024, clean: 262_144 };
const FINISH_MS = 2_000; // for what a server that stops has captured and not copied yet

/** What copies are written with, so that tests can make each of it fail. */
export type CopyDisk = Pick<typeof nodeFs, 'mkdirSync' | 'openSync' | 'closeSync'> & {
  writeSync(fd: number, bytes: Uint8Array, offset: number, length: number): number;
};

export type Copy = {
  /** Of a file that is there: the raw output itself, where none could be made. */
  readonly path: string;
  /** Why it is not complete. */
  readonly error: string | undefined;
};

/** What is said in the place of a path where nothing can be written. */
export const NO_FILE = '(no file: nothing can be written here)';

/** In the run's capture, to be swept with it. Its own directory, so that no watcher is woken. */
export function pathInCapture(run: AgentRun, name: string, disk: CopyDisk = nodeFs): string {
  // Below a file there is no directory: where no capture could be made, no copy can.
  const directory = join(run.dir === '' ? '/dev/null' : run.dir, 'text');
  try {
    disk.mkdirSync(directory, { mode: DIRECTORY_MODE, recursive: true });
  } catch {
    // Making the file will fail as well, and that is told.
  }
  return join(directory, name);
}

/** In a directory that others may write to, under a name that cannot be guessed. */
export function pathInDirectory(directory: string, prefix: string): string {
  return join(directory, `${prefix}${randomBytes(4).toString('hex')}.log`);
}

/** All of one stream as clean text. A file that is there already is never written over. */
export async function copyStream(
  run: AgentRun,
  channel: 'stdout' | 'stderr',
  path: string,
  { text = {}, disk = nodeFs }: { readonly text?: SanitizeOptions; readonly disk?: CopyDisk } = {},
): Promise<Copy> {
  const file = new CopyFile(path, disk);
  const feed = new Feed(text, channel);
  const capture = run.shell.open(run.id);
  let missing = 0;
  for (let due = TURN_BYTES, over = false; !over && file.error === undefined; ) {
    const read = readOutput(capture, feed.cursor, PIECE_BYTES.raw, channel);
    over = read.eof;
    due -= read.nextCursor - feed.cursor;
    missing += writeParts(file, feed.push(read));
    if (due > 0) continue;
    due = TURN_BYTES;
    await new Promise((resolve) => setImmediate(resolve));
  }
  writeParts(file, feed.end());
  file.close();
  const error = file.error ?? (missing === 0 ? undefined : missingText(missing));
  return { path: file.made ? path : rawPath(run), error };
}

/** With a line in the place of bytes that are not kept; gives how many those are. */
function writeParts(file: CopyFile, parts: readonly Part[]): number {
  const bytes = parts.map((part) =>
    part.kind === 'bytes' ? part.bytes : Buffer.from(missingMark(part.bytes)),
  );
  file.write(Buffer.concat(bytes)); // there are many small ones
  return parts.reduce((sum, part) => sum + (part.kind === 'gap' ? part.bytes : 0), 0);
}

export type LiveCopyOptions = {
  /** As bytes come, or as clean text: then each stream is cleaned for itself. */
  readonly text: Cleaning;
  /** What the file says when the shell is done, behind everything that it printed. */
  readonly lastWords?:
    | ((ended: Ended, lostBytes: number, unread: readonly string[]) => string)
    | undefined;
  readonly disk?: CopyDisk;
  /** What a server that stops measures its time by, in ms. */
  readonly clock?: () => number;
};

/** Follows a run from its first byte on. */
export class LiveCopy implements Copy {
  /** Nothing more can come, or could be written. Never rejects. */
  readonly over: Promise<void>;
  readonly #path: string;
  readonly #run: AgentRun;
  readonly #file: CopyFile;
  readonly #options: LiveCopyOptions;
  readonly #stop = new AbortController();
  #waiting: { readonly cursor: number; readonly resolve: () => void }[] = [];
  readonly #feed: Feed;
  #ended = false;
  #cutShort = false;
  #missing = 0;

  /** The file is there when this returns, unless `error` says why not. */
  constructor(run: AgentRun, path: string, options: LiveCopyOptions) {
    this.#path = path;
    this.#run = run;
    this.#options = options;
    this.#file = new CopyFile(path, options.disk ?? nodeFs);
    this.#feed = new Feed(options.text);
    const following = this.#follow();
    this.over = Promise.all([following, this.#sayLastWords()]).then(() => this.#file.close());
  }

  get path(): string {
    return this.#file.made ? this.#path : rawPath(this.#run);
  }

  get error(): string | undefined {
    if (this.#run.dir === '') return undefined; // its path says it
    if (this.#file.error !== undefined) return this.#file.error;
    if (this.#cutShort) return 'the server stopped before all was copied';
    return this.#missing === 0 ? undefined : missingText(this.#missing);
  }

  /** All that is captured before is in the file, but for what is not whole yet. */
  get cursor(): number {
    return this.#feed.cursor;
  }

  /** Resolves when it has all that was captured up to this cursor, or will never have. */
  upTo(cursor: number): Promise<void> {
    return new Promise((resolve) => {
      this.#waiting.push({ cursor, resolve });
      this.#wake();
    });
  }

  /** The run may go on, this does not: only what is captured by now is copied, if it is soon. */
  stop(): void {
    this.#stop.abort();
  }

  async #follow(): Promise<void> {
    const { signal } = this.#stop;
    const options = { signal, bytesMax: this.#pieceBytes };
    try {
      for await (const read of follow(storeOf(this.#run), this.#run.id, options)) {
        this.#copy(read);
        if (this.#file.error !== undefined) break;
      }
      if (signal.aborted) await this.#finish();
      writeParts(this.#file, this.#feed.end());
    } catch (error) {
      this.#file.fail(error); // the capture cannot be read
    }
    this.#ended = true;
    this.#wake();
  }

  async #finish(): Promise<void> {
    const { clock = () => performance.now() } = this.#options;
    const until = clock() + FINISH_MS;
    while (this.#file.error === undefined) {
      const capture = this.#run.shell.open(this.#run.id);
      const read = readOutput(capture, this.cursor, this.#pieceBytes);
      this.#copy(read);
      if (read.final) return;
      this.#cutShort = read.eof || clock() > until;
      if (this.#cutShort) return;
      await new Promise((resolve) => setImmediate(resolve));
    }
  }

  get #pieceBytes(): number {
    return this.#options.text === 'raw' ? PIECE_BYTES.raw : PIECE_BYTES.clean;
  }

  #copy(read: ReadResult): void {
    this.#missing += writeParts(this.#file, this.#feed.push(read));
    this.#wake();
  }

  async #sayLastWords(): Promise<void> {
    const { lastWords } = this.#options;
    if (lastWords === undefined) return;
    const ended = await Promise.race([this.#run.done, aborted(this.#stop.signal)]);
    if (ended === undefined) return;
    const end = capturedBytes(this.#run);
    await this.upTo(end);
    // Behind a part of the output they would say that it is all.
    if (this.cursor < end) return;
    const captures = capturesOf(this.#run);
    const { id } = this.#run;
    // Its entry may still be on its way to the disk; the end is known already.
    const unread = unreadOutput(captures, { id, result: { ended, survivors: [] } });
    this.#file.write(Buffer.from(lastWords(ended, lostOutput(captures, this.#run), unread)));
  }

  #wake(): void {
    const ready = (cursor: number): boolean => this.#ended || cursor <= this.cursor;
    for (const { cursor, resolve } of this.#waiting) if (ready(cursor)) resolve();
    this.#waiting = this.#waiting.filter(({ cursor }) => !ready(cursor));
  }
}

/** The store that the run's capture lies in: not the usual one where that cannot be written. */
function storeOf({ shell, dir }: AgentRun): Store {
  return { ...shell.store, root: dirname(dirname(dir)) };
}

/** Every byte that was captured, of both streams, as it came. */
export function rawPath({ dir }: AgentRun): string {
  return dir === '' ? NO_FILE : join(dir, 'output.bin');
}

/** How far the output goes that is captured by now; 0 when the capture cannot be read any more. */
export function capturedBytes(run: AgentRun): number {
  try {
    const capture = run.shell.open(run.id);
    return capture.final?.outputBytes ?? readOutput(capture, Number.MAX_SAFE_INTEGER, 0).nextCursor;
  } catch {
    return 0; // the copy that follows it will find out, and say so
  }
}

function capturesOf(run: AgentRun): Parameters<typeof lostOutput>[0] {
  return { open: (id) => run.shell.open(id) };
}

/** A file of its own, made now. Once something failed nothing more is written: no holes. */
class CopyFile {
  readonly #disk: CopyDisk;
  /** False when there is no such file. */
  readonly made: boolean;
  #fd: number | undefined;
  #error: string | undefined;

  constructor(path: string, disk: CopyDisk) {
    this.#disk = disk;
    const { O_WRONLY, O_CREAT, O_EXCL, O_NOFOLLOW = 0 } = nodeFs.constants;
    try {
      this.#fd = disk.openSync(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, FILE_MODE);
    } catch (error) {
      this.fail(error);
    }
    this.made = this.#fd !== undefined;
  }

  get error(): string | undefined {
    return this.#error;
  }

  write(bytes: Uint8Array): void {
    if (this.#error !== undefined || this.#fd === undefined) return;
    try {
      for (let done = 0; done < bytes.length; ) {
        done += this.#disk.writeSync(this.#fd, bytes, done, bytes.length - done);
      }
    } catch (error) {
      this.fail(error);
    }
  }

  fail(error: unknown): void {
    this.#error ??= messageOf(error);
  }

  close(): void {
    const fd = this.#fd;
    this.#fd = undefined;
    try {
      if (fd !== undefined) this.#disk.closeSync(fd);
    } catch (error) {
      this.fail(error); // some file systems only say now that it did not fit
    }
  }
}
