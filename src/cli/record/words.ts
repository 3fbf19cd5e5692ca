// Sentences that more than one subcommand says.

import { counted } from '../../text/plural.ts';
import { printable } from '../../text/printable.ts';

/** Not an error: there is nothing, and this is how there will be something. */
export const NO_RECORDINGS = `No recordings found.

Recordings are created when the BashRecorder plugin executes commands.
Configure the plugin in settings.yml to start recording.
`;

const COMMAND_LENGTH_MAX = 60; // a longer command is a script; its start is enough to know it

export function shortCommand(command: string): string {
  const text = printable(command);
  return text.length <= COMMAND_LENGTH_MAX ? text : `${text.slice(0, COMMAND_LENGTH_MAX - 1)}…`;
}

/** How an entry ended: its sign, and the code, signal or reason. */
export function endOf(entry: {
  readonly timed_out: boolean;
  readonly exit_code: number | null;
  readonly signal: string | null;
  readonly end_reason: string;
}): { readonly sign: string; readonly words: string } {
  if (entry.timed_out) return { sign: '⏱', words: 'timed out' };
  if (entry.exit_code === null) return { sign: '✗', words: entry.signal ?? entry.end_reason };
  return { sign: entry.exit_code === 0 ? '✓' : '✗', words: `exit ${entry.exit_code}` };
}

/** How the entries of a session, or of all of them, are not those that their writer left. */
export function sequenceWords(where: string, faults: Faults): string {
  const { skipped, repeated, backward, missing } = faults;
  const parts = [
    ...(skipped > 0 ? [`${skipped} skipped`] : []),
    ...(repeated > 0 ? [`${repeated} repeated`] : []),
    ...(backward > 0 ? [`${backward} going back`] : []),
  ];
  const order = `Entry numbers of ${where} are not in order: ${parts.join(', ')}.`;
  const entries = counted(missing, 'entry is', 'entries are');
  const end = `${entries} missing from ${where}: lines were lost at the end of a file.`;
  return [...(parts.length > 0 ? [order] : []), ...(missing > 0 ? [end] : [])].join('\n');
}

type Faults = {
  readonly skipped: number;
  readonly repeated: number;
  readonly backward: number;
  readonly missing: number;
};

/** What is missing from an answer because the journal is damaged. */
export function damagedLines(count: number): string {
  return `${counted(count, 'damaged line is', 'damaged lines are')} left out.`;
}
