// Every kind of answer of every dialect, word for word: the one table of golden cases.
import { describe, expect, it } from 'vitest';
import { BUILTINS } from '../../src/dialects/builtins.ts';
import { bashRecorder } from './cases/bash_recorder.ts';
import { claudeCode } from './cases/claude_code.ts';
import { codex } from './cases/codex.ts';
import { cuffShell } from './cases/cuff_shell.ts';
import { derun } from './cases/derun.ts';
import { phoenixBash } from './cases/phoenix_bash.ts';
import { pipeBash } from './cases/pipe_bash.ts';
import { expectGolden, filesOf, goldenFiles } from './golden.ts';

const TABLE = [bashRecorder, claudeCode, codex, cuffShell, derun, phoenixBash, pipeBash];

describe.each(TABLE.map((dialect) => [dialect.name, dialect] as const))(
  'the answers of %s',
  (...row) => {
    const [, dialect] = row;
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
