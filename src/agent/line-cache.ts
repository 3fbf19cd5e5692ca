// The clean lines of outputs that cannot change any more, so that the next search through a
// conversation reads no files. Small outputs only, within a budget; the longest unused go first.

import { keepRecent } from '../text/recent.ts';

const STREAM_CHARS_MAX = 65_536; // of one stream
const CHARS_MAX = 16 * 1024 * 1024; // of all together

export type CachedLine = { readonly number: number; readonly text: string };

type Kept = { readonly lines: readonly CachedLine[]; readonly chars: number };

export class LineCache {
  readonly #kept = new Map<string, Kept>();
  #chars = 0;

  get(key: string): readonly CachedLine[] | undefined {
    const found = this.#kept.get(key);
    if (found !== undefined) keepRecent(this.#kept, key, found, Number.POSITIVE_INFINITY);
    return found?.lines;
  }

  put(key: string, lines: readonly CachedLine[]): void {
    const chars = lines.reduce((sum, { text }) => sum + text.length, lines.length);
    if (chars > STREAM_CHARS_MAX || this.#kept.has(key)) return;
    this.#kept.set(key, { lines, chars });
    this.#chars += chars;
    for (const [oldest, kept] of this.#kept) {
      if (this.#chars <= CHARS_MAX) return;
      this.#kept.delete(oldest);
      this.#chars -= kept.chars;
    }
  }
}
