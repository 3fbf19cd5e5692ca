// What a run printed since it was last asked, in captured order and by stream, for somebody who
// comes back. Each stream is cleaned in one go over all questions, so that a character or an escape
// sequence that was cut by one is whole in the next. Of each answer only the end is kept in memory,
// and of very much output only the end is read: what was printed before is counted.

import { isUtf8 } from 'node:buffer';
import type { AgentShell } from '../../agent/agent-shell.ts';
import { passBy } from '../../agent/sanitized-skip.ts';
import { tailCut } from '../../text/cut.ts';
import { countNewlines } from '../../text/lines.ts';
import { type SanitizeOptions, type Sanitizer, sanitizer } from '../../text/sanitize.ts';
import { decodeUtf8, utf8End } from '../../text/utf8.ts';
import type { Shown } from './words.ts';

const NEWLINE = 0x0a;
const READ_BYTES = 1024 * 1024;
const ROLLING_BYTES_MAX = 102_400; // seed 001: twice what can be shown
const RAW_BYTES_KEPT = 4 * ROLLING_BYTES_MAX; // of colourful text that much is shown at least
const ALL_BYTES_MAX = 8 * 1024 * 1024; // of more than this the start is passed by

export type Limits = { readonly linesMax: number; readonly bytesMax: number };

export type NewOutput = {
  readonly stdout: Rolling;
  readonly stderr: Rolling;
  readonly both: Rolling;
};

export class OutputSince {
  readonly #shell: Pick<AgentShell, 'read' | 'open'>;
  readonly #id: string;
  readonly #clean: Readonly<Record<'stdout' | 'stderr', CleanStream>>;
  #cursor = 0;
  #last: Promise<unknown> = Promise.resolve();

  constructor(shell: Pick<AgentShell, 'read' | 'open'>, id: string, options: SanitizeOptions) {
    this.#shell = shell;
    this.#id = id;
    this.#clean = { stdout: new CleanStream(options), stderr: new CleanStream(options) };
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
    // Who prints faster than this reads would keep it for ever.
    const end = this.#shell.read(this.#id, Number.MAX_SAFE_INTEGER, 0).nextCursor;
    if (end - this.#cursor > ALL_BYTES_MAX) {
      this.#passBy(added, end - RAW_BYTES_KEPT, RAW_BYTES_KEPT);
    }
    while (this.#cursor < end) {
      const wanted = Math.min(READ_BYTES, end - this.#cursor);
      const { chunks, nextCursor, skipped } = this.#shell.read(this.#id, this.#cursor, wanted);
      if (nextCursor <= this.#cursor) break; // somebody cut the file
      const inside = skipped !== undefined && this.#cursor >= skipped.from;
      if (inside) this.#passBy(added, skipped.to, 0);
      for (const { chunk, bytes } of chunks) {
        const channel = chunk.channel === 'stderr' ? 'stderr' : 'stdout';
        const text = this.#clean[channel].push(bytes);
        added.both.push(text);
        added[channel].push(text);
      }
      if (skipped !== undefined && !inside) {
        this.#cursor = skipped.from;
        this.#passBy(added, skipped.to, 0);
      }
      this.#cursor = nextCursor;
      await new Promise((resolve) => setImmediate(resolve));
    }
    return added;
  }

  /** Each stream by itself: one that was silent for long is not lost behind a loud one. */
  #passBy(added: NewOutput, to: number, bytesMax: number): void {
    const capture = this.#shell.open(this.#id);
    const between = { from: this.#cursor, to, bytesMax };
    for (const channel of ['stdout', 'stderr'] as const) {
      const { runUp, bytes, skipped } = passBy(capture, channel, between);
      if (runUp !== undefined) this.#clean[channel].restart(runUp);
      const text = this.#clean[channel].push(bytes);
      added[channel].passBy(skipped);
      added[channel].push(text);
      added.both.passBy({
        bytes: skipped.bytes + text.length,
        newlines: skipped.newlines + countNewlines(text),
      });
    }
    this.#cursor = to;
  }
}

/** One stream as clean, valid UTF-8. */
class CleanStream {
  readonly #options: SanitizeOptions;
  #sanitizer: Sanitizer;
  /** A character that is not whole yet, which can also come of a sequence that was dropped. */
  #pending: Uint8Array = new Uint8Array();

  constructor(options: SanitizeOptions) {
    this.#options = options;
    this.#sanitizer = sanitizer(options);
  }

  /** Something was passed by; these bytes come right before what is pushed next. */
  restart(runUp: Uint8Array): void {
    this.#sanitizer = sanitizer(this.#options);
    this.#sanitizer.push(runUp);
    this.#pending = new Uint8Array();
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

  /** There was this, and nobody has it. */
  passBy({ bytes, newlines }: { readonly bytes: number; readonly newlines: number }): void {
    this.#total += bytes;
    this.#newlines += newlines;
  }

  get bytes(): Uint8Array {
    this.#forget();
    return this.#parts[0] ?? new Uint8Array();
  }

  shown(limits: Limits): Shown {
    const { bytes } = this;
    const { text, outputLines, outputBytes, limit, partialLine } = tailCut(bytes, limits);
    const missing = limit === undefined && this.#total > bytes.length;
    return {
      text,
      totals: { bytes: this.#total, lines: this.#newlines + (this.#unfinished ? 1 : 0) },
      shown: { bytes: outputBytes, lines: outputLines },
      cut: missing ? 'bytes' : (limit ?? 'none'),
      partialLine: partialLine || missing,
    };
  }

  #forget(): void {
    const all = Buffer.concat(this.#parts);
    const end = Uint8Array.from(all.subarray(-ROLLING_BYTES_MAX));
    this.#parts = [end];
    this.#length = end.length;
  }
}
