// `GET /api/search`: commands and what they printed, of one journal or of all, newest first.

import { searchEdits } from '../../journal/edits.ts';
import { type SearchHit as Hit, hitJson, type SearchQuery } from '../../journal/search.ts';
import { journalSearch } from '../../recordings/catalog.ts';
import { sessionEntries } from '../../recordings/sessions.ts';
import type { Entry } from '../../types.ts';
import type { SearchAnswer, SearchHit } from '../api.ts';
import { Fault } from '../fault.ts';
import { type Journal, journalsFor } from '../journals.ts';
import type { Params } from '../params.ts';
import { counted } from '../sessions.ts';
import type { Ground, Question, Request } from './ground.ts';

const LIMIT = 100;
const LIMIT_MAX = 1_000;
const OF_SESSION_MAX = 10_000; // hits among which those of one session are looked for

export const search: Question = {
  params: ['q', 'process', 'regex', 'exit', 'agent', 'project', 'session', 'since', 'limit'],
  answer,
};

async function answer({ journals }: Ground, { params }: Request): Promise<SearchAnswer> {
  const limit = params.limit(LIMIT, LIMIT_MAX);
  const session = params.text('session');
  const query = queryOf(params, session === undefined ? limit : OF_SESSION_MAX);
  const found = journalsFor(journals, params.text('project'));
  const hits: { readonly hit: Hit; readonly journal: Journal }[] = [];
  const gaps = { damaged_lines: 0, cut_outputs: 0 };
  let limited = false;
  for (const journal of found) {
    const one = await journalSearch(journal.directory, query);
    const own = one.hits.filter(({ sessionId }) => session === undefined || sessionId === session);
    hits.push(...own.map((hit) => ({ hit, journal })));
    gaps.damaged_lines += one.unsearched.damagedLines;
    gaps.cut_outputs += one.unsearched.cutOutputs;
    limited ||= one.hits.length === query.limit;
  }
  hits.sort((a, b) => Date.parse(b.hit.timestamp) - Date.parse(a.hit.timestamp));
  const shown = hits.slice(0, limit);
  const full = withEntries(shown);
  return {
    hits: full,
    limited: limited || hits.length > limit,
    not_searched: gaps,
    facets: facetsOf(full),
    edits: session === undefined ? editsFor(found, query) : [],
  };
}

function queryOf(params: Params, limit: number): SearchQuery {
  const [text, process] = [params.text('q') ?? '', params.text('process')];
  const [agent, since] = [params.text('agent'), params.time('since')];
  const exit = exitOf(params.text('exit'));
  return {
    text,
    limit,
    ...(process !== undefined && { process }),
    ...(params.on('regex') && { regex: true }),
    ...(since !== undefined && { since }),
    ...(agent !== undefined && { agent }),
    ...(exit !== undefined && { exit }),
  };
}

function exitOf(text: string | undefined): SearchQuery['exit'] {
  if (text === undefined || text === 'nonzero') return text;
  if (/^\d{1,9}$/.test(text)) return Number(text);
  throw new Fault(400, "'exit' is a code or nonzero.");
}

type Placed = { readonly hit: Hit; readonly journal: Journal };

/** With what the entry says of the run and of the policy; each session is read once. */
function withEntries(hits: readonly Placed[]): SearchHit[] {
  const wanted = new Map<string, Map<string, Entry | undefined>>();
  const keyOf = ({ hit, journal }: Placed): string => `${journal.directory}\0${hit.sessionId}`;
  for (const one of hits) {
    const ids = wanted.get(keyOf(one)) ?? new Map();
    wanted.set(keyOf(one), ids.set(one.hit.entryId, undefined));
  }
  for (const [key, ids] of wanted) {
    const [directory = '', session = ''] = key.split('\0');
    let left = ids.size;
    for (const entry of sessionEntries(directory, session)) {
      if (!ids.has(entry.entry_id)) continue;
      ids.set(entry.entry_id, entry);
      left -= 1;
      if (left === 0) break;
    }
  }
  return hits.map((one) => {
    const entry = wanted.get(keyOf(one))?.get(one.hit.entryId);
    const { project, directory } = one.journal;
    const more = { run_id: entry?.run_id ?? null, decision: entry?.decision ?? null };
    return { ...hitJson(one.hit), ...more, project, journal: directory };
  });
}

function facetsOf(hits: readonly SearchHit[]): SearchAnswer['facets'] {
  const facet = (value: (hit: SearchHit) => string) => counted(hits.map(value));
  return {
    exit: facet(({ exit_code }) => (exit_code === null ? 'none' : String(exit_code))),
    agent: facet(({ agent_id }) => agent_id ?? ''),
    project: facet(({ project }) => project),
    verdict: facet(({ decision }) => decision?.verdict ?? ''),
    day: facet(({ timestamp }) => timestamp.slice(0, 10)),
  };
}

/** Files that agents' own tools wrote; a question about processes or codes is not about them. */
function editsFor(journals: readonly Journal[], query: SearchQuery): SearchAnswer['edits'] {
  const { text, regex, process, exit, since, agent, limit } = query;
  if (process !== undefined || exit !== undefined || regex === true || text === '') return [];
  return journals
    .flatMap(({ directory, project }) =>
      searchEdits(directory, { text, since, agent, limit }).map((edit) => ({ ...edit, project })),
    )
    .sort((a, b) => Date.parse(b.timestamp) - Date.parse(a.timestamp))
    .slice(0, limit);
}
