// `GET /api/runs` and `GET /api/runs/ID`: captures, and everything that is known of one.

import { adoptedInto } from '../capture/entry-marks.ts';
import { encodeEvent } from '../capture/event.ts';
import { encodeFinal } from '../capture/format.ts';
import { ENCRYPTED, PACKED } from '../capture/open-source.ts';
import { hasIn, isSessionId, sessionIdTime } from '../capture/paths.ts';
import { totalsOf, withSnapshot } from '../capture/snapshot.ts';
import { captureIds, readEvents, summarise } from '../capture/store.ts';
import { isAppError } from '../errors.ts';
import { readableEntryOfRun } from '../journal/entry-lines.ts';
import { findSessionFiles } from '../journal/files.ts';
import { isJournalId } from '../journal/ids.ts';
import { captureJson, processJson } from '../shell/capture-json.ts';
import { type Capture, missingBytes, openCapture, type Store } from '../shell/captures.ts';
import { runProcesses } from '../shell/processes.ts';
import { isoTime } from '../text/dates.ts';
import { type JsonObject, parseObject } from '../text/json.ts';
import type { RunAnswer, RunEvent, RunFinal, RunSummary, RunsAnswer } from './api.ts';
import { Fault, notFound } from './fault.ts';
import type { LiveRuns } from './live-runs.ts';
import type { Params } from './params.ts';

const LIMIT = 100;
const LIMIT_MAX = 1_000;

export const RUNS_PARAMS = ['live', 'cursor', 'limit'];

export async function runsAnswer(
  { store, runs }: { readonly store: Store; readonly runs: LiveRuns },
  params: Params,
): Promise<RunsAnswer> {
  const limit = params.limit(LIMIT, LIMIT_MAX);
  const cursor = params.text('cursor');
  if (params.on('live')) {
    const live = await runs.now();
    return { runs: live, cursor: null, total: live.length };
  }
  if (cursor !== undefined && !isSessionId(cursor)) throw new Fault(400, 'This is no cursor.');
  const ids = captureIds(store)
    .map((id) => ({ id, at: sessionIdTime(id) ?? 0 }))
    .sort((a, b) => b.at - a.at || (a.id < b.id ? 1 : -1))
    .map(({ id }) => id);
  const at = cursor === undefined ? -1 : ids.indexOf(cursor);
  if (cursor !== undefined && at < 0) throw notFound('such place in the list any more');
  const page = ids.slice(at + 1, at + 1 + limit);
  return {
    runs: page.flatMap((id) => summaryOf(store, id) ?? []),
    cursor: at + 1 + limit < ids.length ? (page.at(-1) ?? null) : null,
    total: ids.length,
  };
}

/** Undefined for one that is gone. */
export function summaryOf(store: Store, id: string): RunSummary | undefined {
  const capture = summarise(store, id);
  return capture && captureJson(capture);
}

/** The capture of exactly this id. Throws for what is none. */
export function captureOf(store: Store, id: string): Capture {
  if (!isSessionId(id)) throw notFound('run of this id');
  return openCapture(store, id);
}

export function runAnswer(store: Store, id: string): RunAnswer {
  const capture = captureOf(store, id);
  const run = summaryOf(store, id);
  if (run === undefined) throw notFound('run of this id');
  const { meta, final } = capture;
  return {
    run,
    meta: meta === undefined ? null : metaJson(meta),
    final:
      final === undefined ? null : (parseObject(encodeFinal(final, id)) as RunFinal & JsonObject),
    ...readable(capture),
    stored: storedAs(capture),
    processes: runProcesses(capture).map(processJson),
    entry: entryOf(capture),
    t0: meta?.startedAt ?? meta?.createdAt ?? 0,
  };
}

function metaJson(meta: NonNullable<Capture['meta']>): RunAnswer['meta'] {
  const { transport, ttyAttached, startedAt, killAfterMs, outputBytesMax, source, owner } = meta;
  return {
    transport,
    tty_attached: ttyAttached,
    started_at: startedAt === undefined ? null : isoTime(startedAt),
    kill_after_ms: killAfterMs ?? null,
    output_bytes_max: outputBytesMax,
    environment_names: Object.keys(meta.journal?.draft.environment ?? {}).sort(),
    source: source ?? null,
    owner: owner === undefined ? null : { ...owner },
  };
}

type Readable = Pick<RunAnswer, 'events' | 'missing' | 'hole' | 'totals'>;

const UNREADABLE: Readable = {
  events: [],
  missing: { bytes: 0, reasons: [] },
  hole: null,
  totals: { bytes: 0, lines: 0, stdout_bytes: 0, stderr_bytes: 0 },
};

/** Of an encrypted capture that we cannot decrypt, the rest is told all the same. */
function readable(capture: Capture): Readable {
  try {
    const { hole, totals } = withSnapshot(capture, (snapshot) => {
      const { bytes, lines } = totalsOf(snapshot);
      const sums = { bytes: snapshot.end, lines: lines[0] + lines[1] };
      return {
        hole: snapshot.hole,
        totals: { ...sums, stdout_bytes: bytes[0], stderr_bytes: bytes[1] },
      };
    });
    const events = readEvents(capture).map(
      (event) => parseObject(encodeEvent(event)) as RunEvent & JsonObject,
    );
    const missing = missingBytes(capture);
    return { events, missing, hole: hole === undefined ? null : [hole.from, hole.to], totals };
  } catch (error) {
    if (!isAppError(error)) throw error;
    return { ...UNREADABLE, missing: { bytes: 0, reasons: [error.message] } };
  }
}

function storedAs({ dir }: Capture): RunAnswer['stored'] {
  if (hasIn(dir, 'output.bin')) return 'plain';
  return hasIn(dir, `output.bin${PACKED}${ENCRYPTED}`) ? 'encrypted' : 'packed';
}

function entryOf({ dir, id, meta }: Capture): RunAnswer['entry'] {
  const journal = meta?.journal;
  const session = adoptedInto(dir) ?? journal?.sessionId;
  if (journal === undefined || !session || !isJournalId(session)) return null;
  const path = findSessionFiles(journal.directory, session)?.entries;
  const entry = path === undefined ? undefined : readableEntryOfRun(path, id);
  if (entry === undefined) return null;
  const { session_id, entry_id, sequence_number, decision } = entry;
  return { journal: journal.directory, session_id, entry_id, sequence_number, decision };
}
