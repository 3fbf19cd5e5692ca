// Finds the bytes of one channel that each process wrote, from the reported lengths, hashes and
// times. Written one after the other, the writes tile the channel: one of those that may come next
// fits (no write that ended before they began is still missing). If none does, either an earlier
// choice was wrong or a silent process wrote, and the next position is searched for.

import { AnchorSearch } from './align-search.ts';
import type { Board, Placement } from './board.ts';
import type { ChannelBytes } from './channel-bytes.ts';
import { CookedBytes } from './cooked.ts';
import { certain } from './evidence.ts';
import { fillHoles } from './fill.ts';
import { Probe } from './probe.ts';
import { unhashedFrom } from './unhashed.ts';
import { Weave } from './weave.ts';
import type { Writes } from './writes.ts';

const CANDIDATES_MAX = 512; // writers at the same moment
const OPTIONS_MAX = 8;
const CHOICES_MAX = 64; // so far back a wrong one is looked for
const RETRIES_MAX = 256;

/** Stretches of the channel with their writes, in order. `terminal`: newlines may be two bytes. */
export function align(
  bytes: ChannelBytes,
  writes: Writes,
  terminal: boolean,
): ReturnType<typeof certain> {
  const aligner = new Aligner(bytes, writes, terminal);
  aligner.run();
  const more = fillHoles(aligner, aligner.placed, aligner.lost());
  return certain(aligner.placed.concat(more), bytes, writes);
}

type Fit = { readonly write: number; readonly end: number };

type Choice = {
  /** How many had been placed before. */
  readonly placed: number;
  readonly position: number;
  readonly options: readonly Fit[];
  next: number;
};

class Aligner implements Board {
  readonly bytes: ChannelBytes;
  readonly writes: Writes;
  readonly probes: readonly Probe[];
  readonly placed: Placement[] = [];
  /** How the last write was read: terminals seldom change. */
  #probe: Probe;
  readonly #weave: Weave | undefined;
  readonly #search: AnchorSearch;
  #choices: Choice[] = [];
  #position = 0;

  constructor(bytes: ChannelBytes, writes: Writes, terminal: boolean) {
    this.bytes = bytes;
    this.writes = writes;
    this.#probe = new Probe(bytes, terminal ? new CookedBytes(bytes) : undefined);
    this.probes = terminal ? [this.#probe, new Probe(bytes, undefined)] : [this.#probe];
    // A terminal takes one write at a time.
    this.#weave = terminal ? undefined : new Weave(this);
    this.#search = new AnchorSearch(this);
  }

  run(): void {
    const { bytes, writes } = this;
    while (this.#position < bytes.length && writes.first < writes.count) {
      if (this.#step() || this.#reconsider()) continue;
      const at = this.#position;
      const explained = this.#weave?.from(at) ?? unhashedFrom(this, at);
      const position = explained ?? this.#search.from(at);
      if (position === undefined) return;
      this.#choices = [];
      this.#position = position;
    }
  }

  /** Writes without a place. */
  lost(): number[] {
    const lost = [...this.#search.lost];
    for (let i = this.writes.first; i < this.writes.count; i = this.writes.next(i)) lost.push(i);
    return lost;
  }

  fit(write: number, position: number): number {
    const end = this.fitAsBefore(write, position);
    if (end >= 0) return end;
    for (const probe of this.probes) {
      const other = probe === this.#probe ? -1 : this.#fitOf(probe, write, position);
      if (other < 0) continue;
      this.#probe = probe;
      return other;
    }
    return -1;
  }

  fitAsBefore(write: number, position: number): number {
    return this.#fitOf(this.#probe, write, position);
  }

  #fitOf(probe: Probe, write: number, position: number): number {
    const { writes } = this;
    if (!writes.isHashed(write)) return -1;
    const { length, high, low } = writes;
    return probe.fits(position, length[write] ?? 0, high[write] ?? 0, low[write] ?? 0);
  }

  candidates(until = Number.POSITIVE_INFINITY): number[] {
    const { writes } = this;
    const found: number[] = [];
    let latest = until;
    for (let i = writes.first; i < writes.count; i = writes.next(i)) {
      if ((writes.at[i] ?? 0) > latest || found.length === CANDIDATES_MAX) break;
      latest = Math.min(latest, writes.end[i] ?? latest);
      found.push(i);
    }
    return found;
  }

  place(placed: Placement): void {
    this.writes.take(placed.write);
    this.placed.push(placed);
  }

  /** Places one write; false when none fits. */
  #step(): boolean {
    const options = this.#options();
    const [best] = options;
    if (best === undefined) return false;
    if (options.length > 1) {
      const { length: placed } = this.placed;
      this.#choices.push({ placed, position: this.#position, options, next: 1 });
      if (this.#choices.length > CHOICES_MAX) this.#choices.shift();
    }
    this.#put(best);
    return true;
  }

  /** What fits here, the longest first: it is the least likely to fit by chance. */
  #options(): Fit[] {
    const options: Fit[] = [];
    for (const write of this.candidates()) {
      const end = this.fit(write, this.#position);
      if (end >= 0 && !options.some((other) => this.#isLike(other.write, write))) {
        options.push({ write, end });
      }
      if (options.length === OPTIONS_MAX) break;
    }
    return options.length > 1 ? options.sort((a, b) => b.end - a.end) : options;
  }

  /** The same process wrote the same before. */
  #isLike(a: number, b: number): boolean {
    const { process, length } = this.writes;
    return process[a] === process[b] && length[a] === length[b];
  }

  #put({ write, end }: Fit): void {
    this.place({ write, pieces: [{ from: this.#position, to: end }] });
    this.#position = end;
  }

  /** Tries other options for the last few choices, until one leads further than we came. */
  #reconsider(): boolean {
    const [first] = this.#choices;
    const reached = this.#position;
    if (first === undefined) return false;
    const before = this.placed.slice(first.placed);
    for (let retries = 0; retries < RETRIES_MAX; ) {
      const choice = this.#choices.at(-1);
      if (choice === undefined) break;
      const option = choice.options[choice.next];
      choice.next += 1;
      if (option === undefined) {
        this.#choices.pop();
        continue;
      }
      this.#undoTo(choice.placed);
      this.#position = choice.position;
      this.#put(option);
      do retries += 1;
      while (this.#position <= reached && this.#step());
      if (this.#position > reached) return true;
    }
    this.#undoTo(first.placed);
    for (const placed of before) this.place(placed);
    this.#position = reached;
    this.#choices = [];
    return false;
  }

  #undoTo(count: number): void {
    while (this.placed.length > count) {
      const last = this.placed.pop();
      if (last !== undefined) this.writes.putBack(last.write);
    }
  }
}
