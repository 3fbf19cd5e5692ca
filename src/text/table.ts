// Rows and columns for people. Every cell is made safe for a terminal here, so that no caller can
// forget it; colour is added after that, and never counts as width.

import { printable } from './printable.ts';

export type Column = {
  readonly title: string;
  readonly align?: 'left' | 'right';
  /** Colours a cell that is already padded; `row` is the index of its row. */
  readonly style?: (text: string, row: number) => string;
};

export type TableOptions = {
  /** Cuts the last column, so that a row fits; nothing is cut without it. */
  readonly width?: number;
  readonly styleHead?: (text: string) => string;
};

const GAP = '  ';
const ELLIPSIS = '…';

// A terminal too narrow for the other columns still shows the start of the last one.
const LAST_WIDTH_MIN = 10;

/** Lines, each with its `\n`; the head first. */
export function table(
  columns: readonly Column[],
  rows: readonly (readonly string[])[],
  options: TableOptions = {},
): string {
  const safe = rows.map((row) => columns.map((_, i) => printable(row[i] ?? '')));
  const head = columns.map((column) => column.title);
  const widths = columns.map((_, i) =>
    [head, ...safe].reduce((width, row) => Math.max(width, displayWidth(row[i] ?? '')), 0),
  );
  const last = columns.length - 1;
  if (options.width !== undefined) {
    const others = widths.slice(0, last).reduce((sum, width) => sum + width + GAP.length, 0);
    const left = Math.max(LAST_WIDTH_MIN, options.width - others);
    widths[last] = Math.min(widths[last] ?? 0, left);
  }
  const cell = (text: string, i: number): string => {
    const width = widths[i] ?? 0;
    const cut = cutTo(text, width);
    const space = ' '.repeat(width - displayWidth(cut));
    if (columns[i]?.align === 'right') return space + cut;
    return i === last ? cut : cut + space;
  };
  const styled = (text: string, i: number, row: number): string =>
    columns[i]?.style?.(text, row) ?? text;
  const lines = safe.map((row, at) => row.map((text, i) => styled(cell(text, i), i, at)));
  const headLine = head.map(cell).join(GAP);
  return [options.styleHead?.(headLine) ?? headLine, ...lines.map((line) => line.join(GAP))]
    .map((line) => `${line.trimEnd()}\n`)
    .join('');
}

/** `text` in at most `width` cells, with a mark where it was cut. */
function cutTo(text: string, width: number): string {
  if (displayWidth(text) <= width) return text;
  let shown = '';
  let used = 0;
  for (const character of text) {
    used += characterWidth(character);
    if (used > width - 1) break;
    shown += character;
  }
  return shown + ELLIPSIS;
}

/** How many cells of a terminal a text takes: near enough for aligning columns. */
export function displayWidth(text: string): number {
  if (/^[\x20-\x7e]*$/.test(text)) return text.length;
  let width = 0;
  for (const character of text) width += characterWidth(character);
  return width;
}

// East Asian scripts and forms, and what is shown as a picture.
const WIDE = new RegExp(
  [
    '[\\u1100-\\u115f\\u2e80-\\u303e\\u3041-\\ua4cf\\uac00-\\ud7a3\\uf900-\\ufaff]',
    '[\\ufe30-\\ufe6f\\uff00-\\uff60\\uffe0-\\uffe6\\u{20000}-\\u{3fffd}]',
    '\\p{Emoji_Presentation}',
  ].join('|'),
  'u',
);

function characterWidth(character: string): number {
  if (/^\p{M}/u.test(character)) return 0;
  return WIDE.test(character) ? 2 : 1;
}
