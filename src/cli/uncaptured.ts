// Runs without a capture, as `cuff ls`, `cuff status` and `cuff doctor` name them, and commands of
// agents that ran unrecorded.

import type { UnrecordedCommands } from '../hooks/shell/unrecorded.ts';
import type { UncapturedRun } from '../shell/uncaptured.ts';
import { counted } from '../text/plural.ts';
import { shortLine } from '../text/printable.ts';
import { shortAge } from './output.ts';

const SHOWN_MAX = 5; // more would push the answer itself off the screen
const LENGTH_MAX = 300;

/** A sentence for each of the newest ones, and one for the rest. */
export function uncapturedWords(runs: readonly UncapturedRun[]): readonly string[] {
  const shown = runs.slice(0, SHOWN_MAX).map(({ id, at, command, reason }) => {
    const age = shortAge(Date.now() - at);
    const why = shortLine(reason, LENGTH_MAX).replace(/\.$/, '');
    const text = shortLine(command, LENGTH_MAX);
    return `Not captured: run ${shortLine(id, LENGTH_MAX)}, ${age} ago (${why}): ${text}`;
  });
  const more = runs.length - shown.length;
  if (more === 0) return shown;
  return [...shown, `Not captured: ${counted(more, 'more run')} in the last 24h.`];
}

/** A sentence for each cause. */
export function unrecordedWords(causes: readonly UnrecordedCommands[]): readonly string[] {
  return causes.map(({ count, lastAt, reason }) => {
    const [what, age] = [counted(count, 'command'), shortAge(Date.now() - lastAt)];
    const why = shortLine(reason, LENGTH_MAX);
    return `Not recorded or judged: ${what} of agents, the last ${age} ago (${why})`;
  });
}
