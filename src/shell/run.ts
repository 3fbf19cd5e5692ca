// One run as its starter sees it: promises for its start, its end and the closing of its output,
// its events, and its orders. Built from the messages of either backend.

import type { Capture } from '../capture/store.ts';
import { KILL_OBEY_MS, TIMER_MS_MAX } from '../limits.ts';
import type { MemoryPiece } from '../run/memory.ts';
import type { Handle, KillOrder, Listener, RunMessage } from '../run/spec.ts';
import type { CaptureFinal, Ended, EndedBy, Outcome, ProcessId } from '../types.ts';
import {
  type Doneness,
  type EventSource,
  type EventsOptions,
  type RunEvent,
  runEvents,
} from './run-events.ts';
import { refuseKill } from './validate.ts';

export type { EventsOptions, RunEvent };

/** An `AbortSignal`, typed without the DOM or Node. */
export type AbortSignalLike = {
  readonly aborted: boolean;
  addEventListener(type: 'abort', listener: () => void): void;
  removeEventListener(type: 'abort', listener: () => void): void;
};

export type Recording =
  | { readonly on: true; readonly dir: string }
  /** The bytes are in `dir` for now, which is not under the state root; `why` gives the reason. */
  | { readonly on: false; readonly dir: string; readonly why: string };

/** The head of each stream, and how many bytes there were. */
export type MemoryOutput = {
  /** What is kept, in the order it came. */
  readonly pieces: readonly MemoryPiece[];
  stdout(): Uint8Array;
  stderr(): Uint8Array;
  readonly totals: { readonly stdout: number; readonly stderr: number };
};

export type KillOptions = {
  readonly signal?: string;
  readonly graceMs?: number;
  readonly cause?: EndedBy;
};

export type Run = {
  readonly id: string;
  readonly recording: Recording;
  /** The output of a run that leaves none on disk; undefined for all others. */
  readonly memory: MemoryOutput | undefined;
  /** Resolves with the command's process, or undefined when it could not be started. */
  readonly started: Promise<ProcessId | undefined>;
  /** The shell is done and its output is captured. Never rejects. */
  readonly done: Promise<Ended>;
  /** How long the command took; undefined before `done`, and if no runner saw its end. */
  readonly tookMs: number | undefined;
  /**
   * It is over, printed nothing, lost nothing and left no survivor: its capture need not be read.
   */
  readonly silent: boolean;
  /** Every survivor is gone and nothing more can come. Never rejects. */
  readonly closed: Promise<void>;
  /** Resolves with `done`, or with undefined when the time is up. Never kills. */
  wait(waitMs: number): Promise<Ended | undefined>;
  /**
   * Everything from the start, for any number of callers at any time. Events are read from the
   * capture, so a run with `output: 'memory'` has no `output` events.
   */
  events(options?: EventsOptions): AsyncIterableIterator<RunEvent>;
  /** `events()`: until the shell is done. */
  [Symbol.asyncIterator](): AsyncIterableIterator<RunEvent>;
  /** TERM, grace, KILL to every process of the run; resolves when all are gone. */
  kill(options?: KillOptions): Promise<Ended>;
  signal(name: string): void;
  write(input: string | Uint8Array): void;
  endInput(): void;
  resize(cols: number, rows: number): void;
};

type Parts = {
  readonly id: string;
  readonly recording: Recording;
  readonly graceMs: number;
  readonly now: () => number;
  readonly begin: (listener: Listener) => Handle;
  readonly memory: MemoryOutput | undefined;
  readonly output: Pick<EventSource, 'follow' | 'read'>;
  /** Its capture as it is now; undefined if it is gone. */
  readonly look: () => Capture | undefined;
  /** Ends the processes of the run without its runner's help. Always settles. */
  readonly endByForce: (order: KillOrder) => Promise<Ended>;
};

export function makeRun(parts: Parts): Run {
  const started = deferred<ProcessId | undefined>();
  const doneness = deferred<Doneness>();
  const done = doneness.promise.then(({ ended }) => ended);
  const closed = deferred<void>();
  let recording = parts.recording;
  let tookMs: number | undefined;
  let silent = false; // so far; certain only when the whole run is over
  let over = false;

  const end = ({ outcome, endedBy, outputBytes = 0 }: RunEnd): void => {
    started.resolve(undefined);
    doneness.resolve({ ended: { at: parts.now(), outcome, endedBy }, outputBytes });
  };
  // `last` has an effect only if `done` did not come first.
  const finish = (last: RunEnd = LOST): void => {
    end(last);
    closed.resolve();
  };
  const listener = (message: RunMessage): void => {
    if (message.kind === 'started') started.resolve(message.child);
    if (message.kind === 'uncaptured') {
      recording = { on: false, dir: recording.dir, why: message.error };
    }
    if (message.kind === 'done') {
      const captured = recording.on && parts.memory === undefined;
      silent = captured && message.outputBytes + message.lostBytes + message.survivors === 0;
      tookMs = message.tookMs;
      end(message);
    }
    if (message.kind === 'failed') finish(failed(message));
    if (message.kind === 'ended') {
      over = true;
      finish();
    }
    if (message.kind === 'gone') watchLeft(parts.look, { done: end, over: finish });
  };
  const handle = parts.begin(listener);
  const source: EventSource = {
    started: started.promise,
    done: doneness.promise,
    closed: closed.promise,
    ...parts.output,
    survivors: () => parts.look()?.final?.survivors ?? [],
  };
  const events: Run['events'] = (options) => runEvents(source, options);
  const allGone = closed.promise.then(() => done);
  const { id, memory } = parts;
  return {
    id,
    memory,
    get recording() {
      return recording;
    },
    get tookMs() {
      return tookMs;
    },
    get silent() {
      return over && silent;
    },
    started: started.promise,
    done,
    closed: closed.promise,
    events,
    [Symbol.asyncIterator]: () => events(),
    wait: (waitMs) => within(done, waitMs),
    kill: killing(parts, handle, allGone),
    ...ordersTo(handle),
  };
}

/** `over` resolves with how it ended, once none of its processes is left. */
function killing(parts: Parts, handle: Handle, over: Promise<Ended>): Run['kill'] {
  return async ({ signal = 'TERM', graceMs = parts.graceMs, cause = 'kill' } = {}) => {
    const order: KillOrder = { signal, graceMs, cause };
    refuseKill(order);
    handle.kill(order);
    // Not over in time: the order was lost, or the runner is stopped or stuck.
    return (await within(over, graceMs + KILL_OBEY_MS)) ?? parts.endByForce(order);
  };
}

/** How it ended, according to its runner or its capture. */
type RunEnd = {
  readonly outcome: Outcome;
  readonly endedBy: EndedBy;
  readonly outputBytes?: number;
};

function failed({ error, message }: { readonly error: string; readonly message: string }): RunEnd {
  return { outcome: { kind: 'failed', error, message }, endedBy: 'itself' };
}

const LOST = failed({ error: 'runner_lost', message: 'the runner was killed' });

function ordersTo(handle: Handle): Pick<Run, 'signal' | 'write' | 'endInput' | 'resize'> {
  return {
    signal: (name) => handle.signal(name),
    write: (input) => handle.write(typeof input === 'string' ? Buffer.from(input) : input),
    endInput: () => handle.endInput(),
    resize: (cols, rows) => handle.resize(cols, rows),
  };
}

/** Promise.withResolvers, which Node 20 does not have. */
export function deferred<T>(): { promise: Promise<T>; resolve: (value: T) => void } {
  let resolve: (value: T) => void = () => undefined;
  const promise = new Promise<T>((done) => {
    resolve = done;
  });
  return { promise, resolve };
}

/** Resolves when it is aborted, at once if it is already. */
export function aborted(signal: AbortSignalLike): Promise<undefined> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve(undefined);
    signal.addEventListener('abort', () => resolve(undefined));
  });
}

/** The promise's value, or undefined when the time is up first. */
export async function within<T>(promise: Promise<T>, waitMs: number): Promise<T | undefined> {
  if (waitMs > TIMER_MS_MAX) return promise;
  let timer: NodeJS.Timeout | undefined;
  const over = new Promise<undefined>((resolve) => {
    timer = setTimeout(resolve, waitMs, undefined);
  });
  try {
    return await Promise.race([promise, over]);
  } finally {
    clearTimeout(timer);
  }
}

// A run whose runner no longer talks to us, because the shell was closed or the runner was killed:
// its capture says how it goes on. The polling keeps no process alive, since a caller that
// closed its shell let go of its runs.

const LOOK_MS = 100; // no caller waits for this any more

// By then a pending request has become a runner, or it never will.
const START_MS = 2_000;

type LeftListener = {
  readonly done: (final: CaptureFinal) => void;
  /** No process is left to see how it ends. Also called after `done`. */
  readonly over: () => void;
};

/** `look` returns the capture as it is now, or undefined if it is gone. */
function watchLeft(look: () => Capture | undefined, listener: LeftListener): void {
  const startBy = performance.now() + START_MS;
  const turn = (): void => {
    const capture = look();
    if (capture?.final !== undefined) listener.done(capture.final);
    const late = capture?.state === 'starting' && performance.now() > startBy;
    if (capture?.outputOpen === true && !late) setTimeout(turn, LOOK_MS).unref();
    else listener.over();
  };
  turn();
}
