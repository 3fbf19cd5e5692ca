import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { displayWidth, table } from '../../src/text/table.ts';

const COLUMNS = [{ title: 'ID' }, { title: 'N', align: 'right' }, { title: 'COMMAND' }] as const;

describe('a table', () => {
  it('aligns its columns and leaves no space at the end of a line', () => {
    const rows = [
      ['a', '1', 'x'],
      ['long', '100', ''],
    ];
    expect(table(COLUMNS, rows)).toBe('ID      N  COMMAND\na       1  x\nlong  100\n');
  });

  it('counts wide and combining characters as a terminal does', () => {
    expect([...'日🎉é'].map(displayWidth)).toEqual([2, 2, 1]);
    expect(displayWidth('e\u0301')).toBe(1);
    expect(
      table(COLUMNS, [
        ['日本', '1', 'x'],
        ['abcd', '1', 'y'],
      ]),
    ).toBe('ID    N  COMMAND\n日本  1  x\nabcd  1  y\n');
  });

  it('cuts only the last column, and only when it is given a width', () => {
    const rows = [['id', '1', 'a command that is too long']];
    expect(table(COLUMNS, rows)).toContain('a command that is too long\n');
    expect(table(COLUMNS, rows, { width: 20 })).toBe('ID  N  COMMAND\nid  1  a command th…\n');
    expect(table(COLUMNS, rows, { width: 1 })).toBe('ID  N  COMMAND\nid  1  a command…\n');
  });

  it('escapes what is in a cell before it is measured and coloured', () => {
    const red = (text: string): string => `<${text}>`;
    const columns = [{ title: 'A', style: red }, { title: 'B' }];
    expect(table(columns, [['\x1b', 'b\n']])).toBe('A     B\n<\\x1b>  b\\n\n');
  });

  it('has one line for every row, whatever is in it', () => {
    const cell = fc.string({ unit: 'binary' });
    fc.assert(
      fc.property(fc.array(fc.tuple(cell, cell, cell)), (rows) => {
        const lines = table(COLUMNS, rows, { width: 40 }).split('\n');
        expect(lines).toHaveLength(rows.length + 2);
      }),
    );
  });
});
