// The store of captures with real processes and the real clock.

import type { Store } from '../capture/store.ts';
import { processAlive } from '../run/processes.ts';

export function openStore(root: string): Store {
  return { root, alive: processAlive, now: Date.now };
}
