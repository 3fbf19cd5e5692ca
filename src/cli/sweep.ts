// `cuff sweep`: removes captures whose retention is over, or says which ones it would remove, and
// the intents and notes of agents' hooks that are of no use any more.

import { sweepEditNotes } from '../hooks/edits.ts';
import { sweepIntents } from '../hooks/intent.ts';
import { openLog } from '../log.ts';
import { thisProcess } from '../run/processes.ts';
import { sealCaptures } from '../sealing/captures.ts';
import { type Store, storeOf } from '../shell/captures.ts';
import { sweepLogged } from '../shell/sweep.ts';
import { table } from '../text/table.ts';
import { refuseAgents } from '../trust/person.ts';
import { put, putJson, say } from './output.ts';
import { ownLedger } from './own-ledger.ts';
import { takeHome } from './take-home.ts';

type Options = { readonly dryRun?: boolean; readonly json?: boolean };

/** `--json`: a line {"session_id","result","reason","pinned","error"} for each capture. */
export async function sweep({ dryRun = false, json }: Options): Promise<void> {
  if (!dryRun) refuseAgents(process.env, 'delete what was recorded');
  const store = storeOf(process.env);
  // The log lists removals, and a dry run removes nothing.
  const log = dryRun ? () => undefined : openLog(store.root);
  if (!dryRun) await takeHome(process.cwd(), process.env);
  const all = await sweepLogged(store, log, { dryRun });
  if (!dryRun) {
    await sealed(store);
    sweepIntents(process.env);
    sweepEditNotes(process.env);
  }
  const failed = all.filter(({ result }) => result === 'error');
  if (failed.length > 0) process.exitCode = 1;
  if (json) {
    for (const { id, result, reason, pinned = false, error = null } of all) {
      await putJson({ session_id: id, result, reason, pinned, error });
    }
    return;
  }
  const shown = all.filter(({ result }) => result !== 'skip');
  if (shown.length > 0) {
    const rows = shown.map(({ id, result, reason, error }) => [id, result, error ?? reason]);
    await put(table([{ title: 'ID' }, { title: 'RESULT' }, { title: 'REASON' }], rows));
  }
  const removed = shown.length - failed.length;
  const kept = all.length - shown.length;
  const errors = failed.length > 0 ? `, ${failed.length} could not be removed` : '';
  say(`${dryRun ? 'Would remove' : 'Removed'} ${removed}, kept ${kept}${errors}.`);
}

/** Seals the captures that are kept. A ledger that cannot be written is no reason not to sweep. */
async function sealed(store: Store): Promise<void> {
  const ledger = ownLedger();
  if (ledger === undefined) return;
  await sealCaptures({ ledger, store, owner: thisProcess() }).catch(() => undefined);
  await ledger.close();
}
