// Every kind of answer of every dialect, word for word: the one table of golden cases.
import { describe, expect, it } from 'vitest';
import { BUILTINS } from '../../src/dialects/builtins.ts';
import { TABLE } from './cases/table.ts';
import { expectGolden, filesOf, goldenFiles } from './golden.ts';

describe.each(TABLE.map((dialect) => [dialect.name, dialect] as const))(
  'the answers of %s',
  (_, dialect) => {
    const rows = dialect.cases.map((one) => [filesOf(one).join(', '), one] as const);
    it.each(rows)('%s', (_, one) => expectGolden(dialect, one));
  },
);

it('the golden files are those of the table, each filled by one case, of every dialect', () => {
  const filled = TABLE.flatMap(({ name, extension = 'txt', cases }) =>
    cases.flatMap(filesOf).map((file) => `${name}/${file}.${extension}`),
  );
  expect(filled.toSorted()).toEqual(goldenFiles());
  expect(TABLE.map(({ name }) => name)).toEqual(Object.keys(BUILTINS).toSorted());
});
