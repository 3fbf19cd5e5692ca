// Everything that shows output reads it here: one reader over an opened capture, at the moment of
// each question. It gives views (the end, the start, both ends), pages, heads of the streams and
// the bytes in order; clean or as they were printed; with the totals of all that was printed, and
// with what is not kept. `NewOutput` tells what is new since a caller last asked. A reader opens no
// capture: it takes the one it is handed, or the memory of a run that has no output file.
import { type OutputPiece, readOutput } from '../../capture/reader.ts';
import { type Source, spans, totalsOf, withSnapshot } from '../../capture/snapshot.ts';
import {
  keptUntil,
  newlinesBefore,
  type Stream,
  streamBytes,
  streamChunks,
  streamTotals,
} from '../../capture/stream.ts';
import { READ_BYTES_DEFAULT } from '../../limits.ts';
import type { StreamTotals, View } from '../../types.ts';
import type { MemoryOutput } from '../run.ts';
import { type Channel, cleanLines, type Line } from './lines.ts';
import { memorySource } from './memory.ts';
import { lineStart, type Page, type PageOptions, readPage } from './page.ts';
import { wholeOf } from './piece.ts';
import { rawView, type ViewOptions } from './raw-view.ts';
import { type CleanView, type CleanViewOptions, cleanView } from './view.ts';

const LINES_KEPT_MAX = 8_192; // characters of a stream; a conversation keeps a thousand readers

/** The first bytes of a stream, and how many there were. */
export type StreamHead = { readonly bytes: Uint8Array; readonly total: number };

export type Streams = { readonly stdout: StreamHead; readonly stderr: StreamHead };

export class OutputReader {
  readonly #source: Source;
  readonly #memory: MemoryOutput | undefined;
  readonly #lines = new Map<Channel, readonly Line[]>();

  static of(capture: Source): OutputReader {
    return new OutputReader(capture);
  }

  /** Of the heads that are kept; `heads` knows how much there was. */
  static ofMemory(memory: MemoryOutput): OutputReader {
    return new OutputReader(memorySource(memory), memory);
  }

  private constructor(source: Source, memory?: MemoryOutput) {
    this.#source = source;
    this.#memory = memory;
  }

  /** Behind the last byte that is captured by now. */
  get end(): number {
    return readOutput(this.#source, Number.MAX_SAFE_INTEGER, 0).nextCursor;
  }

  /** What `wc` says about a stream, and an unfinished line. */
  totals(stream: Stream): StreamTotals {
    const { outputOpen } = this.#source;
    return withSnapshot(this.#source, (snapshot) => wholeOf(snapshot, stream, outputOpen).totals);
  }

  /** As it was printed. */
  raw(options: ViewOptions): View {
    return rawView(this.#source, options);
  }

  /** As clean text. */
  view(options: CleanViewOptions): CleanView {
    return cleanView(this.#source, options);
  }

  /** As clean text, from a line or a byte on. */
  page(options: PageOptions): Page {
    return readPage(this.#source, options);
  }

  /** The first bytes of a stream that are kept, as they were printed. */
  head(stream: Stream, bytesMax: number): Uint8Array {
    return withSnapshot(this.#source, (snapshot) =>
      streamBytes(snapshot, stream, 0, Math.min(bytesMax, keptUntil(snapshot, stream, 0))),
    );
  }

  /** Some bytes of a stream as they were printed, up to the end or to what is not kept. */
  bytes(stream: Stream, from: number, to: number): Uint8Array {
    return withSnapshot(this.#source, (snapshot) => {
      const { totals } = wholeOf(snapshot, stream, this.#source.outputOpen);
      const end = Math.min(to, totals.bytes, keptUntil(snapshot, stream, from));
      return end <= from ? new Uint8Array() : streamBytes(snapshot, stream, from, end);
    });
  }

  /** Of each stream at least `bytesMax` bytes from a position on, as far as there are so many. */
  heads(bytesMax: number, from?: Readonly<Record<Channel, number>>): Streams {
    if (this.#memory !== undefined) return memoryHeads(this.#memory);
    const small = from ? undefined : readOutput(this.#source, 0, READ_BYTES_DEFAULT);
    if (small?.eof && small.skipped === undefined) return splitHeads(small.chunks);
    return withSnapshot(this.#source, (snapshot) => {
      const totals = totalsOf(snapshot);
      const head = (stream: Channel): StreamHead => {
        const at = from?.[stream] ?? 0;
        const { bytes: all } = streamTotals(totals, stream);
        const to = Math.min(all, at + bytesMax, keptUntil(snapshot, stream, at));
        const bytes = to <= at ? new Uint8Array() : streamBytes(snapshot, stream, at, to);
        return { bytes, total: Math.max(0, all - at) };
      };
      return { stdout: head('stdout'), stderr: head('stderr') };
    });
  }

  /** `\n` in a stream before a position. */
  newlinesBefore(stream: Stream, position: number): number {
    return withSnapshot(this.#source, (snapshot) => newlinesBefore(snapshot, stream, position));
  }

  /** The bytes kept from an offset on, in the order they came, up to the end as of this call. */
  *pieces(offset: number): Generator<OutputPiece> {
    const { end } = this;
    for (let cursor = offset; cursor < end; ) {
      const wanted = Math.min(READ_BYTES_DEFAULT, end - cursor);
      const { chunks, nextCursor } = readOutput(this.#source, cursor, wanted);
      if (nextCursor <= cursor) return; // another process truncated the file
      yield* chunks;
      cursor = nextCursor;
    }
  }

  /** A whole stream, piece by piece; what is not kept is passed over. */
  stream(stream: Stream): Generator<Uint8Array> {
    return streamChunks(this.#source, stream);
  }

  /** Where the last `count` lines of all output start, as far as they are kept. */
  lastLines(count: number): number {
    const { end } = this;
    if (count <= 0) return end;
    return withSnapshot(this.#source, (snapshot) => {
      const whole = wholeOf({ ...snapshot, end: Math.min(end, snapshot.end) }, 'all', true);
      const start = lineStart(whole, whole.totals.lines - count + 1);
      return Math.max(whole.hole?.to ?? 0, start);
    });
  }

  /** The clean lines of a stream, some at a time. Few lines that cannot change are kept. */
  *lines(stream: Channel): Generator<readonly Line[]> {
    const kept = this.#lines.get(stream);
    yield* kept === undefined ? this.#readLines(stream) : [kept];
  }

  *#readLines(stream: Channel): Generator<readonly Line[]> {
    const all: Line[] = [];
    let length = 0;
    for (const some of cleanLines(this.#source, stream)) {
      length += some.reduce((sum, { text }) => sum + text.length + 1, 0);
      if (length <= LINES_KEPT_MAX) all.push(...some);
      yield some;
    }
    if (length <= LINES_KEPT_MAX && !this.#source.outputOpen) this.#lines.set(stream, all);
  }

  /** Bytes without a record, of a run whose streams were apart: they may be of either. */
  unknownBytes(): number {
    return withSnapshot(this.#source, (snapshot) => {
      let bytes = 0;
      for (const { channel, length } of spans(snapshot, 0, snapshot.end)) {
        if (channel === 'unknown') bytes += length;
      }
      return bytes;
    });
  }
}

function memoryHeads(memory: MemoryOutput): Streams {
  const { totals } = memory;
  return {
    stdout: { bytes: memory.stdout(), total: totals.stdout },
    stderr: { bytes: memory.stderr(), total: totals.stderr },
  };
}

function splitHeads(chunks: readonly OutputPiece[]): Streams {
  const of = (errors: boolean): StreamHead => {
    const own = chunks.filter(({ chunk }) => (chunk.channel === 'stderr') === errors);
    const bytes = Buffer.concat(own.map((piece) => piece.bytes));
    return { bytes, total: bytes.length };
  };
  return { stdout: of(false), stderr: of(true) };
}
