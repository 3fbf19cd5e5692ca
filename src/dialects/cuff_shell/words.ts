// The words of `cuff_shell`: the lines in brackets that every answer ends with. Facts first, exact
// numbers, and for whatever can be done next the exact call. Nothing is said that goes without
// saying: an id is given to a caller that needs it.

import type { FailedStage, Report } from '../../agent/report.ts';
import type { InputWait } from '../../agent/report-waiting.ts';
import { formatDuration } from '../../text/duration.ts';
import { counted } from '../../text/plural.ts';
import { printable, processLine, shortLine } from '../../text/printable.ts';
import type { EndedBy, StreamTotals } from '../../types.ts';
import { hiddenLines } from '../notes.ts';

const COMMAND_SHOWN_MAX = 80;
const PROGRAM_SHOWN_MAX = 60;
const PROCESSES_SHOWN_MAX = 8;
const VARIABLES_SHOWN_MAX = 8;
const STAGES_SHOWN_MAX = 5;
const REASON_SHOWN_MAX = 300;

/** `3 ms`, `1.2 s`, `2m5s`. */
export function durationText(ms: number): string {
  if (ms < 1_000) return `${Math.round(ms)} ms`;
  if (ms < 60_000) return `${Math.round(ms / 100) / 10} s`;
  return formatDuration(Math.round(ms / 1_000) * 1_000);
}

/** The last eight digits of an id that we made: they find it as well and are soon read. */
export function shortId(id: string): string {
  return /^\d{8}-\d{6}-([0-9a-f]{8})$/.exec(id)?.[1] ?? id;
}

/** `shell_read {"id":"1a2b3c4d","from_line":1}` */
export function callText(
  tool: string,
  id: string,
  args: Readonly<Record<string, unknown>> = {},
): string {
  return `${tool} ${JSON.stringify({ id: shortId(id), ...args })}`;
}

export function oneLine(command: string, max = COMMAND_SHOWN_MAX): string {
  return shortLine(command, max);
}

export function sizeText({ lines, bytes }: StreamTotals): string {
  return `${counted(lines, 'line')}, ${counted(bytes, 'byte')}`;
}

/** `line 3`, `lines 3-8` */
export function linesText(first: number, last: number): string {
  return last <= first ? `line ${first}` : `lines ${first}-${last}`;
}

/** `; 3 lines, 10 bytes`, `; stdout 3 lines, stderr 1 line`; a stream alone needs no name. */
function totalsText({ totals }: Pick<Report, 'totals'>): string {
  const { stdout, stderr } = totals;
  if (stderr.bytes === 0) return stdout.bytes === 0 ? '' : `; ${sizeText(stdout)}`;
  if (stdout.bytes === 0) return `; stderr ${sizeText(stderr)}`;
  return `; stdout ${counted(stdout.lines, 'line')}, stderr ${counted(stderr.lines, 'line')}`;
}

export type Ending = {
  readonly report: Report;
  /** Nothing of its output is in the answer. */
  readonly unshown?: boolean;
  /** What exit code 1 means, if it is an answer. */
  readonly answer?: string | undefined;
  readonly killAfterMs?: number | undefined;
  /** Variables that a failed command may have missed. */
  readonly missed?: readonly string[];
  /** Why it is not traced, where the settings ask for a trace. */
  readonly untraced?: string | undefined;
};

/** The lines at the end of an answer about a run whose shell is done. */
export function endedTrailer(ending: Ending): string {
  const { report, unshown = false, answer, killAfterMs, missed = [], untraced } = ending;
  const { ended } = report;
  const how = ended === undefined ? 'still running' : howEnded(ended, answer, killAfterMs);
  const size = unshown ? unshownText(report) : totalsText(report);
  return lines([
    `${how}, ${durationText(report.elapsedMs)}${size}`,
    ...stageLines(report),
    ...hiddenLines(report.hidden),
    ...survivorLines(report),
    ...(missed.length === 0 ? [] : [`not passed to commands: ${named(missed)}`]),
    ...(untraced === undefined ? [] : [`not traced: ${oneLine(untraced, REASON_SHOWN_MAX)}`]),
    ...troubleLines(report),
  ]);
}

function unshownText({ id, totals: { stdout, stderr } }: Report): string {
  const lines = stdout.lines + stderr.lines;
  return lines === 0 ? '' : `; ${counted(lines, 'line')} not shown: ${callText('shell_read', id)}`;
}

function stageLines({ stages }: Report): string[] {
  const more = stages.length - STAGES_SHOWN_MAX;
  const shown = stages.slice(0, STAGES_SHOWN_MAX).map(stageText);
  return more > 0 ? [...shown, `and ${more} stages more`] : shown;
}

function stageText({ stage, of, command, code }: FailedStage): string {
  const name = command === undefined ? '' : ` (${oneLine(command)})`;
  return `the last pipeline: stage ${stage} of ${of}${name} exited ${code}`;
}

export function howEnded(
  { outcome, endedBy }: NonNullable<Report['ended']>,
  answer?: string,
  killAfterMs?: number,
): string {
  if (outcome.kind === 'failed')
    return `failed: ${oneLine(outcome.message || outcome.error, REASON_SHOWN_MAX)}`;
  const how =
    outcome.kind === 'exited' ? exitText(outcome.code, answer) : `died of ${outcome.signal}`;
  return `${how}${by(endedBy, killAfterMs)}`;
}

const SIGNALLED_FROM = 128;
const SIGNAL_NAMES: Readonly<Record<number, string>> = {
  1: 'SIGHUP',
  2: 'SIGINT',
  3: 'SIGQUIT',
  4: 'SIGILL',
  6: 'SIGABRT',
  7: 'SIGBUS',
  8: 'SIGFPE',
  9: 'SIGKILL',
  11: 'SIGSEGV',
  13: 'SIGPIPE',
  14: 'SIGALRM',
  15: 'SIGTERM',
};

function exitText(code: number, answer: string | undefined): string {
  if (answer !== undefined) return `exit ${code}: ${answer}`;
  const signal = SIGNAL_NAMES[code - SIGNALLED_FROM];
  return signal === undefined ? `exit ${code}` : `exit ${code} (128+${signal})`;
}

function by(endedBy: EndedBy, killAfterMs: number | undefined): string {
  switch (endedBy) {
    case 'itself':
      return '';
    case 'timeout':
      return killAfterMs === undefined
        ? ', killed at its deadline'
        : `, killed by kill_after_ms ${killAfterMs}`;
    case 'kill':
      return ', killed by shell_kill';
    case 'cancelled':
      return ', killed because the call was cancelled';
    case 'shutdown':
      return ', killed because the server stopped';
    case 'capture':
      return ', killed because it could not be recorded';
  }
}

function survivorLines({ id, survivors }: Report): string[] {
  if (survivors.length === 0) return [];
  return [`still alive: ${processList(survivors)}; end with ${callText('shell_kill', id)}`];
}

type Process = { readonly pid: number; readonly command: string; readonly holdsOutput?: boolean };

export function processList(processes: readonly Process[]): string {
  const shown = processes.slice(0, PROCESSES_SHOWN_MAX).map(({ pid, command, holdsOutput }) => {
    const holds = holdsOutput === true ? ' (holds the output)' : '';
    return `pid ${pid} ${processLine(command, PROGRAM_SHOWN_MAX)}${holds}`;
  });
  const more = processes.length - shown.length;
  return [...shown, ...(more > 0 ? [`and ${more} more`] : [])].join(', ');
}

function troubleLines({ lostBytes, unread, redacted }: Report): string[] {
  return [
    ...(lostBytes > 0 ? [`${counted(lostBytes, 'byte')} of output could not be kept`] : []),
    ...(unread === undefined ? [] : [unread]),
    ...(redacted ? ['the journal has a placeholder in place of the secret in the command'] : []),
  ];
}

function named(names: readonly string[]): string {
  const shown = names.slice(0, VARIABLES_SHOWN_MAX).map(printable).join(', ');
  return names.length > VARIABLES_SHOWN_MAX ? `${shown}, …` : shown;
}

export type LiveState = {
  readonly report: Report;
  readonly waiting: InputWait | undefined;
  readonly killAfterMs: number | undefined;
  /** Lines in front of the others. */
  readonly first?: readonly string[];
};

/** The lines at the end of an answer about a run that goes on. */
export function runningTrailer(about: LiveState): string {
  const { report, waiting, killAfterMs, first = [] } = about;
  const { id, pid, elapsedMs } = report;
  const who = pid === undefined ? '' : `, pid ${pid}`;
  return lines([
    ...first,
    `still running${who}, ${durationText(elapsedMs)}: ${callText('shell_wait', id)}`,
    ...(killAfterMs === undefined ? [] : [deadlineText(killAfterMs, elapsedMs)]),
    ...(waiting === undefined ? [] : [waitingText(id, waiting)]),
    ...troubleLines(report),
  ]);
}

function deadlineText(killAfterMs: number, elapsedMs: number): string {
  const left = durationText(Math.max(0, killAfterMs - elapsedMs));
  return `kill_after_ms ${killAfterMs} ends it in ${left}`;
}

function waitingText(id: string, { pid, command }: InputWait): string {
  const who = `pid ${pid} ${processLine(command, PROGRAM_SHOWN_MAX)}`;
  return `waiting for input: ${who}; ${callText('shell_write', id, { text: 'ANSWER\n' })}`;
}

export function lines(texts: readonly string[]): string {
  return texts.map((text) => `[${text}]`).join('\n');
}

/** Text and what follows it, each on lines of its own. */
export function joined(parts: readonly string[]): string {
  return parts
    .filter((part) => part !== '')
    .map((part, index, all) =>
      index < all.length - 1 && !part.endsWith('\n') ? `${part}\n` : part,
    )
    .join('');
}
