// `GET /api/sessions`: a page of all sessions, newest first, by filters, with how many there are of
// each kind.

import { ownerAlive } from '../journal/recovery.ts';
import type { Store } from '../shell/captures.ts';
import { DAY_MS } from '../text/dates.ts';
import type { Facet, SessionRow, SessionsAnswer } from './api.ts';
import { Fault } from './fault.ts';
import type { Params } from './params.ts';
import type { RowExtras } from './row-extras.ts';
import type { SessionTable, TableRow } from './session-table.ts';

const LIMIT = 100;
const LIMIT_MAX = 1_000;

export const SESSIONS_PARAMS = [
  ...['cursor', 'limit', 'q', 'agent', 'status', 'project', 'seal'],
  ...['since', 'until'],
];

export type SessionLists = {
  readonly table: SessionTable;
  readonly extras: RowExtras;
  readonly store: Store;
  /** Days that a journal is kept; 0: for ever. */
  readonly retentionDays: (project: string) => number;
};

type Filter = { readonly name: FacetName | 'rest'; readonly fits: (row: TableRow) => boolean };
type FacetName = keyof SessionsAnswer['facets'];

const VALUES: Readonly<Record<FacetName, (row: TableRow) => string>> = {
  agent: ({ session }) => session.agent_id ?? '',
  status: ({ session }) => session.status,
  project: ({ journal }) => journal.project,
  seal: ({ session }) => session.seal ?? '',
};

export function sessionsAnswer(lists: SessionLists, params: Params): SessionsAnswer {
  const limit = params.limit(LIMIT, LIMIT_MAX);
  const filters = filtersOf(params);
  const all = lists.table.rows();
  const found = all.filter((row) => filters.every(({ fits }) => fits(row)));
  const cursor = params.text('cursor');
  const from = cursor === undefined ? 0 : behind(found, placeIn(cursor));
  const page = found.slice(from, from + limit);
  const last = page.at(-1);
  const more = from + limit < found.length && last !== undefined;
  const facet = (name: FacetName): Facet => {
    const others = filters.filter((one) => one.name !== name);
    return counted(all.filter((row) => others.every(({ fits }) => fits(row))).map(VALUES[name]));
  };
  return {
    sessions: page.map((row) => rowJson(lists, row)),
    cursor: more ? cursorOf(last) : null,
    total: found.length,
    facets: {
      agent: facet('agent'),
      status: facet('status'),
      project: facet('project'),
      seal: facet('seal'),
    },
  };
}

/** A row with all that a list shows. */
export function rowJson(lists: SessionLists, { session, journal }: TableRow): SessionRow {
  const { session_id, parts = [], last_updated } = session;
  const { store, extras, retentionDays } = lists;
  const ids = [session_id, ...parts];
  const days = retentionDays(journal.project);
  const left = Date.parse(last_updated) + days * DAY_MS - store.now();
  return {
    ...session,
    project: journal.project,
    journal: journal.directory,
    live: session.status === 'active' && ownerAlive(session, store.alive),
    ...extras.of(journal.directory, ids),
    pinned: extras.pinned(ids),
    days_left: days === 0 ? null : Math.max(0, Math.floor(left / DAY_MS)),
  };
}

function filtersOf(params: Params): readonly Filter[] {
  const filters: Filter[] = [];
  for (const name of ['agent', 'status', 'project', 'seal'] as const) {
    const wanted = params.text(name);
    if (wanted === undefined) continue;
    // `-` is what has none: a session of no agent, one that was not sealed.
    const value = wanted === '-' ? '' : wanted;
    filters.push({ name, fits: (row) => VALUES[name](row) === value });
  }
  const [since, until] = [params.time('since'), params.time('until')];
  if (since !== undefined) {
    filters.push({
      name: 'rest',
      fits: ({ session }) => Date.parse(session.last_updated) >= since,
    });
  }
  if (until !== undefined) {
    filters.push({ name: 'rest', fits: ({ session }) => Date.parse(session.created_at) < until });
  }
  const words = (params.text('q') ?? '').toLowerCase().split(/\s+/).filter(Boolean);
  for (const word of words)
    filters.push({ name: 'rest', fits: (row) => textOf(row).includes(word) });
  return filters;
}

/** What is searched by typing. */
function textOf({ session, journal }: TableRow): string {
  const { session_id, agent_id, conversation_id, working_directory, group, vcs } = session;
  const parts = [session_id, agent_id, conversation_id, working_directory, group, vcs?.branch];
  return [...parts, journal.project].join('\n').toLowerCase();
}

/** The most frequent first. */
export function counted(values: readonly string[]): Facet {
  const counts = new Map<string, number>();
  for (const value of values) counts.set(value, (counts.get(value) ?? 0) + 1);
  return [...counts]
    .map(([value, count]) => ({ value, count }))
    .sort((a, b) => b.count - a.count || (a.value < b.value ? -1 : 1));
}

type Place = Pick<TableRow, 'key'> & { readonly directory: string };

function cursorOf({ key, journal }: TableRow): string {
  return Buffer.from(JSON.stringify([key, journal.directory])).toString('base64url');
}

function placeIn(cursor: string): Place {
  try {
    const [key, directory, ...rest] = JSON.parse(Buffer.from(cursor, 'base64url').toString());
    if (typeof key === 'string' && typeof directory === 'string' && rest.length === 0) {
      return { key, directory };
    }
  } catch {
    // What is no JSON is no cursor of ours either.
  }
  throw new Fault(400, 'This is no cursor of a list.', { hint: 'Begin without one.' });
}

/** Where the page behind a place begins, whatever came or went since. */
function behind(rows: readonly TableRow[], { key, directory }: Place): number {
  const same = rows.findIndex((row) => row.key === key && row.journal.directory === directory);
  if (same >= 0) return same + 1;
  const older = rows.findIndex((row) => row.key < key);
  return older < 0 ? rows.length : older;
}
