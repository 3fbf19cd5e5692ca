// The exit code of a run as a shell would say it, for tools that know nothing but exit codes.

import { constants } from 'node:os';
import type { Outcome } from '../types.ts';

const NUMBERS: Readonly<Record<string, number | undefined>> = constants.signals;

/** For a signal, 128 and its number. Undefined for what never started. */
export function exitCodeOf(outcome: Outcome): number | undefined {
  if (outcome.kind === 'exited') return outcome.code;
  return outcome.kind === 'failed' ? undefined : 128 + (NUMBERS[outcome.signal] ?? 0);
}
