// Finds lines in the output of runs, so that nothing has to be run again to see more. Streams are
// read once, in pieces, as clean text; time, memory and what is found are bounded, and what was not
// looked at is said. Line numbers are those of the stream, as reading by lines counts them.

import type { Channel, Line } from '../shell/output/lines.ts';
import type { OutputReader } from '../shell/output/reader.ts';
import type { Matcher } from './search-match.ts';

const SEARCH_MS = 5_000; // well below the patience of any client
const TURN_MS = 25; // the server has other callers

export type { Line };

export type Match = Line & {
  readonly channel: Channel;
  readonly before: readonly Line[];
  readonly after: readonly Line[];
};

export type SearchOptions = {
  readonly matcher: Matcher;
  /** Of all runs together. */
  readonly limit: number;
  /** Lines before and behind each match. */
  readonly context: number;
  readonly channels?: readonly Channel[] | undefined;
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
  outputOf: (source: S) => OutputReader | undefined,
  options: SearchOptions,
): Promise<SearchResult<S>> {
  const clock = new Clock(options.signal);
  const found: { source: S; matches: readonly Match[] }[] = [];
  let [left, searched] = [options.limit, 0];
  for (const source of sources) {
    const matches: Match[] = [];
    const output = outputOf(source);
    for (const channel of options.channels ?? CHANNELS) {
      if (left === 0 || clock.over || output === undefined) break;
      const some = await searchStream(output, channel, { ...options, limit: left }, clock);
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
  output: OutputReader,
  channel: Channel,
  options: SearchOptions,
  clock: Clock,
): Promise<Match[]> {
  const collector = new Collector(channel, options);
  for (const lines of output.lines(channel)) {
    collector.add(lines);
    if (collector.full || clock.over) break;
    await clock.turn();
  }
  return collector.matches;
}

/** Matches with the lines around them, of which each is given once. */
class Collector {
  readonly matches: (Match & { after: Line[] })[] = [];
  readonly #channel: Channel;
  readonly #options: SearchOptions;
  /** The last lines before the next one, without those of the last match. */
  #before: Line[] = [];

  constructor(channel: Channel, options: SearchOptions) {
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
