// `cuff sweep`: removes captures whose retention is over, or says which ones it would remove; seals
// and packs those that stay; and removes the intents and notes of agents' hooks that are of no use
// any more.

import { existsSync } from 'node:fs';
import { sweepMemory } from '../capture/in-memory.ts';
import type { SweepResult } from '../capture/sweep.ts';
import { sweepEditNotes } from '../hooks/edits.ts';
import { sweepIntents } from '../hooks/intent.ts';
import { type Log, openLog } from '../log.ts';
import { captureBudget } from '../packing/budget.ts';
import { memoryOf } from '../packing/live.ts';
import { Packer, type PackResult } from '../packing/packer.ts';
import { ownRecipients } from '../packing/recipients.ts';
import { SessionPacker } from '../packing/sessions.ts';
import { PackThread } from '../packing/thread.ts';
import { thisProcess } from '../run/processes.ts';
import { sealCaptures } from '../sealing/captures.ts';
import { knownJournals } from '../sealing/journals.ts';
import { type Store, storeOf } from '../shell/captures.ts';
import { sweepLogged } from '../shell/sweep.ts';
import { defined } from '../text/json.ts';
import { manyText } from '../text/plural.ts';
import { formatSize } from '../text/size.ts';
import { table } from '../text/table.ts';
import { refuseAgents } from '../trust/person.ts';
import { journalHere } from './journal-here.ts';
import { put, putJson, say } from './output.ts';
import { ownLedger } from './own-ledger.ts';
import { takeHome } from './take-home.ts';

type Options = { readonly dryRun?: boolean; readonly json?: boolean };

/** `--json`: a line {"session_id","result","reason","pinned","error"} for each capture. */
export async function sweep({ dryRun = false, json }: Options): Promise<void> {
  if (!dryRun) refuseAgents(process.env, 'delete what was recorded');
  // What is wrong in the settings is said before anything is removed.
  if (!dryRun) ownRecipients(process.cwd(), process.env);
  const store = storeOf(process.env);
  // The log lists removals, and a dry run removes nothing.
  const log = dryRun ? () => undefined : openLog(store.root);
  if (!dryRun) await takeHome(process.cwd(), process.env);
  const all = await sweepLogged(store, log, { dryRun });
  const packed: PackResult[] = [];
  if (!dryRun) {
    packed.push(...(await sealedAndPacked(store, log)));
    sweepIntents(process.env);
    sweepEditNotes(process.env);
  }
  const rows = [...new Map([...all, ...packed].map((row) => [row.id, row])).values()];
  const failed = rows.filter(({ result }) => result === 'error');
  if (failed.length > 0) process.exitCode = 1;
  if (json) for (const row of rows) await putJson(jsonOf(row));
  else await show(rows, dryRun);
}

type Row = SweepResult | PackResult;

function jsonOf(row: Row) {
  const { id, result, reason, pinned = false, error = null } = { ...NOTHING, ...row };
  return { session_id: id, result, reason, pinned, error };
}

const NOTHING = { pinned: undefined, error: undefined };

async function show(all: readonly Row[], dryRun: boolean): Promise<void> {
  const shown = all.filter(({ result }) => result === 'remove' || result === 'error');
  if (shown.length > 0) {
    const rows = shown.map((row) => {
      return [row.id, row.result, ('error' in row && row.error) || row.reason];
    });
    await put(table([{ title: 'ID' }, { title: 'RESULT' }, { title: 'REASON' }], rows));
  }
  const packed = all.flatMap((row) => (row.result === 'pack' ? [row.savedBytes] : []));
  const unpacked = shown.filter(({ reason }) => reason === 'pack_error').length;
  const failed = shown.filter(({ result }) => result === 'error').length - unpacked;
  const removed = shown.filter(({ result }) => result === 'remove').length;
  const errors = failed > 0 ? `, ${failed} could not be removed` : '';
  const kept = all.length - removed - failed;
  say(`${dryRun ? 'Would remove' : 'Removed'} ${removed}, kept ${kept}${errors}.`);
  const saved = packed.reduce((sum, bytes) => sum + bytes, 0);
  const many = manyText(packed.length, 'capture');
  if (packed.length > 0) say(`Packed ${many}, which saves ${formatSize(saved)}.`);
  if (unpacked > 0) say(`${manyText(unpacked, 'capture')} could not be packed.`);
}

/** Of every journal that the ledger knows, and of this one. */
async function packJournals(packer: SessionPacker, store: Store, log: Log): Promise<void> {
  const known = knownJournals(store.root).map(({ directory }) => directory);
  const all = new Set([await journalHere(), ...known]);
  let packed = 0;
  for (const directory of [...all].filter((one) => existsSync(one))) {
    for await (const { session, error } of packer.pass(directory)) {
      const cleanup_result = error === undefined ? 'pack' : 'error';
      log({
        session_id: session,
        cleanup_result,
        cleanup_reason: 'session',
        ...defined({ error }),
      });
      if (error === undefined) packed += 1;
      else {
        process.exitCode = 1;
        say(`The session ${session} could not be packed: ${error}`);
      }
    }
  }
  if (packed > 0) say(`Packed ${manyText(packed, 'session')}.`);
}

/**
 * The captures that are kept. A ledger that cannot be written is no reason not to sweep; what it
 * should have sealed is not packed.
 */
async function sealedAndPacked(store: Store, log: Log): Promise<PackResult[]> {
  const [ledger, owner, thread] = [ownLedger(), thisProcess(), new PackThread()];
  const budgetBytes = (): number => captureBudget(process.cwd(), process.env);
  const recipients = () => ownRecipients(process.cwd(), process.env);
  const about = { store, owner, ledger, budgetBytes, recipients };
  const results: PackResult[] = [];
  try {
    if (ledger !== undefined) await sealCaptures({ ledger, store, owner }).catch(() => undefined);
    const packer = new Packer({ ...about, pack: thread.pack });
    await packJournals(new SessionPacker({ ...about, packFiles: thread.packFiles }), store, log);
    for await (const row of packer.pass()) {
      results.push(row);
      const { id, result, reason } = row;
      const error = 'error' in row ? { error: row.error } : {};
      log({ session_id: id, cleanup_result: result, cleanup_reason: reason, ...error });
    }
    const memory = memoryOf(store.root, process.env);
    if (memory !== undefined) sweepMemory(memory, store.now());
  } finally {
    await thread.stop();
    await ledger?.close();
  }
  return results;
}
