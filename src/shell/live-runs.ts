// The runs of one shell: which are live, and where the captures are that could not be made under
// the state root. Those that are no recording are removed with the shell, or with their run if it
// lasts longer; those in a spool stay.

import { rmSync } from 'node:fs';
import type { Store } from '../capture/store.ts';
import type { Run } from './run.ts';

export class ShellRuns {
  readonly #store: Store;
  readonly #live = new Map<string, Run>();
  readonly #elsewhere = new Map<string, Store>();
  readonly #passing = new Set<string>();
  #closed = false;

  constructor(store: Store) {
    this.#store = store;
  }

  /** `at`: where its capture is. */
  add(run: Run, at: Store): void {
    const { id } = run;
    if (at !== this.#store) this.#elsewhere.set(id, at);
    if (!run.recording.on) this.#passing.add(id);
    this.#live.set(id, run);
    run.closed.then(() => {
      this.#live.delete(id);
      if (this.#closed) this.#forget(id);
    });
  }

  live(id: string): Run | undefined {
    return this.#live.get(id);
  }

  storeOf(id: string): Store {
    return this.#elsewhere.get(id) ?? this.#store;
  }

  close(): void {
    this.#closed = true;
    for (const id of this.#passing) if (!this.#live.has(id)) this.#forget(id);
  }

  #forget(id: string): void {
    const root = this.#passing.has(id) ? this.#elsewhere.get(id)?.root : undefined;
    if (root !== undefined) rmSync(root, { recursive: true, force: true });
  }
}
