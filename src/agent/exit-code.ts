// The exit code of a run as a shell would say it, for tools that know nothing but exit codes.

import { constants } from 'node:os';
import type { Outcome } from '../types.ts';

const NUMBERS: Readonly<Record<string, number | undefined>> = constants.signals;

/** It ran, and how it ended is not known. */
export function isLost(outcome: Outcome): boolean {
  return outcome.kind === 'failed' && outcome.error === 'runner_lost';
}

/** For a signal, 128 and its number. Undefined for what never started, and for what was lost. */
export function exitCodeOf(outcome: Outcome): number | undefined {
  if (outcome.kind === 'exited') return outcome.code;
  return outcome.kind === 'failed' ? undefined : 128 + (NUMBERS[outcome.signal] ?? 0);
}
