// What the page and its server say to each other: the routes, and the exact form of every answer
// and frame. The names are those of the files on disk, and of `--json` where a command has the same
// answer. Types alone and nothing of Node, so that the page can import it.
//
// Every request but `POST /api/token` carries `Authorization: Bearer TOKEN`; a POST also
// `Content-Type: application/json`. What goes wrong is an `ApiError` with its status: 400 a wrong
// question, 401 no token (any more), 403 not from here, or not for readers, 404 not there, 409
// it cannot be done now, 413 too much, 416 a range behind the end, 500 ours.
//
// GET  /api/hello                                        Hello
// GET  /api/sessions?cursor&limit&q&agent&status&project&seal&since&until   SessionsAnswer
// GET  /api/sessions/ID?from&limit&journal               SessionAnswer   from: a sequence_number
// GET  /api/sessions/ID/outline?journal                  OutlineAnswer   for the minimap
// GET  /api/runs?live&cursor&limit                       RunsAnswer      newest first
// GET  /api/runs/ID                                      RunAnswer
// GET  /api/runs/ID/bytes?stream&download                bytes, with Range; `download` names a file
// GET  /api/runs/ID/index?from&limit                     IndexAnswer     from: an offset
// GET  /api/runs/ID/place?line | offset | t              PlaceAnswer     one of the three
// GET  /api/runs/ID/find?q&regex&case&from&limit         FindAnswer
// GET  /api/runs/ID/trace                                TraceAnswer
// GET  /api/runs/ID/trace?format=chrome                  a file for Perfetto
// GET  /api/runs/ID/writes?pid                           WritesAnswer
// GET  /api/search?q&process&regex&exit&agent&project&session&since&limit  SearchAnswer
// GET  /api/stats?since&project                          StatsAnswer     as `record stats --json`
// GET  /api/activity?since&until&project&zone            ActivityAnswer  zone: minutes east of UTC
// GET  /api/verify?project&session&deep                  VerifyAnswer    as `verify --json`
// GET  /api/seal                                         SealAnswer
// GET  /api/proof/ENTRY_ID?journal                       a proof, as `cuff prove` prints it
// GET  /api/health                                       HealthAnswer    as `status --json`
// GET  /api/storage                                      StorageAnswer
// GET  /api/policy?project                               PolicyAnswer
// GET  /api/questions                                    QuestionsAnswer
// POST /api/token           TokenRequest                 TokenAnswer     no token is needed
// POST /api/policy/check    CheckRequest                 CheckAnswer     judges, changes nothing
// POST /api/policy/lint     LintRequest                  LintAnswer
// POST /api/policy/whatif   WhatIfRequest                WhatIfAnswer
// POST /api/approve         ApproveRequest               ApproveAnswer
// POST /api/kill            KillRequest                  KillAnswer      as `kill --json`
// POST /api/pin             PinRequest                   PinAnswer
// POST /api/seal            {}                           SealedAnswer
// POST /api/sweep           SweepRequest                 SweepAnswer
// WS   /api/live                                         ClientMessage, ServerMessage, frames
//
// `since` and `until` are dates as the command line takes them (`7d`, `2026-01-18`) or ISO 8601.
// `project` is the directory of a project as `Hello.projects` names it; without it all of them are
// meant. Unknown parameters are refused, so that a mistyped filter is never taken for none. In a
// server that only reads, approve, kill, pin, seal and sweep are refused with 403.

export type * from './api/deeds.ts';
export type * from './api/evidence.ts';
export type * from './api/health.ts';
export * from './api/live.ts';
export type * from './api/policy.ts';
export type * from './api/runs.ts';
export type * from './api/search.ts';
export type * from './api/sessions.ts';

export type ApiError = {
  readonly error: {
    /** As in src/errors.ts: `run_not_found`, `usage`, ... */
    readonly code: string;
    /** One sentence. */
    readonly message: string;
    /** What to do. */
    readonly hint: string | null;
  };
};

export type TokenRequest = {
  /** From the fragment `#code=...` of the address. */
  readonly code: string;
};

/** 401 when the code was used, is older than a minute or is none. */
export type TokenAnswer = { readonly token: string };

export type Project = {
  /** The project's directory; what `project=` takes. */
  readonly project: string;
  /** Its journal. */
  readonly directory: string;
  readonly sessions: number;
};

export type Hello = {
  readonly version: string;
  /** Kill, pin, approve, seal and sweep are refused. */
  readonly read_only: boolean;
  /** Why, as a sentence; null where they are not. */
  readonly read_only_reason: string | null;
  /** Another for each server: a page that sees another one was served by one that is gone. */
  readonly server_id: string;
  /** Where it was started; the first of `projects` where it has a journal. */
  readonly project: string;
  readonly projects: readonly Project[];
  readonly state_root: string;
  readonly now: string;
};
