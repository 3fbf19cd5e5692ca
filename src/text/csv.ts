// CSV as RFC 4180 writes it: CRLF behind every row, quotes around what needs them. A text that a
// spreadsheet would take for a formula gets a `'` in front: the program that
// shows the file must not execute what a command printed. Numbers stay numbers.

export type CsvValue = string | number | boolean | null;

/**
 * `null` is an empty field, an empty text is a quoted one: a reader that cares can tell. `raw`
 * leaves formulas as they are.
 */
export function csvRow(values: readonly CsvValue[], { raw = false } = {}): string {
  return `${values.map((value) => field(raw ? value : harmless(value))).join(',')}\r\n`;
}

const FORMULA = /^[=+\-@\t\r]/;

function harmless(value: CsvValue): CsvValue {
  return typeof value === 'string' && FORMULA.test(value) ? `'${value}` : value;
}

// Beyond what the RFC asks for, what starts like a formula and outer spaces are quoted, too: some
// readers trim fields or guess types only when there are no quotes.
const QUOTED = /^$|["\r\n,]|^[=+\-@\t ]|[\t ]$/;

function field(value: CsvValue): string {
  if (value === null) return '';
  if (typeof value !== 'string') return String(value);
  return QUOTED.test(value) ? `"${value.replaceAll('"', '""')}"` : value;
}
