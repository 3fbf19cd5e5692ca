// The ledger for a command that changes what is recorded.

import { thisProcess } from '../run/processes.ts';
import type { Ledger } from '../sealing/ledger.ts';
import { openLedger } from '../sealing/open.ts';
import { storeOf } from '../shell/captures.ts';

/** Undefined where the user wants none. To be closed. */
export function ownLedger(): Ledger | undefined {
  const { env } = process;
  const { root: stateRoot, alive, now } = storeOf(env);
  return openLedger({ stateRoot, owner: thisProcess(), alive, now, cwd: process.cwd(), env });
}
