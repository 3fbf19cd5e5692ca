// What `import --from` and `review --from` say about transcripts that were not read or not
// understood: never nothing.

import type { TranscriptTally } from '../../recordings/transcripts/read.ts';
import { countText } from '../../text/dates.ts';
import { printable } from '../../text/printable.ts';
import { say } from '../output.ts';

const SHOWN_MAX = 3;

export function sayUnread(tally: TranscriptTally): void {
  for (const line of unreadLines(tally)) say(line);
}

/** One line for each reason, with an example. */
export function unreadLines({ unread }: TranscriptTally): readonly string[] {
  const reasons = new Map<string, string[]>();
  for (const { why, path } of unread) reasons.set(why, [...(reasons.get(why) ?? []), path]);
  const lines = [...reasons].map(([why, [first = '', ...more]]) => {
    const others = more.length === 0 ? '' : ` and ${countText(more.length)} more`;
    return `Not read: ${printable(first)}${others}: ${printable(why)}`;
  });
  const left = lines.length - SHOWN_MAX;
  if (left <= 0) return lines;
  return [...lines.slice(0, SHOWN_MAX), `Not read: more files, for ${left} other reasons (--json)`];
}

export function tallyJson({ unknown, unknownAt, unread }: TranscriptTally) {
  return { not_understood: unknown, not_understood_at: unknownAt, not_read: unread };
}
