// Expired captures are removed when a run starts, beside the run, so that nobody waits for it.

import type { Store } from './capture/store.ts';
import { type SweepOptions, type Swept, sweep } from './capture/sweep.ts';
import { SWEEP_AT_START_MIN } from './limits.ts';
import type { Log } from './ops/log.ts';

const SLICE = 4; // captures between two looks at the run

/** Sweeps and writes one log line per capture looked at. */
export async function sweepLogged(
  store: Store,
  log: Log,
  options: SweepOptions = {},
): Promise<Swept[]> {
  const all: Swept[] = [];
  for await (const swept of sweep(store, { ...options, log })) all.push(swept);
  return all;
}

/**
 * Looks at a few captures, the oldest first, then at all others for as long as the run lasts: a
 * short command in a full state root is not held up.
 */
export async function sweepAtStart(store: Store, log: Log, done: Promise<unknown>): Promise<void> {
  let over = false;
  done.then(() => {
    over = true;
  });
  let count = 0;
  for (const limit of [SWEEP_AT_START_MIN, undefined]) {
    if (over && limit === undefined) return;
    const options = limit === undefined ? {} : { limit };
    for await (const _ of sweep(store, { ...options, log })) {
      if (limit === undefined && over) return;
      if (++count % SLICE === 0) await nextTurn();
    }
  }
}

/** Lets news of the run come in. */
function nextTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
