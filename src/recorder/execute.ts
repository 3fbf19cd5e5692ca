// One command, from request to answer: admitted, started, awaited, recorded, answered.
// When the server stops, it ends or leaves the runs that are still going.

import { messageOf } from '../errors.ts';
import { type Guard, UNRULED } from '../guard/guard.ts';
import type { RecorderMetrics } from '../ops/metrics.ts';
import { argvOf } from '../run/env.ts';
import { deferred, type Run, within } from '../shell/run.ts';
import { createShell, type Shell } from '../shell/shell.ts';
import { entryProcesses, UNTRACED } from '../tracing/entry.ts';
import type {
  AgentContext,
  AskPerson,
  EntryDecision,
  EntryDraft,
  Env,
  Log,
  StopCause,
} from '../types.ts';
import {
  type Admitted,
  admit,
  type ExecuteRequest,
  intentOf,
  type Terms,
  termsOf,
  wholeRequest,
} from './admission.ts';
import { ExecutionError, RefusedError, refuseCancelled } from './errors.ts';
import type { Place, RecorderJournal, Written } from './journal.ts';
import { noteEntryReach, recordWhenClosed, survivorsField } from './later.ts';
import {
  type Adopted,
  type AnyFinish,
  type Finish,
  finishAdopted,
  LEFT,
  logEnd,
  resultOf,
} from './outcome.ts';
import {
  bytesWanted,
  NO_OUTPUT,
  SHOWN_BYTES_MAX,
  type Shown,
  type Streams,
  shownStream,
  storedOutput,
  wholeBelow,
} from './output.ts';
import { noting, questionOf, type Ruled } from './question.ts';
import { DENIED, endOf, heartbeat, kill, seenOf } from './run.ts';
import type { RecorderSettings } from './settings.ts';

const KILL_WAIT_MS = 10_000; // a process in uninterruptible sleep must not hold up the server's end

export type { Finish };

export type ExecuteCall = {
  readonly signal?: AbortSignal | undefined;
  readonly progress?: ((message: string) => void) | undefined;
  readonly ask?: AskPerson | undefined;
  /** Whose conversation it is; calls without one share theirs. */
  readonly key?: string | undefined;
};

export type ExecuteResult = Finish &
  ShownStreams & {
    /** What the policy has to say about it. */
    readonly note: string | undefined;
  };

/** Who shows output itself is handed what was read. */
type Show = (seen: Streams) => void;

type ShownStreams = { readonly stdout: Shown; readonly stderr: Shown };

/** A command that was started. */
export type Begun = {
  readonly run: Run;
  /** The shell that can read it. */
  readonly shell: Shell;
  readonly known: Admitted['known'];
  /** It is over, and its entry is on the disk. Never rejects. */
  readonly finished: Promise<AnyFinish>;
};

type BegunHere = Begun & { readonly finished: Promise<Finish> };

export type ExecutorOptions = {
  readonly shell: Shell;
  readonly journal: RecorderJournal;
  readonly pluginVersion: string;
  readonly log: Log;
  readonly metrics: RecorderMetrics;
  readonly env: Env;
  readonly now: () => number;
  /** Without it every command may run. */
  readonly guard?: Guard | undefined;
  readonly heartbeatMs?: number | undefined;
};

export class Executor {
  readonly #options: ExecutorOptions;
  /** Runs of which something is left, survivors included. */
  readonly #live = new Set<Run>();
  /** Runs whose entry is not written yet. */
  readonly #calls = new Set<Promise<unknown>>();
  /** What to call for runs that the server leaves when it stops. */
  readonly #leave = new Set<() => void>();
  #terms: Terms;
  #plain: Shell;
  #bare: Shell | undefined;
  /** Runs whose callers would cancel them by leaving. */
  readonly #attended = new Set<Run>();
  #clientGone = false;
  #closing = false;
  readonly #rulings = new Set<Promise<Ruled>>();
  commands = 0;

  constructor(options: ExecutorOptions, settings: RecorderSettings) {
    this.#options = options;
    this.#plain = options.shell;
    this.#terms = termsOf(settings, options.env);
  }

  /** Calls that are under way go on as they began. */
  reload(settings: RecorderSettings, shell: Shell): void {
    this.#plain = shell;
    this.#terms = termsOf(settings, this.#options.env);
  }

  /** Rejects with an `ExecutionError` or `RecordingError` for a command that was not executed. */
  async execute(
    request: ExecuteRequest,
    context: AgentContext,
    call: ExecuteCall,
  ): Promise<ExecuteResult> {
    refuseCancelled(call);
    const guarded = this.#options.guard?.active === true;
    const ruling = guarded ? await this.rule(request, context, call) : UNRULED;
    refuseCancelled(call);
    let shown: ShownStreams = { stdout: shownStream(NOTHING), stderr: shownStream(NOTHING) };
    const begun = this.#begin(request, context, ruling, ({ stdout, stderr }) => {
      shown = { stdout: shownStream(stdout), stderr: shownStream(stderr) };
    });
    const finish = await this.attend(begun, call, () => begun.finished);
    return { ...finish, ...shown, note: ruling.note };
  }

  /**
   * What the policy, and whoever is asked, say to it. Rejects with a `RefusedError` for what may
   * not run: that is in the journal then.
   */
  async rule(given: ExecuteRequest, context: AgentContext, call: ExecuteCall): Promise<Ruled> {
    const { guard } = this.#options;
    if (guard?.active !== true) return UNRULED;
    if (this.#closing) throw new ExecutionError('start_failed', 'The server is stopping.');
    const ruling = this.#rule(guard, given, context, call);
    this.#rulings.add(ruling);
    try {
      return await ruling;
    } finally {
      this.#rulings.delete(ruling);
    }
  }

  async #rule(
    guard: Guard,
    given: ExecuteRequest,
    context: AgentContext,
    call: ExecuteCall,
  ): Promise<Ruled> {
    const { log } = this.#options;
    const terms = this.#terms;
    const { asked, request, beside } = await questionOf(wholeRequest(given), terms);
    const shell = this.#shell(terms);
    const ruling = await guard.rule(asked, { ...call, redact: terms.redactCommand, shell });
    const decision = noting(ruling.decision, beside);
    if (ruling.run) return { ...ruling, decision, request };
    await this.deny(request, context, decision).catch((error: unknown) => {
      const words = messageOf(error);
      log('warn', 'Refusal not recorded', { session_id: null, error: words });
    });
    throw new RefusedError(ruling.text);
  }

  /**
   * Starts it and comes back. The entry is written when the run is over, whoever waits for it.
   * Throws an `ExecutionError` or `RecordingError` for a command that is not executed.
   */
  begin(request: ExecuteRequest, context: AgentContext, ruling: Ruled): Begun {
    return this.#begin(request, context, ruling, undefined);
  }

  #begin(
    given: ExecuteRequest,
    context: AgentContext,
    { decision, hold, request = wholeRequest(given) }: Ruled,
    show: Show | undefined,
  ): BegunHere {
    if (this.#closing) throw new ExecutionError('start_failed', 'The server is stopping.');
    const command = admit(request, context, this.#terms, { ...this.#options, decision });
    const shell = this.#shell(command.terms);
    const run = this.#start(shell, command, hold);
    if (command.place.recorded) command.place.writer.expect();
    const finished = this.#counted(this.#finish(shell, command, run, show));
    return { run, shell, known: command.known, finished };
  }

  #counted<T>(finished: Promise<T>): Promise<T> {
    this.#calls.add(finished);
    finished.then(() => this.#calls.delete(finished));
    return finished;
  }

  /** Looks after a run that another server started: it ends or is left with this one. */
  adopt(adopted: Adopted): Begun {
    const { run, known } = adopted;
    const shell = this.#plain;
    this.#keep(run);
    const ended = this.#unlessLeft(run.done);
    const finished = this.#counted(finishAdopted(shell, adopted, ended, this.#options.now));
    return { run, shell, known, finished };
  }

  /** Writes down that it was asked for and not executed. */
  async deny(
    request: ExecuteRequest,
    context: AgentContext,
    decision: EntryDecision | null = null,
  ): Promise<Written> {
    if (this.#closing) throw new ExecutionError('start_failed', 'The server is stopping.');
    const around = { ...this.#options, decision };
    const { place, known } = admit(wholeRequest(request), context, this.#terms, around);
    const ended = { ...DENIED, ...NO_OUTPUT, ...UNTRACED, duration_ms: 0, run_id: null };
    const draft = { ...known, ...ended };
    return this.#write(place, draft, undefined);
  }

  /** Waits with `wait`: meanwhile the caller hears how it goes, and can cancel the run. */
  async attend<T>(
    { run, shell }: Pick<Begun, 'run' | 'shell'>,
    { signal, progress }: ExecuteCall,
    wait: () => Promise<T>,
  ): Promise<T> {
    const { redact } = this.#terms;
    const cancel = (): void => void kill(run, 'cancelled');
    signal?.addEventListener('abort', cancel, { once: true });
    if (signal?.aborted === true) cancel();
    if (signal !== undefined) this.#attended.add(run);
    const tell = progress && ((line: string): void => progress(redact(line)));
    const stop = heartbeat(shell, run, tell, this.#options.heartbeatMs);
    try {
      return await wait();
    } finally {
      stop();
      signal?.removeEventListener('abort', cancel);
      this.#attended.delete(run);
    }
  }

  /** A client that is gone has cancelled the calls it was waiting for. */
  stopping(cause: StopCause): void {
    if (cause === 'client') this.#clientGone = true;
  }

  /** Live runs end or are left, as the settings say; every call has its answer afterwards. */
  async close(): Promise<void> {
    // What somebody is being asked about is refused now, and that has to be written down.
    this.#options.guard?.stopAsking();
    await Promise.allSettled(this.#rulings);
    this.#closing = true;
    if (this.#terms.execution.onShutdown === 'kill') await this.#killAll();
    // What could not be ended must not hold up the server's end.
    for (const leave of this.#leave) leave();
    await Promise.allSettled(this.#calls);
    this.#bare?.close();
    await this.#options.guard?.close();
  }

  /** Never rejects. */
  async #finish(
    shell: Shell,
    command: Admitted,
    run: Run,
    show: Show | undefined,
  ): Promise<Finish> {
    const { terms, place, known } = command;
    const startedAt = performance.now();
    const ended = await this.#unlessLeft(run.done);
    // Where the machine is busy, the command is well under way before we get to this.
    const durationMs = run.tookMs ?? Math.round(performance.now() - startedAt);
    const { captureOutput, outputBytesMax, redact } = terms.recording;
    const secret = redact ? terms.redact : undefined;
    const shown = show === undefined ? 0 : SHOWN_BYTES_MAX;
    const seen = seenOf(shell, run, Math.max(shown, bytesWanted(outputBytesMax, secret)));
    const facts = { command, run, seen, durationMs };
    show?.(seen.streams);
    if (ended === undefined) return resultOf(facts, undefined, LEFT);
    const end = endOf(ended);
    this.commands += 1;
    const { exit_code: exitCode, timed_out: timedOut } = end;
    this.#options.metrics.command({ exitCode, timedOut, durationMs });
    const output = captureOutput ? storedOutput(seen.streams, outputBytesMax, secret) : NO_OUTPUT;
    const traced = terms.recording.trace !== 'off';
    const inside = traced
      ? entryProcesses(run.recording.dir, known.command, terms.redactCommand)
      : UNTRACED;
    const after = { ...end, ...output, ...inside, duration_ms: durationMs, run_id: run.id };
    const draft = { ...known, ...after, ...survivorsField(seen.survivors, terms.redact) };
    const stays = captureOutput && seen.survivors.length > 0;
    if (stays) noteEntryReach(run.recording.dir, seen.streams, this.#options.log);
    const written = await this.#write(place, draft, captureOutput ? seen.streams : undefined);
    if (stays && written.recorded) {
      const closed = this.#unlessLeft(run.closed.then(() => true as const));
      void this.#counted(recordWhenClosed(facts, shell, written.entry, closed, this.#options));
    }
    logEnd(this.#options.log, { ended, draft, written, place });
    return resultOf(facts, ended, written);
  }

  #start(shell: Shell, command: Admitted, hold: Ruled['hold']): Run {
    const { terms, text, place, known, how } = command;
    const { recording } = terms;
    const { captureOutput, outputBytesMax, redact, trace } = recording;
    const journal = intentOf(command);
    let run: Run;
    try {
      const started = { kind: 'shell', text, shell: known.shell } as const;
      run = shell.start(started, {
        ...how,
        ...hold(argvOf(started)),
        cwd: known.working_directory,
        shown: known.command,
        output: captureOutput ? 'capture' : 'memory',
        trace,
        traceEnv: recording.captureEnv ? recording.envAllowlist : [],
        ...(journal && { journal }),
        // Then all of it is in the entry, and that is on the disk before the answer.
        ...(place.recorded &&
          captureOutput &&
          !redact && { keptBytes: wholeBelow(outputBytesMax) }),
      });
    } catch (error) {
      const why = messageOf(error);
      const session_id = place.recorded ? place.writer.id : null;
      this.#options.log('error', 'Command could not be started', { session_id, error: why });
      throw new ExecutionError('start_failed', why, { cause: error });
    }
    this.#keep(run);
    return run;
  }

  #keep(run: Run): void {
    this.#live.add(run);
    run.closed.then(() => this.#live.delete(run));
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

  async #write(place: Place, draft: EntryDraft, stored: Streams | undefined): Promise<Written> {
    const written = await this.#options.journal.write(place, draft);
    if (written.recorded) {
      const bytes = stored === undefined ? 0 : stored.stdout.total + stored.stderr.total;
      this.#options.metrics.entry({ bytes, truncated: draft.output_truncated });
    }
    return written;
  }

  /** A shell without the server's environment is one of its own; it is made when it is needed. */
  #shell({ execution }: Terms): Shell {
    const { store, backend: runner } = this.#plain;
    if (execution.inheritEnv) return this.#plain;
    this.#bare ??= createShell({ stateRoot: store.root, env: {}, runner });
    return this.#bare;
  }

  async #killAll(): Promise<void> {
    const causeOf = (run: Run): 'cancelled' | 'shutdown' =>
      this.#clientGone && this.#attended.has(run) ? 'cancelled' : 'shutdown';
    const killed = [...this.#live].map((run) => kill(run, causeOf(run)));
    await within(Promise.all(killed), KILL_WAIT_MS);
  }
}

const NOTHING = { bytes: new Uint8Array(), total: 0 };
