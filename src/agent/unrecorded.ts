// Commands that are not in the journal, until their conversation was told why. What the person
// chose is told once; a failure is told of each command.

import type { Finished } from './agent-run.ts';

const KEPT_MAX = 1_000; // of callers who never come back

export class Unrecorded {
  #waiting: { readonly owner: string; readonly why: string }[] = [];
  #toldChoice = false;

  note(owner: string, written: Finished['written']): void {
    if (written.recorded !== false) return;
    const { why, chosen = false } = written;
    if (chosen && this.#toldChoice) return;
    this.#toldChoice ||= chosen;
    this.#waiting = [...this.#waiting, { owner, why }].slice(-KEPT_MAX);
  }

  /** Each reason once; the next call gets none of them again. */
  take(owner: string): readonly string[] {
    const own = this.#waiting.filter((one) => one.owner === owner);
    this.#waiting = this.#waiting.filter((one) => one.owner !== owner);
    return [...new Set(own.map(({ why }) => why))];
  }
}
