// What is different between the processes of two runs: new ones, those that are gone, that ended in
// another way, or took longer. Processes are the same if their programs have the same shape; of
// several, the first of one run is the first of the other, with the same words if there is one.

import { table } from '../../text/table.ts';
import type { ProcessExit } from '../processes/process.ts';
import { durationOf, exitText, spanText } from '../shown.ts';
import type { TracedProcess } from '../trace.ts';
import { byKey } from './groups.ts';
import type { Drawing } from './process-table.ts';
import { commonCommand, shapeOf } from './shape.ts';

// Less is how one run differs from the next on any machine.
const SLOWER_TIMES = 1.5;
const SLOWER_NS = 20_000_000n;

type Pair = { readonly before: TracedProcess; readonly after: TracedProcess };

export type Difference = {
  readonly added: readonly TracedProcess[];
  readonly gone: readonly TracedProcess[];
  /** Also slower ones, if they ended in another way. */
  readonly endedOtherwise: readonly Pair[];
  readonly slower: readonly Pair[];
  /** Pairs without a difference. */
  readonly same: number;
};

export function differenceOf(
  before: readonly TracedProcess[],
  after: readonly TracedProcess[],
): Difference {
  const { pairs, added, gone } = paired(before, after);
  const endedOtherwise = pairs.filter(otherEnd);
  const slower = pairs.filter((pair) => !otherEnd(pair) && isSlower(pair));
  const same = pairs.length - endedOtherwise.length - slower.length;
  return { added, gone, endedOtherwise, slower, same };
}

function paired(before: readonly TracedProcess[], after: readonly TracedProcess[]) {
  const left = new Set(before);
  const right = new Set(after);
  const pairs: Pair[] = [];
  const pair = (one: TracedProcess | undefined, other: TracedProcess | undefined): void => {
    if (one === undefined || other === undefined) return;
    pairs.push({ before: one, after: other });
    left.delete(one);
    right.delete(other);
  };
  // Whatever its options are, the command of one run is that of the other.
  pair(before[0], after[0]);
  for (const keyOf of [wordsOf, lastingWordsOf, shapeOf]) {
    const known = byKey([...left], keyOf);
    for (const one of right) pair(known.get(keyOf(one))?.shift(), one);
  }
  pairs.sort((a, b) => a.after.id - b.after.id);
  return { pairs, gone: [...left], added: [...right] };
}

function wordsOf({ images, forkedFrom }: TracedProcess): string {
  return JSON.stringify([forkedFrom !== undefined, ...images.map(({ argv, exe }) => [exe, argv])]);
}

/** Temporary files have another name each time. */
function lastingWordsOf(process: TracedProcess): string {
  const images = process.images.map((image) => {
    return { ...image, argv: image.argv.map((word) => word.replace(/\/tmp\/[^,:]*/g, '/tmp/')) };
  });
  return wordsOf({ ...process, images });
}

/** An end that was not seen, or is still to come, is not another one. */
function otherEnd({ before, after }: Pair): boolean {
  const isKnown = ({ kind }: ProcessExit): boolean => kind === 'exited' || kind === 'signaled';
  if (!isKnown(before.exit) || !isKnown(after.exit)) return false;
  return exitText(before.exit) !== exitText(after.exit);
}

function isSlower({ before, after }: Pair): boolean {
  const [then, now] = [durationOf(before), durationOf(after)];
  if (then === undefined || now === undefined || now - then < SLOWER_NS) return false;
  return Number(now) >= Number(then) * SLOWER_TIMES;
}

export type DifferenceRow = {
  readonly change: 'new' | 'gone' | 'ended otherwise' | 'slower';
  readonly before: string;
  readonly after: string;
  readonly command: string;
};

/** Equal changes are one row. */
export function differenceRows(difference: Difference): DifferenceRow[] {
  const { added, gone, endedOtherwise, slower } = difference;
  return [
    ...folded(endedOtherwise, 'ended otherwise', ({ exit }) => exitText(exit)),
    ...folded(
      gone.map((before) => ({ before })),
      'gone',
      timeAndEnd,
    ),
    ...folded(
      added.map((after) => ({ after })),
      'new',
      timeAndEnd,
    ),
    ...folded(slower, 'slower', timeText),
  ];
}

function folded(
  pairs: readonly Partial<Pair>[],
  change: DifferenceRow['change'],
  text: (process: TracedProcess) => string,
): DifferenceRow[] {
  const groups = byKey(pairs, ({ before, after }) => {
    const one = after ?? before;
    const ends = [before, after].map((other) => other && exitText(other.exit));
    return JSON.stringify([one && shapeOf(one), ends]);
  });
  return [...groups.values()].map((group) => {
    const cell = (side: 'before' | 'after'): string => {
      const texts = new Set(group.flatMap((pair) => pair[side] ?? []).map(text));
      return [...texts].length > 2 ? `${[...texts][0]}, …` : [...texts].join(', ');
    };
    const members = group.flatMap(({ before, after }) => after ?? before ?? []);
    return {
      change,
      before: cell('before'),
      after: cell('after'),
      command: commonCommand(members),
    };
  });
}

function timeText(process: TracedProcess): string {
  const duration = durationOf(process);
  return duration === undefined ? '' : spanText(duration);
}

function timeAndEnd(process: TracedProcess): string {
  return [exitText(process.exit), timeText(process)].filter(Boolean).join(' in ');
}

/** Lines, each with its `\n`; the head first. */
export function renderDifference(
  rows: readonly DifferenceRow[],
  { width, paint = (_, text) => text }: Drawing = {},
): string {
  return table(
    [{ title: 'CHANGE' }, { title: 'BEFORE' }, { title: 'AFTER' }, { title: 'COMMAND' }],
    rows.map(({ change, before, after, command }) => [change, before, after, command]),
    { ...(width !== undefined && { width }), styleHead: (text) => paint('dim', text) },
  );
}
