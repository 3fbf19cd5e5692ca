// What `claude_code` says, in the forms that Claude Code's own tools have. Nothing is ever read
// back out of these texts.

import { exitCodeOf, isLost } from '../../agent/aftermath.ts';
import type { ToolResult } from '../../host/plugin.ts';
import type { CleanView } from '../../shell/output/view.ts';
import { missingText } from '../../text/missing.ts';
import { shortLine } from '../../text/printable.ts';
import { mainProgram } from '../../text/shell-facts.ts';
import type { Ended } from '../../types.ts';
import { failed } from '../tool-plugin.ts';

const COMMAND_SHOWN_MAX = 200;

/** What is told of processes that are still there. */
export const SURVIVORS = { countMax: 5, lengthMax: COMMAND_SHOWN_MAX };

export type Status = 'running' | 'completed' | 'failed' | 'killed';

export function statusOf(ended: Ended | undefined): Status {
  if (ended === undefined) return 'running';
  if (ended.endedBy !== 'itself') return 'killed';
  const { outcome } = ended;
  return outcome.kind === 'exited' && outcome.code === 0 ? 'completed' : 'failed';
}

export type CommandResult = {
  readonly command: string;
  readonly output: string;
  readonly ended: Ended;
  readonly timeoutMs: number;
  /** Facts that belong to the answer and are not output. */
  readonly notes: readonly string[];
};

// Their exit code 1 is an answer: no match, a difference, not true.
const ANSWERING = new Set(['grep', 'egrep', 'fgrep', 'rg', 'diff', 'cmp', 'test', '[', '[[']);

const LOST = 'How the command ended is not known: its runner was killed';

/** How a command came out that was waited for. */
export function bashAnswer({
  command,
  output,
  ended,
  timeoutMs,
  notes,
}: CommandResult): ToolResult {
  const { outcome, endedBy } = ended;
  const lost = isLost(outcome);
  if (outcome.kind === 'failed' && !lost) {
    return failed(`The command could not be started: ${outcome.message}`);
  }
  const code = exitCodeOf(outcome) ?? 0;
  const facts = [
    ...(lost ? [LOST] : []),
    ...(code === 0 ? [] : [`Exit code ${code}`]),
    ...(endedBy === 'timeout' ? [`Command timed out after ${clock(timeoutMs)}`] : []),
    ...(endedBy === 'cancelled' ? ['Command was cancelled'] : []),
    ...(endedBy === 'itself' && outcome.kind === 'signaled'
      ? [`The shell was ended by ${outcome.signal}`]
      : []),
  ];
  const said = [...facts, ...(output === '' ? [] : [output]), ...notes];
  if (said.length === 0) return { success: true, text: '(Bash completed with no output)' };
  const answered = code === 0 || (code === 1 && ANSWERING.has(mainProgram(command) ?? ''));
  return { success: answered && !lost && endedBy === 'itself', text: said.join('\n') };
}

/** In the middle of an output that is too long. */
export function gap({ firstLine, lastLine }: { firstLine: number; lastLine: number }): string {
  return `\n... [${lastLine - firstLine + 1} lines truncated] ...\n\n`;
}

/** Of a command that was waited for. */
export function outputOf(view: CleanView): string {
  const { totals, text, cut } = view;
  const size = `${totals.lines} line${totals.lines === 1 ? '' : 's'}, ${totals.bytes} bytes`;
  if (view.summary !== undefined) return `${view.summary}\n[${fullOutput(view)}]`;
  const shown = text.replace(/\n$/, '');
  return cut === 'none' ? shown : `${shown}\n\n[${fullOutput(view)}, ${size}]`;
}

/** It is called full only if it is. */
function fullOutput({ path, missingBytes }: CleanView): string {
  if (missingBytes === 0) return `Full output: ${path}`;
  return `Output, of whose middle ${missingText(missingBytes)}: ${path}`;
}

export function background(id: string, path: string): string {
  return `Command running in background with ID: ${id}. Output is being written to: ${path}`;
}

export function movedToBackground(id: string, path: string, timeoutMs: number): string {
  return (
    `Command did not complete within its ${clock(timeoutMs)} timeout and was moved to the ` +
    `background with ID: ${id}. It is still running. Output is being written to: ${path}`
  );
}

export type ShellNews = {
  readonly status: Status;
  readonly code: number | undefined;
  readonly output: string;
  readonly notes: readonly string[];
  /** Epoch milliseconds. */
  readonly now: number;
};

/** What is new of a background shell. */
export function bashOutput({ status, code, output, notes, now }: ShellNews): string {
  return blocks([
    `<status>${status}</status>`,
    code === undefined ? '' : `<exit_code>${code}</exit_code>`,
    output === '' ? '' : `<stdout>\n${output}\n</stdout>`,
    ...notes,
    `<timestamp>${new Date(now).toISOString()}</timestamp>`,
  ]);
}

export type Task = {
  readonly id: string;
  readonly status: Status;
  readonly code: number | undefined;
  readonly waited: boolean;
  readonly output: string;
  readonly notes: readonly string[];
};

/** A background shell and all of its output, or the end of it. */
export function taskOutput({ id, status, code, waited, output, notes }: Task): string {
  const pending = waited ? 'timeout' : 'not_ready';
  return blocks([
    `<retrieval_status>${status === 'running' ? pending : 'success'}</retrieval_status>`,
    `<task_id>${id}</task_id>`,
    '<task_type>local_bash</task_type>',
    `<status>${status}</status>`,
    code === undefined ? '' : `<exit_code>${code}</exit_code>`,
    output === '' ? '' : `<output>\n${output}\n</output>`,
    ...notes,
  ]);
}

/** All of the output of a background shell, or the end of it. */
export function taskText(view: CleanView): string {
  if (view.summary !== undefined) return outputOf(view);
  const cut = view.cut === 'none' ? '' : `[Truncated. ${fullOutput(view)}]\n\n`;
  return `${cut}${view.text.replace(/\n$/, '')}`;
}

export function unknown(what: 'shell' | 'task', id: string): string {
  return `No ${what} found with ID: ${shortLine(id, COMMAND_SHOWN_MAX)}`;
}

export function killed(id: string, command: string): string {
  const message = `Successfully killed shell: ${id} (${shortLine(command, COMMAND_SHOWN_MAX)})`;
  return JSON.stringify({ message, shell_id: id });
}

export function stopped(id: string, command: string): string {
  const shown = shortLine(command, COMMAND_SHOWN_MAX);
  const message = `Successfully stopped task: ${id} (${shown})`;
  return JSON.stringify({ message, task_id: id, task_type: 'local_bash', command: shown });
}

/** `2m 0.0s`, `1.5s`. */
function clock(ms: number): string {
  const tenths = Math.round(ms / 100);
  const seconds = ((tenths % 600) / 10).toFixed(1);
  return tenths < 600 ? `${seconds}s` : `${Math.floor(tenths / 600)}m ${seconds}s`;
}

function blocks(parts: readonly string[]): string {
  return parts.filter((part) => part !== '').join('\n\n');
}
