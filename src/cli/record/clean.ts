// `cuff record clean`: removes sessions whose time is over, after it was asked whether to.

import { AppError } from '../../errors.ts';
import { shortId } from '../../journal/ids.ts';
import { cleanSessions, sessionsToClean } from '../../recordings/clean.ts';
import { buryBefore } from '../../sealing/erase.ts';
import { countText, DAY_MS, timeText } from '../../text/dates.ts';
import { manyText } from '../../text/plural.ts';
import { type Column, table } from '../../text/table.ts';
import { refuseAgents } from '../../trust/person.ts';
import type { SessionMetadata } from '../../types.ts';
import { put, putJson, say, terminalWidth } from '../output.ts';
import { ownLedger } from '../own-ledger.ts';
import { confirmed } from './confirm.ts';
import type { Flags } from './flags.ts';
import { NO_RECORDINGS } from './words.ts';

/**
 * `--json`: {"dry_run","older_than","deleted":[session ids],"failed":[session ids]};
 * `older_than` is null when nothing is ever too old.
 */
export async function clean(flags: Flags): Promise<void> {
  const [json, dryRun] = [flags.on('--json'), flags.on('--dry-run')];
  if (!dryRun) refuseAgents(process.env, 'delete what was recorded');
  const cutoff = await cutoffOf(flags);
  const { directory, exists } = await flags.journal();
  if (!exists && !json) return put(NO_RECORDINGS);
  if (cutoff === undefined) {
    const nothing = { dry_run: dryRun, older_than: null, deleted: [], failed: [] };
    if (json) return putJson(nothing);
    return put('Recordings are kept forever (retention_days: 0). Say how old with --older-than.\n');
  }
  const old = sessionsToClean(directory, cutoff);
  const ids = old.map(({ session_id }) => session_id);
  const older_than = new Date(cutoff).toISOString();
  if (!json) await put(plan(old, cutoff, dryRun));
  if (dryRun || ids.length === 0) {
    if (json) await putJson({ dry_run: dryRun, older_than, deleted: ids, failed: [] });
    return;
  }
  if (!flags.on('--force') && !(await mayDelete(ids.length))) {
    say('Nothing was deleted.');
    process.exitCode = 1;
    return;
  }
  const ledger = ownLedger();
  const why = flags.text('--older-than') === undefined ? 'retention' : 'asked for';
  try {
    await buryBefore(ledger, directory, ids, { by: 'user', why });
  } finally {
    await ledger?.close();
  }
  const { removed, trouble } = cleanSessions(directory, ids);
  if (json) {
    const failed = ids.filter((id) => !removed.includes(id));
    await putJson({ dry_run: false, older_than, deleted: removed, failed });
  } else if (removed.length > 0) {
    await put(
      `Deleted ${manyText(removed.length, 'session')}. Their captures keep their own retention.\n`,
    );
  }
  if (trouble !== undefined) throw trouble;
}

/** Undefined: for ever. Settings that wait may keep recordings longer than those in force. */
async function cutoffOf(flags: Flags): Promise<number | undefined> {
  const named = flags.since('--older-than');
  if (named !== undefined) return named;
  const { retentionDays, waiting } = await flags.settings({ quiet: true });
  if (waiting.length > 0) {
    throw new AppError('usage', waiting.join('\n'), {
      hint: 'Nothing was deleted: run `cuff trust`, or name an age with --older-than.',
    });
  }
  return retentionDays === 0 ? undefined : Date.now() - retentionDays * DAY_MS;
}

const COLUMNS: readonly Column[] = [
  { title: 'Session ID' },
  { title: 'Started' },
  { title: 'Last Used' },
  { title: 'Commands', align: 'right' },
  { title: 'Status' },
];

function plan(old: readonly SessionMetadata[], cutoff: number, dryRun: boolean): string {
  const before = `last used before ${timeText(cutoff)}`;
  if (old.length === 0) return `No recordings to delete (${before}).\n`;
  const rows = old.map((session) => [
    shortId(session.session_id),
    timeText(session.created_at),
    timeText(session.last_updated),
    countText(session.entry_count),
    session.status,
  ]);
  const what = dryRun ? 'Would delete' : 'To delete';
  const head = `${what}: ${manyText(old.length, 'session')} ${before}`;
  return `${head}\n\n${table(COLUMNS, rows, terminalWidth())}`;
}

function mayDelete(count: number): Promise<boolean> {
  return confirmed(`Delete ${manyText(count, 'session')}?`, {
    message: 'Deleting needs a confirmation, and there is no terminal to ask at',
    hint: 'Hint: Use --force to delete without asking, or --dry-run to see what would go',
  });
}
