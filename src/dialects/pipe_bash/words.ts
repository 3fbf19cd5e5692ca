// What `pipe_bash` says, in the formats of seed 001. The last newline of a stream is the end of its
// line here, so that one empty line follows each section whether or not the output ended in one.

import type { Ending } from '../../agent/agent-shell.ts';
import type { Copy } from '../../agent/output-copy.ts';
import type { Tail } from '../../shell/output/ends.ts';
import { counted } from '../../text/plural.ts';
import { printable, processLine } from '../../text/printable.ts';
import type { Outcome } from '../../types.ts';

export const NOTHING: Tail = {
  text: '',
  totals: { bytes: 0, lines: 0 },
  shown: { bytes: 0, lines: 0 },
  cut: 'none',
  partialLine: false,
};

export type Streams = { readonly stdout: Tail; readonly stderr: Tail };

/** The files with all of a stream, where something was cut and there is more than one can show. */
export type CopyFiles = { readonly stdout?: Copy | undefined; readonly stderr?: Copy | undefined };

/** What is told of a run that is over; of its survivors those who are there now. */
export type EndFacts = Pick<Ending, 'ended' | 'lostBytes'> & {
  /** Lines about output that may be missing. */
  readonly unread: readonly string[];
  readonly survivors: readonly { readonly pid: number; readonly command: string }[];
};

/** A command that is over. */
export function endedText(finished: EndFacts, streams: Streams, files: CopyFiles): string {
  const notices = [
    ...notice('stdout', streams.stdout, files.stdout),
    ...notice('stderr', streams.stderr, files.stderr),
    ...facts(finished),
  ];
  const sections = section('stdout:', streams.stdout) + section('stderr:', streams.stderr);
  const end = `${sections}exit code: ${exitCode(finished.ended.outcome)}`;
  return notices.length === 0 ? end : `${end}\n\n${notices.join('\n')}`;
}

/** Seed 001 has two of these: `partial` names the ways to go on, `compact` shows less. */
export function backgroundText(
  notice: 'partial' | 'compact',
  about: { readonly timeoutMs: number; readonly pid: number; readonly file: Copy },
  streams: Streams,
): string {
  const { timeoutMs, pid, file } = about;
  const partial = notice === 'partial';
  const seconds = `${timeoutMs / 1000}s`;
  const head = partial
    ? `[Command backgrounded after ${seconds} timeout (pid ${pid}). Partial output:`
    : `[Command backgrounded after ${seconds} (pid ${pid}).`;
  const next = partial ? '\nUse check_pid or kill_pid to manage.' : '';
  return `${head}\n\n${bothSections(streams)}${fullOutput(file)}${next}]`;
}

/** The rest of an unfinished line comes with the next check. */
export function runningText(pid: number, added: Tail, file: Copy): string {
  const { shown, totals, cut, partialLine, text } = added;
  const lines = counted(shown.lines, 'line');
  const last = partialLine ? ended(added) : `last ${shown.lines} of ${totals.lines} lines`;
  const open = text !== '' && !text.endsWith('\n') ? ', the last one unfinished' : '';
  const count = `${cut === 'none' ? lines : last}${open}`;
  const output = section(`New output since last check (${count}):`, added);
  return `[Process ${pid} still running.\n\n${output}${fullOutput(file)}]`;
}

export function exitedText(pid: number, finished: EndFacts, streams: Streams, file: Copy): string {
  const head = `[Process ${pid} ${howEnded(finished.ended.outcome)}.`;
  const more = facts(finished).map((line) => `\n${line.slice(1, -1)}`);
  return `${head}\n\n${bothSections(streams)}${fullOutput(file)}${more.join('')}]`;
}

export function unknownText(pid: number): string {
  return `There is no backgrounded process ${pid} in this conversation.`;
}

function bothSections({ stdout, stderr }: Streams): string {
  return section(`stdout${part(stdout)}:`, stdout) + section(`stderr${part(stderr)}:`, stderr);
}

/** Which part of the stream follows; nothing when it is all of it. */
function part(shown: Tail): string {
  if (shown.cut === 'none') return '';
  if (shown.partialLine) return ` (${ended(shown)})`;
  return ` (last ${counted(shown.shown.lines, 'line')})`;
}

function section(head: string, { text }: Pick<Tail, 'text'>): string {
  const end = text === '' || text.endsWith('\n') ? '' : '\n';
  return `${head}\n${text}${end}\n`;
}

function notice(name: string, shown: Tail, file: Copy | undefined): string[] {
  if (shown.cut === 'none') return [];
  const { lines } = shown.totals;
  const what = shown.partialLine
    ? `${ended(shown)}, the end of line ${lines} of ${lines}`
    : `last ${shown.shown.lines} of ${lines} lines`;
  const where = file === undefined ? '' : ` ${fullOutput(file)}`;
  return [`[${name}: Showing ${what}.${where}]`];
}

function ended({ shown, totals }: Tail): string {
  return `last ${shown.bytes} of ${totals.bytes} bytes`;
}

function fullOutput({ path, error }: Copy): string {
  if (error === undefined) return `Full output: ${path}`;
  return `Full output file may be incomplete: ${path} (${printable(error)})`;
}

function exitCode(outcome: Outcome): string {
  if (outcome.kind === 'exited') return `${outcome.code}`;
  return `-1 (${howEnded(outcome).replace(/^was /, '')})`;
}

function howEnded(outcome: Outcome): string {
  if (outcome.kind === 'exited') return `exited with code ${outcome.code}`;
  if (outcome.kind === 'signaled') return `was killed by ${outcome.signal}`;
  if (outcome.error === 'runner_lost') return 'ended unseen: its runner was killed';
  return `could not be started: ${printable(outcome.message || outcome.error)}`;
}

/** What an agent must know besides, one line each. */
function facts({ ended, survivors, lostBytes, unread }: EndFacts): string[] {
  const left = survivors.map(
    ({ pid, command }) => `${pid} (${processLine(command, COMMAND_LENGTH_MAX)})`,
  );
  return [
    ...(ended.endedBy === 'cancelled' ? ['[Ended because the call was cancelled]'] : []),
    ...(left.length === 0 ? [] : [`[Still running in the background: ${listed(left)}]`]),
    ...(lostBytes === 0 ? [] : [`[${lostBytes} bytes of output could not be captured]`]),
    ...unread,
  ];
}

const LISTED_MAX = 5; // processes by name; more would only make the line long
const COMMAND_LENGTH_MAX = 60;

function listed(all: readonly string[]): string {
  const rest = all.length - LISTED_MAX;
  const more = rest > 0 ? [`${rest} more`] : [];
  return `pid ${[...all.slice(0, LISTED_MAX), ...more].join(', ')}`;
}
