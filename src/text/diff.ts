// Two texts as a unified diff, for eyes: three lines around each change, and nothing in them that a
// terminal would obey. The changes are the fewest there can be (Myers, "An O(ND) Difference
// Algorithm"); of texts that differ too much, everything from the first to the last change is one.
// That bounds the work: large texts cost their size.

import { printable } from './printable.ts';

const CONTEXT = 3;
const CHANGES_MAX = 2_000; // lines removed and added; their square is the memory
const LINES_COMPARED_MAX = 20_000_000; // texts of many equal lines may be compared in many ways

/** Follows a last line that has no newline. It contains one, so no real line is equal to it. */
const NO_END = '\n\\ No newline at end of file';

type Line = { readonly sign: ' ' | '-' | '+'; readonly text: string };

/** `undefined` is a file that is not there. */
export function unifiedDiff(
  name: string,
  before: string | undefined,
  after: string | undefined,
): string {
  const lines = compared(linesOf(before ?? ''), linesOf(after ?? ''));
  const shown = [
    `--- ${before === undefined ? '/dev/null' : printable(name)}`,
    `+++ ${after === undefined ? '/dev/null' : printable(name)}`,
    ...hunks(lines),
  ];
  return `${shown.join('\n')}\n`;
}

function linesOf(text: string): string[] {
  const lines = text.split('\n');
  const last = lines.pop();
  if (last !== undefined && last !== '') lines.push(`${last}${NO_END}`);
  return lines;
}

function compared(a: readonly string[], b: readonly string[]): Line[] {
  let head = 0;
  while (head < Math.min(a.length, b.length) && a[head] === b[head]) head++;
  let tail = 0;
  const most = Math.min(a.length, b.length) - head;
  while (tail < most && a.at(-1 - tail) === b.at(-1 - tail)) tail++;
  const same = (text: string): Line => ({ sign: ' ', text });
  return [
    ...a.slice(0, head).map(same),
    ...middle(a.slice(head, a.length - tail), b.slice(head, b.length - tail)),
    ...a.slice(a.length - tail).map(same),
  ];
}

function middle(a: readonly string[], b: readonly string[]): Line[] {
  const steps = fewestSteps(...numbered(a, b));
  if (steps === undefined) {
    const gone = a.map((text): Line => ({ sign: '-', text }));
    return [...gone, ...b.map((text): Line => ({ sign: '+', text }))];
  }
  let [i, j] = [0, 0];
  return steps.map((sign) => {
    const text = (sign === '+' ? b[j] : a[i]) ?? '';
    if (sign !== '+') i++;
    if (sign !== '-') j++;
    return { sign, text };
  });
}

/** The same number for the same line: quick to compare. */
function numbered(a: readonly string[], b: readonly string[]): [Int32Array, Int32Array] {
  const numbers = new Map<string, number>();
  const numberOf = (line: string): number => {
    const known = numbers.get(line) ?? numbers.size;
    if (known === numbers.size) numbers.set(line, known);
    return known;
  };
  return [Int32Array.from(a, numberOf), Int32Array.from(b, numberOf)];
}

/** The steps from `a` to `b` with the fewest removed and added lines; undefined: too many. */
function fewestSteps(a: Int32Array, b: Int32Array): Line['sign'][] | undefined {
  // Behind every number of changes, how far each diagonal (lines gone minus lines come) reaches.
  const reached: Int32Array[] = [];
  let compared = 0;
  for (let changes = 0; changes <= CHANGES_MAX; changes++) {
    const last = reached.at(-1);
    const now = new Int32Array(2 * changes + 1);
    reached.push(now);
    for (let diagonal = -changes; diagonal <= changes; diagonal += 2) {
      const from = last === undefined ? 0 : entered(last, changes, diagonal).x;
      let x = from;
      while (x < a.length && x - diagonal < b.length && a[x] === b[x - diagonal]) x++;
      now[changes + diagonal] = x;
      compared += x - from;
      if (x >= a.length && x - diagonal >= b.length) return stepsBack(reached, a.length, b.length);
      if (compared > LINES_COMPARED_MAX) return undefined;
    }
  }
  return undefined;
}

/** How a diagonal is entered with one change more than in `last`: from which, and how far on. */
function entered(last: Int32Array, changes: number, diagonal: number) {
  const reach = (other: number): number => last[changes - 1 + other] ?? -1;
  const come =
    diagonal === -changes || (diagonal !== changes && reach(diagonal - 1) < reach(diagonal + 1));
  const sign = come ? ('+' as const) : ('-' as const);
  return { sign, x: come ? reach(diagonal + 1) : reach(diagonal - 1) + 1 };
}

function stepsBack(reached: readonly Int32Array[], gone: number, come: number): Line['sign'][] {
  const steps: Line['sign'][] = [];
  let [x, y] = [gone, come];
  for (let changes = reached.length - 1; changes > 0; changes--) {
    const from = entered(reached[changes - 1] ?? new Int32Array(), changes, x - y);
    for (; x > from.x; x--, y--) steps.push(' ');
    steps.push(from.sign);
    if (from.sign === '+') y--;
    else x--;
  }
  for (; x > 0; x--) steps.push(' ');
  return steps.reverse();
}

function hunks(lines: readonly Line[]): string[] {
  const near = new Uint8Array(lines.length);
  for (const [index, { sign }] of lines.entries()) {
    if (sign !== ' ') near.fill(1, Math.max(0, index - CONTEXT), index + CONTEXT + 1);
  }
  const out: string[] = [];
  let [from, to] = [1, 1];
  for (let index = 0; index < lines.length; index++) {
    if (near[index] === 1 && near[index - 1] !== 1) {
      const end = near.indexOf(0, index);
      out.push(heading(lines.slice(index, end === -1 ? undefined : end), from, to));
    }
    const { sign, text } = lines[index] ?? { sign: ' ', text: '' };
    if (near[index] === 1) out.push(`${sign}${shown(text)}`);
    if (sign !== '+') from++;
    if (sign !== '-') to++;
  }
  return out;
}

function heading(hunk: readonly Line[], from: number, to: number): string {
  const olds = hunk.filter(({ sign }) => sign !== '+').length;
  const news = hunk.filter(({ sign }) => sign !== '-').length;
  return `@@ -${olds === 0 ? from - 1 : from},${olds} +${news === 0 ? to - 1 : to},${news} @@`;
}

function shown(line: string): string {
  if (line.endsWith(NO_END)) return `${safe(line.slice(0, -NO_END.length))}${NO_END}`;
  return safe(line.endsWith('\r') ? line.slice(0, -1) : line);
}

/** Tabs are harmless and stay, so that lines can be compared by eye. */
function safe(line: string): string {
  return line.includes('\t') ? line.split('\t').map(printable).join('\t') : printable(line);
}
