// A run of an agent: what was asked, by which conversation, and how it came out. Its entry in the
// journal is written when it is over, also long after the call that started it was answered.

import type { AnyFinish } from '../recorder/outcome.ts';
import type { Begun } from '../recorder/recorder.ts';
import type { Ended, Survivor } from '../types.ts';

/** How a run came out. */
export type Finished = {
  readonly ended: Ended;
  readonly durationMs: number;
  /** Processes that were still there when the shell was done. */
  readonly survivors: readonly Survivor[];
  /** Bytes that were printed and could not be kept. */
  readonly lostBytes: number;
  /** Why its output is not kept where captures are kept. */
  readonly captureTrouble: string | undefined;
  /** Whether it is in the journal, and if not, why. */
  readonly written: AnyFinish['written'];
};

export class AgentRun {
  readonly id: string;
  /** As it was asked for. */
  readonly command: string;
  readonly cwd: string;
  /** Epoch milliseconds. */
  readonly startedAt: number;
  /** The key of the conversation it belongs to. */
  readonly owner: string;
  readonly begun: Begun;
  /** The shell is done, its output captured, its entry on the disk. Never rejects. */
  readonly finished: Promise<Finished>;
  #pid: number | undefined;
  #live = true;
  #result: Finished | undefined;

  constructor(given: {
    readonly begun: Begun;
    readonly command: string;
    readonly owner: string;
    readonly startedAt: number;
  }) {
    const { begun } = given;
    this.id = begun.run.id;
    this.begun = begun;
    this.command = given.command;
    this.cwd = begun.known.working_directory;
    this.owner = given.owner;
    this.startedAt = given.startedAt;
    this.finished = this.#finish();
    void begun.run.started.then((child) => {
      this.#pid = child?.pid;
    });
    void begun.run.done.then(() => {
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

  /** Undefined until `finished`. */
  get result(): Finished | undefined {
    return this.#result;
  }

  /** Nothing of it need be read. */
  get silent(): boolean {
    return this.begun.run.silent;
  }

  async #finish(): Promise<Finished> {
    const { run, finished } = this.begun;
    const result = await finished;
    this.#result = finishedOf(await run.done, result);
    return this.#result;
  }
}

function finishedOf(ended: Ended, result: AnyFinish): Finished {
  const { durationMs, survivors, lostBytes, captureTrouble, written } = result;
  return { ended, durationMs, survivors, lostBytes, captureTrouble, written };
}
