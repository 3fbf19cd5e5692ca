// The first and the last bytes of a text that comes in pieces, and how much there was of it: only
// what can be shown is kept in memory.
import { type CutLimits, sizeOf, tailCut } from '../../text/cut.ts';
import { countNewlines } from '../../text/lines.ts';
import { decodeUtf8, utf8End, utf8Start } from '../../text/utf8.ts';
import type { StreamTotals } from '../../types.ts';
import type { CleanView } from './view.ts';

const NEWLINE = 0x0a;

/** A part of a stream: all of it, or its end. */
export type Tail = Pick<CleanView, 'text' | 'totals' | 'shown' | 'cut' | 'partialLine'>;

export class Ends {
  readonly #first: number;
  readonly #last: number;
  #head: Uint8Array = new Uint8Array();
  #parts: Uint8Array[] = [];
  #length = 0;
  #total = 0;
  #newlines = 0;
  #unfinished = false;

  /** How many bytes of each end are kept at least. */
  constructor(first: number, last: number) {
    this.#first = first;
    this.#last = last;
  }

  push(bytes: Uint8Array): void {
    if (bytes.length === 0) return;
    const room = this.#first - this.#total;
    if (room > 0) this.#head = Buffer.concat([this.#head, bytes.subarray(0, room)]);
    this.#total += bytes.length;
    this.#newlines += countNewlines(bytes);
    this.#unfinished = bytes[bytes.length - 1] !== NEWLINE;
    const end = bytes.subarray(Math.max(0, bytes.length - this.#last));
    this.#parts.push(Uint8Array.from(end)); // a view would keep all of its buffer in memory
    this.#length += end.length;
    if (this.#length > 2 * this.#last) this.#forget();
  }

  /** There was this, and it is kept nowhere. */
  passBy({ bytes, lines }: StreamTotals): void {
    this.#total += bytes;
    this.#newlines += lines;
  }

  get totals(): StreamTotals {
    return { bytes: this.#total, lines: this.#newlines + (this.#unfinished ? 1 : 0) };
  }

  /** Up to so many of the first bytes. */
  head(bytesMax: number): string {
    const end = Math.min(bytesMax, this.#head.length);
    return decodeUtf8(this.#head.subarray(0, utf8End(this.#head, end)));
  }

  /** Up to so many of the last bytes. */
  tail(bytesMax: number): string {
    const { last } = this;
    return decodeUtf8(last.subarray(utf8Start(last, Math.max(0, last.length - bytesMax))));
  }

  /** The last bytes that are kept. */
  get last(): Uint8Array {
    this.#forget();
    return this.#parts[0] ?? new Uint8Array();
  }

  /** Whole lines from the end. */
  lines(limits: CutLimits): Tail {
    const { last, totals } = this;
    const { from, to, limit, partialLine } = tailCut(last, limits);
    const shown = last.subarray(from, to);
    const missing = limit === 'none' && totals.bytes > last.length;
    return {
      text: decodeUtf8(shown),
      totals,
      shown: sizeOf(shown),
      cut: missing ? 'bytes' : limit,
      partialLine: partialLine || missing,
    };
  }

  #forget(): void {
    const all = Buffer.concat(this.#parts);
    const end = Uint8Array.from(all.subarray(Math.max(0, all.length - this.#last)));
    this.#parts = [end];
    this.#length = end.length;
  }
}
