// Ending a run on behalf of a person, and what came of it, for the command line and the page.

import { AppError } from '../errors.ts';
import { KILL_GRACE_MS } from '../limits.ts';
import { printable } from '../text/printable.ts';
import { signalNamed } from '../text/signal-name.ts';
import { type Capture, openCapture, type Store } from './captures.ts';
import { endRun, signalRun } from './kill.ts';
import { type RunProcess, runProcesses, stillAlive } from './processes.ts';

type Result = 'ended' | 'signaled' | 'already_over' | 'still_alive';

// Signals that usually end a process: only then is it worth waiting for the end.
const ENDING = ['SIGTERM', 'SIGKILL', 'SIGINT', 'SIGQUIT', 'SIGABRT'];

export type KillReport = {
  readonly capture: Capture;
  readonly result: Result;
  /** Those that it had before. */
  readonly processes: readonly RunProcess[];
  readonly alive: ReadonlySet<number>;
  readonly signal: string | undefined;
};

type KillWish = { readonly signal?: string | undefined; readonly graceMs?: number | undefined };

/** With a signal, as `checkedSignal` gives it: that one, once. */
export async function killRun(store: Store, id: string, wish: KillWish): Promise<KillReport> {
  const { signal } = wish;
  const graceMs = wish.graceMs ?? KILL_GRACE_MS;
  const processes = runProcesses(openCapture(store, id));
  let result: Result;
  if (signal === undefined) {
    const ended = await endRun(store, id, { graceMs });
    result = ended === undefined ? 'already_over' : 'ended';
  } else {
    const over = await signalRun(store, id, signal, ENDING.includes(signal) ? graceMs : 0);
    result = over === undefined ? 'already_over' : over ? 'ended' : 'signaled';
  }
  const alive = stillAlive(processes);
  if (result === 'ended' && alive.size > 0) result = 'still_alive';
  return { capture: openCapture(store, id), result, processes, alive, signal };
}

/** As `cuff kill --json` has it. */
export function killJson({ capture, result, processes, alive }: KillReport) {
  const { outcome, endedBy } = capture.final ?? {};
  return {
    session_id: capture.id,
    result,
    state: capture.state,
    exit_code: outcome?.kind === 'exited' ? outcome.code : null,
    signal: outcome?.kind === 'signaled' ? outcome.signal : null,
    ended_by: endedBy ?? null,
    processes: processes.map(({ pid, command }) => ({ pid, command, alive: alive.has(pid) })),
  };
}

/** Also in small letters. Throws `usage` for one that is none. */
export function checkedSignal(text: string): string {
  const found = signalNamed(text.toUpperCase());
  if (found !== undefined) return found;
  throw new AppError('usage', `There is no signal '${printable(text)}'.`, {
    hint: 'Use a name or a number as in `kill -l`: TERM, HUP, INT, USR1, 9.',
  });
}
