// What servers that are gone have left: runs with an intent and no entry get theirs, from what
// their captures say; those that still go on get it when they end. Several servers may do this at
// once: each plans and writes under the journal's claim and lets go of it while it waits, so that
// nothing is entered twice.

import { setTimeout as delay } from 'node:timers/promises';
import { active } from './capture/state.ts';
import { captureIds, openCapture } from './capture/store.ts';
import { openWatch } from './capture/watch.ts';
import { AppError, errnoOf } from './errors.ts';
import { type Claim, claimRecovery } from './journal/claim.ts';
import type { JournalEnv } from './journal/files.ts';
import { readMetadata } from './journal/reader.ts';
import {
  type KnownIntent,
  knownSessions,
  planRecovery,
  type SessionRecovery,
} from './journal/recovery.ts';
import { endedWhole } from './journal/writer.ts';
import type { PluginLog } from './plugin.ts';
import type { Capture, Store } from './reading.ts';
import type { RecorderJournal } from './recorder-journal.ts';
import { survivorsField } from './recorder-later.ts';
import { bytesWanted, NO_OUTPUT, readStreams, storedOutput } from './recorder-output.ts';
import { type End, endOf } from './recorder-run.ts';
import type { Redactor } from './text/redact.ts';
import { entryProcesses, UNTRACED } from './trace-entry.ts';
import type { EntryDraft, JournalIntent, ProcessId } from './types.ts';

const SLICE = 32; // captures looked at between two turns of the event loop
const CLAIM_AGAIN_MS = 200; // whoever has the claim writes a few lines
const CLAIMS_MAX = 25; // then the journal cannot be written, and nothing can be recovered

export type RecoveryOptions = {
  readonly store: Store;
  readonly directory: string;
  readonly owner: ProcessId;
  readonly env: JournalEnv;
  readonly log: PluginLog;
  /** Set when stored output is to hold no secrets. */
  readonly redact: Redactor | undefined;
  /** For what never holds any. */
  readonly secrets: Redactor;
  readonly journal: Pick<RecorderJournal, 'active' | 'recover' | 'recovered'>;
};

/** A run of a server that is gone, for whoever asks what became of it. */
export type EarlierRun = {
  readonly runId: string;
  readonly command: string;
  readonly state: 'running' | 'killed';
};

type Found = { readonly capture: Capture; readonly intent: JournalIntent };

export class Recovery {
  readonly #options: RecoveryOptions;
  readonly #stop = new AbortController();
  readonly #work: Promise<unknown>;
  /** Resolves when all that can be done at once is done. Never rejects. */
  readonly first: Promise<void>;
  readonly #watched = new Map<string, Promise<void>>();
  #earlier: readonly EarlierRun[] = [];

  constructor(options: RecoveryOptions) {
    this.#options = options;
    const pending = this.#begin().catch((error: unknown) => this.#failed(error));
    this.first = pending.then(() => undefined);
    this.#work = pending.then((waiting) => {
      for (const id of waiting) this.#watched.set(id, this.#watch(id));
      return Promise.all(this.#watched.values());
    });
  }

  /** Those that still run, and those that the last server ended with itself. */
  earlierRuns(): readonly EarlierRun[] {
    const { store } = this.#options;
    return this.#earlier.filter(({ runId, state }) => {
      const now = state === 'running' ? openIfThere(store, runId) : undefined;
      return state === 'killed' || (now !== undefined && active(now.meta, now.final, store));
    });
  }

  /** Resolves when the run has its entry, as far as one can be written. */
  async entered(runId: string): Promise<void> {
    await this.first;
    await this.#watched.get(runId);
  }

  async close(): Promise<void> {
    this.#stop.abort();
    await this.#work;
  }

  async #begin(): Promise<readonly string[]> {
    const { store, directory } = this.#options;
    const found: Found[] = [];
    for (const [count, id] of captureIds(store).entries()) {
      if (count % SLICE === 0) await delay(0);
      if (this.#stop.signal.aborted) return [];
      const one = abandoned(openIfThere(store, id), store, directory);
      if (one !== undefined) found.push(one);
    }
    this.#earlier = earlierRuns(found, store);
    return this.#settle(found.filter(mayBeMissing(directory)));
  }

  /** Writes what can be written; gives the runs that must be waited for. */
  async #settle(found: readonly Found[]): Promise<readonly string[]> {
    const { directory, store } = this.#options;
    const claim = await this.#claim();
    if (claim === undefined) return [];
    try {
      const named = found.map(({ intent }) => intent.sessionId);
      const open = new Set(this.#options.journal.active().map(({ session_id }) => session_id));
      const all = await knownSessions(directory, named, store.alive);
      const sessions = all.map((one) => ({ ...one, open: open.has(one.metadata.session_id) }));
      const byRun = new Map(found.map((one) => [one.capture.id, one]));
      const plans = planRecovery({ directory, sessions, intents: found.map(known) });
      for (const plan of plans) {
        const runs = plan.append.flatMap((id) => byRun.get(id) ?? []);
        if (plan.end === undefined && runs.length === 0) continue;
        // One session that cannot be written must not keep the others from it.
        await this.#resume(plan, runs).catch((error) => this.#failed(error));
      }
      return plans.flatMap(({ wait }) => wait);
    } finally {
      claim.release();
    }
  }

  /** Goes on with a session whose owner is gone, and ends it again. */
  async #resume(plan: SessionRecovery, runs: readonly Found[]): Promise<void> {
    const { sessionId, wait, end } = plan;
    const { directory, journal, log, redact, secrets } = this.#options;
    const writer = journal.recover(directory, sessionId);
    if (end !== undefined) for (const _ of wait) writer.expect();
    let complete = false;
    try {
      await Promise.all(runs.map((run) => writer.append(entryOf(run, redact, secrets))));
      complete = true;
    } finally {
      const { status, end_reason } = writer.metadata;
      // One that still lacks entries has to be looked at again.
      if (!complete) await journal.recovered(writer, 'interrupted', 'server_gone');
      else if (end !== undefined) await journal.recovered(writer, end, 'server_gone');
      else await journal.recovered(writer, status, end_reason ?? 'recovered');
    }
    log('info', 'Session recovered', { session_id: sessionId, entries: runs.length });
  }

  /** Until a run of somebody else is over and has its entry. */
  async #watch(id: string): Promise<void> {
    const { store, directory } = this.#options;
    const first = openIfThere(store, id);
    if (first === undefined) return;
    const watch = openWatch(first.dir, 'output.bin');
    try {
      while (!this.#stop.signal.aborted) {
        const now = abandoned(openIfThere(store, id), store, directory);
        if (now === undefined) return; // swept away, and with it what an entry could say
        if (!known(now).running) {
          await this.#settle([now]).catch((error: unknown) => this.#failed(error));
          return;
        }
        await watch.changed(Number.POSITIVE_INFINITY, this.#stop.signal);
      }
    } finally {
      watch.close();
    }
  }

  async #claim(): Promise<Claim | undefined> {
    const { directory, owner, store, env } = this.#options;
    for (let tries = 0; tries < CLAIMS_MAX && !this.#stop.signal.aborted; tries += 1) {
      const claim = await claimRecovery(directory, owner, store.alive, env.now);
      if (claim !== undefined) return claim;
      await this.#pause(CLAIM_AGAIN_MS);
    }
    return undefined;
  }

  /** Ends early when nobody needs the rest any more. */
  async #pause(ms: number): Promise<void> {
    await delay(ms, undefined, { signal: this.#stop.signal }).catch(() => undefined);
  }

  #failed(error: unknown): readonly string[] {
    const words = error instanceof Error ? error.message : String(error);
    this.#options.log('warn', 'Recovery failed', { session_id: null, error: words });
    return [];
  }
}

/** A run for this journal that nobody looks after any more. */
function abandoned(
  capture: Capture | undefined,
  store: Store,
  directory: string,
): Found | undefined {
  const intent = capture?.meta?.journal;
  if (capture?.meta === undefined || intent?.directory !== directory) return undefined;
  return store.alive(capture.meta.starter) ? undefined : { capture, intent };
}

function earlierRuns(found: readonly Found[], store: Store): readonly EarlierRun[] {
  const last = found.at(-1)?.capture.meta?.starter.pid; // ids sort by time
  return found.flatMap(({ capture, intent }): EarlierRun[] => {
    const { id: runId, meta, final } = capture;
    const { command } = intent.draft;
    if (active(meta, final, store)) return [{ runId, command, state: 'running' }];
    const killed = final?.endedBy === 'shutdown' && meta?.starter.pid === last;
    return killed ? [{ runId, command, state: 'killed' }] : [];
  });
}

/**
 * Whether a run can be without its entry. A session that was ended in order has the entries of all
 * that ended before; looking them up would mean to read it. One that was interrupted, or got
 * entries later, may get them in any order, and is looked at.
 */
function mayBeMissing(directory: string): (found: Found) => boolean {
  const endedAt = new Map<string, number>();
  return ({ capture, intent: { sessionId } }) => {
    let ended = endedAt.get(sessionId);
    if (ended === undefined) {
      const metadata = readMetadata(directory, sessionId);
      const whole = metadata !== undefined && endedWhole(metadata);
      ended = whole ? Date.parse(metadata.last_updated) : 0;
      endedAt.set(sessionId, ended);
    }
    return capture.final === undefined || capture.final.at >= ended;
  };
}

function known({ capture, intent }: Found): KnownIntent {
  const running = capture.state === 'running' || capture.state === 'starting';
  return { runId: capture.id, intent, starterAlive: false, running };
}

/** What the capture can tell; how a run ended whose runner was killed nobody knows. */
function entryOf(
  { capture, intent }: Found,
  redact: Redactor | undefined,
  secrets: Redactor,
): EntryDraft {
  const { final, meta } = capture;
  const { draft, captureOutput, outputBytesMax } = intent;
  // Nobody knows its secrets any more, unless the one who asks keeps them out, too.
  const unsafe = intent.redact && redact === undefined;
  const startedAt = meta?.startedAt ?? meta?.createdAt ?? 0;
  const traced = meta?.trace?.enabled === true;
  const output = captureOutput && !unsafe ? outputOf(capture, outputBytesMax, redact) : NO_OUTPUT;
  return {
    ...draft,
    ...(final === undefined ? UNSEEN_END : endOf(final)),
    ...output,
    ...(traced ? entryProcesses(capture.dir, draft.command, secrets) : UNTRACED),
    ...survivorsField(final?.survivors ?? [], secrets),
    duration_ms: final === undefined ? 0 : final.at - startedAt,
    run_id: capture.id,
  };
}

function outputOf(
  capture: Capture,
  bytesMax: number,
  redact: Redactor | undefined,
): ReturnType<typeof storedOutput> {
  try {
    return storedOutput(readStreams(capture, bytesWanted(bytesMax, redact)), bytesMax, redact);
  } catch {
    return NO_OUTPUT; // a capture that cannot be read: the command was run all the same
  }
}

const UNSEEN_END: End = {
  timed_out: false,
  exit_code: null,
  end_reason: 'interrupted',
  signal: null,
};

function openIfThere(store: Store, id: string): Capture | undefined {
  try {
    return openCapture(store, id);
  } catch (error) {
    // Removed meanwhile, planted by somebody, or somebody else's: nothing of ours.
    const foreign = ['EACCES', 'EPERM', 'EIO'].includes(errnoOf(error) ?? '');
    if (foreign || error instanceof AppError) return undefined;
    throw error;
  }
}
