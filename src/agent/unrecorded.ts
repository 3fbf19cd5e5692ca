// Commands that are not in the journal, until their conversation was told why. That recording is
// turned off is told once; a failure is told of each command.

import type { EntryReceipt } from '../recorder/journal.ts';

const KEPT_MAX = 1_000; // of callers who never come back

export class Unrecorded {
  #waiting: { readonly owner: string; readonly why: string }[] = [];
  #toldChoice = false;

  note(owner: string, receipt: EntryReceipt): void {
    if (receipt.recorded !== false) return;
    const { why, chosen = false } = receipt;
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
