// How much work one way of searching has made, so that it ends where it is worth no more. Counted
// in bytes that were hashed: the same on every machine.

import type { Probe } from './probe.ts';

export class Effort {
  readonly #probes: readonly Probe[];
  /** What others did. */
  #others = 0;
  #leftAt = 0;

  constructor(probes: readonly Probe[]) {
    this.#probes = probes;
  }

  /** From here on it is ours. */
  begin(): void {
    this.#others += this.#sum() - this.#leftAt;
  }

  end(): void {
    this.#leftAt = this.#sum();
  }

  get steps(): number {
    return this.#sum() - this.#others;
  }

  #sum(): number {
    let sum = 0;
    for (const { steps } of this.#probes) sum += steps;
    return sum;
  }
}
