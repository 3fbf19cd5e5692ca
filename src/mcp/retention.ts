// A server that runs for weeks removes expired captures as it goes, beside its work: at its start
// and then every ten minutes, never twice at once.

import { openLog } from '../log.ts';
import type { Store } from '../shell/captures.ts';
import { bringHome } from '../shell/spool.ts';
import { sweepLogged } from '../shell/sweep.ts';

const EVERY_MS = 10 * 60 * 1000; // seed 004

/** Keeps no process alive. Returns what ends it. */
export function sweepRegularly(store: Store, onerror: (error: Error) => void): () => void {
  const log = openLog(store.root);
  let sweeping = false;
  const sweep = async (): Promise<void> => {
    if (sweeping) return;
    sweeping = true;
    try {
      await bringHome(store, { cwd: process.cwd(), env: process.env, log });
      await sweepLogged(store, log);
    } catch (error) {
      onerror(error instanceof Error ? error : new Error(String(error)));
    } finally {
      sweeping = false;
    }
  };
  setImmediate(sweep);
  const timer = setInterval(sweep, EVERY_MS).unref();
  return () => clearInterval(timer);
}
