// Which exit codes of 1 are answers: only where it is certain who gave them.
import { describe, expect, it } from 'vitest';
import { answerOf } from '../../src/agent/report-answer.ts';

describe('exit code 1', () => {
  it.each([
    ['grep x file', 'no match'],
    ['/usr/bin/grep -r x .', 'no match'],
    ['LC_ALL=C timeout 5 grep x file', 'no match'],
    ['cat file | grep x', 'no match'],
    ['echo a; grep x file', 'no match'],
    ['rg x', 'no match'],
    ['diff a b', 'they differ'],
    ['cmp a b', 'they differ'],
    ['test -f x', 'false'],
    ['[ -f x ]', 'false'],
    ['[[ -f x ]]', 'false'],
    ['cd src && grep x file', 'no match'],
  ])('of `%s` is an answer', (command, meaning) => {
    expect(answerOf(command, 0)).toBe(meaning);
  });

  it.each([
    'false',
    'npm test',
    'echo grep x',
    '! grep x file',
    'grep x file && npm test',
    'make && grep x file',
    'test -f x && grep x file',
    'grep x file || false',
    'set -e; make; grep x file',
    'set -o pipefail; cat file | grep x',
    'grep x file | wc -l',
    'grep x file &',
    'if grep x file; then exit 1; fi',
    'ssh host "grep x file"',
    'grep "unfinished',
  ])('of `%s` is none', (command) => {
    expect(answerOf(command, 0)).toBeUndefined();
  });

  it('behind a cd that may have failed is none', () => {
    expect(answerOf('cd src && grep x file', 30)).toBeUndefined();
  });
});
