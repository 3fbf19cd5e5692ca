// Ending a run in `cuff_shell`, with everything it left behind, and who died of it.

import type { Caller } from '../../agent/caller.ts';
import type { ToolResult } from '../../host/plugin.ts';
import { runProcesses, stillAlive } from '../../shell/processes.ts';
import { type Args, textOf } from '../arguments.ts';
import { answerAbout } from './answer.ts';
import { findRun, type Native } from './runs.ts';
import { processList } from './words.ts';

export async function killRun(native: Native, args: Args, caller: Caller): Promise<ToolResult> {
  const subject = findRun(native, caller, String(args.id));
  const signal = textOf(args.signal) ?? 'TERM';
  const before = runProcesses(subject.open());
  const { run } = subject;
  if (run !== undefined) await native.shell.kill(run, { signal });
  else await subject.shell.kill(subject.id, { signal });
  const left = stillAlive(before);
  const died = before.filter(({ pid }) => !left.has(pid));
  const alive = before.filter(({ pid }) => left.has(pid));
  const first = [
    died.length === 0
      ? 'nothing was killed: no process of it was alive'
      : `killed ${processList(died.map(nameOnly))}`,
    ...(alive.length === 0 ? [] : [`could not be killed: ${processList(alive)}`]),
  ];
  const { text } = answerAbout(native, subject, {
    view: undefined,
    bytesMax: native.maxBytes,
    first,
  });
  return { success: alive.length === 0, text };
}

function nameOnly({ pid, command }: { readonly pid: number; readonly command: string }) {
  return { pid, command };
}
