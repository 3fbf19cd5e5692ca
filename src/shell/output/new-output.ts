// What is new in the output of a run since its reader last asked, as clean text. All that `next`
// ever gave, put together, is the clean output, whatever was printed between two questions; `take`
// gives the ends of all that is new and goes on behind it. New is what is captured when the
// question comes: a program that prints faster than it is read holds up no answer, and only so much
// is read for one.
import { type ReadResult, readOutput, readSnapshot } from '../../capture/reader.ts';
import { type Snapshot, type Source, totalsOf, withSnapshot } from '../../capture/snapshot.ts';
import {
  keptFrom,
  newlinesBefore,
  type Stream,
  streamBytes,
  streamTotals,
} from '../../capture/stream.ts';
import { looksBinary } from '../../text/binary.ts';
import { headCut } from '../../text/cut.ts';
import { countNewlines } from '../../text/lines.ts';
import { missingMark } from '../../text/missing.ts';
import type { SanitizeOptions } from '../../text/sanitize.ts';
import { decodeUtf8, utf8End, utf8Start } from '../../text/utf8.ts';
import type { StreamTotals } from '../../types.ts';
import { Ends } from './ends.ts';
import { type BytesPart, Feed, type Part } from './feed.ts';
import { RAW_PER_SHOWN, RUN_UP_BYTES, SAMPLE_BYTES, wholeOf } from './piece.ts';

const READ_BYTES = 524_288; // a read opens the files anew, so few of them
const NEWLINE = 0x0a;
const NOTHING = new Uint8Array(0);

// `next` looks at no more for one answer: megabytes without anything to show take their time.
const LOOKED_BYTES_MAX = 2 * 1024 * 1024;

/** Which bytes: all of them cleaned as one text or each stream by itself, or one stream. */
export type Selection = 'all' | 'both' | 'stdout' | 'stderr';

export type NextPart = {
  readonly text: string;
  /** There is more by now. */
  readonly more: boolean;
  /** Raw bytes that were looked at for it. */
  readonly looked: number;
};

export type Limits = {
  /** Bytes of clean text that are kept of each end. */
  readonly first: number;
  readonly last: number;
};

export class NewOutput {
  readonly #stream: Stream;
  readonly #binary: 'shown' | 'passed';
  /** A line in the text stands for bytes that are not kept; else they are counted. */
  readonly #marked: boolean;
  readonly #feed: Feed;
  /** Clean and not given yet: at most what one read brought. */
  #pending: Uint8Array = NOTHING;
  #ended = false;

  constructor(
    selection: Selection,
    {
      cr = 'keep',
      binary = 'passed',
    }: Pick<SanitizeOptions, 'cr'> & { readonly binary?: 'shown' | 'passed' } = {},
  ) {
    this.#stream = selection === 'both' ? 'all' : selection;
    this.#binary = binary;
    this.#marked = selection === 'all';
    const only = selection === 'both' ? undefined : selection;
    this.#feed = new Feed({ cr, broken: 'replace' }, only);
  }

  /** Up to here everything was given, but for what is not whole yet. */
  get cursor(): number {
    return this.#feed.cursor;
  }

  /** What came before was told in another way. */
  jump(cursor: number): void {
    this.#feed.end();
    this.#feed.cursor = cursor;
    this.#pending = NOTHING;
  }

  /** What is held back because its line or sequence is not over, as it looks now. */
  peek(): Uint8Array {
    return this.#feed.peek(this.#stream);
  }

  /**
   * At most `bytesMax`, up to the end of a line if it must stop there or if `whole` lines are
   * wanted. Nothing else is held back but a sequence or a character whose rest can still come.
   */
  next(capture: Source, bytesMax: number, lines: 'any' | 'whole' = 'any'): NextPart {
    const start = this.cursor;
    const end = this.#end(capture);
    const until = Math.min(end, start + LOOKED_BYTES_MAX);
    const parts = [this.#pending];
    let { length } = this.#pending;
    while (length <= bytesMax && !this.#ended) {
      const some = this.#read(capture, until);
      if (some === undefined) break;
      const bytes = some.map((part) => (part.kind === 'gap' ? markOf(part) : part.bytes));
      parts.push(...bytes);
      length += bytes.reduce((sum, one) => sum + one.length, 0);
    }
    const all = Buffer.concat(parts);
    const { to } = headCut(all, { linesMax: Number.POSITIVE_INFINITY, bytesMax });
    const fits = all.length <= bytesMax;
    const upTo = fits && lines === 'whole' && !this.#ended ? all.lastIndexOf(NEWLINE) + 1 : to;
    this.#pending = all.subarray(upTo);
    const more = to < all.length || this.cursor < end;
    return { text: decodeUtf8(all.subarray(0, upTo)), more, looked: this.cursor - start };
  }

  /** Not for a reader that was asked with `next` before. */
  take(capture: Source, limits: Limits): Growth {
    const from = this.cursor;
    const reach = SAMPLE_BYTES + limits.last * RAW_PER_SHOWN;
    const farMin = 2 * (reach + RUN_UP_BYTES);
    const { totals, end, far, read } = this.#look(capture, farMin);
    const sample = sampleOf(read, from);
    // Cleaning what is no text takes longest, and it is not shown.
    const binary = this.#binary === 'passed' && looksBinary(sample);
    const ends = new NewEnds(limits, this.#feed.streams);
    if (binary) this.jump(end);
    else {
      if (far) this.#passMiddle(capture, end, { reach, first: limits.first }, ends);
      else this.#add(capture, this.#push(read), from, ends);
      while (this.#advance(capture, end, ends));
    }
    return { from, to: this.cursor, totals, sample, binary, ends };
  }

  /** How much there is by now, and the start of what is new. */
  #look(capture: Source, farMin: number) {
    const { outputOpen: open } = capture;
    return withSnapshot(capture, (snapshot) => {
      const { cursor } = this;
      const { totals } = wholeOf(snapshot, this.#stream, open);
      const end = Math.max(cursor, totals.bytes);
      const far = end - cursor > farMin;
      const maxBytes = Math.min(far ? SAMPLE_BYTES : READ_BYTES, end - cursor);
      const asked = { cursor, maxBytes, stream: this.#stream, end: totals.bytes, open };
      return { totals, end, far, read: readSnapshot(snapshot, asked) };
    });
  }

  #passMiddle(
    capture: Source,
    end: number,
    { reach, first }: { readonly reach: number; readonly first: number },
    ends: NewEnds,
  ): void {
    const most = Math.min(end - reach - RUN_UP_BYTES, this.cursor + LOOKED_BYTES_MAX);
    while (first > 0 && ends.all.totals.bytes <= first && this.#advance(capture, most, ends));
    this.#passBy(capture, this.cursor, end - reach, reach, ends);
    this.#feed.cursor = end - reach;
  }

  #advance(capture: Source, end: number, ends: NewEnds): boolean {
    const before = this.cursor;
    const parts = this.#ended ? undefined : this.#read(capture, end);
    this.#add(capture, parts ?? [], before, ends);
    return parts !== undefined;
  }

  #add(capture: Source, parts: readonly Part[], before: number, ends: NewEnds): void {
    for (const part of parts) {
      if (part.kind === 'bytes') ends.add(part);
      else if (this.#marked) ends.add({ kind: 'bytes', stream: 'all', bytes: markOf(part) });
      else this.#passBy(capture, Math.max(before, part.hole.from), part.hole.to, 0, ends);
    }
  }

  /** Up to `end`; undefined when there is nothing more to read there. */
  #read(capture: Source, end: number): readonly Part[] | undefined {
    const wanted = Math.min(READ_BYTES, end - this.cursor);
    if (wanted <= 0 && capture.outputOpen) return undefined;
    const read = readOutput(capture, this.cursor, wanted, this.#stream);
    return read.nextCursor <= this.cursor && !read.final ? undefined : this.#push(read);
  }

  #push(read: ReadResult): readonly Part[] {
    this.#ended = read.final;
    return this.#feed.push(read);
  }

  /** Where what is captured by now ends. */
  #end(capture: Source): number {
    const { nextCursor } = readOutput(capture, Number.MAX_SAFE_INTEGER, 0, this.#stream);
    return Math.max(this.cursor, nextCursor);
  }

  /**
   * Counts what is between, but for the last bytes of each stream, so that one that was silent for
   * long is not lost behind a loud one.
   */
  #passBy(capture: Source, from: number, to: number, bytesMax: number, ends: NewEnds): void {
    for (const stream of this.#feed.streams) {
      const { runUp, bytes, passed } = withSnapshot(capture, (snapshot) => {
        const [first, last] = [from, to].map((place) => this.#at(snapshot, stream, place));
        return lastBytes(snapshot, stream, first ?? NONE, last ?? NONE, bytesMax);
      });
      if (runUp !== undefined) this.#feed.restart(stream, runUp);
      ends.passBy(stream, passed);
      ends.add(this.#feed.add(stream, bytes), 'alone');
    }
  }

  /** Bytes and lines of a stream before a position in what is read. */
  #at(snapshot: Snapshot, stream: Stream, position: number): StreamTotals {
    if (stream === this.#stream) {
      return { bytes: position, lines: newlinesBefore(snapshot, stream, position) };
    }
    const end = Math.min(position, snapshot.end);
    return streamTotals(totalsOf({ ...snapshot, end }), stream);
  }
}

const NONE: StreamTotals = { bytes: 0, lines: 0 };

function sampleOf({ chunks }: ReadResult, from: number): Uint8Array {
  const first = Buffer.concat(chunks.map(({ bytes }) => bytes.subarray(0, SAMPLE_BYTES)));
  const sample = first.subarray(0, SAMPLE_BYTES);
  // Half a character at an end is no sign of anything.
  return sample.subarray(from === 0 ? 0 : utf8Start(sample, 0), utf8End(sample, sample.length));
}

type Skip = {
  /** For the sanitiser alone, which starts anew with it; undefined when nothing is passed by. */
  readonly runUp: Uint8Array | undefined;
  /** What follows. */
  readonly bytes: Uint8Array;
  /** What is before `bytes`, the run-up included. */
  readonly passed: StreamTotals;
};

/** The last `bytesMax` bytes of a stream between two places. */
function lastBytes(
  snapshot: Snapshot,
  stream: Stream,
  first: StreamTotals,
  last: StreamTotals,
  bytesMax: number,
): Skip {
  const kept = keptFrom(snapshot, stream);
  const crossed = first.bytes < kept && kept <= last.bytes;
  const start = Math.max(last.bytes - bytesMax, crossed ? kept : 0);
  if (start - RUN_UP_BYTES <= first.bytes && !(crossed && start === kept)) {
    const bytes = streamBytes(snapshot, stream, first.bytes, last.bytes);
    return { runUp: undefined, bytes, passed: NONE };
  }
  const lines = newlinesBefore(snapshot, stream, start) - first.lines;
  return {
    runUp: streamBytes(snapshot, stream, Math.max(kept, start - RUN_UP_BYTES), start),
    bytes: streamBytes(snapshot, stream, start, last.bytes),
    passed: { bytes: start - first.bytes, lines },
  };
}

function markOf({ bytes }: { readonly bytes: number }): Uint8Array {
  return Buffer.from(missingMark(bytes));
}

/** The ends of what is new, in the order it came, and of each stream. */
class NewEnds {
  readonly all: Ends;
  readonly stdout: Ends;
  readonly stderr: Ends;
  /** Something was passed by, or is not kept. */
  passed = false;

  constructor({ first, last }: Limits, streams: readonly Stream[]) {
    this.all = new Ends(first, last);
    this.stdout = streams.length > 1 ? new Ends(first, last) : this.all;
    this.stderr = streams.length > 1 ? new Ends(first, last) : this.all;
  }

  /** `alone`: its place among the others is not known, so there it only counts. */
  add({ stream, bytes }: BytesPart, how: 'in order' | 'alone' = 'in order'): void {
    const own = this[stream];
    own.push(bytes);
    if (own === this.all) return;
    if (how === 'in order') this.all.push(bytes);
    else this.all.passBy({ bytes: bytes.length, lines: countNewlines(bytes) });
  }

  passBy(stream: Stream, passed: StreamTotals): void {
    const own = this[stream];
    own.passBy(passed);
    if (own !== this.all) this.all.passBy(passed);
    if (passed.bytes > 0) this.passed = true;
  }
}

export type Growth = {
  /** The raw bytes that are new. */
  readonly from: number;
  readonly to: number;
  /** Of all that was printed up to there; an unfinished line counts. */
  readonly totals: StreamTotals;
  /** The first raw bytes, up to where a character ends. */
  readonly sample: Uint8Array;
  /** They look like no text; then there are no ends. */
  readonly binary: boolean;
  readonly ends: NewEnds;
};
