// What a run printed since it was last asked, in captured order and by stream, for somebody who
// comes back. Each stream is cleaned in one go over all questions, so that a character or an escape
// sequence that was cut by one is whole in the next. Of each answer only the end is kept in memory.

import { isUtf8 } from 'node:buffer';
import type { AgentShell } from '../agent/agent-shell.ts';
import { tailCut } from '../text/cut.ts';
import { countNewlines } from '../text/lines.ts';
import { type SanitizeOptions, type Sanitizer, sanitizer } from '../text/sanitize.ts';
import { decodeUtf8, utf8End } from '../text/utf8.ts';
import type { Shown } from './pipe-words.ts';

const NEWLINE = 0x0a;
const READ_BYTES = 1024 * 1024;
const ROLLING_BYTES_MAX = 102_400; // seed 001: twice what can be shown

export type Limits = { readonly linesMax: number; readonly bytesMax: number };

export type NewOutput = {
  readonly stdout: Rolling;
  readonly stderr: Rolling;
  readonly both: Rolling;
};

export class OutputSince {
  readonly #shell: Pick<AgentShell, 'read'>;
  readonly #id: string;
  readonly #clean: { readonly out: CleanStream; readonly err: CleanStream };
  #cursor = 0;
  #last: Promise<unknown> = Promise.resolve();

  constructor(shell: Pick<AgentShell, 'read'>, id: string, options: SanitizeOptions) {
    this.#shell = shell;
    this.#id = id;
    this.#clean = { out: new CleanStream(options), err: new CleanStream(options) };
  }

  /** Up to here everything was given, but for what is not whole yet. */
  get cursor(): number {
    return this.#cursor;
  }

  /** All that is captured and was not given before. Two who ask at once are served in turn. */
  take(): Promise<NewOutput> {
    const taken = this.#last.then(() => this.#take());
    this.#last = taken.catch(() => undefined); // who asks next is not told of it
    return taken;
  }

  async #take(): Promise<NewOutput> {
    const added = { stdout: new Rolling(), stderr: new Rolling(), both: new Rolling() };
    while (true) {
      const { chunks, nextCursor, eof } = this.#shell.read(this.#id, this.#cursor, READ_BYTES);
      for (const { chunk, bytes } of chunks) {
        const other = chunk.channel === 'stderr';
        const text = (other ? this.#clean.err : this.#clean.out).push(bytes);
        added.both.push(text);
        (other ? added.stderr : added.stdout).push(text);
      }
      this.#cursor = nextCursor;
      if (eof || chunks.length === 0) return added;
      await new Promise((resolve) => setImmediate(resolve));
    }
  }
}

/** One stream as clean, valid UTF-8. */
class CleanStream {
  readonly #sanitizer: Sanitizer;
  /** A character that is not whole yet, which can also come of a sequence that was dropped. */
  #pending: Uint8Array = new Uint8Array();

  constructor(options: SanitizeOptions) {
    this.#sanitizer = sanitizer(options);
  }

  push(bytes: Uint8Array): Uint8Array {
    const clean = Buffer.concat([this.#pending, this.#sanitizer.push(bytes)]);
    const end = utf8End(clean, clean.length);
    this.#pending = clean.subarray(end);
    const whole = clean.subarray(0, end);
    return isUtf8(whole) ? whole : Buffer.from(decodeUtf8(whole));
  }
}

/** A buffer that forgets its start: it holds the last 100 KB, and knows how much there was. */
export class Rolling {
  #parts: Uint8Array[] = [];
  #length = 0;
  #total = 0;
  #newlines = 0;
  #unfinished = false;

  push(bytes: Uint8Array): void {
    if (bytes.length === 0) return;
    this.#total += bytes.length;
    this.#newlines += countNewlines(bytes);
    this.#unfinished = bytes[bytes.length - 1] !== NEWLINE;
    const end = bytes.subarray(-ROLLING_BYTES_MAX);
    this.#parts.push(Uint8Array.from(end)); // a view would keep all of its buffer in memory
    this.#length += end.length;
    if (this.#length > 2 * ROLLING_BYTES_MAX) this.#forget();
  }

  get bytes(): Uint8Array {
    this.#forget();
    return this.#parts[0] ?? new Uint8Array();
  }

  shown(limits: Limits): Shown {
    const { text, outputLines, outputBytes, limit, partialLine } = tailCut(this.bytes, limits);
    return {
      text,
      totals: { bytes: this.#total, lines: this.#newlines + (this.#unfinished ? 1 : 0) },
      shown: { bytes: outputBytes, lines: outputLines },
      cut: limit ?? 'none',
      partialLine,
    };
  }

  #forget(): void {
    const all = Buffer.concat(this.#parts);
    const end = Uint8Array.from(all.subarray(-ROLLING_BYTES_MAX));
    this.#parts = [end];
    this.#length = end.length;
  }
}
