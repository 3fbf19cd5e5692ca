// Finds the bytes of one channel that each process wrote, from the reported lengths, hashes and
// times. Written one after the other, the records tile the channel: one of those that may come next
// fits (no record that ended before they began is still missing). If none does, either an earlier
// choice was wrong or a silent process wrote, and the next position is searched for.

import { AnchorSearch } from './align-search.ts';
import type { Board, Placed } from './board.ts';
import type { ChannelBytes } from './channel-bytes.ts';
import { Cooked } from './cooked.ts';
import { certain } from './evidence.ts';
import { fillHoles } from './fill.ts';
import { Probe } from './probe.ts';
import type { Records } from './records.ts';
import { Unhashed } from './unhashed.ts';
import { Weave } from './weave.ts';

const CANDIDATES_MAX = 512; // writers at the same moment
const OPTIONS_MAX = 8;
const CHOICES_MAX = 64; // so far back a wrong one is looked for
const RETRIES_MAX = 256;

/** Stretches of the channel with their records, in order. `terminal`: newlines may be two bytes. */
export function align(
  bytes: ChannelBytes,
  records: Records,
  terminal: boolean,
): ReturnType<typeof certain> {
  const aligner = new Aligner(bytes, records, terminal);
  aligner.run();
  const more = fillHoles(aligner, aligner.placed, aligner.lost());
  return certain(aligner.placed.concat(more), bytes, records);
}

type Fit = { readonly record: number; readonly end: number };

type Choice = {
  /** How many had been placed before. */
  readonly placed: number;
  readonly position: number;
  readonly options: readonly Fit[];
  next: number;
};

class Aligner implements Board {
  readonly bytes: ChannelBytes;
  readonly records: Records;
  readonly probes: readonly Probe[];
  readonly placed: Placed[] = [];
  /** How the last record was read: terminals seldom change. */
  #probe: Probe;
  readonly #unhashed: Unhashed;
  readonly #weave: Weave | undefined;
  readonly #search: AnchorSearch;
  #choices: Choice[] = [];
  #position = 0;

  constructor(bytes: ChannelBytes, records: Records, terminal: boolean) {
    this.bytes = bytes;
    this.records = records;
    this.#probe = new Probe(bytes, terminal ? new Cooked(bytes) : undefined);
    this.probes = terminal ? [this.#probe, new Probe(bytes, undefined)] : [this.#probe];
    this.#unhashed = new Unhashed(this);
    // A terminal takes one write at a time.
    this.#weave = terminal ? undefined : new Weave(this);
    this.#search = new AnchorSearch(this);
  }

  run(): void {
    const { bytes, records } = this;
    while (this.#position < bytes.length && records.first < records.count) {
      if (this.#step() || this.#reconsider()) continue;
      const at = this.#position;
      const explained = this.#weave?.from(at) ?? this.#unhashed.from(at);
      const position = explained ?? this.#search.from(at);
      if (position === undefined) return;
      this.#choices = [];
      this.#position = position;
    }
  }

  /** Records without a place. */
  lost(): number[] {
    const lost = [...this.#search.lost];
    for (let i = this.records.first; i < this.records.count; i = this.records.next(i)) lost.push(i);
    return lost;
  }

  fit(record: number, position: number): number {
    const end = this.fitAsBefore(record, position);
    if (end >= 0) return end;
    for (const probe of this.probes) {
      const other = probe === this.#probe ? -1 : this.#fitOf(probe, record, position);
      if (other < 0) continue;
      this.#probe = probe;
      return other;
    }
    return -1;
  }

  fitAsBefore(record: number, position: number): number {
    return this.#fitOf(this.#probe, record, position);
  }

  #fitOf(probe: Probe, record: number, position: number): number {
    const { records } = this;
    if (!records.isHashed(record)) return -1;
    const { length, high, low } = records;
    return probe.fits(position, length[record] ?? 0, high[record] ?? 0, low[record] ?? 0);
  }

  candidates(until = Number.POSITIVE_INFINITY): number[] {
    const { records } = this;
    const found: number[] = [];
    let latest = until;
    for (let i = records.first; i < records.count; i = records.next(i)) {
      if ((records.at[i] ?? 0) > latest || found.length === CANDIDATES_MAX) break;
      latest = Math.min(latest, records.end[i] ?? latest);
      found.push(i);
    }
    return found;
  }

  place(placed: Placed): void {
    this.records.take(placed.record);
    this.placed.push(placed);
  }

  /** Places one record; false when none fits. */
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
    for (const record of this.candidates()) {
      const end = this.fit(record, this.#position);
      if (end >= 0 && !options.some((other) => this.#isLike(other.record, record))) {
        options.push({ record, end });
      }
      if (options.length === OPTIONS_MAX) break;
    }
    return options.length > 1 ? options.sort((a, b) => b.end - a.end) : options;
  }

  /** The same process wrote the same before. */
  #isLike(a: number, b: number): boolean {
    const { process, length } = this.records;
    return process[a] === process[b] && length[a] === length[b];
  }

  #put({ record, end }: Fit): void {
    this.place({ record, pieces: [{ from: this.#position, to: end }] });
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
      if (last !== undefined) this.records.putBack(last.record);
    }
  }
}
