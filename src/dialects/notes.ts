// Lines in brackets that several dialects end their answers with: what failed unseen, what is still
// running, what of the output is not there. Each says one fact, only where there is one.

import type { HiddenFailure } from '../agent/report-trace.ts';
import { processLine, shortLine } from '../text/printable.ts';
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

function hiddenText({ pid, command, end, stage }: HiddenFailure): string {
  const how = end.kind === 'exited' ? `exited ${end.code}` : `died of ${end.signal}`;
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
