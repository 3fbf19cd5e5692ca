// Tables of command lines for the tests of profiles: a command line, and behind `=>` the effects of
// its words; nothing there: it has none.

import { expect, test } from 'vitest';
import type { Call } from '../../../src/policy/profile.ts';
import { readCall } from '../../../src/policy/profiles/index.ts';
import type { Arg } from '../../../src/policy/unit.ts';

export function check(table: string): void {
  for (const row of table.split('\n')) {
    if (row.trim() === '') continue;
    const [line = '', effects = ''] = row.split(/\s+=>\s*/).map((part) => part.trim());
    test(`${line}: ${effects === '' ? 'nothing' : effects}`, () => {
      const found = callOf(line).parts.flatMap(({ effect }) =>
        effect === undefined ? [] : [effect],
      );
      expect([...new Set(found)].sort().join(' ')).toBe(effects);
    });
  }
}

export function callOf(line: string): Call {
  const call = readCall(wordsOf(line));
  if (call === undefined) throw new Error(`no profile: ${line}`);
  return call;
}

/** Words between blanks, or in single quotes. */
function wordsOf(line: string): readonly Arg[] {
  return [...line.matchAll(/(?:'[^']*'|[^\s'])+/g)].map(([source]) => {
    const value = source.replaceAll("'", '');
    return { kind: 'literal', source, span: undefined, value };
  });
}
