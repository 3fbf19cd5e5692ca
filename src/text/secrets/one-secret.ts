// One secret that is to be taken out: every place where bytes have it, as it is or encoded, and a
// text without it. What is searched must not be longer than a string of this program can be.

import { KnownValues } from './known-values.ts';

export type Range = readonly [from: number, to: number];

/** A shorter one is a part of too many words that are none. */
export const SECRET_LENGTH_MIN = 8;

const STAR = 0x2a;
const LINE_ENDS = [0x0a, 0x0d];

export class OneSecret {
  readonly #forms: KnownValues;
  /** No form of it has more bytes. */
  readonly lengthMax: number;

  constructor(value: string) {
    this.#forms = new KnownValues([{ name: 'secret', value }], { whole: true });
    this.lengthMax = Buffer.byteLength(value) * 24 + 64;
  }

  /** Where it is in a text that has one character for each byte. */
  rangesIn(bytes: string): readonly Range[] {
    return [...this.#forms.find(bytes)].map(({ from, to }) => [from, to] as const);
  }

  isIn(text: string): boolean {
    return this.rangesIn(Buffer.from(text).toString('latin1')).length > 0;
  }

  /** The same text, with a `*` for each byte of it but line ends. */
  masked(text: string): string {
    const bytes = Buffer.from(text);
    const ranges = this.rangesIn(bytes.toString('latin1'));
    return ranges.length === 0 ? text : this.maskedBytes(bytes, ranges).toString();
  }

  maskedBytes(bytes: Uint8Array, ranges: readonly Range[]): Buffer {
    const masked = Buffer.from(bytes);
    for (const [from, to] of ranges) {
      for (let at = from; at < to; at += 1) {
        if (!LINE_ENDS.includes(masked[at] ?? 0)) masked[at] = STAR;
      }
    }
    return masked;
  }
}
