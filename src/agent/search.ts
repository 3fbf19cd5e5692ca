// Finds lines in the output of runs, so that nothing has to be run again to see more. Streams are
// read once, in pieces, as clean text; time, memory and what is found are bounded, and what was not
// looked at is said. Line numbers are those of the stream, as reading by lines counts them.

import { StringDecoder } from 'node:string_decoder';
import { HoleMoved } from '../capture/hole.ts';
import {
  closeSnapshot,
  openSnapshot,
  type Snapshot,
  type Source,
  totalsOf,
} from '../capture/snapshot.ts';
import {
  keptAt,
  keptUntil,
  newlinesBefore,
  streamPieces,
  streamTotals,
} from '../capture/stream.ts';
import { looksBinary } from '../text/binary.ts';
import { sanitize, sanitizer } from '../text/sanitize.ts';
import { decodeUtf8 } from '../text/utf8.ts';
import type { CachedLine, LineCache } from './line-cache.ts';
import type { Matcher } from './search-match.ts';

const SEARCH_MS = 5_000; // well below the patience of any client
const TURN_MS = 25; // the server has other callers
const LINE_LENGTH_MAX = 65_536; // of a line, what is looked at
const KEPT_BYTES_MAX = 65_536; // of a stream whose lines may be kept

export type Line = CachedLine;

export type Match = Line & {
  readonly channel: 'stdout' | 'stderr';
  readonly before: readonly Line[];
  readonly after: readonly Line[];
};

export type SearchOptions = {
  readonly matcher: Matcher;
  /** Of all runs together. */
  readonly limit: number;
  /** Lines before and behind each match. */
  readonly context: number;
  readonly channels?: readonly ('stdout' | 'stderr')[] | undefined;
  readonly signal: AbortSignal;
};

/** Where the lines of a source are kept that cannot change any more. */
export type Kept<S> = {
  readonly cache: LineCache;
  /** Undefined for a source that may still change. */
  readonly keyOf: (source: S) => string | undefined;
};

export type SearchResult<S> = {
  /** Those with a match, in the order of the sources. */
  readonly found: readonly { readonly source: S; readonly matches: readonly Match[] }[];
  /** How many sources were looked at as a whole. */
  readonly searched: number;
  /** Why not all of them. */
  readonly stopped: 'limit' | 'time' | undefined;
};

/** Throws `PatternError`. */
export async function searchOutputs<S>(
  sources: readonly S[],
  open: (source: S) => Source | undefined,
  options: SearchOptions,
  kept?: Kept<S>,
): Promise<SearchResult<S>> {
  const clock = new Clock(options.signal);
  const found: { source: S; matches: readonly Match[] }[] = [];
  let [left, searched] = [options.limit, 0];
  for (const source of sources) {
    const matches: Match[] = [];
    const looked = lookOnce(() => open(source));
    const key = kept?.keyOf(source);
    for (const channel of options.channels ?? CHANNELS) {
      if (left === 0 || clock.over) break;
      const slot = key === undefined ? undefined : `${key} ${channel}`;
      const lines = slot === undefined ? undefined : kept?.cache.get(slot);
      const one = { ...options, limit: left };
      const some =
        lines === undefined
          ? await searchStream(looked(), channel, one, clock, (all) => {
              if (slot !== undefined) kept?.cache.put(slot, all);
            })
          : await searchLines(lines, channel, one, clock);
      left -= some.length;
      matches.push(...some);
    }
    if (matches.length > 0) found.push({ source, matches });
    if (left === 0) return { found, searched, stopped: 'limit' };
    if (clock.over) return { found, searched, stopped: 'time' };
    searched += 1;
  }
  return { found, searched, stopped: undefined };
}

const CHANNELS = ['stdout', 'stderr'] as const;

class Clock {
  readonly #until = performance.now() + SEARCH_MS;
  readonly #signal: AbortSignal;
  #turnedAt = performance.now();

  constructor(signal: AbortSignal) {
    this.#signal = signal;
  }

  get over(): boolean {
    return performance.now() > this.#until || this.#signal.aborted;
  }

  /** Lets others run, now and then. */
  async turn(): Promise<void> {
    if (performance.now() - this.#turnedAt < TURN_MS) return;
    await new Promise((resolve) => setImmediate(resolve));
    this.#turnedAt = performance.now();
  }
}

/** A source is opened when its files are needed, and once. */
function lookOnce<T>(open: () => T): () => T {
  let opened: { readonly value: T } | undefined;
  return () => {
    opened ??= { value: open() };
    return opened.value;
  };
}

async function searchLines(
  lines: readonly Line[],
  channel: 'stdout' | 'stderr',
  options: SearchOptions,
  clock: Clock,
): Promise<Match[]> {
  const collector = new Collector(channel, options);
  collector.add(lines);
  await clock.turn();
  return collector.matches;
}

/** `whole` gets all lines of a stream that was searched to its end, if they are few. */
async function searchStream(
  capture: Source | undefined,
  channel: 'stdout' | 'stderr',
  options: SearchOptions,
  clock: Clock,
  whole: (lines: readonly Line[]) => void,
): Promise<Match[]> {
  for (;;) {
    if (capture === undefined) return [];
    const snapshot = openSnapshot(capture);
    try {
      return await searchSnapshot(snapshot, channel, options, clock, whole);
    } catch (error) {
      if (!(error instanceof HoleMoved)) throw error;
    } finally {
      closeSnapshot(snapshot);
    }
  }
}

async function searchSnapshot(
  snapshot: Snapshot,
  channel: 'stdout' | 'stderr',
  options: SearchOptions,
  clock: Clock,
  whole: (lines: readonly Line[]) => void,
): Promise<Match[]> {
  const { bytes: total } = streamTotals(totalsOf(snapshot), channel);
  const collector = new Collector(channel, options);
  const all: Line[] = [];
  const add = (some: readonly Line[]): void => {
    collector.add(some);
    if (total <= KEPT_BYTES_MAX) all.push(...some);
  };
  // Both sides of what is not kept, each with the numbers its lines had.
  for (let from = 0; from < total; ) {
    const end = Math.min(total, keptUntil(snapshot, channel, from));
    const lines = new LineSplitter(newlinesBefore(snapshot, channel, from) + 1);
    let first = from === 0;
    for (const piece of streamPieces(snapshot, channel, from, end)) {
      if (first && looksBinary(piece)) return [];
      first = false;
      add(lines.push(piece));
      if (collector.full || clock.over) return collector.matches;
      await clock.turn();
    }
    add(lines.end());
    from = keptAt(snapshot, channel, end);
  }
  if (total <= KEPT_BYTES_MAX) whole(all);
  return collector.matches;
}

/** Cuts a stream into clean lines. Of a long one only the start is kept. */
class LineSplitter {
  readonly #clean = sanitizer();
  readonly #decoder = new StringDecoder('utf8');
  #rest = '';
  #number: number;

  constructor(first: number) {
    this.#number = first;
  }

  push(piece: Uint8Array): Line[] {
    return this.#split(this.#decoder.write(Buffer.from(this.#clean.push(piece))));
  }

  end(): Line[] {
    const lines = this.#split(this.#decoder.end(Buffer.from(this.#clean.end())));
    return this.#rest === '' ? lines : [...lines, this.#line(this.#rest)];
  }

  #split(text: string): Line[] {
    const texts = text.split('\n');
    const unfinished = texts.pop() ?? '';
    const lines = texts.map((one, i) => this.#line(i === 0 ? this.#rest + one : one));
    const rest = lines.length === 0 ? this.#rest + unfinished : unfinished;
    this.#rest = rest.slice(0, LINE_LENGTH_MAX);
    return lines;
  }

  #line(text: string): Line {
    const kept = text.length > LINE_LENGTH_MAX ? text.slice(0, LINE_LENGTH_MAX) : text;
    const number = this.#number;
    this.#number += 1;
    return { number, text: kept.includes('\r') ? lastWritten(kept) : kept };
  }
}

/** What is left to see of a line that was written over. */
function lastWritten(text: string): string {
  return decodeUtf8(sanitize(Buffer.from(text), { cr: 'overwrite' }));
}

/** Matches with the lines around them, of which each is given once. */
class Collector {
  readonly matches: (Match & { after: Line[] })[] = [];
  readonly #channel: 'stdout' | 'stderr';
  readonly #options: SearchOptions;
  /** The last lines before the next one, as far as nobody has them. */
  #before: Line[] = [];

  constructor(channel: 'stdout' | 'stderr', options: SearchOptions) {
    this.#channel = channel;
    this.#options = options;
  }

  /** No match more, and the last one has the lines behind it. */
  get full(): boolean {
    const { limit, context } = this.#options;
    return this.matches.length >= limit && (this.matches.at(-1)?.after.length ?? 0) >= context;
  }

  add(lines: readonly Line[]): void {
    const { matcher, limit, context } = this.#options;
    if (lines.length === 0) return;
    const hits = new Set(matcher.find(lines.map(({ text }) => text)));
    for (const [index, line] of lines.entries()) {
      const last = this.matches.at(-1);
      if (hits.has(index) && this.matches.length < limit) {
        this.matches.push({ ...line, channel: this.#channel, before: this.#before, after: [] });
        this.#before = [];
      } else if (last !== undefined && last.after.length < context) last.after.push(line);
      else if (context > 0) this.#before = [...this.#before, line].slice(-context);
    }
  }
}
