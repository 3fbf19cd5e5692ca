// Rows of a folded log: lines in a row that differ only in digits become one row that says how
// many.
import { errorWeight } from '../../src/text/error-lines.ts';
import { Folder } from '../../src/text/fold.ts';

/** A line by its number, or a range of lines that are like the one before it. */
export type LogRow =
  | { readonly kind: 'line'; readonly line: number }
  | { readonly kind: 'folded'; readonly first: number; readonly last: number };

/** Lines that look like errors are never folded. */
export function foldedRows(texts: readonly string[]): LogRow[] {
  const folder = new Folder((line) => errorWeight(line) === 'strong');
  const pieces = texts.flatMap((text, number) => folder.push({ number, text }));
  return [...pieces, ...folder.end()].map((piece) =>
    piece.kind === 'folded'
      ? { kind: 'folded', first: piece.first, last: piece.last }
      : { kind: 'line', line: piece.number },
  );
}

/** The row that a line is in. */
export function rowOfLine(rows: readonly LogRow[], line: number): number {
  let low = 0;
  let high = rows.length - 1;
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    const row = rows[middle];
    const first = row === undefined ? 0 : row.kind === 'line' ? row.line : row.first;
    if (first <= line) low = middle;
    else high = middle - 1;
  }
  return Math.max(0, low);
}
