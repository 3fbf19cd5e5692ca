// CSV as RFC 4180 writes it: CRLF behind every row, quotes around what needs them. Nothing is
// changed on the way: a value that a spreadsheet would take for a formula is quoted, not rewritten.

export type CsvValue = string | number | boolean | null;

/** `null` is an empty field, an empty text is a quoted one: a reader that cares can tell. */
export function csvRow(values: readonly CsvValue[]): string {
  return `${values.map(field).join(',')}\r\n`;
}

// Beyond what the RFC asks for, what starts like a formula and outer spaces are quoted, too: some
// readers trim fields or guess types only when there are no quotes.
const QUOTED = /^$|["\r\n,]|^[=+\-@\t ]|[\t ]$/;

function field(value: CsvValue): string {
  if (value === null) return '';
  if (typeof value !== 'string') return String(value);
  return QUOTED.test(value) ? `"${value.replaceAll('"', '""')}"` : value;
}
