// Whether the numbers of a session's entries are those its writer gave them: 1, 2, 3, in the order
// of the lines. Numbers that skip, repeat or go back mean that lines were lost, copied or moved.

export type SequenceFaults = {
  /** Numbers between two entries, or before the first, that no line has. */
  readonly skipped: number;
  /** Entries with the number of the line before. */
  readonly repeated: number;
  /** Entries with a lower number than the line before. */
  readonly backward: number;
};

/** Follows the numbers while the entries of one session are read. */
export class SequenceCheck {
  #last: number;
  #skipped: number;
  #repeated: number;
  #backward: number;

  /** `last`: the number of the entry before, with the faults that were found until there. */
  constructor(last = 0, found: SequenceFaults = { skipped: 0, repeated: 0, backward: 0 }) {
    this.#last = last;
    this.#skipped = found.skipped;
    this.#repeated = found.repeated;
    this.#backward = found.backward;
  }

  add(sequence: number): void {
    if (sequence > this.#last) this.#skipped += sequence - this.#last - 1;
    else if (sequence === this.#last) this.#repeated += 1;
    else this.#backward += 1;
    this.#last = sequence;
  }

  get last(): number {
    return this.#last;
  }

  get faults(): SequenceFaults {
    return { skipped: this.#skipped, repeated: this.#repeated, backward: this.#backward };
  }

  /** Undefined when there are none. */
  get found(): SequenceFaults | undefined {
    return this.#skipped + this.#repeated + this.#backward === 0 ? undefined : this.faults;
  }
}

export function sumOfFaults(all: Iterable<SequenceFaults>): SequenceFaults {
  const sum = { skipped: 0, repeated: 0, backward: 0 };
  for (const { skipped, repeated, backward } of all) {
    sum.skipped += skipped;
    sum.repeated += repeated;
    sum.backward += backward;
  }
  return sum;
}
