// Expired captures are removed when a run starts, beside the run, so that nobody waits for it.

import { closeSync, constants, lstatSync, openSync, utimesSync } from 'node:fs';
import { join } from 'node:path';
import type { Store } from './capture/store.ts';
import { type SweepOptions, type Swept, sweep } from './capture/sweep.ts';
import { SWEEP_PAUSE_MS } from './limits.ts';
import type { Log } from './ops/log.ts';

const LOOKED_AT_MIN = 8; // captures, the oldest and some others, however short the run is
const SLICE = 4; // captures between two looks at the run
const LONG_MS = 50; // a run of more than this does not notice the sweep beside it

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
 * Looks at a few captures, unless somebody did so a moment ago; and when the run lasts, at all
 * others for as long as it does. A short command in a full state root is not held up.
 */
export async function sweepAtStart(store: Store, log: Log, done: Promise<unknown>): Promise<void> {
  let over = false;
  const end = done.then(() => {
    over = true;
  });
  if (due(store)) for await (const _ of sweep(store, { limit: LOOKED_AT_MIN, log }));
  await atMost(LONG_MS, end);
  if (over) return;
  let count = 0;
  for await (const _ of sweep(store, { log })) {
    if (over) return;
    if (++count % SLICE === 0) await nextTurn();
  }
}

/** The time of the last sweep is that of an empty file. */
function due(store: Store): boolean {
  const path = join(store.root, 'swept');
  const now = store.now();
  const last = lstatSync(path, { throwIfNoEntry: false })?.mtimeMs;
  // A clock that was put back must not keep everything for ever.
  if (last !== undefined && last <= now && now - last < SWEEP_PAUSE_MS) return false;
  touch(path, now);
  return true;
}

function touch(path: string, now: number): void {
  try {
    const { O_WRONLY, O_CREAT, O_NOFOLLOW = 0 } = constants;
    closeSync(openSync(path, O_WRONLY | O_CREAT | O_NOFOLLOW, 0o600));
    utimesSync(path, now / 1000, now / 1000);
  } catch {
    // A full or read-only state root: then every run looks, as if it were the first.
  }
}

/** Until it is done or the time is over. */
async function atMost(ms: number, done: Promise<void>): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const time = new Promise((resolve) => {
    timer = setTimeout(resolve, ms);
  });
  await Promise.race([done, time]);
  clearTimeout(timer);
}

/** Lets news of the run come in. */
function nextTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
