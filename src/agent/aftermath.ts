// What there is to tell about a run beside its output: its exit code as a shell would say it, which
// of its processes are alive, and how much of its output could not be kept. A capture that cannot
// be read any more tells less, and breaks nothing.

import type { Capture } from '../capture/store.ts';
import type { Ending } from '../recorder/ending.ts';
import { missingBytes, unreadNote } from '../shell/captures.ts';
import { OutputReader } from '../shell/output/reader.ts';
import { type RunProcess, runProcesses } from '../shell/processes.ts';
import { unreadText } from '../text/missing.ts';
import { signalExitCode } from '../text/signal-name.ts';
import type { Outcome } from '../types.ts';
import type { AgentRun } from './agent-run.ts';
import { answerOf } from './report-answer.ts';
import type { Look } from './run-reading.ts';

type Result = Pick<Ending, 'ended' | 'survivors'>;

type Captures = Pick<Look, 'open'>;

/** The processes that are alive of a run whose shell is done. */
export function survivorsIn(capture: Pick<Capture, 'meta' | 'final'>): readonly RunProcess[] {
  return capture.final?.outputClosed === true ? [] : runProcesses(capture);
}

/** The same, without looking if none was left when it was done. */
export function survivorsNow(
  captures: Captures,
  { id, result }: Pick<AgentRun, 'id' | 'result'>,
): readonly RunProcess[] {
  if (result === undefined || result.survivors.length === 0) return [];
  return asked(() => survivorsIn(captures.open(id))) ?? [];
}

/** Bytes that were printed and could not be kept; of a run that goes on, as far as is known. */
export function lostOutput(
  captures: Captures,
  { id, result, silent }: Pick<AgentRun, 'id' | 'result' | 'silent'>,
): number {
  if (silent) return 0;
  const counted = asked(() => missingBytes(captures.open(id)).bytes);
  return Math.max(result?.lostBytes ?? 0, counted ?? 0);
}

/** A line in brackets that the end of its output may be missing, or none. */
export function unreadOutput(
  captures: Captures,
  { id, result }: { readonly id: string; readonly result: Result | undefined },
): readonly string[] {
  // A runner with nothing left to read was not killed before it had read everything.
  if (result === undefined || (!isLost(result.ended.outcome) && result.survivors.length === 0)) {
    return [];
  }
  const note = unreadIn(
    asked(() => captures.open(id)),
    result,
  );
  return note === undefined ? [] : [`[${note}]`];
}

/** The same of a capture; a runner that was just killed may still be seen as a process. */
export function unreadIn(
  capture: Capture | undefined,
  result: Pick<Ending, 'ended'> | undefined,
): string | undefined {
  const lost = result !== undefined && isLost(result.ended.outcome);
  const killed =
    capture === undefined
      ? lost
      : (lost && capture.final === undefined) || unreadNote(capture) !== undefined;
  if (!killed) return undefined;
  const unknown = capture && asked(() => OutputReader.of(capture).unknownBytes());
  return unreadText(capture?.meta?.transport, unknown);
}

function asked<T>(question: () => T): T | undefined {
  try {
    return question();
  } catch {
    return undefined; // swept, or damaged: reading its output says so
  }
}

/** It ran, and how it ended is not known. */
export function isLost(outcome: Outcome): boolean {
  return outcome.kind === 'failed' && outcome.error === 'runner_lost';
}

/** Whether something went wrong in it: exit code 1 of `grep` only says "no". */
export function hasFailed(
  { command, hidden }: Pick<AgentRun, 'command' | 'hidden'>,
  { outcome }: Pick<Ending['ended'], 'outcome'>,
): boolean {
  if (hidden.length > 0) return true;
  const code = exitCodeOf(outcome);
  return code !== 0 && !(code === 1 && answerOf(command, 0) !== undefined);
}

/** What exit code 1 means of a command that printed nothing, as a line of its own. */
export function answerNote(
  { command }: Pick<AgentRun, 'command'>,
  { outcome }: Pick<Ending['ended'], 'outcome'>,
  printed: boolean,
): readonly string[] {
  const answer = exitCodeOf(outcome) === 1 && !printed ? answerOf(command, 0) : undefined;
  return answer === undefined ? [] : [`[${answer}]`];
}

/** For a signal, 128 and its number. Undefined for what never started, and for what was lost. */
export function exitCodeOf(outcome: Outcome): number | undefined {
  if (outcome.kind === 'exited') return outcome.code;
  return outcome.kind === 'failed' ? undefined : signalExitCode(outcome.signal);
}
