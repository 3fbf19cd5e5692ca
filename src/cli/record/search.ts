// `cuff record search`: commands and what they printed, the newest first.

import { AppError } from '../../errors.ts';
import { sessionsSince } from '../../record.ts';
import { journalSearch, type SearchHit, type SearchQuery } from '../../record-catalog.ts';
import { SEARCH } from '../../record-commands.ts';
import { shortId } from '../../record-list.ts';
import { timeText } from '../../text/dates.ts';
import { printable } from '../../text/printable.ts';
import { paint, put, putJson, quietPipes, say } from '../output.ts';
import { direct } from './direct.ts';
import type { Flags } from './flags.ts';
import { lookingUp } from './progress.ts';
import { NO_RECORDINGS } from './words.ts';

/** The whole command; `args` are the words behind `search`. */
export function recordSearch(args: readonly string[]): Promise<void> {
  quietPipes();
  return direct(SEARCH, search, args);
}

/** `--json`: {"hits":[...]}; see `hitJson` for one of them. Exit 1 when nothing was found. */
export async function search(flags: Flags): Promise<void> {
  const directory = await flags.directory();
  const query = queryOf(flags);
  const hits = await lookingUp(directory, () => journalSearch(directory, query));
  if (hits.length === 0) process.exitCode = 1;
  if (flags.on('--json')) return putJson({ hits: hits.map(hitJson) });
  if (hits.length === 0) {
    if (sessionsSince(directory).length > 0) return say('Nothing found.');
    process.exitCode = 0;
    return put(NO_RECORDINGS);
  }
  for (const hit of hits) await put(hitText(hit));
  if (hits.length === flags.count('--limit')) say(`The newest ${hits.length}; there may be more.`);
}

function queryOf(flags: Flags): SearchQuery {
  const since = flags.since();
  const agent = flags.text('--agent');
  const exit = exitOf(flags.text('--exit'));
  const process = flags.text('--process');
  return {
    text: flags.operand(),
    limit: flags.count('--limit'),
    ...(process !== undefined && { process }),
    ...(flags.on('--regex') && { regex: true }),
    ...(since !== undefined && { since }),
    ...(agent !== undefined && { agent }),
    ...(exit !== undefined && { exit }),
  };
}

function exitOf(text: string | undefined): number | 'nonzero' | undefined {
  if (text === undefined || text === 'nonzero') return text;
  if (/^-?\d{1,9}$/.test(text)) return Number(text);
  throw new AppError('usage', `--exit wants a code or nonzero, not '${printable(text)}'`);
}

/** Two lines: where it is, and what is there. */
function hitText(hit: SearchHit): string {
  const exit = hit.exitCode === null ? 'no exit code' : `exit ${hit.exitCode}`;
  const place = `${printable(shortId(hit.sessionId))} #${hit.sequence}  ${timeText(hit.timestamp)}`;
  const where = hit.found === 'command' ? '' : `  ${printable(hit.command)}`;
  const { from, to } = hit.match;
  const [before, found, after] = [
    hit.snippet.slice(0, from),
    hit.snippet.slice(from, to),
    hit.snippet.slice(to),
  ].map(printable);
  return (
    `${paint('dim', `${place}  ${exit}`)}${where}\n` +
    `    ${hit.found}+${hit.offset}: ${before}${paint('bold', found ?? '')}${after}\n`
  );
}

function hitJson(hit: SearchHit): Readonly<Record<string, unknown>> {
  return {
    session_id: hit.sessionId,
    entry_id: hit.entryId,
    sequence_number: hit.sequence,
    timestamp: hit.timestamp,
    command: hit.command,
    exit_code: hit.exitCode,
    agent_id: hit.agentId,
    field: hit.found,
    offset: hit.offset,
    snippet: hit.snippet,
    match: [hit.match.from, hit.match.to],
  };
}
