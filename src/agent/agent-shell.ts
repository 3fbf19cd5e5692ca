// The shell of a dialect: runs that belong to conversations, each with its entry in the journal.
// A dialect starts, waits, reads and kills through this and adds nothing but its words. A run goes
// on when no call waits for it any more; at most so many run at once.

import packageJson from '../../package.json' with { type: 'json' };
import { noteHandle } from '../capture/owner.ts';
import { messageOf } from '../errors.ts';
import { Guard, UNRULED } from '../guard/guard.ts';
import { onlyInterrupts } from '../guard/judged-texts.ts';
import type { Services } from '../host/plugin.ts';
import { withPolicy } from '../ops/health.ts';
import { processMetrics } from '../ops/metrics.ts';
import { type Announcement, announceServer } from '../ops/servers.ts';
import { livePlaces } from '../packing/live.ts';
import type { Permission } from '../recorder/admission.ts';
import type { Ending, OpenEnding } from '../recorder/ending.ts';
import { refuseCancelled } from '../recorder/errors.ts';
import { Recorder, type RunRequest, type Start } from '../recorder/recorder.ts';
import type { RunSettings } from '../recorder/settings.ts';
import { SECRET_PREFIXES } from '../run/env.ts';
import { aborted, within } from '../shell/run.ts';
import { type Capture, createShell, type Shell } from '../shell/shell.ts';
import { traceCheck } from '../shell/trace-check.ts';
import type { Health, Log, RunHandle, StopCause } from '../types.ts';
import { AgentRun, AgentRuns } from './agent-run.ts';
import type { Caller } from './caller.ts';
import { UnrecordedCommands, UntoldLines } from './conversations.ts';
import { type OwnCapture, OwnCaptures } from './own-captures.ts';
import type { Look } from './run-reading.ts';
import { Takeover, type TakeoverListener } from './takeover.ts';
import { changedText, leakedText } from './told-lines.ts';

export { AgentRun, type Ending, type Look, type OpenEnding, type RunRequest };

// What was typed into a shell is judged as a whole. More than this is more than is analysed, so
// that from there on all of it is asked about.
const TYPED_MAX = 70_000;

// A model that starts many commands at once is done with the first of them soon.
const ROOM_WAIT_MS = 5_000;

export type AgentShellOptions = {
  readonly services: Services;
  /** The dialect. */
  readonly name: string;
  readonly pluginVersion: string;
  readonly settings: RunSettings;
  /**
   * What its caller can use to wait for a live run or to end it. Undefined where only the call that
   * starts a run waits for it: then no later server takes it over.
   */
  readonly handleOf: ((run: AgentRun) => string) | undefined;
  /** Whether the journal gets a session before the first command. */
  readonly firstSession?: boolean;
};

export class AgentShell {
  readonly #options: AgentShellOptions;
  readonly #recorder: Recorder;
  /** Shells with an environment of their own. Their runs go on in them after a reload. */
  readonly #shells = new Map<RunSettings['environment'], Shell>();
  readonly #runs = new AgentRuns();
  /** What live terminals were given. */
  readonly #typed = new WeakMap<AgentRun, { text: string; last: Promise<void> }>();
  readonly #announced: Announcement;
  readonly #unfollow: (() => void) | undefined;
  readonly #takeover: Takeover | undefined;
  readonly #own: OwnCaptures;
  #settings: RunSettings;
  readonly #unrecorded = new UnrecordedCommands();
  readonly #changed = new UntoldLines();
  readonly #leaked = new UntoldLines();

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
      settings,
      pluginVersion,
      workingDirectory: projectDirectory,
      settingsWait,
      log: this.#log,
      metrics,
      env,
      now,
      guard: policy && new Guard(policy, metrics),
    });
    this.#recorder.open({ firstSession: options.firstSession ?? false });
    this.#announced = announceServer(stateRoot, () => ({
      version: packageJson.version,
      projectDirectory,
      directory: this.#settings.recording.directory,
      counters: this.#recorder.counters(),
      health: withPolicy(this.#recorder.health(), policy?.health().problems, notices?.()),
    }));
    this.#own = new OwnCaptures(this.#shell.store);
    this.#takeover =
      options.handleOf &&
      new Takeover({
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

  /** Whether the settings insist on traced runs. */
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
    const { makesRoom, command } = request;
    const { liveRunsMax } = this.#settings;
    try {
      refuseCancelled(caller);
      // Not waited for where there is room: without a policy it has begun when this returns.
      if (makesRoom !== true && this.#runs.full(liveRunsMax)) await this.#room(caller);
      if (makesRoom !== true) this.#runs.refuseMore(liveRunsMax, caller, this.#options.handleOf);
      const owned = this.#owned(request, caller);
      const permission = this.#recorder.guarded ? await this.#permit(owned, caller) : UNRULED;
      // A person may have been asked meanwhile.
      refuseCancelled(caller);
      if (makesRoom !== true) this.#runs.refuseMore(liveRunsMax, caller, this.#options.handleOf);
      const start = this.#recorder.start(owned, caller, permission);
      return this.#keep(start, command, caller, this.#options.services.now());
    } finally {
      this.#announced.changed();
    }
  }

  async #room(caller: Caller): Promise<void> {
    const { roomWaitMs: patienceMs = ROOM_WAIT_MS } = this.#options.services;
    const clock = { patienceMs, now: () => performance.now() };
    await this.#runs.untilRoom(this.#settings.liveRunsMax, caller.signal, clock);
    refuseCancelled(caller);
  }

  #keep(start: Start, command: string, { key }: Caller, startedAt: number): AgentRun {
    const run = new AgentRun({ start, command, owner: key, startedAt });
    this.#runs.add(run);
    this.#own.started(key, run.id);
    void run.finished.then(({ receipt, changed = [], leaked = [] }) => {
      this.#unrecorded.note(key, receipt);
      if (changed.length > 0) this.#changed.note({ key }, changedText(command, changed));
      if (leaked.length > 0) this.#leaked.note({ key }, leakedText(start.draft.command, leaked));
    });
    void run.finished.then(() => this.#announced.changed());
    return run;
  }

  /**
   * Goes on, once, with the live runs that a dead server left to this conversation. `took` gets
   * each of them before any call of the conversation is answered. Never rejects.
   */
  async takeOver(caller: Caller, took: TakeoverListener): Promise<void> {
    await this.#takeover?.once(caller, took);
  }

  async #adopt(capture: Capture, caller: Caller): Promise<AgentRun> {
    const start = this.#recorder.adopt(capture);
    await start.run.started;
    return this.#keep(start, start.draft.command, caller, capture.meta?.createdAt ?? 0);
  }

  /** What its conversation calls the run, for a server that may have to take it over. */
  named({ id, dir }: AgentRun, handle: RunHandle): void {
    try {
      noteHandle(dir, handle);
    } catch (error) {
      this.#log('warn', 'Handle not recorded', { run_id: id, handle, error: messageOf(error) });
    }
  }

  /** Keys for its terminal. Rejects with an `AppError` when they must not be typed. */
  type(run: AgentRun, keys: string, caller: Caller): Promise<void> {
    const typed = this.#typed.get(run) ?? { text: '', last: Promise.resolve() };
    this.#typed.set(run, typed);
    // One after the other: two halves of a command may come at once.
    const turn = typed.last.then(async () => {
      if (this.#recorder.guarded && !onlyInterrupts(keys)) {
        const { shell } = run.draft;
        const chosen = { typed: { into: run.command, shell, before: typed.text } };
        await this.#permit({ command: keys, workingDirectory: run.cwd, chosen }, caller);
      }
      // Also without a policy: there may be one before the next key.
      typed.text = `${typed.text}${keys}`.slice(0, TYPED_MAX);
      if (run.result === undefined) run.write(keys);
    });
    typed.last = turn.catch(() => undefined); // the call that typed it is told
    return turn;
  }

  #owned(request: RunRequest, { client, context }: Caller): RunRequest {
    const { name: dialect, services, handleOf } = this.#options;
    if (handleOf === undefined) return request;
    const { projectDirectory: project } = services;
    const owner = { dialect, project, client, conversationId: context.conversationId };
    return { ...request, how: { ...request.how, owner } };
  }

  async #permit(request: RunRequest, caller: Caller): Promise<Permission> {
    const permission = await this.#recorder.permit(request, caller);
    if (permission.note !== undefined) caller.notes.push(permission.note);
    return permission;
  }

  /** Why commands of this conversation are not in the journal, as far as it was not told yet. */
  untold({ key }: Caller): readonly string[] {
    return this.#unrecorded.take(key);
  }

  /** What commands in the sandbox changed of what is protected, as far as it was not told yet. */
  changed(caller: Caller): readonly string[] {
    return this.#changed.take(caller);
  }

  /** Which secrets commands printed, as far as it was not told yet. */
  leaked(caller: Caller): readonly string[] {
    return this.#leaked.take(caller);
  }

  /** Writes down that a command was asked for and refused. Never rejects: it is refused anyway. */
  async deny(request: RunRequest, caller: Caller): Promise<void> {
    try {
      await this.#recorder.deny(request, caller);
    } catch (error) {
      this.#log('warn', 'Refusal not recorded', { session_id: null, error: messageOf(error) });
    }
    this.#announced.changed();
  }

  /**
   * How it ended, or undefined when the time is over first: then it goes on and has its pid. A
   * caller who cancels meanwhile ends the run, or only the waiting if it says `leave`.
   */
  async wait(
    run: AgentRun,
    waitMs: number,
    { signal, progress }: Caller,
    onCancel: 'kill' | 'leave' = 'kill',
  ): Promise<Ending | undefined> {
    const call = { progress, ...(onCancel === 'kill' && { signal }) };
    const ending = await this.#recorder.attend(run, call, () => {
      const over = within(run.finished, waitMs);
      return onCancel === 'kill' ? over : Promise.race([over, aborted(signal)]);
    });
    if (ending === undefined) await run.started;
    return ending;
  }

  /** How it ended, or that the server stops and leaves it. A caller who cancels ends the run. */
  waitForEnd(run: AgentRun, caller: Caller): Promise<Ending | OpenEnding> {
    return this.#recorder.attend(run, caller, () => run.ending);
  }

  /** TERM, grace, KILL to every process of it. Resolves when all are gone and it is journalled. */
  async kill(
    run: AgentRun,
    options: { readonly signal?: string; readonly graceMs?: number } = {},
  ): Promise<Ending> {
    await run.kill(options);
    return run.finished;
  }

  /** The runs of this conversation that this server started, oldest first. */
  runs({ key }: Caller): readonly AgentRun[] {
    return this.#runs.of(key);
  }

  /** Undefined for a run of another conversation, as if there were none. */
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

  /** For one answer: the capture that came with the ending, else opened when it is needed. */
  look(ending?: Ending): Look {
    let capture = ending?.findings?.capture;
    return {
      open: (id) => {
        capture ??= this.open(id);
        return capture;
      },
    };
  }

  /** As it is now. Throws `session_not_found`. */
  open(id: string): Capture {
    return this.#shell.open(id);
  }

  /** The sessions and entries of the journal. */
  get journal(): Pick<Recorder, 'listRecent' | 'session' | 'sessionInfo'> {
    return this.#recorder;
  }

  health(): Health {
    return this.#recorder.health();
  }

  async reload(settings: RunSettings): Promise<void> {
    this.#settings = settings;
    await this.#recorder.reload(settings, this.#shell);
    this.#announced.changed();
  }

  /** What must not be lost is written when this returns; `close` follows. */
  stopping(cause: StopCause): void {
    this.#recorder.stopping(cause);
  }

  async close(): Promise<void> {
    this.#takeover?.close();
    await this.#recorder.close();
    for (const shell of this.#shells.values()) shell.close();
    this.#unfollow?.();
    this.#announced.close();
  }

  /** Starts runs from now on. Each of the shells reads the captures of all. */
  get #shell(): Shell {
    const { projectDirectory: cwd, stateRoot, env, shell } = this.#options.services;
    const { environment } = this.#settings;
    if (environment === 'inherit') return shell();
    const known = this.#shells.get(environment);
    if (known !== undefined) return known;
    const { backend: runner } = shell();
    const variables = environment === 'none' ? { env: {} } : { env, environment };
    const live = livePlaces({ stateRoot, cwd, env, log: this.#log });
    const made = createShell({ stateRoot, cwd, runner, live, ...variables });
    this.#shells.set(environment, made);
    return made;
  }

  #log: Log = (level, message, fields) =>
    this.#options.services.log(level, message, { plugin: this.#options.name, ...fields });
}
