// `cuff record import`: commands recorded elsewhere become sessions, an asciicast a capture. With
// `--from` it is the transcripts of agents: see import-from.ts.

import { closeSync, openSync, writeSync } from 'node:fs';
import { AppError } from '../../errors.ts';
import { type ImportResult, importLines } from '../../recordings/import.ts';
import { type ImportedCast, importCast } from '../../recordings/import-cast.ts';
import { storeOf } from '../../shell/captures.ts';
import { countText } from '../../text/dates.ts';
import { manyText } from '../../text/plural.ts';
import { printable } from '../../text/printable.ts';
import { put, putJson, say } from '../output.ts';
import { ownLedger } from '../own-ledger.ts';
import type { Flags } from './flags.ts';
import { Progress } from './progress.ts';

const REFUSED_SHOWN_MAX = 20;

/**
 * `--json`: {"kind":"jsonl","sha256","already_imported","sessions":[{"session_id","label",
 * "entries"}],"entries","rejected":[{"line","problem"}],"rejected_count"} for JSON lines,
 * {"kind":"asciicast","sha256","already_imported","run_id","version","events","rejected",
 * "rejected_count"} for an asciicast. Exit 1 when a line was refused.
 */
export async function importFile(flags: Flags): Promise<void> {
  if (flags.on('--from')) return (await import('./import-from.ts')).importFrom(flags);
  for (const flag of ['--since', '--project', '--all-projects', '--dry-run']) {
    if (flags.on(flag)) throw new AppError('usage', `Option '${flag}' needs --from`);
  }
  const path = flags.operand();
  const cast = importCast(storeOf(process.env), path);
  if (cast !== undefined) return reportCast(cast, flags.on('--json'));
  await reportLines(await lines(await flags.target(), path, flags), flags.on('--json'));
}

async function lines(directory: string, path: string, flags: Flags): Promise<ImportResult> {
  const rejects = flags.text('--rejects');
  const fd = rejects === undefined ? undefined : openSync(rejects, 'wx', 0o600);
  const progress = new Progress('entries imported');
  const ledger = ownLedger();
  try {
    return await importLines(directory, path, {
      now: Date.now,
      ledger,
      step: () => progress.step(),
      ...(fd !== undefined && {
        reject: (line) => {
          writeSync(fd, Buffer.concat([line, Buffer.from('\n')]));
        },
      }),
    });
  } finally {
    await ledger?.close();
    progress.end();
    if (fd !== undefined) closeSync(fd);
  }
}

async function reportLines(done: ImportResult, json: boolean): Promise<void> {
  if (done.refusedCount > 0) process.exitCode = 1;
  if (json) {
    const { sha256, sessions, entries } = done;
    return putJson({
      kind: 'jsonl',
      sha256,
      already_imported: done.again,
      sessions,
      entries,
      rejected: done.refused,
      rejected_count: done.refusedCount,
    });
  }
  sayRefused(done.refused, done.refusedCount);
  if (done.again) {
    const ids = done.sessions.map(({ session_id }) => `  ${session_id}\n`).join('');
    return put(`This file was imported before. Its sessions are:\n${ids}`);
  }
  if (done.entries === 0) throw nothing(done.refusedCount);
  await put(
    `Imported ${manyText(done.entries, 'command')} ` +
      `into ${manyText(done.sessions.length, 'session')}:\n`,
  );
  for (const { session_id, label, entries } of done.sessions) {
    const name = label === null ? '' : `  (${printable(label)})`;
    await put(`  ${session_id}  ${countText(entries)}${name}\n`);
  }
}

function nothing(refusedCount: number): AppError {
  const what = refusedCount === 0 ? 'It is empty' : 'No line of it is a command';
  return new AppError('usage', `Nothing to import: ${what}`, {
    hint: 'Expected: one JSON object on each line, with at least {"command":"..."}',
  });
}

async function reportCast(cast: ImportedCast, json: boolean): Promise<void> {
  if (cast.refusedCount > 0) process.exitCode = 1;
  if (json) {
    return putJson({
      kind: 'asciicast',
      sha256: cast.sha256,
      already_imported: cast.again,
      run_id: cast.runId,
      version: cast.version,
      events: cast.events,
      rejected: cast.refused,
      rejected_count: cast.refusedCount,
    });
  }
  sayRefused(cast.refused, cast.refusedCount);
  if (cast.again) return put(`This file was imported before, as capture ${cast.runId}\n`);
  await put(`Imported ${manyText(cast.events, 'event')} as capture ${cast.runId}\n`);
  say(`It is pinned. Read it with: cuff cat ${cast.runId}`);
}

function sayRefused(
  refused: readonly { readonly line: number; readonly problem: string }[],
  count: number,
): void {
  for (const { line, problem } of refused.slice(0, REFUSED_SHOWN_MAX))
    say(`line ${line}: ${problem}`);
  const more = count - Math.min(refused.length, REFUSED_SHOWN_MAX);
  if (more > 0) say(`... and ${countText(more)} more lines`);
}
