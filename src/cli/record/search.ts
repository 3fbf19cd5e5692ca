// `cuff record search`: commands and what they printed, the newest first.

import { AppError } from '../../errors.ts';
import { type EditRecord, searchEdits } from '../../journal/edits.ts';
import { shortId } from '../../journal/ids.ts';
import { hitJson, type SearchHit, type SearchQuery } from '../../journal/search.ts';
import { journalSearch, type SearchAnswer } from '../../recordings/catalog.ts';
import { SEARCH } from '../../recordings/commands.ts';
import { hasSessions } from '../../recordings/sessions.ts';
import { timeText } from '../../text/dates.ts';
import { manyText } from '../../text/plural.ts';
import { printable } from '../../text/printable.ts';
import { paint, put, putJson, quietPipes, say } from '../output.ts';
import { direct } from './direct.ts';
import { editLine } from './entry-words.ts';
import type { Flags } from './flags.ts';
import { lookingUp } from './progress.ts';
import { sayUnreadable, unreadableJson } from './unreadable.ts';
import { NO_RECORDINGS } from './words.ts';

/** The whole command; `args` are the words behind `search`. */
export function recordSearch(args: readonly string[]): Promise<void> {
  quietPipes();
  return direct(SEARCH, search, args);
}

/**
 * `--json`: {"hits":[...],"limited":false,"not_searched":{"damaged_lines":0,"cut_outputs":0}}; see
 * `hitJson` for a hit. `not_searched` has `unreadable_sessions`, too, where files may not be read.
 * `limited`: there may be older ones. Files that agents' own tools wrote, by their path, are
 * "edits":[...], if there are any. Exit 1 when nothing was found.
 */
export async function search(flags: Flags): Promise<void> {
  const { directory } = await flags.journal();
  const query = queryOf(flags);
  const answer = await lookingUp(directory, () => journalSearch(directory, query));
  const { hits } = answer;
  const edits = editsFor(directory, query);
  const unreadable = sayUnreadable(directory);
  const limited = hits.length === query.limit;
  if (hits.length + edits.length === 0) process.exitCode = 1;
  if (flags.on('--json')) {
    const found = answerJson(answer, limited, unreadable);
    return putJson(edits.length === 0 ? found : { ...found, edits });
  }
  if (hits.length + edits.length === 0 && !hasSessions(directory)) {
    process.exitCode = 0;
    return put(NO_RECORDINGS);
  }
  for (const hit of hits) await put(hitText(hit));
  for (const edit of edits) await put(editLine(edit));
  if (hits.length + edits.length === 0) say('Nothing found.');
  else if (limited) say(`The newest ${hits.length}; there may be more.`);
  for (const line of notSearched(answer)) say(line);
}

/** Files that agents' own tools wrote; a question about processes or codes is not about them. */
function editsFor(directory: string, query: SearchQuery): readonly EditRecord[] {
  const { text, regex, process, exit, since, agent, limit } = query;
  const about = process === undefined && exit === undefined && regex !== true && text !== '';
  return about ? searchEdits(directory, { text, since, agent, limit }) : [];
}

function notSearched({ unsearched }: SearchAnswer): string[] {
  const { damagedLines, cutOutputs } = unsearched;
  const lines: string[] = [];
  if (cutOutputs > 0) {
    const commands = manyText(cutOutputs, 'command');
    lines.push(`Not searched: what ${commands} printed beyond the limit of the journal.`);
  }
  if (damagedLines > 0) {
    const many = manyText(damagedLines, 'damaged line');
    lines.push(`Not searched: ${many} of the journal.`);
  }
  return lines;
}

function answerJson({ hits, unsearched }: SearchAnswer, limited: boolean, unreadable: number) {
  const { damagedLines: damaged_lines, cutOutputs: cut_outputs } = unsearched;
  return {
    hits: hits.map(hitJson),
    limited,
    not_searched: { damaged_lines, cut_outputs, ...unreadableJson(unreadable) },
  };
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
