// Removes expired captures when a run starts, beside the run, so that the run does not wait.

import { closeSync, constants, lstatSync, openSync, readFileSync, utimesSync } from 'node:fs';
import { join } from 'node:path';
import { adoptedInto, hasReach } from '../capture/entry-marks.ts';
import { captureDir } from '../capture/paths.ts';
import type { Store } from '../capture/store.ts';
import { type SweepOptions, type SweepResult, sweep } from '../capture/sweep.ts';
import { errnoOf, isAppError } from '../errors.ts';
import { hasEntryOfRun } from '../journal/entry-lines.ts';
import { SWEEP_PAUSE_MS } from '../limits.ts';
import type { Log } from '../log.ts';
import { asCount, asObject, asString, type JsonObject, parseObject } from '../text/json.ts';
import { within } from './run.ts';

const LOOKED_AT_MIN = 8; // captures looked at even for the shortest run: the oldest and some others
const SLICE = 4; // captures between two checks of the run
const SECOND_MS = 1_000;
const LONG_MS = 50; // a longer run does not notice the sweep beside it

/** Sweeps and writes one log line per capture looked at. */
export async function sweepLogged(
  store: Store,
  log: Log,
  options: SweepOptions = {},
): Promise<SweepResult[]> {
  const all: SweepResult[] = [];
  const owed = owedTo(store);
  for await (const swept of sweep(store, { ...options, log, owed })) all.push(swept);
  return all;
}

/**
 * Looks at a few captures, unless another process did so a moment ago; while the run lasts, at all
 * others. Short commands in a full state root are not delayed, nor are those without a usable state
 * root: another message says that they are not recorded.
 */
export async function sweepAtStart(store: Store, log: Log, done: Promise<unknown>): Promise<void> {
  try {
    await sweepBeside(store, log, done);
  } catch (error) {
    if (errnoOf(error) === undefined && !isAppError(error)) throw error;
  }
}

async function sweepBeside(store: Store, log: Log, done: Promise<unknown>): Promise<void> {
  let over = false;
  const end = done.then(() => {
    over = true;
  });
  const owed = owedTo(store);
  if (due(store)) for await (const _ of sweep(store, { limit: LOOKED_AT_MIN, log, owed }));
  await within(end, LONG_MS);
  if (over) return;
  let count = 0;
  for await (const _ of sweep(store, { log, owed })) {
    if (over) return;
    if (++count % SLICE === 0) await nextTurn();
  }
}

// give up on entries that no server fetched for a month
const OWED_MS_MAX = 30 * 24 * 60 * 60 * 1000;

/**
 * True if the capture's journal still lacks its entry, because the server was killed, left the run
 * running, or could not write the journal; the project's next server writes the entry from the
 * capture. Only looked up for old captures.
 */
export function owedTo(store: Store): NonNullable<SweepOptions['owed']> {
  return ({ id, journal }, { at }) => {
    if (journal === undefined || store.now() - at > OWED_MS_MAX) return false;
    const dir = captureDir(store.root, id);
    const sessionId = adoptedInto(dir) ?? journal.sessionId;
    if (sessionId === null) return true;
    const sessions = join(journal.directory, 'sessions');
    const path = join(sessions, `${sessionId}.meta.json`);
    let session: JsonObject | undefined;
    try {
      session = parseObject(readFileSync(path, 'utf8'));
    } catch {
      return false; // the session was removed, so no server will ask
    }
    if (hasReach(dir)) return true;
    const owner = asObject(session?.owner);
    const pid = asCount(owner?.pid);
    const startTime = asCount(owner?.start_time) ?? 0;
    if (session?.status === 'active') return pid !== undefined && !store.alive({ pid, startTime });
    const ended = Date.parse(asString(session?.last_updated) ?? '');
    if (session?.status === 'interrupted' || !(at >= ended)) return false;
    // The session's time has whole seconds. Within the last one only its entries tell.
    return at >= ended + SECOND_MS || !hasEntry(sessions, sessionId, id);
  };
}

/** A file of entries that cannot be read has none. */
function hasEntry(sessions: string, sessionId: string, runId: string): boolean {
  try {
    return hasEntryOfRun(join(sessions, `${sessionId}.jsonl`), runId);
  } catch {
    return false; // the next server may do better
  }
}

/** The mtime of an empty file is the time of the last sweep. */
function due(store: Store): boolean {
  const path = join(store.root, 'swept');
  const now = store.now();
  const last = lstatSync(path, { throwIfNoEntry: false })?.mtimeMs;
  // A clock that was set back must not keep captures for ever.
  if (last !== undefined && last <= now && now - last < SWEEP_PAUSE_MS) return false;
  touch(path, now);
  return true;
}

function touch(path: string, now: number): void {
  try {
    const { O_WRONLY, O_CREAT, O_NOFOLLOW = 0 } = constants;
    closeSync(openSync(path, O_WRONLY | O_CREAT | O_NOFOLLOW, 0o600));
    utimesSync(path, now / 1000, now / 1000);
  } catch {
    // A full or read-only state root: every run sweeps, as if it were the first.
  }
}

/** Yields to the event loop, so that messages of the run come in. */
function nextTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
