// What a journal entry says about the processes of a command: how many, which programs, and which
// failed. It outlives the trace, so it is short and redacted like the command. A trace that is too
// large to decode while the caller waits is only counted.

import { quoteWords } from '../text/printable.ts';
import type { Redactor } from '../text/redact.ts';
import type { Process } from '../trace/processes/process.ts';
import type { EntryProcesses } from '../types.ts';
import { endText, type Failure, failures } from './failures.ts';
import { smallTrace } from './small-trace.ts';

const LISTED_MAX = 50;
const FAILED_MAX = 10;
const TEXT_LENGTH_MAX = 200;
const COPY = '(a copy of the shell)';

/** For a command that was not traced. */
export const UNTRACED: EntryProcesses = {
  processes: null,
  failed_processes: null,
  process_list: null,
  failed_process_list: null,
};

/** What an entry says of a trace, and the processes that failed: decoded once for both. */
export type TracedProcesses = {
  readonly entry: EntryProcesses;
  readonly failures: readonly Failure[];
};

export const UNTRACED_RUN: TracedProcesses = { entry: UNTRACED, failures: [] };

/** A trace that cannot be read yields no process facts, never an error. */
export function readProcesses(dir: string, command: string, redact: Redactor): TracedProcesses {
  const trace = smallTrace(dir);
  if (trace?.kind !== 'whole') {
    return { entry: { ...UNTRACED, processes: trace?.count ?? null }, failures: [] };
  }
  const { processes } = trace;
  const failed = failures(processes, command);
  const short = (text: string): string => shortened(redact(text));
  const entry = {
    processes: processes.length,
    failed_processes: failed.length,
    process_list: [...new Set(programsOf(processes))].slice(0, LISTED_MAX).map(short),
    failed_process_list: failed.slice(0, FAILED_MAX).map((one) => failureText(one, short)),
  };
  return { entry, failures: failed };
}

export function entryProcesses(dir: string, command: string, redact: Redactor): EntryProcesses {
  return readProcesses(dir, command, redact).entry;
}

/**
 * The programs in order of time, without the shell that we started, which is the command itself.
 */
function programsOf(processes: readonly Process[]): readonly string[] {
  return processes
    .flatMap(({ images, parent }) => images.slice(parent === undefined ? 1 : 0))
    .filter(({ inherited }) => !inherited)
    .sort((a, b) => (a.startNs < b.startNs ? -1 : Number(a.startNs > b.startNs)))
    .map(({ argv, exe }) => (argv.length === 0 ? exe : quoteWords(argv)));
}

function failureText({ name, process }: Failure, short: (text: string) => string): string {
  return `${name === undefined ? COPY : short(name)}: ${endText(process.exit)}`;
}

/** At most so many characters; no surrogate pair is split. */
function shortened(text: string): string {
  if (text.length <= TEXT_LENGTH_MAX) return text;
  return [...text.slice(0, TEXT_LENGTH_MAX * 2)].slice(0, TEXT_LENGTH_MAX).join('');
}
