// `cuff kill`: ends every process of a run and lists them, whichever program started the run. With
// --signal it sends that signal to each of them, once, and nothing more.

import { AppError } from '../errors.ts';
import { KILL_GRACE_MS } from '../limits.ts';
import { type Capture, captureNamed, openCapture, storeOf } from '../shell/captures.ts';
import { endRun, signalRun } from '../shell/kill.ts';
import { type RunProcess, runProcesses, stillAlive } from '../shell/processes.ts';
import { printable } from '../text/printable.ts';
import { signalNamed } from '../text/signal-name.ts';
import { table } from '../text/table.ts';
import { put, putJson, say, terminalWidth } from './output.ts';
import { exitText } from './show.ts';

type Options = { readonly signal?: string; readonly grace?: number; readonly json?: boolean };

type Result = 'ended' | 'signaled' | 'already_over' | 'still_alive';

// Signals that usually end a process: only then is it worth waiting for the end.
const ENDING = ['SIGTERM', 'SIGKILL', 'SIGINT', 'SIGQUIT', 'SIGABRT'];

export async function kill(part: string, options: Options): Promise<void> {
  const signal = options.signal === undefined ? undefined : checkedSignal(options.signal);
  const store = storeOf(process.env);
  const { id, ...capture } = captureNamed(store, part);
  const processes = runProcesses(capture);
  const graceMs = options.grace ?? KILL_GRACE_MS;
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
  if (result === 'still_alive') process.exitCode = 1;
  await tell(openCapture(store, id), { result, processes, alive, signal }, options.json === true);
}

type Report = {
  readonly result: Result;
  readonly processes: readonly RunProcess[];
  readonly alive: ReadonlySet<number>;
  readonly signal: string | undefined;
};

/** `--json`: {"session_id","result","state","exit_code","signal","ended_by","processes"}. */
async function tell(capture: Capture, report: Report, json: boolean): Promise<void> {
  const { result, processes, alive } = report;
  if (json) {
    const { outcome, endedBy } = capture.final ?? {};
    await putJson({
      session_id: capture.id,
      result,
      state: capture.state,
      exit_code: outcome?.kind === 'exited' ? outcome.code : null,
      signal: outcome?.kind === 'signaled' ? outcome.signal : null,
      ended_by: endedBy ?? null,
      processes: processes.map(({ pid, command }) => ({ pid, command, alive: alive.has(pid) })),
    });
    return;
  }
  if (result !== 'already_over' && processes.length > 0) {
    const rows = processes.map(({ pid, command }) => [
      String(pid),
      alive.has(pid) ? 'alive' : 'ended',
      command,
    ]);
    const columns = [{ title: 'PID' }, { title: 'NOW' }, { title: 'COMMAND' }];
    await put(table(columns, rows, terminalWidth()));
  }
  say(sentence(capture, report));
}

function sentence(capture: Capture, { result, signal, alive }: Report): string {
  const { id } = capture;
  const end = `${capture.state} ${exitText(capture)}`.replace(/ -$/, '');
  switch (result) {
    case 'already_over':
      return `${id} was over already: ${end}.`;
    case 'ended':
      return `${id} has ended: ${end}.`;
    case 'signaled':
      return `${id} got ${signal}${alive.size > 0 ? '; see what it does with `cuff ps`' : ''}.`;
    case 'still_alive':
      return `${id} did not end: ${alive.size} of its processes ignore even KILL for now.`;
  }
}

/** Also in small letters. Throws `usage`. */
function checkedSignal(text: string): string {
  const found = signalNamed(text.toUpperCase());
  if (found !== undefined) return found;
  throw new AppError('usage', `There is no signal '${printable(text)}'.`, {
    hint: 'Use a name or a number as in `kill -l`: TERM, HUP, INT, USR1, 9.',
  });
}
