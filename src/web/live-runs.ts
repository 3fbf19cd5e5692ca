// Which runs are live. Of ten thousand captures a few are: those that were seen to be over are not
// looked at again.

import { captureIds, summarise } from '../capture/store.ts';
import { liveRunJson } from '../shell/capture-json.ts';
import type { CaptureSummary, Store } from '../shell/captures.ts';
import { liveRuns } from '../shell/processes.ts';
import type { LiveRun } from './api.ts';

const TURN = 64; // looked at in one go; then others get their turn

export class LiveRuns {
  readonly #store: Store;
  readonly #over = new Set<string>();

  constructor(store: Store) {
    this.#store = store;
  }

  /** Newest first. */
  async now(): Promise<readonly LiveRun[]> {
    const ids = captureIds(this.#store);
    const there = new Set(ids);
    for (const id of this.#over) if (!there.has(id)) this.#over.delete(id);
    const maybe: CaptureSummary[] = [];
    let looked = 0;
    for (const id of ids.toReversed()) {
      if (this.#over.has(id)) continue;
      looked += 1;
      if (looked % TURN === 0) await new Promise((resolve) => setImmediate(resolve));
      const one = summarise(this.#store, id);
      if (one === undefined) continue;
      if (one.final?.outputClosed === true) this.#over.add(id);
      else maybe.push(one);
    }
    const live = liveRuns(this.#store, maybe);
    const alive = new Set(live.map(({ capture }) => capture.id));
    for (const { id, outputOpen, state } of maybe) {
      // Its runner was killed, and so was all that it ran.
      if (!alive.has(id) && !outputOpen && state !== 'starting') this.#over.add(id);
    }
    return live.map((run) => ({ ...NO_AGENT, ...liveRunJson(run) }));
  }
}

const NO_AGENT = { agent: null, agent_session: null, tool_call: null };
