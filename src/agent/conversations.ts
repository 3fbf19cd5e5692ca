// What a dialect remembers for each conversation, and for no other. The ones that were silent for
// longest are forgotten when there are too many.

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
