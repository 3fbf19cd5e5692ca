// How far long work is, for a person who looks: one line on stderr that is written over and in the
// end removed. Without a terminal there is none.

import { catalogMissing } from '../../recordings/catalog.ts';
import { countText } from '../../text/dates.ts';

const INTERVAL_MS = 100; // more often than this a person cannot read

export class Progress {
  readonly #what: string;
  readonly #shown: boolean;
  #count = 0;
  #next = Date.now() + 5 * INTERVAL_MS; // what is done at once needs no progress

  /** `beside`: stdout gets the work itself, so a terminal there must stay clean. */
  constructor(what: string, { beside = false } = {}) {
    this.#what = what;
    this.#shown = process.stderr.isTTY === true && !(beside && process.stdout.isTTY === true);
  }

  step(): void {
    this.#count += 1;
    // Looking at the clock for every entry would cost more than the line.
    if (!this.#shown || this.#count % 64 !== 0 || Date.now() < this.#next) return;
    this.#next = Date.now() + INTERVAL_MS;
    process.stderr.write(`\r\x1b[K${countText(this.#count)} ${this.#what}`);
  }

  end(): void {
    if (this.#shown) process.stderr.write('\r\x1b[K');
  }
}

/** Says what is going on while nothing can be counted. */
export async function working<T>(what: string, work: () => Promise<T>): Promise<T> {
  const shown = process.stderr.isTTY === true;
  if (shown) process.stderr.write(`${what}...`);
  try {
    return await work();
  } finally {
    if (shown) process.stderr.write('\r\x1b[K');
  }
}

/** A question to the catalog. Only the first one takes long enough to say so. */
export function lookingUp<T>(directory: string, ask: () => Promise<T>): Promise<T> {
  return catalogMissing(directory) ? working('Reading every session once', ask) : ask();
}
