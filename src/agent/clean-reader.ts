// The output of a run for a reader who comes back: what is new since it last asked, as clean text.
// All that `read` ever gave, put together, is the sanitised stream, whatever was printed between
// two questions; what does not fit into an answer is the start of the next. `readEnds` gives both
// ends of what is new and goes on behind it.

import { isUtf8 } from 'node:buffer';
import { type Sanitizer, sanitizer } from '../text/sanitize.ts';
import { decodeUtf8, utf8End, utf8Start } from '../text/utf8.ts';
import type { AgentShell } from './agent-shell.ts';

const READ_BYTES = 524_288; // a read opens the capture anew, so few of them
const NEWLINE = 0x0a;
const NOTHING = new Uint8Array(0);

// The longest string that the sanitiser takes for one: behind so many bytes it reads a stream as
// it would have from its start.
const RUN_UP_BYTES = 1024 * 1024;
const RAW_PER_SHOWN = 4; // of colourful text
const SAMPLE_BYTES = 8_192; // enough to tell text from other things

export type NewOutput = {
  readonly text: string;
  /** There is more by now. */
  readonly more: boolean;
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
  readonly #shell: Pick<AgentShell, 'read' | 'view'>;
  readonly #id: string;
  #clean: Sanitizer = sanitizer();
  /** In the raw bytes. */
  #cursor = 0;
  /** Clean and not given yet: at most what one read brought. Valid UTF-8. */
  #pending: Uint8Array = NOTHING;
  #ended = false;
  #sample: Uint8Array = NOTHING;

  constructor(shell: Pick<AgentShell, 'read' | 'view'>, id: string) {
    this.#shell = shell;
    this.#id = id;
  }

  /**
   * At most `bytesMax`, up to the end of a line if it must stop there or if `whole` lines are
   * wanted. Nothing else is held back but a sequence or a character whose rest can still come.
   */
  read(bytesMax: number, lines: 'any' | 'whole' = 'any'): NewOutput {
    const parts = [this.#pending];
    let length = this.#pending.length;
    while (length <= bytesMax && !this.#ended) {
      const { bytes, eof } = this.#readMore();
      parts.push(bytes);
      length += bytes.length;
      if (eof) break;
    }
    const all = Buffer.concat(parts);
    const fits = all.length <= bytesMax;
    const end = fits ? all.length : pieceEnd(all, bytesMax);
    const upTo = fits && lines === 'whole' && !this.#ended ? all.lastIndexOf(NEWLINE) + 1 : end;
    this.#pending = all.subarray(upTo);
    return { text: decodeUtf8(all.subarray(0, upTo)), more: end < all.length };
  }

  /** Not for a reader that was asked with `read` before. */
  readEnds(bytesMax: number): NewEnds {
    const start = this.#cursor;
    this.#sample = NOTHING;
    const { nextCursor: end } = this.#shell.read(this.#id, Number.POSITIVE_INFINITY, 0);
    const half = Math.floor(bytesMax / 2);
    const reach = RUN_UP_BYTES + SAMPLE_BYTES + half * RAW_PER_SHOWN;
    const ends =
      end - start > 2 * reach ? this.#farEnds(half, end - reach) : this.#nearEnds(bytesMax, half);
    const lines = ends.tail === undefined ? 0 : this.#linesFrom(start);
    // Half a character at its end is no sign of anything.
    const sample = this.#sample.subarray(0, utf8End(this.#sample, this.#sample.length));
    return { ...ends, bytes: this.#cursor - start, lines, sample };
  }

  #nearEnds(bytesMax: number, half: number): Pick<NewEnds, 'head' | 'tail'> {
    const { text } = this.read(Number.POSITIVE_INFINITY);
    if (text.length <= bytesMax && Buffer.byteLength(text) <= bytesMax) {
      return { head: text, tail: undefined };
    }
    return { head: firstBytes(Buffer.from(text), half), tail: lastBytes(Buffer.from(text), half) };
  }

  /** What is between is passed by, not read. */
  #farEnds(half: number, from: number): Pick<NewEnds, 'head' | 'tail'> {
    const { text: head } = this.read(half);
    if (this.#cursor >= from) {
      const rest = Buffer.from(this.read(Number.POSITIVE_INFINITY).text);
      return { head, tail: lastBytes(rest, half) };
    }
    this.#cursor = from;
    this.#clean = sanitizer();
    this.#pending = NOTHING;
    while (this.#cursor < from + RUN_UP_BYTES) this.#readMore();
    return { head, tail: lastBytes(Buffer.from(this.read(Number.POSITIVE_INFINITY).text), half) };
  }

  #linesFrom(start: number): number {
    const options = { kind: 'raw', bytesMax: 1 } as const;
    const { firstLine } = this.#shell.view(this.#id, { ...options, offset: start });
    const last = this.#shell.view(this.#id, { ...options, offset: this.#cursor - 1 });
    return last.firstLine - firstLine + 1;
  }

  #addToSample(bytes: Uint8Array): void {
    const room = SAMPLE_BYTES - this.#sample.length;
    if (room > 0) this.#sample = Buffer.concat([this.#sample, bytes.subarray(0, room)]);
  }

  #readMore(): { readonly bytes: Uint8Array; readonly eof: boolean } {
    const { chunks, nextCursor, eof, final } = this.#shell.read(this.#id, this.#cursor, READ_BYTES);
    this.#cursor = nextCursor;
    const clean = chunks.map(({ bytes }) => this.#clean.push(bytes));
    for (const { bytes } of chunks) this.#addToSample(bytes);
    if (final) clean.push(this.#clean.end());
    this.#ended = final;
    const bytes = Buffer.concat(clean);
    return { bytes: isUtf8(bytes) ? bytes : Buffer.from(decodeUtf8(bytes)), eof };
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
