// The commands to which a person said no, for each conversation: an agent that asks for the same
// command again within five minutes gets the same answer, and the person is left in peace.

import { keepRecent } from '../text/recent.ts';

const KEPT_MS = 5 * 60_000;
const KEPT_MAX = 1_000; // more than a person answers in five minutes

export class Refusals {
  readonly #at = new Map<string, number>();
  readonly #now: () => number;

  constructor(now: () => number) {
    this.#now = now;
  }

  add(conversation: string, subject: unknown): void {
    keepRecent(this.#at, keyOf(conversation, subject), this.#now(), KEPT_MAX);
  }

  has(conversation: string, subject: unknown): boolean {
    const at = this.#at.get(keyOf(conversation, subject));
    if (at === undefined) return false;
    const age = this.#now() - at;
    return age >= 0 && age < KEPT_MS; // a clock that was set back must not prolong it
  }
}

function keyOf(conversation: string, subject: unknown): string {
  return JSON.stringify([conversation, subject]);
}
