// Commands of agents that ran in the real shell because no helper could record them: what the
// native client noted of each (native/sh-note.c), counted by cause.

import { join } from 'node:path';
import { RETENTION_SECONDS_DEFAULT } from '../../limits.ts';
import { linesOf } from '../../shell/uncaptured.ts';
import { isoTime } from '../../text/dates.ts';

export type UnrecordedCommands = {
  readonly reason: string;
  readonly count: number;
  /** Epoch milliseconds. */
  readonly lastAt: number;
};

/** As long as their captures would have been listed. */
const KEPT_MS = RETENTION_SECONDS_DEFAULT * 1000;

/** Of the last 24 hours, the newest cause first. */
export function unrecordedCommands(
  root: string,
  now: number = Date.now(),
): readonly UnrecordedCommands[] {
  const causes = new Map<string, UnrecordedCommands>();
  for (const line of ['unrecorded.1', 'unrecorded'].flatMap((name) => linesOf(join(root, name)))) {
    const [, digits, reason] = /^(\d{13}) (.+)$/.exec(line) ?? [];
    if (digits === undefined || reason === undefined) continue;
    const at = Number(digits);
    if (now - at >= KEPT_MS) continue;
    const { count, lastAt } = causes.get(reason) ?? { count: 0, lastAt: 0 };
    causes.set(reason, { reason, count: count + 1, lastAt: Math.max(at, lastAt) });
  }
  return [...causes.values()].sort((a, b) => b.lastAt - a.lastAt);
}

/** `{"unrecorded":[{count, last_at, reason}]}`, or nothing where there is none. */
export function unrecordedJson(causes: readonly UnrecordedCommands[]) {
  if (causes.length === 0) return {};
  const unrecorded = causes.map(({ count, lastAt, reason }) => ({
    count,
    last_at: isoTime(lastAt),
    reason,
  }));
  return { unrecorded };
}
