// Which path is answered by what. Names in paths are taken as they stand: what needs decoding is no
// id of ours.

import type { IncomingMessage, ServerResponse } from 'node:http';
import { isoTime } from '../text/dates.ts';
import type { Hello } from './api.ts';
import { BYTES_PARAMS, sendBytes } from './bytes.ts';
import { Fault, notFound } from './fault.ts';
import { Params } from './params.ts';
import { questionsJson } from './question-json.ts';
import { INDEX_PARAMS, indexAnswer, PLACE_PARAMS, placeAnswer } from './run-index.ts';
import { RUNS_PARAMS, runAnswer, runsAnswer } from './runs.ts';
import { OUTLINE_PARAMS, outlineAnswer, SESSION_PARAMS, sessionAnswer } from './session.ts';
import { SESSIONS_PARAMS, sessionsAnswer } from './sessions.ts';
import type { Ui } from './ui.ts';

/** A GET, or a POST that changes nothing. */
export type Call = {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly path: string;
  readonly query: string;
  /** Of a POST. */
  readonly body?: unknown;
};

/** The text of a JSON document, a value that becomes one, or `sent`: there is nothing to send. */
export type Reply = { readonly text: string } | { readonly value: unknown } | 'sent';

type Match = { readonly ui: Ui; readonly call: Call; readonly id: string; readonly query: string };

type Route = {
  /** With `*` for one name. */
  readonly path: string;
  readonly reply: (match: Match) => Reply | Promise<Reply>;
};

/** Answered here and now. */
function now(
  path: string,
  known: readonly string[],
  answer: (ui: Ui, params: Params, id: string) => unknown,
): Route {
  const reply = async ({ ui, id, query }: Match): Promise<Reply> => {
    const params = new Params(new URLSearchParams(query), known, ui.store.now());
    return { value: await answer(ui, params, id) };
  };
  return { path, reply };
}

/** Answered in the thread. */
function later(path: string, name: string): Route {
  const reply = async ({ ui, call, id, query }: Match): Promise<Reply> => {
    const journals = ui.lists.table.journals();
    return { text: await ui.thread.ask({ name, id, query, body: call.body, journals }) };
  };
  return { path, reply };
}

const GETS: readonly Route[] = [
  now('/api/hello', [], (ui) => helloOf(ui)),
  now('/api/sessions', SESSIONS_PARAMS, ({ lists }, params) => sessionsAnswer(lists, params)),
  now('/api/sessions/*', SESSION_PARAMS, ({ lists }, params, id) =>
    sessionAnswer(lists, id, params),
  ),
  now('/api/sessions/*/outline', OUTLINE_PARAMS, ({ lists }, params, id) =>
    outlineAnswer(lists, id, params),
  ),
  now('/api/runs', RUNS_PARAMS, (ui, params) => runsAnswer(ui, params)),
  now('/api/runs/*', [], ({ store }, _, id) => runAnswer(store, id)),
  now('/api/runs/*/index', INDEX_PARAMS, ({ store }, params, id) => indexAnswer(store, id, params)),
  now('/api/runs/*/place', PLACE_PARAMS, ({ store }, params, id) => placeAnswer(store, id, params)),
  { path: '/api/runs/*/bytes', reply: bytesOf },
  later('/api/runs/*/find', 'find'),
  later('/api/runs/*/trace', 'trace'),
  later('/api/runs/*/writes', 'writes'),
  later('/api/search', 'search'),
  later('/api/stats', 'stats'),
  later('/api/activity', 'activity'),
  later('/api/verify', 'verify'),
  later('/api/seal', 'seal'),
  later('/api/proof/*', 'proof'),
  later('/api/health', 'health'),
  later('/api/storage', 'storage'),
  later('/api/policy', 'policy'),
  now('/api/questions', [], ({ env }) => ({ questions: questionsJson(env) })),
];

const POSTS: readonly Route[] = [
  later('/api/policy/check', 'check'),
  later('/api/policy/lint', 'lint'),
  later('/api/policy/whatif', 'whatif'),
];

export async function replyTo(ui: Ui, call: Call): Promise<Reply> {
  const { path, query, request } = call;
  const routes = request.method === 'POST' ? POSTS : GETS;
  for (const route of routes) {
    const id = idIn(route.path, path);
    if (id !== undefined) return route.reply({ ui, call, id, query });
  }
  const others = request.method === 'POST' ? GETS : POSTS;
  if (others.some((route) => idIn(route.path, path) !== undefined)) {
    const allow = request.method === 'POST' ? 'GET, HEAD' : 'POST';
    throw new Fault(405, `It is asked with ${allow}.`, { headers: { allow } });
  }
  throw notFound('such page');
}

const NAME = /^[\w.@:+=-]{1,200}$/;

/** What stands in the place of the star; empty where there is none. Undefined: another path. */
function idIn(pattern: string, path: string): string | undefined {
  const [wanted, given] = [pattern.split('/'), path.split('/')];
  if (wanted.length !== given.length) return undefined;
  const star = wanted.indexOf('*');
  if (wanted.some((part, at) => at !== star && part !== given[at])) return undefined;
  const id = given[star] ?? '';
  return star < 0 || NAME.test(id) ? id : undefined;
}

async function bytesOf({ ui, call, id, query }: Match): Promise<Reply> {
  const params = new Params(new URLSearchParams(query), BYTES_PARAMS, ui.store.now());
  await sendBytes(ui.store, id, params, call);
  return 'sent';
}

function helloOf({ version, readOnly, serverId, lists, store, cwd }: Ui): Hello {
  const rows = lists.table.rows();
  const counts = new Map<string, number>();
  for (const { journal } of rows) {
    counts.set(journal.directory, (counts.get(journal.directory) ?? 0) + 1);
  }
  const projects = lists.table.journals().map(({ project, directory }) => ({
    project,
    directory,
    sessions: counts.get(directory) ?? 0,
  }));
  return {
    version,
    read_only: readOnly !== undefined,
    read_only_reason: readOnly ?? null,
    server_id: serverId,
    project: projects[0]?.project ?? cwd,
    projects,
    state_root: store.root,
    now: isoTime(store.now()),
  };
}
