// Finds lines in the output of runs, so that nothing has to be run again to see more. Streams are
// read once, in pieces, as clean text; time, memory and what is found are bounded, and what was not
// looked at is said. Line numbers are those of the stream, as reading by lines counts them.

import { StringDecoder } from 'node:string_decoder';
import { closeSnapshot, openSnapshot, type Source, totalsOf } from '../capture/snapshot.ts';
import { streamPieces, streamTotals } from '../capture/stream.ts';
import { looksBinary } from '../text/binary.ts';
import { sanitize, sanitizer } from '../text/sanitize.ts';
import { decodeUtf8 } from '../text/utf8.ts';
import type { Matcher } from './search-match.ts';

const SEARCH_MS = 5_000; // well below the patience of any client
const TURN_MS = 25; // the server has other callers
const LINE_LENGTH_MAX = 65_536; // of a line, what is looked at

export type Line = { readonly number: number; readonly text: string };

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
): Promise<SearchResult<S>> {
  const clock = new Clock(options.signal);
  const found: { source: S; matches: readonly Match[] }[] = [];
  let [left, searched] = [options.limit, 0];
  for (const source of sources) {
    const capture = open(source);
    const matches: Match[] = [];
    for (const channel of capture === undefined ? [] : (options.channels ?? CHANNELS)) {
      if (capture === undefined || left === 0 || clock.over) break;
      const some = await searchStream(capture, channel, { ...options, limit: left }, clock);
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

async function searchStream(
  capture: Source,
  channel: 'stdout' | 'stderr',
  options: SearchOptions,
  clock: Clock,
): Promise<Match[]> {
  const snapshot = openSnapshot(capture);
  try {
    const { bytes: total } = streamTotals(totalsOf(snapshot), channel);
    const lines = new LineSplitter();
    const collector = new Collector(channel, options);
    let first = true;
    for (const piece of streamPieces(snapshot, channel, 0, total)) {
      if (first && looksBinary(piece)) return [];
      first = false;
      collector.add(lines.push(piece));
      if (collector.full || clock.over) return collector.matches;
      await clock.turn();
    }
    collector.add(lines.end());
    return collector.matches;
  } finally {
    closeSnapshot(snapshot);
  }
}

/** Cuts a stream into clean lines. Of a long one only the start is kept. */
class LineSplitter {
  readonly #clean = sanitizer();
  readonly #decoder = new StringDecoder('utf8');
  #rest = '';
  #number = 1;

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
