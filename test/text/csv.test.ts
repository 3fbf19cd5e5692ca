import fc from 'fast-check';
import { expect, it } from 'vitest';
import { type CsvValue, csvRow } from '../../src/text/csv.ts';

it('quotes what needs it, as RFC 4180 says, and ends rows with CRLF', () => {
  expect(csvRow(['a', 1, true, null, '', 'a,b', 'say "hi"', 'x\ny', 'x\r\ny'])).toBe(
    'a,1,true,,"","a,b","say ""hi""","x\ny","x\r\ny"\r\n',
  );
});

it('puts a quote in front of text that starts like a formula, unless it is to be raw', () => {
  const cells = ['=1+1', '+x', '-rf', '@a', '\ta', '\ra', ' a', 'a ', 'a=', -1];
  expect(csvRow(cells)).toBe(`'=1+1,'+x,'-rf,'@a,'\ta,"'\ra"," a","a ",a=,-1\r\n`);
  expect(csvRow(cells, { raw: true })).toBe(
    '"=1+1","+x","-rf","@a","\ta","\ra"," a","a ",a=,-1\r\n',
  );
});

it('is read back as it was written', () => {
  const value = fc.oneof(fc.string({ unit: 'binary' }), fc.constant(null));
  fc.assert(
    fc.property(fc.array(fc.array(value, { minLength: 1, maxLength: 4 })), (rows) => {
      expect(parse(rows.map((row) => csvRow(row, { raw: true })).join(''))).toEqual(rows);
    }),
  );
});

/** A strict reader: quoted is text, bare and empty is null. */
function parse(text: string): CsvValue[][] {
  const rows: CsvValue[][] = [];
  const field = /(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r\n)/y;
  let row: CsvValue[] = [];
  while (field.lastIndex < text.length) {
    const [, quoted, bare, end] = field.exec(text) ?? [];
    if (end === undefined) throw new Error('not CSV');
    row.push(quoted?.replaceAll('""', '"') ?? (bare === '' ? null : (bare ?? null)));
    if (end === ',') continue;
    rows.push(row);
    row = [];
  }
  return rows;
}
