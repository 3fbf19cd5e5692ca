// `cuff record list`: the newest sessions, in the order they began. It is on the short way through
// the program, so that it answers at once: what it imports is loaded before anything else happens.

import { SESSION_COLUMNS, sessionCells } from '../../journal/export-columns.ts';
import { shortId } from '../../journal/ids.ts';
import { LIST } from '../../recordings/commands.ts';
import { faultySessions, recentSessions } from '../../recordings/list.ts';
import { type SealedRow, sealedRows } from '../../recordings/sealed-rows.ts';
import { csvRow } from '../../text/csv.ts';
import { sinceText, spanText, timeText } from '../../text/dates.ts';
import { printable, printableJson } from '../../text/printable.ts';
import { displayWidth } from '../../text/table.ts';
import type { SessionMetadata } from '../../types.ts';
import { paint, putAtOnce, sayAtOnce } from '../output.ts';
import { direct } from './direct.ts';
import type { Flags } from './flags.ts';
import { NO_RECORDINGS, sequenceWords } from './words.ts';

/** The whole command; `args` are the words behind `list`. */
export function recordList(args: readonly string[]): Promise<void> {
  return direct(LIST, list, args);
}

/**
 * `--format json`: {"sessions":[...],"more":N}, a session as its metadata file has it, with
 * "seal":"anchored" or another word of src/sealing/badges.ts where it was sealed; and
 * "sequence_faults":[{"session_id","skipped","repeated","backward","missing"}] where entries are
 * not those that were written.
 */
export async function list(flags: Flags): Promise<void> {
  const since = flags.since();
  const query = { limit: flags.count('--limit'), ...(since !== undefined && { since }) };
  const { directory } = await flags.journal();
  const { sessions: newest, more } = recentSessions(directory, query);
  const sessions = sealedRows(directory, newest.toReversed(), process.env);
  const ids = sessions.flatMap(({ session_id, parts = [] }) => [session_id, ...parts]);
  const faulty = faultySessions(directory, ids);
  for (const { id, faults } of faulty) sayAtOnce(sequenceWords(printable(shortId(id)), faults));
  const format = flags.format();
  if (format === 'json') {
    const sequence_faults = faulty.map(({ id, faults }) => ({ session_id: id, ...faults }));
    const found = faulty.length === 0 ? {} : { sequence_faults };
    return putAtOnce(`${printableJson({ sessions, more, ...found })}\n`);
  }
  if (format === 'csv') return putAtOnce(csv(sessions, flags.on('--raw')));
  if (sessions.length + more === 0) {
    return putAtOnce(since === undefined ? NO_RECORDINGS : nothingSince(flags.text('--since')));
  }
  await putAtOnce(table(sessions, flags.on('--verbose')));
  if (more > 0) sayAtOnce(`${more} more: use --limit ${sessions.length + more}`);
}

function nothingSince(since: string | undefined): string {
  return `No recordings found (${sinceText(since)}).\n`;
}

function csv(sessions: readonly SessionMetadata[], raw: boolean): string {
  const rows = [SESSION_COLUMNS, ...sessions.map(sessionCells)];
  return rows.map((row) => csvRow(row, { raw })).join('');
}

const HEAD = 'Session ID                    Started              Commands  Duration   Status';
const RULE_WIDTH = 79;
const ID_WIDTH = 24;
const DETAILS_AT = 83; // behind the longest status
const SEAL_WIDTH = 'recovered'.length;

/** The layout of seed 000, to the column. */
function table(sessions: readonly SealedRow[], verbose: boolean): string {
  const sealed = sessions.some(({ seal }) => seal !== undefined);
  const seal = (line: string, word: string): string =>
    sealed ? `${line.padEnd(DETAILS_AT)}  ${word.padEnd(SEAL_WIDTH)}` : line;
  const agents = sessions.map(({ agent_id }) => printable(agent_id ?? '-'));
  const width = Math.max('Agent'.length, ...agents.map(displayWidth));
  const detailsAt = DETAILS_AT + (sealed ? SEAL_WIDTH + 2 : 0);
  const detailed = (line: string, failed: string, late: string, agent: string, cwd: string) =>
    `${line.padEnd(detailsAt)}  ${failed.padStart(6)}  ${late.padStart(9)}  ` +
    `${agent}${' '.repeat(width - displayWidth(agent))}  ${cwd}`;
  const rows = sessions.map((session, i) =>
    verbose
      ? detailed(
          seal(row(session), session.seal ?? '-'),
          String(session.commands_failed),
          String(session.commands_timed_out),
          agents[i] ?? '',
          printable(session.working_directory),
        )
      : seal(row(session), session.seal ?? '-').trimEnd(),
  );
  const names = seal(HEAD, 'Seal').trimEnd();
  const head = verbose ? detailed(names, 'Failed', 'Timed Out', 'Agent', 'Directory') : names;
  const rule = '─'.repeat(Math.max(RULE_WIDTH, verbose || sealed ? displayWidth(head) : 0));
  return `${[head, paint('dim', rule), ...rows].join('\n')}\n`;
}

function row(session: SessionMetadata): string {
  const id = printable(shortId(session.session_id)).padEnd(ID_WIDTH);
  const count = String(session.entry_count).padStart(9);
  const duration = spanText(session.total_duration_ms);
  // A duration of one unit stands one column further left: so does the sample.
  const place = duration.padStart(duration.includes(' ') ? 10 : 9);
  return `${id}     ${timeText(session.created_at)}${count}${place}    ${session.status}`;
}
