// Lines in brackets that several dialects end their answers with: what failed unseen, what is still
// running, what of the output is not there. Each says one fact, only where there is one.

import { NO_FILE } from '../agent/output-copy.ts';
import type { HiddenFailure } from '../agent/report-trace.ts';
import type { Suspects } from '../shell/output/suspects.ts';
import { processLine, quoteWords, shortLine } from '../text/printable.ts';
import type { Survivor } from '../types.ts';

const HIDDEN_SHOWN_MAX = 3;
const TROUBLE_SHOWN_MAX = 200;
const PROGRAM_SHOWN_MAX = 60;

/** On failures that the status of a traced command hides: few words, only where there are some. */
export function hiddenLines(hidden: readonly HiddenFailure[]): string[] {
  const more = hidden.length - HIDDEN_SHOWN_MAX;
  const shown = hidden.slice(0, HIDDEN_SHOWN_MAX).map(hiddenText);
  return more > 0 ? [...shown, `and ${more} more inside`] : shown;
}

function hiddenText({ pid, command, end, stage, used }: HiddenFailure): string {
  const ended = end.kind === 'exited' ? `exited ${end.code}` : `died of ${end.signal}`;
  const how = used === undefined ? ended : `${ended} (${used})`;
  const name = command === undefined ? undefined : shortLine(command, PROGRAM_SHOWN_MAX);
  if (stage === undefined) return `inside: pid ${pid} ${name ?? '(a copy of the shell)'} ${how}`;
  const which = stage.ending ? 'the last pipeline' : 'a pipeline';
  const place = `stage ${stage.number} of ${stage.of}`;
  return `${which}: ${place}${name === undefined ? '' : ` (${name})`} ${how}`;
}

/** The same as lines of their own. */
export function hiddenNotes(hidden: readonly HiddenFailure[]): string[] {
  return hiddenLines(hidden).map((line) => `[${line}]`);
}

/** A line about output that was printed and is in no file, or none. */
export function lostNote(bytes: number): readonly string[] {
  return bytes === 0 ? [] : [`[${bytes} bytes of output could not be kept]`];
}

/** A line that output could not be read, and why. */
export function unreadableNote(what: string, why: string): string {
  return `[${what} could not be read: ${shortLine(why, TROUBLE_SHOWN_MAX)}]`;
}

const AROUND = 5; // lines before the first error, so that its cause can be seen
const LINES_AROUND = 40;

/** Which lines of the part that is left out look like errors, and how to see more of them. */
export function errorNotes(
  { lines, count, unsearchedBytes }: Suspects,
  more: (firstLine: number, lastLine: number) => string,
): readonly string[] {
  const unsearched =
    unsearchedBytes === 0
      ? []
      : [`[${unsearchedBytes} bytes of the part not shown were not searched for errors]`];
  const [first] = lines;
  if (first === undefined) return unsearched;
  const from = Math.max(1, first.number - AROUND);
  const some = lines.length < count ? `${lines.length} of ${count}` : `${count}`;
  return [
    `[Errors in the part not shown (${some}); more: ${more(from, from + LINES_AROUND - 1)}]`,
    ...lines.map(({ number, text }) => `${number}: ${text}`),
    ...unsearched,
  ];
}

/** A command that shows lines of a file. */
export function linesCommand(path: string): (firstLine: number, lastLine: number) => string {
  if (path === NO_FILE) return () => NO_FILE;
  const file = quoteWords([path]);
  return (firstLine, lastLine) => `sed -n '${firstLine},${lastLine}p' ${file}`;
}

/** One line about processes that are still there, or none. */
export function survivorNote(
  survivors: readonly Pick<Survivor, 'pid' | 'command'>[],
  { countMax, lengthMax }: { readonly countMax: number; readonly lengthMax: number },
): readonly string[] {
  if (survivors.length === 0) return [];
  const shown = survivors
    .slice(0, countMax)
    .map(({ pid, command }) => `pid ${pid}: ${processLine(command, lengthMax)}`);
  const more = survivors.length - shown.length;
  const rest = more === 0 ? [] : [`and ${more} more`];
  return [`[Still running: ${[...shown, ...rest].join('; ')}]`];
}
