// Output as it is read, made clean piece by piece: each stream by itself, or all bytes as one. The
// pieces put together are the clean stream, wherever the reads were cut. Where bytes are not kept,
// a part of its own says how many, and what follows is read as if it were the start.
import type { ReadResult } from '../../capture/reader.ts';
import type { Stream } from '../../capture/stream.ts';
import { type SanitizeOptions, type Sanitizer, sanitizer } from '../../text/sanitize.ts';
import type { Channel, Hole } from '../../types.ts';

export type Cleaning = SanitizeOptions | 'raw';

export type BytesPart = {
  readonly kind: 'bytes';
  readonly stream: Stream;
  readonly bytes: Uint8Array;
};

/** Bytes of a stream, or a gap in their place. */
export type Part =
  | BytesPart
  | { readonly kind: 'gap'; readonly hole: Hole; readonly bytes: number };

export class Feed {
  readonly #cleaning: Cleaning;
  /** One stream that everything belongs to; undefined: each byte to its own. */
  readonly #only: Stream | undefined;
  readonly #clean = new Map<Stream, Sanitizer>();
  /** All before was pushed. */
  cursor = 0;

  constructor(cleaning: Cleaning, only?: Stream) {
    this.#cleaning = cleaning;
    this.#only = only;
  }

  /** The streams that its parts are of. */
  get streams(): readonly Stream[] {
    return this.#only === undefined ? ['stdout', 'stderr'] : [this.#only];
  }

  push({ chunks, nextCursor, skipped, final }: ReadResult): readonly Part[] {
    const parts: Part[] = [];
    const gapFirst = skipped !== undefined && this.cursor >= skipped.from;
    if (gapFirst) parts.push(...this.#gap(skipped));
    for (const { chunk, bytes } of chunks) {
      // What the index did not know yet was read before, and is read again when it does.
      const known = Math.max(0, this.cursor - chunk.offset);
      if (known >= bytes.length) continue;
      parts.push(this.add(this.#only ?? streamOf(chunk.channel), bytes.subarray(known)));
    }
    if (skipped !== undefined && !gapFirst) parts.push(...this.#gap(skipped));
    this.cursor = Math.max(this.cursor, nextCursor);
    return final ? [...parts, ...this.end()] : parts;
  }

  add(stream: Stream, bytes: Uint8Array): BytesPart {
    if (this.#cleaning === 'raw') return { kind: 'bytes', stream, bytes };
    const clean = this.#clean.get(stream) ?? sanitizer(this.#cleaning);
    this.#clean.set(stream, clean);
    return { kind: 'bytes', stream, bytes: clean.push(bytes) };
  }

  /** What was held back; what follows is read as if it were the start. */
  end(): readonly BytesPart[] {
    const held = [...this.#clean];
    this.#clean.clear();
    return held.map(([stream, clean]) => ({ kind: 'bytes', stream, bytes: clean.end() }));
  }

  /** What is held back of a stream, as it looks now. */
  peek(stream: Stream): Uint8Array {
    return this.#clean.get(stream)?.peek() ?? new Uint8Array();
  }

  /** A stream starts anew; these bytes come right before what is added next. */
  restart(stream: Stream, runUp: Uint8Array): void {
    this.#clean.delete(stream);
    this.add(stream, runUp);
  }

  #gap(hole: Hole): readonly Part[] {
    const bytes = hole.to - Math.max(this.cursor, hole.from);
    return [...this.end(), { kind: 'gap', hole, bytes }];
  }
}

/** The output of a terminal counts as stdout, and so do bytes without a record. */
function streamOf(channel: Channel): 'stdout' | 'stderr' {
  return channel === 'stderr' ? 'stderr' : 'stdout';
}
