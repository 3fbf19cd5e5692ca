// Keeps the catalog of a journal up to date beside the work: a little while after a session has
// changed, at most once a second, for a few milliseconds. No call ever waits for it, and whatever
// goes wrong with it costs nothing but the time of the next search.

import type { Catalog } from '../journal/catalog.ts';

const EVERY_MS = 1_000;
const BUDGET_MS = 10; // the event loop does nothing else meanwhile

export class CatalogFeeder {
  readonly #directory: string;
  readonly #changed = new Set<string>();
  #catalog: Promise<Catalog> | undefined;
  #timer: NodeJS.Timeout | undefined;
  #closed = false;

  constructor(directory: string) {
    this.#directory = directory;
  }

  /** This session has something new. */
  touch(sessionId: string): void {
    this.#changed.add(sessionId);
    if (!this.#closed) this.#timer ??= setTimeout(() => this.#feed(), EVERY_MS).unref();
  }

  close(): void {
    this.#closed = true;
    clearTimeout(this.#timer);
    void this.#catalog?.then((catalog) => catalog.close()).catch(() => undefined);
  }

  async #feed(): Promise<void> {
    this.#timer = undefined;
    const first = [...this.#changed];
    this.#changed.clear();
    try {
      this.#catalog ??= this.#open();
      const catalog = await this.#catalog;
      if (this.#closed) return;
      const { done } = catalog.refresh({ budgetMs: BUDGET_MS, first });
      if (!done) for (const id of first) this.touch(id);
    } catch {
      // Whoever searches reads the sessions instead; the next change tries again.
      this.#catalog = undefined;
    }
  }

  /** Loaded when the first entry is there: it brings a database with it. */
  async #open(): Promise<Catalog> {
    const { openCatalog } = await import('../journal/catalog.ts');
    return openCatalog(this.#directory, { now: Date.now });
  }
}
