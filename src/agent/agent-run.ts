// A run of an agent: what was asked, by which conversation, and how it ended. Its entry in the
// journal is written when it is over, also long after the call that started it was answered. Also
// the runs of a server: whose they are, and how many there are at once.

import { AppError } from '../errors.ts';
import type { Ending, OpenEnding } from '../recorder/ending.ts';
import type { Start } from '../recorder/recorder.ts';
import { aborted, type KillOptions, type MemoryOutput, type Run, within } from '../shell/run.ts';
import type { Shell } from '../shell/shell.ts';
import { shortLine } from '../text/printable.ts';
import type { Ended, ProcessId } from '../types.ts';
import { type HiddenFailure, hiddenAmong } from './report-trace.ts';

// Facts about runs that are over; their captures can be found without them.
const KEPT_MAX = 1_000;

const COMMAND_SHOWN_MAX = 80;

export class AgentRun {
  readonly id: string;
  /** As it was asked for. */
  readonly command: string;
  readonly cwd: string;
  /** Epoch milliseconds. */
  readonly startedAt: number;
  /** The key of the conversation it belongs to. */
  readonly owner: string;
  /** What its entry says and was known before: its command without secrets. */
  readonly draft: Start['draft'];
  /** The shell that can read it. */
  readonly shell: Shell;
  readonly #run: Run;
  #ending: Promise<Ending | OpenEnding>;
  #finished: Promise<Ending>;
  #pid: number | undefined;
  #live = true;
  #result: Ending | undefined;
  #hidden: readonly HiddenFailure[] = [];

  constructor(given: {
    readonly start: Start;
    readonly command: string;
    readonly owner: string;
    readonly startedAt: number;
  }) {
    const { run, draft, shell, ending } = given.start;
    this.#run = run;
    this.id = run.id;
    this.draft = draft;
    this.shell = shell;
    this.command = given.command;
    this.cwd = draft.working_directory;
    this.owner = given.owner;
    this.startedAt = given.startedAt;
    this.#ending = ending;
    this.#finished = this.#finish(ending);
    void run.started.then((child) => {
      this.#pid = child?.pid;
    });
    void run.done.then(() => {
      this.#live = false;
    });
  }

  /** Of the shell; undefined before it was started, and when it could not be. */
  get pid(): number | undefined {
    return this.#pid;
  }

  /** Its shell runs. What follows, up to `finished`, is our work and needs no place of its own. */
  get live(): boolean {
    return this.#live;
  }

  /**
   * The shell is done, its output captured, its entry on the disk. Calls that wait before the end
   * get its findings, too; later ones do not, so that no output is kept in memory. Never rejects.
   */
  get finished(): Promise<Ending> {
    return this.#finished;
  }

  /** The same, or that the server stopped and left the run. */
  get ending(): Promise<Ending | OpenEnding> {
    return this.#ending;
  }

  /** Undefined until `finished`. Without findings. */
  get result(): Ending | undefined {
    return this.#result;
  }

  /** Failures inside of it that its status hides; none until `finished`. */
  get hidden(): readonly HiddenFailure[] {
    return this.#hidden;
  }

  /** Nothing of it need be read. */
  get silent(): boolean {
    return this.#run.silent;
  }

  /** The directory of its capture. */
  get dir(): string {
    return this.#run.recording.dir;
  }

  /** Whether its bytes can be read later, by its id. */
  get captured(): boolean {
    return this.#run.memory === undefined && this.#run.recording.on;
  }

  get memory(): MemoryOutput | undefined {
    return this.#run.memory;
  }

  get started(): Promise<ProcessId | undefined> {
    return this.#run.started;
  }

  /** Its shell is done; its entry may be on its way to the disk. */
  get done(): Promise<Ended> {
    return this.#run.done;
  }

  get closed(): Promise<void> {
    return this.#run.closed;
  }

  write(input: string): void {
    this.#run.write(input);
  }

  endInput(): void {
    this.#run.endInput();
  }

  kill(options?: KillOptions): Promise<Ended> {
    return this.#run.kill(options);
  }

  async #finish(handedOver: Promise<Ending | OpenEnding>): Promise<Ending> {
    const { findings, ...facts } = await handedOver;
    const ended = facts.ended ?? (await this.#run.done);
    this.#result = { ...facts, ended };
    this.#hidden = hiddenAmong(findings?.failures ?? [], ended);
    this.#finished = Promise.resolve(this.#result);
    this.#ending = this.#finished;
    return { ...this.#result, ...(findings && { findings }) };
  }
}

/** How long a call waits for a free place. */
export type RoomClock = {
  readonly patienceMs: number;
  /** In milliseconds. */
  readonly now: () => number;
};

export class AgentRuns {
  readonly #all = new Map<string, AgentRun>();

  add(run: AgentRun): void {
    this.#all.set(run.id, run);
    for (const [id, { result }] of this.#all) {
      if (this.#all.size <= KEPT_MAX) return;
      if (result !== undefined) this.#all.delete(id);
    }
  }

  get(id: string): AgentRun | undefined {
    return this.#all.get(id);
  }

  /** Of the conversation with this key, oldest first. */
  of(key: string): readonly AgentRun[] {
    return [...this.#all.values()].filter(({ owner }) => owner === key);
  }

  full(liveRunsMax: number): boolean {
    return this.#live().length >= liveRunsMax;
  }

  /** Until fewer run than may, the patience is over, or the caller gives up. */
  async untilRoom(
    liveRunsMax: number,
    signal: AbortSignal,
    { patienceMs, now }: RoomClock,
  ): Promise<void> {
    const until = now() + patienceMs;
    while (this.full(liveRunsMax) && !signal.aborted) {
      const left = until - now();
      if (left <= 0) return;
      const ends = this.#live().map(({ done }) => done);
      await within(Promise.race([...ends, aborted(signal)]), left);
    }
  }

  #live(): readonly AgentRun[] {
    return [...this.#all.values()].filter(({ live }) => live);
  }

  /** Throws `too_many_runs` when as many run as may. */
  refuseMore(
    liveRunsMax: number,
    { key }: { readonly key: string },
    handleOf: ((run: AgentRun) => string) | undefined,
  ): void {
    const live = this.#live();
    if (live.length < liveRunsMax) return;
    const own = live.filter(({ owner }) => owner === key);
    const listed = own.map(
      (run) => `\n  ${handleOf?.(run) ?? run.id}: ${shortLine(run.command, COMMAND_SHOWN_MAX)}`,
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
}
