// Two texts as a unified diff, for eyes: three lines around each change, and nothing in them that a
// terminal would obey.

import { printable } from '../text/printable.ts';

const CONTEXT = 3;
const CELLS_MAX = 4_000_000; // beyond that all between the first and the last change is shown

type Line = { readonly sign: ' ' | '-' | '+'; readonly text: string };

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
  return last === '' || last === undefined ? lines : [...lines, last];
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

/** By the longest common subsequence. */
function middle(a: readonly string[], b: readonly string[]): Line[] {
  const gone = a.map((text): Line => ({ sign: '-', text }));
  const come = b.map((text): Line => ({ sign: '+', text }));
  if (a.length * b.length > CELLS_MAX) return [...gone, ...come];
  const width = b.length + 1;
  const longest = new Uint32Array((a.length + 1) * width);
  const at = (i: number, j: number): number => longest[i * width + j] ?? 0;
  for (let i = a.length - 1; i >= 0; i--) {
    for (let j = b.length - 1; j >= 0; j--) {
      longest[i * width + j] =
        a[i] === b[j] ? at(i + 1, j + 1) + 1 : Math.max(at(i + 1, j), at(i, j + 1));
    }
  }
  const lines: Line[] = [];
  let [i, j] = [0, 0];
  while (i < a.length || j < b.length) {
    if (i < a.length && a[i] === b[j]) {
      lines.push({ sign: ' ', text: a[i] ?? '' });
      i++;
      j++;
    } else if (j >= b.length || (i < a.length && at(i + 1, j) >= at(i, j + 1))) {
      lines.push({ sign: '-', text: a[i++] ?? '' });
    } else lines.push({ sign: '+', text: b[j++] ?? '' });
  }
  return lines;
}

function hunks(lines: readonly Line[]): string[] {
  const near = lines.map((_, index) =>
    lines.slice(Math.max(0, index - CONTEXT), index + CONTEXT + 1).some(({ sign }) => sign !== ' '),
  );
  const out: string[] = [];
  let [from, to] = [1, 1];
  for (let index = 0; index < lines.length; index++) {
    if (near[index] === true && near[index - 1] !== true) {
      const end = near.indexOf(false, index);
      out.push(heading(lines.slice(index, end === -1 ? undefined : end), from, to));
    }
    const { sign, text } = lines[index] ?? { sign: ' ', text: '' };
    if (near[index] === true) out.push(`${sign}${printable(text.replace(/\r$/, ''))}`);
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
