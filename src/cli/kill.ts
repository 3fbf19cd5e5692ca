// `cuff kill`: ends every process of a run and lists them, whichever program started the run. With
// --signal it sends that signal to each of them, once, and nothing more.

import { captureNamed, storeOf } from '../shell/captures.ts';
import { checkedSignal, type KillReport, killJson, killRun } from '../shell/kill-report.ts';
import { table } from '../text/table.ts';
import { put, putJson, say, terminalWidth } from './output.ts';
import { exitText } from './show.ts';

type Options = { readonly signal?: string; readonly grace?: number; readonly json?: boolean };

/** `--json`: {"session_id","result","state","exit_code","signal","ended_by","processes"}. */
export async function kill(part: string, options: Options): Promise<void> {
  const { grace: graceMs, json } = options;
  const signal = options.signal === undefined ? undefined : checkedSignal(options.signal);
  const store = storeOf(process.env);
  const report = await killRun(store, captureNamed(store, part).id, { signal, graceMs });
  const { result, processes, alive } = report;
  if (result === 'still_alive') process.exitCode = 1;
  if (json === true) return putJson(killJson(report));
  if (result !== 'already_over' && processes.length > 0) {
    const rows = processes.map(({ pid, command }) => [
      String(pid),
      alive.has(pid) ? 'alive' : 'ended',
      command,
    ]);
    const columns = [{ title: 'PID' }, { title: 'NOW' }, { title: 'COMMAND' }];
    await put(table(columns, rows, terminalWidth()));
  }
  say(sentence(report));
}

function sentence({ capture, result, signal, alive }: KillReport): string {
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
