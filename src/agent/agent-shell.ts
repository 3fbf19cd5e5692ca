// The shell of a dialect: runs that belong to conversations, each with its entry in the journal.
// A dialect starts, waits, reads and kills through this and adds nothing but its words. A run that
// nobody waits for any more goes on; at most so many run at once.

import packageJson from '../../package.json' with { type: 'json' };
import { noteHandle } from '../capture/owner.ts';
import { readOutput } from '../capture/reader.ts';
import { AppError, messageOf } from '../errors.ts';
import { Guard, UNRULED } from '../guard/guard.ts';
import { onlyInterrupts } from '../guard/judged-texts.ts';
import type { Services } from '../host/plugin.ts';
import { withPolicy } from '../ops/health.ts';
import { processMetrics } from '../ops/metrics.ts';
import { type Announcement, announceServer } from '../ops/servers.ts';
import { refuseCancelled } from '../recorder/errors.ts';
import type { Ruled } from '../recorder/question.ts';
import { type Begun, type ExecuteRequest, Recorder } from '../recorder/recorder.ts';
import { SECRET_PREFIXES } from '../run/env.ts';
import { view } from '../shell/output/raw-view.ts';
import { aborted, within } from '../shell/run.ts';
import {
  type Capture,
  createShell,
  type ReadResult,
  type Shell,
  type ViewOptions,
} from '../shell/shell.ts';
import { traceCheck } from '../shell/trace-check.ts';
import { shortLine } from '../text/printable.ts';
import type { Health, Log, RunHandle, StopCause, View } from '../types.ts';
import { AgentRun, type Finished } from './agent-run.ts';
import type { Caller } from './caller.ts';
import { type OwnCapture, OwnCaptures } from './own-captures.ts';
import { type AgentSettings, recorderSettingsOf } from './settings.ts';
import { Takeover, type Took } from './takeover.ts';
import { Unrecorded } from './unrecorded.ts';

export { AgentRun, type Finished };

// What is known about runs that are over; their captures can be found without it.
const KEPT_MAX = 1_000;

// What was typed into a shell is judged as a whole. More than this is more than is analysed, so
// that from there on all of it is asked about.
const TYPED_MAX = 70_000;

export type RunRequest = Omit<ExecuteRequest, 'timeoutSeconds' | 'unlimited'> & {
  /** How long the caller will wait, for the entry. */
  readonly waitMs: number;
  /** A hard deadline; without it nothing ends the run but itself or a kill. */
  readonly killAfterMs?: number | undefined;
  /** It only ends others, so it runs also when as many run as may. */
  readonly makesRoom?: boolean | undefined;
};

export type AgentShellOptions = {
  readonly services: Services;
  /** The dialect. */
  readonly name: string;
  readonly pluginVersion: string;
  readonly settings: AgentSettings;
  /** What its caller can use to wait for a live run or to end it. */
  readonly handleOf: (run: AgentRun) => string;
};

export class AgentShell {
  readonly #options: AgentShellOptions;
  readonly #recorder: Recorder;
  /** Without secrets; made when it is needed first. Runs it started go on in it after a reload. */
  #agentShell: Shell | undefined;
  readonly #runs = new Map<string, AgentRun>();
  /** What live terminals were given. */
  readonly #typed = new WeakMap<AgentRun, { text: string; last: Promise<void> }>();
  readonly #announced: Announcement;
  readonly #unfollow: (() => void) | undefined;
  readonly #takeover: Takeover;
  readonly #own: OwnCaptures;
  #settings: AgentSettings;
  #opened: Capture | undefined;
  readonly #unrecorded = new Unrecorded();

  static async open(options: AgentShellOptions): Promise<AgentShell> {
    return new AgentShell(options, await processMetrics());
  }

  private constructor(
    options: AgentShellOptions,
    metrics: Awaited<ReturnType<typeof processMetrics>>,
  ) {
    const { services, settings, pluginVersion } = options;
    const { projectDirectory, stateRoot, env, now, policy, notices, settingsWait } = services;
    this.#options = options;
    this.#settings = settings;
    this.#recorder = new Recorder({
      shell: this.#shell,
      settings: recorderSettingsOf(settings),
      pluginVersion,
      workingDirectory: projectDirectory,
      settingsWait,
      log: this.#log,
      metrics,
      env,
      now,
      guard: policy && new Guard(policy, metrics),
    });
    this.#recorder.start({ firstSession: false });
    this.#announced = announceServer(stateRoot, () => ({
      version: packageJson.version,
      projectDirectory,
      directory: this.#settings.recording.directory,
      counters: this.#recorder.counters(),
      health: withPolicy(this.#recorder.health(), policy?.health().problems, notices?.()),
    }));
    this.#own = new OwnCaptures(this.#shell.store);
    this.#takeover = new Takeover({
      store: this.#shell.store,
      dialect: options.name,
      project: projectDirectory,
      log: this.#log,
      adopt: (capture, caller) => this.#adopt(capture, caller),
    });
    this.#unfollow = policy?.onChanged(() => this.#announced.changed());
  }

  /** The names of variables that commands do not get, because they may be secrets. */
  get withheld(): readonly string[] {
    if (this.#settings.environment !== 'agent') return [];
    const names = Object.keys(this.#options.services.env);
    return names.filter((name) => SECRET_PREFIXES.some((prefix) => name.startsWith(prefix)));
  }

  /** Whether somebody relies on it that runs are traced. */
  get wantsTrace(): boolean {
    return this.#settings.recording.trace === 'on';
  }

  /** Whether the runs it starts now are traced. */
  get traces(): boolean {
    if (this.#settings.recording.trace === 'off' || this.#shell.backend !== 'native') return false;
    return traceCheck(this.#options.services.env).ok;
  }

  get workingDirectory(): string {
    return this.#settings.workingDirectory;
  }

  /** Rejects with an `AppError` when the command is not executed. */
  async start(request: RunRequest, caller: Caller): Promise<AgentRun> {
    const makesRoom = request.makesRoom === true;
    refuseCancelled(caller);
    if (!makesRoom) this.#refuseTooMany(caller);
    const asked = executeRequest(this.#owned(request, caller));
    // Without a policy nothing is waited for: it has begun when this returns.
    const ruling = this.#recorder.guarded ? await this.#ruled(asked, caller) : UNRULED;
    // Somebody may have been asked meanwhile.
    refuseCancelled(caller);
    if (!makesRoom) this.#refuseTooMany(caller);
    const begun = this.#recorder.begin(asked, caller.context, ruling);
    return this.#keep(begun, request.command, caller, this.#options.services.now());
  }

  #keep(begun: Begun, command: string, { key }: Caller, startedAt: number): AgentRun {
    const run = new AgentRun({ begun, command, owner: key, startedAt });
    this.#runs.set(run.id, run);
    this.#own.started(key, run.id);
    this.#forget();
    void run.finished.then(({ written }) => this.#unrecorded.note(key, written));
    void run.finished.then(() => this.#announced.changed());
    return run;
  }

  /**
   * Goes on, once, with the live runs that a dead server left to this conversation. `took` gets
   * each of them before any call of the conversation is answered. Never rejects.
   */
  takeOver(caller: Caller, took: Took): Promise<void> {
    return this.#takeover.once(caller, took);
  }

  async #adopt(capture: Capture, caller: Caller): Promise<AgentRun> {
    const begun = this.#recorder.adopt(capture);
    await begun.run.started;
    return this.#keep(begun, begun.known.command, caller, capture.meta?.createdAt ?? 0);
  }

  /** What its conversation calls the run, for a server that may have to take it over. */
  named({ id, begun }: AgentRun, handle: RunHandle): void {
    try {
      noteHandle(begun.run.recording.dir, handle);
    } catch (error) {
      const words = messageOf(error);
      this.#log('warn', 'Handle not recorded', { run_id: id, handle, error: words });
    }
  }

  /** Keys for its terminal. Rejects with an `AppError` when they must not be typed. */
  type(run: AgentRun, keys: string, caller: Caller): Promise<void> {
    const typed = this.#typed.get(run) ?? { text: '', last: Promise.resolve() };
    this.#typed.set(run, typed);
    // One after the other: two halves of a command may come at once.
    const turn = typed.last.then(async () => {
      if (this.#recorder.guarded && !onlyInterrupts(keys)) {
        const { shell } = run.begun.known;
        const chosen = { typed: { into: run.command, shell, before: typed.text } };
        const request = { command: keys, workingDirectory: run.cwd, waitMs: 0, chosen };
        await this.#ruled(executeRequest(request), caller);
      }
      // Also without a policy: there may be one before the next key.
      typed.text = `${typed.text}${keys}`.slice(0, TYPED_MAX);
      if (run.result === undefined) run.begun.run.write(keys);
    });
    typed.last = turn.catch(() => undefined); // whoever typed it is told
    return turn;
  }

  #owned(request: RunRequest, { client, context }: Caller): RunRequest {
    const { name: dialect, services } = this.#options;
    const { projectDirectory: project } = services;
    const owner = { dialect, project, client, conversationId: context.conversationId };
    return { ...request, how: { ...request.how, owner } };
  }

  async #ruled(request: ExecuteRequest, caller: Caller): Promise<Ruled> {
    const ruling = await this.#recorder.rule(request, caller.context, caller);
    if (ruling.note !== undefined) caller.notes.push(ruling.note);
    return ruling;
  }

  /** Why commands of this conversation are not in the journal, as far as it was not told yet. */
  untold({ key }: Caller): readonly string[] {
    return this.#unrecorded.take(key);
  }

  /** Writes down that a command was asked for and refused. Never rejects: it is refused anyway. */
  async deny(request: RunRequest, caller: Caller): Promise<void> {
    try {
      await this.#recorder.deny(executeRequest(request), caller.context);
    } catch (error) {
      const words = messageOf(error);
      this.#log('warn', 'Refusal not recorded', { session_id: null, error: words });
    }
    this.#announced.changed();
  }

  /**
   * How it came out, or undefined when the time is over first: then it goes on and has its pid. A
   * caller who cancels meanwhile ends the run, or only the waiting if it says `leave`.
   */
  async wait(
    run: AgentRun,
    waitMs: number,
    { signal, progress }: Caller,
    onCancel: 'kill' | 'leave' = 'kill',
  ): Promise<Finished | undefined> {
    const call = { progress, ...(onCancel === 'kill' && { signal }) };
    const finished = await this.#recorder.attend(run.begun, call, () => {
      const over = within(run.finished, waitMs);
      return onCancel === 'kill' ? over : Promise.race([over, aborted(signal)]);
    });
    if (finished === undefined) await run.begun.run.started;
    return finished;
  }

  /** TERM, grace, KILL to every process of it. Resolves when all are gone and it is journalled. */
  async kill(
    run: AgentRun,
    options: { readonly signal?: string; readonly graceMs?: number } = {},
  ): Promise<Finished> {
    await run.begun.run.kill(options);
    return run.finished;
  }

  /** The runs of this conversation that this server started, oldest first. */
  runs({ key }: Caller): readonly AgentRun[] {
    return [...this.#runs.values()].filter(({ owner }) => owner === key);
  }

  /** Undefined for a run of somebody else as for none at all. */
  byId({ key }: Caller, id: string): AgentRun | undefined {
    const run = this.#runs.get(id);
    return run?.owner === key ? run : undefined;
  }

  /** The newest run of this conversation whose shell had this pid. */
  byPid(caller: Caller, pid: number): AgentRun | undefined {
    return this.runs(caller).findLast((run) => run.pid === pid);
  }

  /**
   * The runs of this conversation, newest first: with a conversation id also those of servers
   * before this one, without one those of this server and those it took over.
   */
  captures(caller: Caller): readonly OwnCapture[] {
    return this.#own.of(caller, this.#settings.recording.directory);
  }

  /** Nothing of the run is left: neither output nor processes can come any more. */
  over(id: string): boolean {
    return this.#own.over(id, () => this.open(id));
  }

  view(id: string, options: ViewOptions): View {
    return view(this.open(id), options);
  }

  read(id: string, cursor: number, maxBytes: number): ReadResult {
    if (this.#runs.get(id)?.silent) return NOTHING_READ;
    return readOutput(this.open(id), cursor, maxBytes);
  }

  /** A new question is about a new moment. */
  lookAgain(): void {
    this.#opened = undefined;
  }

  /** The same for all that is asked about it in one turn: an answer is about one moment. */
  open(id: string): Capture {
    if (this.#opened?.id === id) return this.#opened;
    this.#opened = this.#shell.open(id);
    setImmediate(() => this.lookAgain());
    return this.#opened;
  }

  health(): Health {
    return this.#recorder.health();
  }

  async reload(settings: AgentSettings): Promise<void> {
    this.#settings = settings;
    await this.#recorder.reload(recorderSettingsOf(settings), this.#shell);
    this.#announced.changed();
  }

  /** What must not be lost is written when this returns; `close` follows. */
  stopping(cause: StopCause): void {
    this.#recorder.stopping(cause);
  }

  async close(): Promise<void> {
    this.#takeover.close();
    await this.#recorder.close();
    this.#agentShell?.close();
    this.#unfollow?.();
    this.#announced.close();
  }

  /** What starts runs now. Any of the two reads the captures of both. */
  get #shell(): Shell {
    const { projectDirectory: cwd, stateRoot, env, shell } = this.#options.services;
    if (this.#settings.environment === 'inherit') return shell();
    const { backend: runner } = shell();
    this.#agentShell ??= createShell({ stateRoot, cwd, env, environment: 'agent', runner });
    return this.#agentShell;
  }

  #log: Log = (level, message, fields) =>
    this.#options.services.log(level, message, { plugin: this.#options.name, ...fields });

  #refuseTooMany(caller: Caller): void {
    const live = [...this.#runs.values()].filter((run) => run.live);
    const { liveRunsMax } = this.#settings;
    if (live.length < liveRunsMax) return;
    const own = live.filter(({ owner }) => owner === caller.key);
    const { handleOf } = this.#options;
    const listed = own.map(
      (run) => `\n  ${handleOf(run)}: ${shortLine(run.command, COMMAND_SHOWN_MAX)}`,
    );
    const others = live.length - own.length;
    const rest = others === 0 ? '' : `\n  and ${others} of other conversations`;
    const hint =
      own.length === 0
        ? 'All of them are of other conversations: try again when one is over.'
        : `Wait for one of these or kill it:${listed.join('')}${rest}`;
    throw new AppError(
      'too_many_runs',
      `${live.length} commands are running, and ${liveRunsMax} may; this one was not started.`,
      { hint },
    );
  }

  #forget(): void {
    for (const [id, { result }] of this.#runs) {
      if (this.#runs.size <= KEPT_MAX) return;
      if (result !== undefined) this.#runs.delete(id);
    }
  }
}

function executeRequest(request: RunRequest): ExecuteRequest {
  const { waitMs, killAfterMs, makesRoom: _, ...command } = request;
  const unlimited = killAfterMs === undefined;
  return { ...command, timeoutSeconds: (killAfterMs ?? waitMs) / 1000, unlimited };
}

const COMMAND_SHOWN_MAX = 80;
const NOTHING_READ: ReadResult = { chunks: [], nextCursor: 0, eof: true, final: true };
