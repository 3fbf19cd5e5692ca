// What a dialect says about failures that the status of a traced command hides: few words, and only
// when there is something to say.

import type { HiddenFailure } from '../agent/report-trace.ts';
import { shortLine } from '../text/printable.ts';

const SHOWN_MAX = 3;
const PROGRAM_SHOWN_MAX = 60;

export function hiddenLines(hidden: readonly HiddenFailure[]): string[] {
  const more = hidden.length - SHOWN_MAX;
  const shown = hidden.slice(0, SHOWN_MAX).map(hiddenText);
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
