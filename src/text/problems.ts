// Problems of a settings file and how they are told: one line for each, with its
// position, what was expected, and the nearest thing that would have been right.

import { printable } from './printable.ts';

/** Lines and columns are counted from 1. */
export type Position = { readonly line: number; readonly column: number };

export type Problem = { readonly at: Position; readonly message: string };

export type Step = string | number;

/** Each refused call carries all of them to the model. */
const PROBLEMS_SHOWN_MAX = 50;

const SHOWN_MAX = 40; // characters of a wrong value: enough to recognise it

/** `settings.yml:4:7: unknown key ...`, in the order of the file. */
export function problemLines(file: string, problems: readonly Problem[]): string {
  const sorted = [...problems].sort(
    (a, b) => a.at.line - b.at.line || a.at.column - b.at.column || compare(a.message, b.message),
  );
  const shown = sorted
    .slice(0, PROBLEMS_SHOWN_MAX)
    .map(({ at, message }) => `${printable(file)}:${at.line}:${at.column}: ${message}`);
  const more = sorted.length - shown.length;
  return [...shown, ...(more > 0 ? [`and ${more} more problems`] : [])].join('\n');
}

function compare(a: string, b: string): number {
  return a < b ? -1 : Number(a > b);
}

/** `plugins.mine.config.names[2]` */
export function pathText(path: readonly Step[]): string {
  const text = path.map((step) => (typeof step === 'number' ? `[${step}]` : `.${step}`)).join('');
  return printable(text.replace(/^\./, ''));
}

export function quoted(text: string): string {
  const cut = [...text];
  return `'${printable(cut.length > SHOWN_MAX ? `${cut.slice(0, SHOWN_MAX).join('')}...` : text)}'`;
}

/** `; did you mean 'enabled'?`, or which words there are when none is near. */
export function suggestion(word: string, known: readonly string[]): string {
  const near = nearest(word, known);
  if (near !== undefined) return `; did you mean ${quoted(near)}?`;
  return known.length === 0 ? '' : `; known are ${known.map(printable).join(', ')}`;
}

/** The known word that is most probably meant, if one is near enough to be meant at all. */
export function nearest(word: string, known: readonly string[]): string | undefined {
  let best: { readonly word: string; readonly distance: number } | undefined;
  for (const candidate of known) {
    const distance = editDistance(word.toLowerCase(), candidate.toLowerCase());
    if (best === undefined || distance < best.distance) best = { word: candidate, distance };
  }
  const allowed = Math.max(1, Math.floor(Math.min(word.length, 30) / 3));
  return best !== undefined && best.distance <= allowed ? best.word : undefined;
}

/** Insertions, deletions, replacements and swaps that turn one word into the other. */
export function editDistance(a: string, b: string): number {
  if (Math.abs(a.length - b.length) > 30) return Number.POSITIVE_INFINITY; // not worth the table
  let before: number[] = [];
  let above = Array.from({ length: b.length + 1 }, (_, column) => column);
  for (let row = 1; row <= a.length; row++) {
    const current = [row];
    for (let column = 1; column <= b.length; column++) {
      const same = a[row - 1] === b[column - 1];
      let cost = Math.min(
        cell(above, column) + 1,
        cell(current, column - 1) + 1,
        cell(above, column - 1) + (same ? 0 : 1),
      );
      const swapped =
        row > 1 && column > 1 && a[row - 1] === b[column - 2] && a[row - 2] === b[column - 1];
      if (swapped) cost = Math.min(cost, cell(before, column - 2) + 1);
      current.push(cost);
    }
    [before, above] = [above, current];
  }
  return cell(above, b.length);
}

function cell(row: readonly number[], column: number): number {
  return row[column] ?? Number.POSITIVE_INFINITY;
}
