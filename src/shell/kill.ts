// Ends a run that any process started. A live runner does it, since only the runner sees every
// process; if the runner was killed or does not obey, this file ends the remaining processes.

import { type Capture, openCapture, type Store } from '../capture/store.ts';
import { openWatch, type Watch } from '../capture/watch.ts';
import { AppError, errnoOf } from '../errors.ts';
import { KILL_GRACE_MS, KILL_OBEY_MS } from '../limits.ts';
import { killOrder, sendOrder } from '../run/orders.ts';
import { groupOf, send } from '../run/portable-group.ts';
import { Killing } from '../run/portable-kill.ts';
import { processAlive } from '../run/processes.ts';
import type { KillOrder } from '../run/spec.ts';
import type { Ended, EndedBy, ProcessId } from '../types.ts';
import { membersOf, portable, runnerAlive } from './processes.ts';
import type { KillOptions } from './run.ts';

// A runner whose FIFO stays full for this long takes no more orders.
const DELIVER_MS = 10_000;

// A live starter that has not made a runner by then cannot make one.
const START_MS = 60_000;

// All processes are dead and only the output is still open: one of our own readers may hold it.
const CLOSE_MS = 250;

const RECORD_MS = 1_000;

const RETRY_MS = 25; // the runner reads its FIFO meanwhile

/**
 * The first signal, the grace, then KILL, to every process of the run; resolves when they are gone
 * or cannot be ended. Undefined when the run was over already. Throws `session_not_found`.
 */
export async function endRun(
  store: Store,
  id: string,
  options: KillOptions = {},
): Promise<Ended | undefined> {
  const { signal = 'TERM', graceMs = KILL_GRACE_MS, cause = 'kill' } = options;
  const order: KillOrder = { signal: bare(signal), graceMs: Math.round(graceMs), cause };
  const watch = openWatch(openCapture(store, id).dir);
  try {
    const look = looking(store, id);
    const sent = await deliver(look, watch, killOrder(order));
    if (sent === 'over') return undefined;
    const obeyed = sent === 'sent' && (await closed(look, watch, order.graceMs + KILL_OBEY_MS));
    if (!obeyed) {
      await endByHand(look, order);
      // Let the process that records the run, if there is one, write down how it ended.
      await closed(look, watch, RECORD_MS);
    }
    return endedOf(look(), order.cause);
  } finally {
    watch.close();
  }
}

/**
 * Sends this one signal, once, to every process of the run. True if the run is over `waitMs` later;
 * undefined if it was over before.
 */
export async function signalRun(
  store: Store,
  id: string,
  signal: string,
  waitMs: number,
): Promise<boolean | undefined> {
  const watch = openWatch(openCapture(store, id).dir);
  try {
    const look = looking(store, id);
    const sent = await deliver(look, watch, `signal-all ${bare(signal)}`);
    if (sent === 'over') return undefined;
    if (sent === 'refused') signalMembers(look, `SIG${bare(signal)}` as NodeJS.Signals);
    return waitMs > 0 && (await closed(look, watch, waitMs));
  } finally {
    watch.close();
  }
}

type Look = () => Capture;

/**
 * The capture as it is now. If it was removed under a live run, or cannot be read for the moment
 * (EMFILE, for instance), the capture as it last was.
 */
function looking(store: Store, id: string): Look {
  let last = openCapture(store, id);
  return () => {
    try {
      last = openCapture(store, id);
    } catch (error) {
      const removed = error instanceof AppError && error.code === 'session_not_found';
      if (!removed && errnoOf(error) === undefined) throw error;
    }
    return last;
  };
}

/** `refused`: there are processes to end, but no process takes orders. */
async function deliver(
  look: Look,
  watch: Watch,
  order: string,
): Promise<'sent' | 'over' | 'refused'> {
  const begun = performance.now();
  while (true) {
    const capture = look();
    const { id } = capture;
    if (!capture.outputOpen && membersOf(capture).length === 0) return 'over';
    const runner = portable(capture) ? undefined : capture.meta?.runner;
    // A stopped runner can neither obey nor write down how the run ended.
    if (runner !== undefined) toAll([runner], 'SIGCONT');
    const sent = sendOrder(capture.dir, order);
    if (sent === 'sent') return 'sent';
    const waitedMs = performance.now() - begun;
    // Between the intent and the runner there is no process to signal yet.
    if (sent === 'gone' && capture.state === 'starting') {
      if (waitedMs >= START_MS) throw notStarted(id);
      await watch.changed(START_MS - waitedMs);
    } else {
      if (sent === 'gone' || waitedMs >= DELIVER_MS) return 'refused';
      await pause();
    }
  }
}

/** True once no process of the run is left; false if its runner is gone or the time is up. */
async function closed(look: Look, watch: Watch, waitMs: number): Promise<boolean> {
  let until = performance.now() + waitMs;
  while (true) {
    const capture = look();
    if (capture.final?.outputClosed === true) return true;
    const noneLeft = membersOf(capture).length === 0;
    if (capture.state !== 'starting' && !runnerAlive(capture)) return noneLeft;
    if (noneLeft && capture.final !== undefined) until = Math.min(until, soon());
    const left = until - performance.now();
    if (left <= 0) return noneLeft;
    await watch.changed(left);
  }
}

function soon(): number {
  return performance.now() + CLOSE_MS;
}

/** Resolves when no process is left, or when KILL did not end those that are. */
function endByHand(look: Look, { signal, graceMs, cause }: KillOrder): Promise<unknown> {
  const group = {
    members: () => membersOf(look()),
    signal: (name: NodeJS.Signals) => signalMembers(look, name),
  };
  return new Promise((resolve) => {
    new Killing(group, resolve).begin(`SIG${signal}` as NodeJS.Signals, graceMs, cause);
  });
}

function pause(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, RETRY_MS));
}

function notStarted(id: string): AppError {
  return new AppError('run_not_live', `The run ${id} has no runner yet, so it cannot be ended.`, {
    hint: 'Try again, or end the program that starts it.',
  });
}

function signalMembers(look: Look, name: NodeJS.Signals): void {
  const capture = look();
  const { child } = capture.meta ?? {};
  if (process.platform === 'linux') toAll(membersOf(capture), name);
  else if (child !== undefined) groupOf(child.pid).signal(name);
}

function toAll(processes: readonly ProcessId[], signal: NodeJS.Signals): void {
  for (const one of processes) if (processAlive(one)) send(one.pid, signal);
}

/** `SIGTERM` and `TERM` name the same signal. */
function bare(signal: string): string {
  return signal.replace(/^SIG/, '');
}

/** How a run ended. A killed runner cannot say how its command ended. */
export function endedOf(capture: Capture, endedBy: EndedBy = 'itself'): Ended {
  const { final } = capture;
  if (final !== undefined) {
    return { at: final.at, outcome: final.outcome, endedBy: final.endedBy };
  }
  const outcome = runnerAlive(capture)
    ? ({ kind: 'failed', error: 'ETIMEDOUT', message: 'the run did not end after KILL' } as const)
    : ({ kind: 'failed', error: 'runner_lost', message: LOST } as const);
  return { at: Date.now(), outcome, endedBy };
}

const LOST = 'the runner was killed before the run, so the end of the command was not seen';
