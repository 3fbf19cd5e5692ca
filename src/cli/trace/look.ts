// The trace of a capture for the commands that show one, and one sentence where there is none.

import type { Capture } from '../../shell/captures.ts';
import { membersOf } from '../../shell/processes.ts';
import { printable } from '../../text/printable.ts';
import { type CapturedTrace, type Drawing, NOT_REQUESTED, readTrace } from '../../tracing/read.ts';
import { paint, say, terminalWidth } from '../output.ts';

/** Which processes are alive is asked first: what ends meanwhile has then reported it. */
export function lookInto(capture: Capture): {
  readonly found: CapturedTrace;
  readonly isLive: boolean;
} {
  const isLive = capture.final?.outputClosed !== true;
  const alive = isLive ? membersOf(capture) : [];
  return { found: readTrace(capture, alive), isLive: alive.length > 0 };
}

export function drawingOf(): Drawing {
  return { ...terminalWidth(), paint };
}

export function sayUntraced({ reason }: Extract<CapturedTrace, { kind: 'untraced' }>): void {
  say(`This run was not traced: ${printable(reason.replace(/\.$/, ''))}.`);
  say(
    reason === NOT_REQUESTED
      ? 'Trace the next one: `cuff run --trace -- CMD`, or `recording.trace` in settings.yml.'
      : 'See what tracing needs with `cuff doctor`.',
  );
}
