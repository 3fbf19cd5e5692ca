// Ends processes without a runner: a first signal to each, a grace, then KILL again and again until
// none that we can find is left. Reports which died and which did not.

import type { EndedBy } from '../types.ts';
import type { Group } from './portable-group.ts';

const LOOK_MS_MIN = 10; // the kernel does not notify us of the end of other processes' children
const LOOK_MS_MAX = 50; // each look reads /proc
const GIVE_UP_MS = 3_000; // processes in uninterruptible sleep ignore KILL: report, go on

export type KillReport = {
  readonly signal: NodeJS.Signals;
  readonly cause: EndedBy;
  readonly died: readonly number[];
  readonly alive: readonly number[];
};

export class Killing {
  readonly #group: Group;
  readonly #finished: (report: KillReport) => void;
  #step: 'idle' | 'asked' | 'forced' = 'idle';
  #first: { signal: NodeJS.Signals; cause: EndedBy } | undefined;
  #until = 0;
  #lookMs = LOOK_MS_MIN;
  #timer: NodeJS.Timeout | undefined;
  readonly #seen = new Set<number>();

  constructor(group: Group, finished: (report: KillReport) => void) {
    this.#group = group;
    this.#finished = finished;
  }

  get active(): boolean {
    return this.#step !== 'idle';
  }

  /** A second call may only hurry up the first. */
  begin(signal: NodeJS.Signals, graceMs: number, cause: EndedBy): void {
    if (this.#step === 'forced') return;
    this.#first ??= { signal, cause };
    this.#step = signal === 'SIGKILL' ? 'forced' : 'asked';
    this.#until = performance.now() + (signal === 'SIGKILL' ? GIVE_UP_MS : graceMs);
    for (const { pid } of this.#group.members()) this.#seen.add(pid);
    this.#group.signal(signal);
    // Those that are stopped must see it, too.
    if (signal !== 'SIGKILL' && process.platform !== 'win32') this.#group.signal('SIGCONT');
    this.#lookMs = LOOK_MS_MIN;
    this.#wait();
  }

  /** Goes on as far as it can; call it whenever a process may have died. */
  look(): void {
    if (this.#step === 'idle') return;
    const left = this.#group.members();
    for (const { pid } of left) this.#seen.add(pid);
    const over = performance.now() >= this.#until;
    if (left.length === 0 || (over && this.#step === 'forced')) {
      this.#finish(left.map(({ pid }) => pid));
      return;
    }
    if (over) {
      this.#step = 'forced';
      this.#until = performance.now() + GIVE_UP_MS;
      this.#lookMs = LOOK_MS_MIN;
    }
    if (this.#step === 'forced') this.#group.signal('SIGKILL'); // also for newly forked processes
    this.#wait();
  }

  #wait(): void {
    clearTimeout(this.#timer);
    const ms = Math.min(this.#lookMs, Math.max(0, this.#until - performance.now()));
    this.#lookMs = Math.min(LOOK_MS_MAX, this.#lookMs * 1.5);
    this.#timer = setTimeout(() => this.look(), ms);
  }

  #finish(alive: readonly number[]): void {
    clearTimeout(this.#timer);
    const died = [...this.#seen].filter((pid) => !alive.includes(pid));
    const { signal, cause } = this.#first ?? { signal: 'SIGKILL', cause: 'kill' };
    this.#step = 'idle';
    this.#first = undefined;
    this.#seen.clear();
    this.#finished({ signal, cause, died, alive });
  }
}
