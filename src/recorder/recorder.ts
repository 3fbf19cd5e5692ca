// A shell that keeps a journal. Every command of an agent goes this way: it is permitted, gets a
// session for its entry, is started, ends, and its entry is written before its caller hears of the
// end. When the server stops, the recorder ends or leaves the runs that are still going.

import { messageOf } from '../errors.ts';
import { type Guard, UNRULED } from '../guard/guard.ts';
import type { JournalEnv } from '../journal/files.ts';
import type { ReadSession } from '../journal/reader.ts';
import type { DiskProbe } from '../ops/health.ts';
import type { RecorderMetrics } from '../ops/metrics.ts';
import type { ServerCounters } from '../ops/servers.ts';
import { argvOf } from '../run/env.ts';
import { thisProcess } from '../run/processes.ts';
import { deferred, type Run, within } from '../shell/run.ts';
import type { Capture, Shell } from '../shell/shell.ts';
import { traceCheck } from '../shell/trace-check.ts';
import { UNTRACED } from '../tracing/entry.ts';
import type { AgentContext, Entry, EntryDecision, Env, Health, Log, StopCause } from '../types.ts';
import {
  type Admission,
  admit,
  type Call,
  intentOf,
  noting,
  type Permission,
  questionOf,
  type RunRequest,
  type Terms,
  termsOf,
  wholeRequest,
} from './admission.ts';
import { adoption } from './adoption.ts';
import {
  DENIED,
  type Ending,
  NO_OUTPUT,
  type OpenEnding,
  readOutputOf,
  wholeBelow,
} from './ending.ts';
import {
  type Around,
  enterCommand,
  type StartedRun,
  storedBytesWanted,
  writeEntry,
} from './entry.ts';
import { ExecutionError, RefusedError } from './errors.ts';
import { type EntryReceipt, type JournalInfo, NO_ENTRIES, RecorderJournal } from './journal.ts';
import { type AwaitedRun, endRun, heartbeat } from './progress.ts';
import { recentEntries, sessionNamed } from './recent.ts';
import type { EarlierRun } from './recovery.ts';
import { captureSeconds, type RunSettings } from './settings.ts';
import { Upkeep } from './upkeep.ts';

const KILL_WAIT_MS = 10_000; // a process in uninterruptible sleep must not hold up the server's end

const LEFT: EntryReceipt = { recorded: false, why: 'it goes on without the server' };

export type { Call, RunRequest };

export type Start = {
  readonly run: Run;
  /** The shell that can read it. */
  readonly shell: Shell;
  /** What its entry says and was known before. */
  readonly draft: Admission['draft'];
  /** It is over, and its entry is on the disk. Never rejects. */
  readonly ending: Promise<Ending | OpenEnding>;
};

export type RecorderOptions = {
  readonly shell: Shell;
  readonly settings: RunSettings;
  readonly pluginVersion: string;
  /** The project: what a session says about where it was. */
  readonly workingDirectory: string;
  readonly log: Log;
  readonly metrics: RecorderMetrics;
  readonly env: Env;
  readonly now: () => number;
  /** Without it every command may run. */
  readonly guard?: Guard | undefined;
  readonly settingsWait?: (() => boolean) | undefined;
  readonly heartbeatMs?: number | undefined;
  /** For tests: a disk that fails. */
  readonly journal?: Omit<JournalEnv, 'now'>;
  readonly disk?: DiskProbe;
};

export type SessionInfo = JournalInfo & { readonly earlierRuns: readonly EarlierRun[] };

export class Recorder {
  readonly #options: RecorderOptions;
  readonly #journal: RecorderJournal;
  readonly #upkeep: Upkeep;
  /** Runs of which something is left, survivors included. */
  readonly #live = new Set<Run>();
  /** Runs whose entry is not written yet. */
  readonly #unfinished = new Set<Promise<unknown>>();
  /** Called for runs that the server leaves when it stops. */
  readonly #leave = new Set<() => void>();
  /** Ids of runs whose callers would cancel them by leaving. */
  readonly #attended = new Set<string>();
  readonly #questions = new Set<Promise<Permission>>();
  #terms: Terms;
  #shell: Shell;
  #commands = 0;
  #clientGone = false;
  #closing = false;

  constructor(options: RecorderOptions) {
    const { settings, shell, log, metrics, workingDirectory, env, now } = options;
    this.#options = options;
    this.#shell = shell;
    this.#terms = termsOf(settings, env);
    const { store } = shell;
    const [journalEnv, owed] = [{ now, ...options.journal }, new Set<string>()];
    const parts = { owner: thisProcess(), store, workingDirectory, log, metrics };
    this.#journal = new RecorderJournal(
      {
        ...parts,
        env: journalEnv,
        variables: env,
        owed,
        writable: () => this.#upkeep.writable(),
        changed: ({ session_id }) => this.#upkeep.changed(session_id),
      },
      settings.recording,
    );
    const about = { ...options, store, journal: this.#journal, journalEnv, owed };
    this.#upkeep = new Upkeep(about, settings);
  }

  /** Makes a first session and looks after the runs that dead servers have left. */
  open({ firstSession = true }: { readonly firstSession?: boolean } = {}): void {
    if (firstSession) this.#journal.start();
    this.#upkeep.open();
    // Before the first command, which would have to wait for it.
    if (this.#terms.recording.trace !== 'off') setImmediate(traceCheck, this.#options.env);
  }

  get guarded(): boolean {
    return this.#options.guard?.active === true;
  }

  /**
   * Asks the policy, and the person where the policy says so. Rejects with a `RefusedError` if the
   * command may not run; the refusal is in the journal then.
   */
  async permit(request: RunRequest, call: Call): Promise<Permission> {
    const { guard } = this.#options;
    if (guard?.active !== true) return UNRULED;
    this.#refuseClosing();
    const permission = this.#permit(guard, request, call);
    this.#questions.add(permission);
    try {
      return await permission;
    } finally {
      this.#questions.delete(permission);
    }
  }

  async #permit(guard: Guard, given: RunRequest, call: Call): Promise<Permission> {
    const { log } = this.#options;
    const terms = this.#terms;
    const { asked, request, beside } = await questionOf(wholeRequest(given), terms);
    const about = { ...call, redact: terms.redactCommand, shell: this.#shell };
    const ruling = await guard.rule(asked, about);
    const decision = noting(ruling.decision, beside);
    if (ruling.run) return { ...ruling, decision, request };
    await this.deny(request, call, decision).catch((error: unknown) => {
      log('warn', 'Refusal not recorded', { session_id: null, error: messageOf(error) });
    });
    throw new RefusedError(ruling.text);
  }

  /** Writes down that it was asked for and not executed. */
  async deny(
    request: RunRequest,
    { context }: Pick<Call, 'context'>,
    decision: EntryDecision | null = null,
  ): Promise<void> {
    this.#refuseClosing();
    const { target, draft } = this.#admit(wholeRequest(request), context, decision);
    const ended = { ...DENIED, ...NO_OUTPUT, ...UNTRACED, duration_ms: 0, run_id: null };
    await writeEntry(target, { ...draft, ...ended }, undefined, this.#around);
  }

  /**
   * Starts it and returns. The entry is written when the run is over, even if no call waits for it.
   * Throws an `ExecutionError` or `RecordingError` for a command that is not executed.
   */
  start(given: RunRequest, { context }: Pick<Call, 'context'>, permission: Permission): Start {
    this.#refuseClosing();
    const { decision, hold, request = wholeRequest(given) } = permission;
    const admission = this.#admit(request, context, decision);
    const shell = this.#shell;
    const { run, watch } = this.#run(shell, admission, hold);
    if (admission.target.recorded) admission.target.writer.expect();
    const started = { shell, admission, run, watch };
    const ending = this.#counted(this.#finish(started, request.headBytes ?? 0));
    return { run, shell, draft: admission.draft, ending };
  }

  /** Goes on with a run of a dead server: it ends or is left with this one. */
  adopt(capture: Capture): Start {
    const shell = this.#shell;
    const { run, draft, finish } = adoption(shell, capture, this.#terms, this.#options.now);
    this.#keep(run);
    const entered = async (): Promise<EntryReceipt> =>
      capture.meta?.journal === undefined ? NO_ENTRIES : this.#upkeep.entered(run.id);
    const ending = this.#unlessLeft(run.done).then((ended) =>
      finish(ended, ended === undefined ? LEFT : entered()),
    );
    return { run, shell, draft, ending: this.#counted(ending) };
  }

  /** Waits with `wait`: meanwhile the caller hears how it goes, and can cancel the run. */
  async attend<T>(
    run: AwaitedRun,
    { signal, progress }: Omit<Call, 'context'>,
    wait: () => Promise<T>,
  ): Promise<T> {
    const { redact } = this.#terms;
    const cancel = (): void => void endRun(run, 'cancelled');
    signal?.addEventListener('abort', cancel, { once: true });
    if (signal?.aborted === true) cancel();
    if (signal !== undefined) this.#attended.add(run.id);
    const tell = progress && ((line: string): void => progress(redact(line)));
    const stop = heartbeat(run, tell, this.#options.heartbeatMs);
    try {
      return await wait();
    } finally {
      stop();
      signal?.removeEventListener('abort', cancel);
      this.#attended.delete(run.id);
    }
  }

  sessionInfo(conversationId: string | null = null): SessionInfo {
    return { ...this.#journal.info(conversationId), earlierRuns: this.#upkeep.earlierRuns() };
  }

  /** Of this conversation, or of the whole journal without one; newest first. */
  listRecent(count: number, conversationId: string | null): readonly Entry[] {
    const open = this.#journal.active().map(({ session_id }) => session_id);
    return recentEntries(this.#terms.recording.directory, count, open, conversationId);
  }

  /** The one session whose id contains `part`, without the output of its commands. */
  session(part: string): ReadSession | undefined {
    return sessionNamed(this.#terms.recording.directory, part);
  }

  health(): Health {
    return this.#journal.health(this.#options.disk);
  }

  counters(): ServerCounters {
    const { entriesWritten: entries, errors: recordingErrors } = this.#journal;
    return { commands: this.#commands, entries, recordingErrors };
  }

  /** Later commands are started by `shell`; those under way go on as they began. */
  async reload(settings: RunSettings, shell = this.#shell): Promise<void> {
    this.#shell = shell;
    this.#terms = termsOf(settings, this.#options.env);
    await this.#journal.reload(settings.recording);
    this.#upkeep.reload(settings);
  }

  /** Entries of finished commands and the ends of sessions are written when this returns. */
  stopping(cause: StopCause): void {
    // A client that is gone has cancelled the calls it was waiting for.
    if (cause === 'client') this.#clientGone = true;
    this.#journal.endNow('shutdown', 'shutdown');
  }

  /** Runs end or are left as the settings say; then every session gets its end. */
  async close(): Promise<void> {
    const { guard } = this.#options;
    // A command that a person is being asked about is refused now, and that must be written down.
    guard?.stopAsking();
    await Promise.allSettled(this.#questions);
    this.#closing = true;
    if (this.#terms.onShutdown === 'kill') await this.#killAll();
    // A run that could not be ended must not hold up the server's end.
    for (const leave of this.#leave) leave();
    await Promise.allSettled(this.#unfinished);
    await guard?.close();
    await this.#upkeep.close();
    await this.#journal.close('shutdown', 'shutdown');
    await this.#upkeep.closeLast();
  }

  get #around(): Around {
    return { ...this.#options, journal: this.#journal };
  }

  #refuseClosing(): void {
    if (this.#closing) throw new ExecutionError('start_failed', 'The server is stopping.');
  }

  #admit(request: RunRequest, context: AgentContext, decision: EntryDecision | null): Admission {
    const { pluginVersion, now } = this.#options;
    const around = { journal: this.#journal, pluginVersion, now, decision };
    return admit(request, context, this.#terms, around);
  }

  #counted<T>(finishing: Promise<T>): Promise<T> {
    this.#unfinished.add(finishing);
    finishing.then(() => this.#unfinished.delete(finishing));
    return finishing;
  }

  #run(shell: Shell, admission: Admission, hold: Permission['hold']) {
    const { terms, text, target, draft, how } = admission;
    const { captureOutput, outputBytesMax, redact, trace, captureEnv } = terms.recording;
    const journal = intentOf(admission);
    // Then all of it is in the entry, and that is on the disk before the answer.
    const kept = target.recorded && captureOutput && !redact;
    try {
      const command = { kind: 'shell', text, shell: draft.shell } as const;
      const { restraints, watch } = hold(argvOf(command), how.env);
      const run = shell.start(command, {
        ...how,
        ...restraints,
        cwd: draft.working_directory,
        shown: draft.command,
        output: captureOutput ? 'capture' : 'memory',
        trace,
        traceEnv: captureEnv ? terms.recording.envAllowlist : [],
        ...(journal && { journal, retentionSeconds: captureSeconds(terms.recording) }),
        ...(kept && { keptBytes: wholeBelow(outputBytesMax) }),
      });
      this.#keep(run);
      watch?.began(run.id);
      return { run, watch };
    } catch (error) {
      const why = messageOf(error);
      const session_id = target.recorded ? target.writer.id : null;
      this.#options.log('error', 'Command could not be started', { session_id, error: why });
      throw new ExecutionError('start_failed', why, { cause: error });
    }
  }

  #keep(run: Run): void {
    this.#live.add(run);
    run.closed.then(() => this.#live.delete(run));
  }

  /** Never rejects. */
  async #finish(
    { shell, admission, run, watch }: StartedRun,
    headBytes: number,
  ): Promise<Ending | OpenEnding> {
    const startedAt = performance.now();
    const ended = await this.#unlessLeft(run.done);
    // Where the machine is busy, the command is well under way before we get to this.
    const durationMs = run.tookMs ?? Math.round(performance.now() - startedAt);
    const headMax = Math.max(headBytes, storedBytesWanted(admission.terms));
    const output = readOutputOf(shell, run, headMax);
    const { survivors, lostBytes, ...found } = output;
    const captureTrouble = run.recording.on ? undefined : run.recording.why;
    const facts = { durationMs, survivors, lostBytes, captureTrouble };
    if (ended === undefined) {
      return { ...facts, ended, receipt: LEFT, findings: { ...found, failures: [] } };
    }
    this.#commands += 1;
    const over = { admission, shell, run, ended, output, durationMs, watch };
    const { receipt, failures, later, changed, leaked } = await enterCommand(over, this.#around);
    if (later !== undefined) void this.#counted(this.#whenClosed(run, later));
    return { ...facts, ended, receipt, changed, leaked, findings: { ...found, failures } };
  }

  async #whenClosed(run: Run, later: () => Promise<void>): Promise<void> {
    const closed = await this.#unlessLeft(run.closed.then(() => true));
    if (closed === true) await later();
  }

  /** Undefined when the server stops first and leaves the run. */
  async #unlessLeft<T>(end: Promise<T>): Promise<T | undefined> {
    const left = deferred<undefined>();
    const leave = (): void => left.resolve(undefined);
    this.#leave.add(leave);
    try {
      return await Promise.race([end, left.promise]);
    } finally {
      this.#leave.delete(leave);
    }
  }

  async #killAll(): Promise<void> {
    const causeOf = ({ id }: Run): 'cancelled' | 'shutdown' =>
      this.#clientGone && this.#attended.has(id) ? 'cancelled' : 'shutdown';
    const killed = [...this.#live].map((run) => endRun(run, causeOf(run)));
    await within(Promise.all(killed), KILL_WAIT_MS);
  }
}
