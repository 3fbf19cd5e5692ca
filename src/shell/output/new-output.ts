// The output of a run for a reader who comes back: what is new since it last asked, as clean text.
// All that `read` ever gave, put together, is the sanitised stream, whatever was printed between
// two questions; what does not fit into an answer is the start of the next. `readEnds` gives both
// ends of what is new and goes on behind it. New is what is captured when the question comes: a
// writer who is faster than its reader keeps nobody here, and only so much is read for one answer.

import { isUtf8 } from 'node:buffer';
import { looksBinary } from '../../text/binary.ts';
import { missingMark } from '../../text/missing.ts';
import { type Sanitizer, sanitizer } from '../../text/sanitize.ts';
import { decodeUtf8, utf8End, utf8Start } from '../../text/utf8.ts';
import type { ReadResult, Shell } from '../shell.ts';

const READ_BYTES = 524_288; // a read opens the capture anew, so few of them
const NEWLINE = 0x0a;
const NOTHING = new Uint8Array(0);

// The longest string that the sanitiser takes for one: behind so many bytes it reads a stream as
// it would have from its start.
const RUN_UP_BYTES = 1024 * 1024;
const RAW_PER_SHOWN = 4; // of colourful text
const SAMPLE_BYTES = 8_192; // enough to tell text from other things

// `read` looks at no more for one answer: megabytes of bytes that nobody sees take their time.
const LOOKED_BYTES_MAX = 2 * 1024 * 1024;

type Outputs = Pick<Shell, 'view'> & {
  read(id: string, cursor: number, maxBytes: number): ReadResult;
};

export type NewOutput = {
  readonly text: string;
  /** There is more by now. */
  readonly more: boolean;
  /** Raw bytes that were looked at for it. */
  readonly looked: number;
};

/** All of what is new, or both its ends. */
export type NewEnds = {
  readonly head: string;
  /** Undefined when nothing is missing between. */
  readonly tail: string | undefined;
  /** Raw bytes and lines that are new; the unfinished last line counts. */
  readonly bytes: number;
  readonly lines: number;
  /** The first of the raw bytes. */
  readonly sample: Uint8Array;
};

export class CleanReader {
  readonly #shell: Outputs;
  readonly #id: string;
  #clean: Sanitizer = sanitizer();
  /** In the raw bytes. */
  #cursor = 0;
  /** Clean and not given yet: at most what one read brought. Valid UTF-8. */
  #pending: Uint8Array = NOTHING;
  #ended = false;

  constructor(shell: Outputs, id: string) {
    this.#shell = shell;
    this.#id = id;
  }

  /**
   * At most `bytesMax`, up to the end of a line if it must stop there or if `whole` lines are
   * wanted. Nothing else is held back but a sequence or a character whose rest can still come.
   */
  read(bytesMax: number, lines: 'any' | 'whole' = 'any'): NewOutput {
    const start = this.#cursor;
    const end = this.#end();
    const all = this.#take(bytesMax, Math.min(end, start + LOOKED_BYTES_MAX));
    const fits = all.length <= bytesMax;
    const piece = fits ? all.length : pieceEnd(all, bytesMax);
    const upTo = fits && lines === 'whole' && !this.#ended ? all.lastIndexOf(NEWLINE) + 1 : piece;
    this.#pending = all.subarray(upTo);
    const more = piece < all.length || this.#cursor < end;
    return { text: decodeUtf8(all.subarray(0, upTo)), more, looked: this.#cursor - start };
  }

  /** Not for a reader that was asked with `read` before. */
  readEnds(bytesMax: number): NewEnds {
    const start = this.#cursor;
    const end = this.#end();
    const sample = this.#sampleAt(start, end);
    // Nobody shows what is no text, and cleaning it takes longest.
    if (looksBinary(sample)) {
      this.#jump(end);
      return { head: '', tail: undefined, bytes: this.#cursor - start, lines: 0, sample };
    }
    const half = Math.floor(bytesMax / 2);
    const reach = RUN_UP_BYTES + SAMPLE_BYTES + half * RAW_PER_SHOWN;
    const ends =
      end - start > 2 * reach
        ? this.#farEnds(half, end - reach, end)
        : this.#nearEnds(bytesMax, half, end);
    const lines = ends.tail === undefined ? 0 : this.#linesFrom(start);
    return { ...ends, bytes: this.#cursor - start, lines, sample };
  }

  #nearEnds(bytesMax: number, half: number, end: number): Pick<NewEnds, 'head' | 'tail'> {
    const all = this.#take(Number.POSITIVE_INFINITY, end);
    this.#pending = NOTHING;
    if (all.length <= bytesMax) return { head: decodeUtf8(all), tail: undefined };
    return { head: firstBytes(all, half), tail: lastBytes(all, half) };
  }

  /** What is between is passed by, not read. */
  #farEnds(half: number, from: number, end: number): Pick<NewEnds, 'head' | 'tail'> {
    const first = this.#take(half, Math.min(from, this.#cursor + LOOKED_BYTES_MAX));
    const head = firstBytes(first, Math.min(half, first.length));
    this.#jump(from);
    const shown = from + RUN_UP_BYTES;
    let passed: Uint8Array | undefined = NOTHING;
    while (passed !== undefined && this.#cursor < shown) passed = this.#readMore(shown);
    // Only a read that jumps over a hole goes beyond: it has the start of what is kept behind it.
    if (this.#cursor > shown) this.#pending = passed ?? NOTHING;
    const last = this.#take(Number.POSITIVE_INFINITY, end);
    this.#pending = NOTHING;
    return { head, tail: lastBytes(last, half) };
  }

  /** What was held back and what follows, more than `wanted` bytes, unless `end` comes first. */
  #take(wanted: number, end: number): Uint8Array {
    const parts = [this.#pending];
    let length = this.#pending.length;
    while (length <= wanted && !this.#ended) {
      const bytes = this.#readMore(end);
      if (bytes === undefined) break;
      parts.push(bytes);
      length += bytes.length;
    }
    return Buffer.concat(parts);
  }

  /** Goes on from there, as if it were the start. */
  #jump(cursor: number): void {
    this.#cursor = cursor;
    this.#clean = sanitizer();
    this.#pending = NOTHING;
  }

  /** What is captured by now ends there. */
  #end(): number {
    const { nextCursor } = this.#shell.read(this.#id, Number.MAX_SAFE_INTEGER, 0);
    return Math.max(this.#cursor, nextCursor);
  }

  #sampleAt(start: number, end: number): Uint8Array {
    const { chunks } = this.#shell.read(this.#id, start, Math.min(SAMPLE_BYTES, end - start));
    const sample = Buffer.concat(chunks.map(({ bytes }) => bytes));
    // Half a character at its end is no sign of anything.
    return sample.subarray(0, utf8End(sample, sample.length));
  }

  #linesFrom(start: number): number {
    const options = { kind: 'raw', bytesMax: 1 } as const;
    const { firstLine } = this.#shell.view(this.#id, { ...options, offset: start });
    const last = this.#shell.view(this.#id, { ...options, offset: this.#cursor - 1 });
    return last.firstLine - firstLine + 1;
  }

  /** Up to `end`; undefined when there is nothing more to read there. */
  #readMore(end: number): Uint8Array | undefined {
    const wanted = Math.min(READ_BYTES, end - this.#cursor);
    const read = this.#shell.read(this.#id, this.#cursor, wanted);
    const { chunks, nextCursor, final, skipped } = read;
    if (nextCursor <= this.#cursor && !final) return undefined;
    const clean: Uint8Array[] = chunks.map(({ bytes }) => this.#clean.push(bytes));
    if (skipped !== undefined) {
      const mark = Buffer.from(missingMark(skipped.to - Math.max(this.#cursor, skipped.from)));
      if (this.#cursor < skipped.from) clean.push(mark);
      else clean.unshift(mark);
    }
    this.#cursor = Math.max(this.#cursor, nextCursor);
    if (final) clean.push(this.#clean.end());
    this.#ended = final;
    const bytes = Buffer.concat(clean);
    return isUtf8(bytes) ? bytes : Buffer.from(decodeUtf8(bytes));
  }
}

/** At the end of the last line that fits; of a longer one, where a character ends. */
function pieceEnd(bytes: Uint8Array, bytesMax: number): number {
  const newline = bytesMax <= 0 ? -1 : bytes.lastIndexOf(NEWLINE, bytesMax - 1);
  return newline < 0 ? utf8End(bytes, bytesMax) : newline + 1;
}

function firstBytes(bytes: Uint8Array, count: number): string {
  return decodeUtf8(bytes.subarray(0, utf8End(bytes, count)));
}

function lastBytes(bytes: Uint8Array, count: number): string {
  return decodeUtf8(bytes.subarray(utf8Start(bytes, Math.max(0, bytes.length - count))));
}
