// What a model reads about a command of a tool that only the library has: its output, clean and
// never over its cap, and one line in brackets for each fact that the output does not tell.

import { isLost, unreadOutput } from '../agent/aftermath.ts';
import type { AgentRun } from '../agent/agent-run.ts';
import type { AgentShell, Ending } from '../agent/agent-shell.ts';
import type { Caller } from '../agent/caller.ts';
import { TIMER_MS_MAX } from '../limits.ts';
import { OutputReader } from '../shell/output/reader.ts';
import type { HiddenPart } from '../shell/output/view.ts';
import { formatDuration } from '../text/duration.ts';
import { processLine } from '../text/printable.ts';
import type { Ended, Survivor } from '../types.ts';

export const OUTPUT_BYTES_MAX = 30_000; // about 8,000 tokens
export const TIMEOUT_MS_DEFAULT = 120_000;

const SURVIVORS_MAX = 5;
const COMMAND_LENGTH_MAX = 80;

export type OutputView = {
  readonly channel: 'all' | 'stdout' | 'stderr';
  readonly bytesMax: number;
};

export type FinishedRun = { readonly run: AgentRun; readonly finished: Ending };

/** The request has a deadline, so this comes to an end. */
export async function runToEnd(
  shell: AgentShell,
  request: Parameters<AgentShell['start']>[0],
  caller: Caller,
): Promise<FinishedRun> {
  const run = await shell.start(request, caller);
  await shell.wait(run, TIMER_MS_MAX, caller);
  return { run, finished: await run.finished };
}

/** Both ends if it is too long for one piece, and then where the rest is. */
export function outputText(
  shell: AgentShell,
  id: string,
  { channel, bytesMax }: OutputView,
): string {
  const capture = shell.open(id);
  const path = capture.dir;
  const gap = ({ firstLine, lastLine, bytes }: HiddenPart): string =>
    `\n[${bytes} bytes left out, lines ${firstLine}-${lastLine}. All output: ${path}/output.bin]\n`;
  const output = OutputReader.of(capture);
  return output.view({ kind: 'ends', channel, bytesMax, cr: 'overwrite', gap }).text;
}

/** How it ended, if not with a code of its own, what may be missing, and its survivors. */
export function endLines(
  shell: AgentShell,
  run: Pick<AgentRun, 'id'>,
  result: Ending,
  killAfterMs: number,
): readonly string[] {
  return [
    ...endingOf(result.ended, killAfterMs),
    ...unreadOutput(shell, { id: run.id, result }),
    ...survivorLines(result.survivors),
  ];
}

export function codeLines({ ended: { outcome, endedBy } }: Ending): readonly string[] {
  const own = endedBy === 'itself' && outcome.kind === 'exited' && outcome.code !== 0;
  return own ? [`[exit code ${outcome.code}]`] : [];
}

function endingOf({ outcome, endedBy }: Ended, killAfterMs: number): readonly string[] {
  if (isLost(outcome)) return ['[how it ended is not known: its runner was killed]'];
  if (outcome.kind === 'failed') return [`[could not be started: ${outcome.message}]`];
  if (endedBy === 'timeout') {
    return [`[timed out after ${formatDuration(killAfterMs)}; every process of it was ended]`];
  }
  if (endedBy !== 'itself') return [`[ended: ${endedBy}]`];
  return outcome.kind === 'signaled' ? [`[ended by ${outcome.signal}]`] : [];
}

function survivorLines(survivors: readonly Survivor[]): readonly string[] {
  const lines = survivors.slice(0, SURVIVORS_MAX).map(({ pid, command }) => {
    return `[still running: ${pid} ${processLine(command, COMMAND_LENGTH_MAX)}]`;
  });
  const more = survivors.length - lines.length;
  return more === 0 ? lines : [...lines, `[and ${more} more processes]`];
}

export function unrecordedLines({ receipt }: Ending, wanted: boolean): readonly string[] {
  if (receipt.recorded || !wanted) return [];
  return [`[not recorded: ${receipt.why.replace(/\.$/, '')}]`];
}

/** The output and the lines about it, each on a line of its own. */
export function joined(output: string, lines: readonly string[]): string {
  if (output === '' && lines.length === 0) return '[no output]';
  const gap = output === '' || output.endsWith('\n') ? '' : '\n';
  return `${output}${lines.length === 0 ? '' : gap}${lines.join('\n')}`;
}
