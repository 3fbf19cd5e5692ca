// The store of captures with real processes and the real clock.

import { basename, dirname } from 'node:path';
import { captureDir } from '../capture/paths.ts';
import type { Store } from '../capture/store.ts';
import { processAlive } from '../run/processes.ts';

export function openStore(root: string): Store {
  return { root, alive: processAlive, now: Date.now };
}

/** The store that a capture lies in: in a sandbox that may be a spool. */
export function storeAround(store: Store, dir: string): Store {
  if (captureDir(store.root, basename(dir)) === dir) return store;
  return { ...store, root: dirname(dirname(dir)) };
}
