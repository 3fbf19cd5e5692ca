// `GET /api/sessions/ID`: the commands of one session as blocks, each with the first and the last
// lines that it printed, and the outline of all of them.

import { isSessionId } from '../capture/paths.ts';
import { isAppError } from '../errors.ts';
import { readEdits } from '../journal/edits.ts';
import { sealOf } from '../recordings/seals.ts';
import { sessionEntries, sessionReport } from '../recordings/sessions.ts';
import { openCapture, type Store } from '../shell/captures.ts';
import type { Entry, EntryDecision } from '../types.ts';
import type { Block, BlockRun, Edit, FileChange, OutlineAnswer, SessionAnswer } from './api.ts';
import { blockOutput } from './block-output.ts';
import { notFound } from './fault.ts';
import { journalWith } from './journals.ts';
import { outcomeOf } from './outcome.ts';
import type { Params } from './params.ts';
import type { TableRow } from './session-table.ts';
import { rowJson, type SessionLists } from './sessions.ts';

const LIMIT = 50;
const LIMIT_MAX = 200;

export const SESSION_PARAMS = ['from', 'limit', 'journal'];
export const OUTLINE_PARAMS = ['journal'];

export function sessionAnswer(lists: SessionLists, id: string, params: Params): SessionAnswer {
  const { table, store } = lists;
  const { directory } = journalWith(table.journals(), id, params.text('journal'));
  const from = params.count('from') ?? 0;
  const limit = params.limit(LIMIT, LIMIT_MAX);
  const report = sessionReport(directory, id);
  const edits = readEdits(directory, id);
  const blocks: Block[] = [];
  let next: number | null = null;
  for (const entry of sessionEntries(directory, id)) {
    if (entry.sequence_number < from) continue;
    if (blocks.length === limit) {
      next = entry.sequence_number;
      break;
    }
    blocks.push(blockOf(store, entry, edits));
  }
  const seal = sealOf(directory, id);
  const own = rowOf(table.rows(), directory, id);
  const { seal: _, ...row } = rowJson(lists, own);
  return {
    session: { ...row, ...report.metadata, ...(seal !== undefined && { seal }) },
    top_commands: report.top,
    ...(report.sequence !== undefined && { sequence_faults: report.sequence }),
    damaged_lines: report.damagedLines,
    blocks,
    next,
    edits,
  };
}

export function outlineAnswer(lists: SessionLists, id: string, params: Params): OutlineAnswer {
  const { directory } = journalWith(lists.table.journals(), id, params.text('journal'));
  const entries = Array.from(sessionEntries(directory, id), (entry) => {
    const { sequence_number, timestamp, duration_ms } = entry;
    return [sequence_number, Date.parse(timestamp), duration_ms, outcomeOf(entry)] as const;
  });
  return { entries };
}

/** The row that it is in: of a part, that of the session it belongs to. */
function rowOf(rows: readonly TableRow[], directory: string, id: string): TableRow {
  const found = rows.find(
    ({ journal, session }) =>
      journal.directory === directory &&
      (session.session_id === id || session.parts?.includes(id) === true),
  );
  if (found === undefined) throw notFound('session of this id');
  return found;
}

function blockOf(store: Store, entry: Entry, edits: readonly Edit[]): Block {
  const { stdout: _, stderr: __, later: ___, ...facts } = entry;
  return {
    ...facts,
    outcome: outcomeOf(entry),
    output: blockOutput(store, entry),
    run: runOf(store, entry.run_id),
    files: filesOf(entry, edits),
    why: whyOf(entry.decision),
  };
}

function runOf(store: Store, id: string | null): BlockRun | null {
  if (id === null || !isSessionId(id)) return null;
  try {
    const { state, outputOpen, pinned, meta } = openCapture(store, id);
    const traced = meta?.trace?.enabled === true;
    return { session_id: id, state, output_open: outputOpen, pinned, traced };
  } catch (error) {
    if (isAppError(error)) return null; // its time was over, or it leads elsewhere
    throw error;
  }
}

function filesOf({ decision, tool_call_id }: Entry, edits: readonly Edit[]): FileChange[] {
  const seen = (decision?.changed ?? []).flatMap((words): FileChange[] => {
    const [, how, path] = /^(new|changed|removed) (.+)$/s.exec(words) ?? [];
    if (path === undefined) return [];
    return [{ path, how: how as FileChange['how'], by: 'sandbox' }];
  });
  const own = edits.filter((one) => tool_call_id !== null && one.tool_call_id === tool_call_id);
  const edited = own.map(
    ({ path, hash_before, hash_after }): FileChange => ({
      path,
      how: hash_before === null ? 'new' : hash_after === null ? 'removed' : 'changed',
      by: 'tool',
    }),
  );
  return [...seen, ...edited];
}

function whyOf(decision: EntryDecision | null): string | null {
  if (decision === null) return null;
  const { verdict, code, rule, approved, by } = decision;
  const said =
    rule === null ? `No rule decided it (${code})` : `The rule \`${rule}\` says ${verdict}`;
  const answer = approved === null ? '' : ', and a person approved it';
  const other = by === undefined ? '' : `, decided by ${by}`;
  return `${said}${other}${answer}.`;
}
