// Whether the entries of a session are those its writer left: numbered 1, 2, 3, in the order of the
// lines, and as many as the metadata says. Numbers that skip, repeat or go back mean that lines
// were lost, copied or moved; a file that ends too early, that its last lines were lost.

export type SequenceFaults = {
  /** Numbers between two entries, or before the first, that no line has. */
  readonly skipped: number;
  /** Entries with the number of the line before. */
  readonly repeated: number;
  /** Entries with a lower number than the line before. */
  readonly backward: number;
  /** Entries behind the last line, which the metadata of a session that has ended counts. */
  readonly missing: number;
};

/** How far the numbers of a session were followed. */
export type SequenceState = Omit<SequenceFaults, 'missing'> & {
  /** The number of the last entry. */
  readonly last: number;
  /** How many entries there were until there. */
  readonly count: number;
};

const SEQUENCE_START: SequenceState = {
  last: 0,
  count: 0,
  skipped: 0,
  repeated: 0,
  backward: 0,
};

/** Follows the numbers while the entries of one session are read. */
export class SequenceCheck {
  readonly #expected: number;
  #state: SequenceState;

  /**
   * `expected`: how many entries there should be (see `expectedEntries`), as it was known before
   * the entries are read: a writer may add to both meanwhile.
   */
  constructor(expected: number, state = SEQUENCE_START) {
    this.#expected = expected;
    this.#state = state;
  }

  add(sequence: number): void {
    const { last, count, skipped, repeated, backward } = this.#state;
    this.#state = {
      last: sequence,
      count: count + 1,
      skipped: skipped + Math.max(0, sequence - last - 1),
      repeated: repeated + Number(sequence === last),
      backward: backward + Number(sequence < last),
    };
  }

  get state(): SequenceState {
    return this.#state;
  }

  get faults(): SequenceFaults {
    const { count, skipped, repeated, backward } = this.#state;
    const missing = Math.max(0, this.#expected - count - skipped);
    return { skipped, repeated, backward, missing };
  }

  /** Undefined when there are none. */
  get found(): SequenceFaults | undefined {
    return isFaulty(this.faults) ? this.faults : undefined;
  }
}

export function isFaulty({ skipped, repeated, backward, missing }: SequenceFaults): boolean {
  return skipped + repeated + backward + missing > 0;
}

export function sumOfFaults(all: Iterable<SequenceFaults>): SequenceFaults {
  const sum = { skipped: 0, repeated: 0, backward: 0, missing: 0 };
  for (const { skipped, repeated, backward, missing } of all) {
    sum.skipped += skipped;
    sum.repeated += repeated;
    sum.backward += backward;
    sum.missing += missing;
  }
  return sum;
}
