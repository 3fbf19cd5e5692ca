// How much work one way of searching has made, so that it ends where it is worth no more. Counted
// in bytes that were hashed: the same on every machine.

import type { Board } from './board.ts';

const STEPS_MAX = 100_000_000;
const STEPS_PER_BYTE = 5;

export class Effort {
  readonly #board: Pick<Board, 'bytes' | 'probes'>;
  /** The work of other searches. */
  #others: number;
  #leftAt: number;

  constructor(board: Pick<Board, 'bytes' | 'probes'>) {
    this.#board = board;
    this.#others = this.#sum();
    this.#leftAt = this.#others;
  }

  /** As much as one search is worth. */
  get stepsMax(): number {
    return STEPS_MAX + STEPS_PER_BYTE * this.#board.bytes.length;
  }

  /** Since it was made. */
  get steps(): number {
    return this.#sum() - this.#others;
  }

  get isSpent(): boolean {
    return this.steps > this.stepsMax;
  }

  /** For a search with several turns: the work of others between them does not count. */
  measure<T>(work: () => T): T {
    this.#others += this.#sum() - this.#leftAt;
    const result = work();
    this.#leftAt = this.#sum();
    return result;
  }

  #sum(): number {
    let sum = 0;
    for (const { steps } of this.#board.probes) sum += steps;
    return sum;
  }
}
