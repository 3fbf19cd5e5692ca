// How an entry ended, in the words of the page.

import type { Entry } from '../types.ts';
import type { BlockOutcome, OutcomeCounts } from './api.ts';

type Ending = Pick<Entry, 'end_reason' | 'timed_out' | 'exit_code' | 'decision'>;

/** Refused before anything else: such a command did not run. */
export function outcomeOf({ end_reason, timed_out, exit_code, decision }: Ending): BlockOutcome {
  const stopped = decision?.mode === 'enforce' && decision.verdict !== 'allow';
  if (end_reason === 'denied' || (stopped && decision.approved === null)) return 'refused';
  if (timed_out) return 'timed_out';
  if (exit_code === null) return 'none';
  return exit_code === 0 ? 'ok' : 'failed';
}

export function noOutcomes(): { -readonly [K in keyof OutcomeCounts]: number } {
  return { ok: 0, failed: 0, refused: 0, timed_out: 0, none: 0 };
}
