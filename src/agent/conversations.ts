// What is remembered for each conversation, and for no other. The ones that were silent for longest
// are forgotten when there are too many.

import type { EntryReceipt } from '../recorder/journal.ts';
import { keepRecent } from '../text/recent.ts';
import type { Caller } from './caller.ts';

const KEPT_MAX = 1_000;

export class Conversations<T> {
  readonly #all = new Map<string, T>();
  readonly #make: () => T;

  constructor(make: () => T) {
    this.#make = make;
  }

  of({ key }: Pick<Caller, 'key'>): T {
    const found = this.#all.get(key) ?? this.#make();
    keepRecent(this.#all, key, found, KEPT_MAX);
    return found;
  }
}

/** Lines that belong into the next answer of a conversation, until it was told them. */
export class UntoldLines {
  readonly #waiting: Conversations<string[]> = new Conversations(() => []);

  note(caller: Pick<Caller, 'key'>, line: string): void {
    const waiting = this.#waiting.of(caller);
    waiting.push(line);
    waiting.splice(0, waiting.length - KEPT_MAX); // some dialects tell none of them
  }

  take(caller: Pick<Caller, 'key'>): readonly string[] {
    return this.#waiting.of(caller).splice(0);
  }
}

/**
 * Commands that are not in the journal, until their conversation was told why. That recording is
 * turned off is told once; a failure is told of each command.
 */
export class UnrecordedCommands {
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
