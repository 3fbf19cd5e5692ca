// One entry as a person reads it: a line about the command, and what it printed.

import type { EditRecord } from '../../journal/edits.ts';
import { secondsText, timeText } from '../../text/dates.ts';
import { unreadText } from '../../text/missing.ts';
import { printable } from '../../text/printable.ts';
import type { Entry } from '../../types.ts';
import { paint } from '../output.ts';
import { endOf } from './words.ts';

const SIGNS = { '✓': 'green', '✗': 'red', '⏱': 'yellow' } as const;

/** `    1  14:30:52  ✓ exit 0     1.5s  git status` */
export function entryLine(entry: Entry): string {
  const { sign, words } = endOf(entry);
  const colour = SIGNS[sign as keyof typeof SIGNS];
  const number = String(entry.sequence_number).padStart(5);
  const facts = `${paint(colour, sign)} ${printable(words).padEnd(9)}`;
  const time = timeText(entry.timestamp);
  const duration = secondsText(entry.duration_ms).padStart(8);
  return `${number}  ${time}  ${facts}  ${duration}  ${commandOf(entry)}\n`;
}

function commandOf({ command, redacted }: Entry): string {
  return redacted?.includes('text') === true ? '[redacted]' : printable(command);
}

/** `       14:30:52  ✎ Write       +2 -1  /srv/app/a.ts`, in the columns of an entry. */
export function editLine({ timestamp, tool, path, failed, ...edit }: EditRecord): string {
  const sign = failed ? paint('red', '✗') : '✎';
  const count = (lines: number | null): string => (lines === null ? '?' : String(lines));
  const lines = `+${count(edit.lines_added)} -${count(edit.lines_removed)}`.padStart(8);
  const facts = `${sign} ${printable(tool).padEnd(9)}`;
  return `${' '.repeat(5)}  ${timeText(timestamp)}  ${facts}  ${lines}  ${printable(path)}\n`;
}

export function entryOutput(entry: Entry): string {
  const blocks = [
    ...lines(entry.stdout).map((line) => `       ${line}`),
    ...lines(entry.stderr).map((line) => `     ! ${line}`),
    ...missing(entry),
    ...(entry.output_truncated ? [`       (only the start of ${sizeOf(entry)} was kept)`] : []),
    ...laterLines(entry),
    ...(entry.end_reason === 'interrupted' ? [`       (${unreadText()})`] : []),
  ];
  return blocks.map((line) => `${line}\n`).join('');
}

function missing({ stdout, stderr, redacted = [] }: Entry): string[] {
  const gone = redacted.filter((part) => part === 'stdout' || part === 'stderr');
  if (gone.length > 0) return [`       (${gone.join(' and ')} redacted)`];
  return stdout === null && stderr === null ? ['       (output was not kept)'] : [];
}

/** What processes that it left running printed behind it. */
function laterLines({ survivors = [], later }: Entry): string[] {
  const left = survivors.map(({ pid, command }) => `${pid} ${printable(command)}`).join(', ');
  return [
    ...(left === '' ? [] : [`       (left running: ${left})`]),
    ...lines(later?.stdout ?? null).map((line) => `     + ${line}`),
    ...lines(later?.stderr ?? null).map((line) => `    +! ${line}`),
    ...(later?.truncated === true ? ['       (only the start of what came later was kept)'] : []),
  ];
}

function sizeOf({ output_truncated_bytes: bytes }: Entry): string {
  return bytes === null ? 'it' : `${bytes} bytes`;
}

/** Lines a terminal may show: tabs stay, a carriage return at the end goes. */
function lines(text: string | null): string[] {
  if (text === null || text === '') return [];
  const whole = text.endsWith('\n') ? text.slice(0, -1) : text;
  return whole.split(/\r?\n/).map((line) => line.split('\t').map(printable).join('\t'));
}
