// What there is to tell about a run beside its output: who of it is still alive, and how much of
// its output could not be kept. A capture that cannot be read any more tells less, and breaks
// nothing.

import type { Capture } from '../capture/store.ts';
import { readEvents } from '../capture/store.ts';
import { type RunProcess, runProcesses } from '../inspect.ts';
import type { AgentRun, AgentShell } from './agent-shell.ts';

type Captures = Pick<AgentShell, 'open'>;

/** Who is left of a run whose shell is done. */
export function survivorsNow(
  shell: Captures,
  { id, result }: Pick<AgentRun, 'id' | 'result'>,
): readonly RunProcess[] {
  if (result === undefined || result.survivors.length === 0) return [];
  const left = asked(() => {
    const capture = shell.open(id);
    return capture.final?.outputClosed === true ? [] : runProcesses(capture);
  });
  return left ?? [];
}

/** Bytes that were printed and could not be kept; of a run that goes on, as far as is known. */
export function lostOutput(
  shell: Captures,
  { id, result }: Pick<AgentRun, 'id' | 'result'>,
): number {
  const counted = asked(() => {
    const capture = shell.open(id);
    return Math.max(capture.final?.lostBytes ?? 0, gapBytes(capture));
  });
  return Math.max(result?.lostBytes ?? 0, counted ?? 0);
}

/** What was typed and not taken has gaps, too. */
function gapBytes(capture: Capture): number {
  return readEvents(capture).reduce(
    (sum, event) =>
      event.type === 'gap' && event.reason !== 'stdin' ? sum + event.lostBytes : sum,
    0,
  );
}

function asked<T>(question: () => T): T | undefined {
  try {
    return question();
  } catch {
    return undefined; // swept, or damaged: who reads its output is told so there
  }
}
