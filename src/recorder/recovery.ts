// What the journal lacks: runs with an intent and no entry get theirs, from what their captures
// say, and entries get what came behind them; runs that still go on get it when they end. These are
// the runs of servers that are gone, and runs that this server answered while the journal could not
// be written. Several servers may do this at once: each plans and writes under the journal's claim
// and lets go of it while it waits, so that nothing is entered twice.

import { setMaxListeners } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { adoptedInto, adoptInto, forgetReach, hasReach } from '../capture/entry-marks.ts';
import { active } from '../capture/state.ts';
import { captureIds, openCapture } from '../capture/store.ts';
import { openWatch } from '../capture/watch.ts';
import { AppError, errnoOf, messageOf } from '../errors.ts';
import { type Claim, claimRecovery } from '../journal/claim.ts';
import { readableEntryOfRun } from '../journal/entry-lines.ts';
import { findSessionFiles, type JournalEnv } from '../journal/files.ts';
import {
  type KnownIntent,
  type KnownSession,
  knownSessions,
  planRecovery,
  type SessionRecovery,
} from '../journal/recovery.ts';
import type { SessionWriter } from '../journal/writer.ts';
import { hasRoom } from '../ops/health.ts';
import type { Capture, Store } from '../shell/captures.ts';
import { deferred } from '../shell/run.ts';
import type { Redactor } from '../text/redact.ts';
import type { EntryDecision, JournalIntent, Log, ProcessId } from '../types.ts';
import { noteEntryReach, recordLater } from './entry.ts';
import type { RecorderJournal } from './journal.ts';
import {
  entryOf,
  type FoundRun,
  isUnsafe,
  mayLack,
  type Stage,
  stageOf,
  streamsFor,
} from './recovered.ts';

const SLICE = 32; // captures looked at between two turns of the event loop
const CLAIM_AGAIN_MS = 200; // the server with the claim writes a few lines
const CLAIMS_MAX = 25; // then the journal cannot be written, and nothing can be recovered

export type RecoveryOptions = {
  readonly store: Store;
  readonly directory: string;
  readonly owner: ProcessId;
  readonly env: JournalEnv;
  readonly log: Log;
  /** Brings captures to the store that were made elsewhere, before it is looked through. */
  readonly arrivals?: () => Promise<unknown>;
  /** Looks at these captures instead of all that there are. */
  readonly only?: readonly string[];
  /** What the policy says to a command that ran in a sandbox. */
  readonly judge: (draft: JournalIntent['draft']) => Promise<EntryDecision | null>;
  /** Set when stored output is to hold no secrets. */
  readonly redact: Redactor | undefined;
  /** For what never holds any. */
  readonly secrets: Redactor;
  /** Runs of which the journal lacks something that can be written as soon as it can be. */
  readonly owed: Set<string>;
  readonly journal: Pick<
    RecorderJournal,
    'active' | 'later' | 'placeLate' | 'recover' | 'recovered' | 'settled' | 'works'
  >;
};

/** A run of a server that is gone, as an agent hears of it. */
export type EarlierRun = {
  readonly runId: string;
  readonly command: string;
  readonly state: 'running' | 'killed';
};

/** `end`: that of the run; `writing`: a journal that can be written. */
type Lacks = 'end' | 'writing' | 'nothing';

type Watched = { readonly entered: Promise<void>; readonly over: Promise<void> };

export class Recovery {
  readonly #options: RecoveryOptions;
  readonly #stop = new AbortController();
  /** Resolves when all that can be done at once is done. Never rejects. */
  readonly first: Promise<void>;
  /** All captures were looked at, and none is owed an entry that could be written. */
  complete = false;
  readonly #watched = new Map<string, Watched>();
  #again: Promise<void> | undefined;
  #asked = false;
  #earlier: readonly EarlierRun[] = [];

  constructor(options: RecoveryOptions) {
    this.#options = options;
    setMaxListeners(0, this.#stop.signal); // each run that is waited for has one
    const pending = this.#begin().catch((error: unknown) => this.#failed(error));
    this.first = pending.then((waiting) => this.#watchAll(waiting));
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
    await this.#watched.get(runId)?.entered;
  }

  /** Tries again what is owed. Never rejects. */
  retry(): Promise<void> {
    this.#asked = this.#options.owed.size > 0;
    this.#again ??= this.#retryWhileAsked().finally(() => {
      this.#again = undefined;
    });
    return this.#again;
  }

  /** If the journal becomes writable during one try, there is another try. */
  async #retryWhileAsked(): Promise<void> {
    while (this.#asked && !this.#stop.signal.aborted) {
      this.#asked = false;
      this.#watchAll(await this.#settleOwed().catch((error: unknown) => this.#failed(error)));
    }
  }

  async close(): Promise<void> {
    this.#stop.abort();
    await this.first;
    await this.#again;
    await Promise.all([...this.#watched.values()].map(({ over }) => over));
    if (this.#options.owed.size > 0) await this.#settleOwed().catch((error) => this.#failed(error));
  }

  async #begin(): Promise<readonly string[]> {
    const { store, directory, arrivals, only } = this.#options;
    await arrivals?.();
    const found: FoundRun[] = [];
    for (const [count, id] of (only ?? captureIds(store)).entries()) {
      if (count % SLICE === 0) await delay(0);
      if (this.#stop.signal.aborted) return [];
      const one = this.#found(id);
      if (one !== undefined && !one.own) found.push(one);
    }
    this.#earlier = earlierRuns(found, store);
    const waiting = await this.#settle(found.filter(mayLack(directory)));
    this.complete = this.#options.owed.size === 0;
    return waiting;
  }

  async #settleOwed(): Promise<readonly string[]> {
    const { owed } = this.#options;
    const found: FoundRun[] = [];
    for (const id of owed) {
      const one = this.#found(id);
      if (one === undefined) owed.delete(id);
      else found.push(one);
    }
    return this.#settle(found);
  }

  /** A run for this journal that no other server looks after. */
  #found(id: string): FoundRun | undefined {
    const { store, directory, owner } = this.#options;
    const capture = openIfThere(store, id);
    const { journal: intent, starter } = capture?.meta ?? {};
    if (capture === undefined || starter === undefined || intent?.directory !== directory) {
      return undefined;
    }
    const own = starter.pid === owner.pid && starter.startTime === owner.startTime;
    if (!own && store.alive(starter)) return undefined;
    const sessionId = adoptedInto(capture.dir) ?? intent.sessionId ?? undefined;
    return { capture, intent, sessionId, own };
  }

  /** Writes what can be written; gives the runs that must be waited for. */
  async #settle(found: readonly FoundRun[]): Promise<readonly string[]> {
    const { directory, store, owner, owed, journal } = this.#options;
    for (const { capture } of found) owed.add(capture.id);
    const claim = await this.#claim();
    if (claim === undefined) return [];
    const expecting: SessionWriter[] = [];
    try {
      await journal.settled();
      const placed = found.map((one) => this.#placed(one, expecting));
      const byRun = new Map(placed.map((one) => [one.capture.id, one]));
      const named = placed.flatMap(({ sessionId }) => sessionId ?? []);
      const open = new Set(journal.active().map(({ session_id }) => session_id));
      const all = await knownSessions(directory, named, store.alive);
      const sessions = all.map((one) => asKnownHere(one, owner, open));
      const plans = planRecovery({ directory, sessions, intents: placed.flatMap(known) });
      const entered = new Set<string>();
      for (const plan of plans) {
        const runs = plan.append.flatMap((id) => byRun.get(id) ?? []);
        if (plan.end === undefined && runs.length === 0) continue;
        // One session that cannot be written must not keep the others from it.
        await this.#resume(plan, runs, entered).catch((error) => this.#failed(error));
      }
      const waiting: string[] = [];
      for (const one of placed) {
        const { id } = one.capture;
        const session = sessions.find(({ metadata }) => metadata.session_id === one.sessionId);
        const there = entered.has(id) || session?.runIds.has(id) === true;
        const lacks = there ? await this.#lacksLater(one) : lacksEntry(one, session);
        if (lacks !== 'writing') owed.delete(id);
        if (lacks === 'end') waiting.push(id);
      }
      return waiting;
    } finally {
      for (const writer of expecting) writer.arrived();
      claim.release();
    }
  }

  /** A command without a session gets one when it is over. */
  #placed(one: FoundRun, expecting: SessionWriter[]): FoundRun {
    const { directory, journal } = this.#options;
    const { capture, intent, own, sessionId } = one;
    // What this server was to write there has not been removed on purpose.
    const gone = own && findSessionFiles(directory, sessionId ?? '') === undefined;
    if ((sessionId !== undefined && !gone) || stageOf(capture) === 'running') return one;
    const nowhere = { ...one, sessionId: undefined };
    const writer = journal.placeLate(directory, intent.draft);
    if (writer === undefined) return nowhere;
    writer.expect(); // so that it is not removed as an empty one
    expecting.push(writer);
    try {
      return { ...one, sessionId: adoptInto(capture.dir, writer.id) };
    } catch (error) {
      this.#failed(error); // without its mark it could be entered twice
      return nowhere;
    }
  }

  /** Writes what came behind the entry of a run that has closed. */
  async #lacksLater({ capture, intent, sessionId = '' }: FoundRun): Promise<Lacks> {
    const { directory, redact, journal, log } = this.#options;
    if (!hasReach(capture.dir)) return 'nothing';
    if (stageOf(capture) !== 'closed') return 'end';
    const files = findSessionFiles(directory, sessionId);
    const entry = files && readableEntryOfRun(files.entries, capture.id);
    if (isUnsafe(intent, redact)) forgetReach(capture.dir);
    if (entry === undefined || isUnsafe(intent, redact)) return 'nothing';
    const keep = { directory, outputBytesMax: intent.outputBytesMax, redact };
    const { survivors = [] } = entry;
    const about = { ...entry, survivors };
    const done = await recordLater(() => capture, about, keep, { journal, log });
    return done ? 'nothing' : 'writing';
  }

  /** Goes on with a session whose owner is gone, and ends it again. */
  async #resume(
    plan: SessionRecovery,
    runs: readonly FoundRun[],
    entered: Set<string>,
  ): Promise<void> {
    const { sessionId, wait, end } = plan;
    const { directory, journal, log } = this.#options;
    const writer = journal.recover(directory, sessionId);
    if (end !== undefined) for (const _ of wait) writer.expect();
    let complete = false;
    try {
      for (const run of runs) if (await this.#enter(writer, run)) entered.add(run.capture.id);
      complete = runs.every(({ capture }) => entered.has(capture.id));
    } finally {
      const { status, end_reason } = writer.metadata;
      // One that still lacks entries has to be looked at again.
      if (!complete) await journal.recovered(writer, 'interrupted', 'server_gone');
      else if (end !== undefined) await journal.recovered(writer, end, 'server_gone');
      else await journal.recovered(writer, status, end_reason ?? 'recovered');
    }
    const entries = runs.filter(({ capture }) => entered.has(capture.id)).length;
    if (entries > 0) journal.works(writer);
    if (complete) log('info', 'Session recovered', { session_id: sessionId, entries });
  }

  /** False while the disk has no room for it. */
  async #enter(writer: SessionWriter, run: FoundRun): Promise<boolean> {
    const { directory, redact, secrets, log, judge } = this.#options;
    const { dir, outputOpen } = run.capture;
    const streams = streamsFor(run, redact);
    const told = entryOf(run, streams, redact, secrets);
    const draft = told.source === 'spool' ? { ...told, decision: await judge(told) } : told;
    if (!hasRoom(directory, JSON.stringify(draft).length)) return false;
    if (streams !== undefined && outputOpen) noteEntryReach(dir, streams, log);
    else forgetReach(dir); // the entry has all there is, or may have nothing
    await writer.append(draft);
    return true;
  }

  #watchAll(ids: readonly string[]): void {
    for (const id of ids.filter((one) => !this.#watched.has(one))) {
      const entered = deferred<void>();
      const over = this.#watch(id, entered.resolve).catch((error: unknown) => {
        this.#failed(error);
      });
      this.#watched.set(id, { entered: entered.promise, over });
    }
  }

  /** Until the journal has all of a run: its entry when it ends, and the rest when it closes. */
  async #watch(id: string, entered: () => void): Promise<void> {
    const first = this.#found(id);
    const watch = first && openWatch(first.capture.dir, 'output.bin');
    let last: Stage = 'running';
    try {
      while (!this.#stop.signal.aborted) {
        const now = this.#found(id);
        if (now === undefined) return; // swept away, and with it what an entry could say
        const stage = stageOf(now.capture);
        if (stage === last) await watch?.changed(Number.POSITIVE_INFINITY, this.#stop.signal);
        else if (!(await this.#settle([now])).includes(id)) return;
        if (stage !== 'running') entered();
        last = stage;
      }
    } finally {
      entered();
      watch?.close();
      this.#watched.delete(id);
    }
  }

  async #claim(): Promise<Claim | undefined> {
    const { directory, owner, store, env } = this.#options;
    for (let tries = 1; ; tries += 1) {
      const claim = await claimRecovery(directory, owner, store.alive, env.now, env.fs);
      if (claim !== undefined) return claim;
      if (tries === CLAIMS_MAX || this.#stop.signal.aborted) return undefined;
      await this.#pause(CLAIM_AGAIN_MS);
    }
  }

  /** Ends early when the recovery is closed. */
  async #pause(ms: number): Promise<void> {
    await delay(ms, undefined, { signal: this.#stop.signal }).catch(() => undefined);
  }

  #failed(error: unknown): readonly string[] {
    this.#options.log('warn', 'Recovery failed', { session_id: null, error: messageOf(error) });
    return [];
  }
}

function earlierRuns(found: readonly FoundRun[], store: Store): readonly EarlierRun[] {
  const last = found.at(-1)?.capture.meta?.starter.pid; // ids sort by time
  return found.flatMap(({ capture, intent }): EarlierRun[] => {
    const { id: runId, meta, final } = capture;
    const { command } = intent.draft;
    if (active(meta, final, store)) return [{ runId, command, state: 'running' }];
    const killed = final?.endedBy === 'shutdown' && meta?.starter.pid === last;
    return killed ? [{ runId, command, state: 'killed' }] : [];
  });
}

/** A session that this process has ended may get entries from it as those of the dead do. */
function asKnownHere(
  session: KnownSession,
  owner: ProcessId,
  open: ReadonlySet<string>,
): KnownSession {
  const { owner: writer, status, session_id } = session.metadata;
  const mine = writer?.pid === owner.pid && writer.start_time === owner.startTime;
  const ended = mine && status !== 'active';
  return { ...session, ownerAlive: session.ownerAlive && !ended, open: open.has(session_id) };
}

function known({ capture, intent, sessionId }: FoundRun): KnownIntent[] {
  if (sessionId === undefined) return [];
  const running = stageOf(capture) === 'running';
  const named = { ...intent, sessionId };
  return [{ runId: capture.id, intent: named, starterAlive: false, running }];
}

/** What a run without an entry waits for. */
function lacksEntry(
  { capture, sessionId, own }: FoundRun,
  session: KnownSession | undefined,
): Lacks {
  if (sessionId !== undefined && session === undefined) return 'nothing'; // removed on purpose
  if (session?.ownerAlive === true && !own && session.open !== true) return 'nothing'; // its part
  return stageOf(capture) === 'running' ? 'end' : 'writing';
}

function openIfThere(store: Store, id: string): Capture | undefined {
  try {
    return openCapture(store, id);
  } catch (error) {
    // Skip captures that were removed, that we cannot read or do not own.
    const foreign = ['EACCES', 'EPERM', 'EIO'].includes(errnoOf(error) ?? '');
    if (foreign || error instanceof AppError) return undefined;
    throw error;
  }
}
