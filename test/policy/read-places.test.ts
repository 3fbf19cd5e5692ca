// A directory that a policy lets commands read, and in which they may not run: what looks there is
// allowed as if it had been named, and nothing that lies there is run or written.
import { describe, expect, it } from 'vitest';
import { said } from './helper.ts';

const RULES = {
  allow: [
    ...['ls *', 'cat *', 'grep *', 'find *', 'sed *', 'sort *', 'split *', 'git log *', 'rg *'],
    ...[
      'go test *',
      'go build *',
      'node --test *',
      'npx eslint *',
      'pytest *',
      'awk \'{print>"x"}\' *',
    ],
    ...['xargs {grep,head} *', 'make test'],
  ],
  more: 'version: 2\nfilters: true\nscopes: {read: [../docs]}\n',
};

describe('a directory that may be read', () => {
  it.each([
    'cd ../docs && ls',
    'cd ../docs && grep -rn x . | sort | uniq -c',
    'cd ../docs/sub; find . -name "*.md" | head',
    'cd ../docs && sed -n 1,5p a.md && cat b.md',
    'cd ../docs && for f in *.md; do cat "$f"; done',
    'cd ../docs && find . -name "*.md" | xargs grep -l x',
    '(cd ../docs && ls) && ls',
  ])('is looked at as if it had been named: %s', (command) => {
    expect(said(RULES, command)).toBe('allow');
  });

  it.each([
    ['cd ../docs && git log -1', 'ask cwd'],
    ['cd ../docs && make test', 'ask cwd'],
    ['cd ../docs && go test ./...', 'ask path.outside'],
    ['cd ../docs && npx eslint .', 'ask path.outside'],
    ['cd ../docs && ./x', 'ask default.ask'],
    ['cd ../docs && ls > x', 'ask redirect'],
    ['cd ../docs && split x', 'ask cwd'],
    ['cd ../docs && sort -o x y', 'ask argument.effect'],
    [`cd ../docs && awk '{print>"x"}' y`, 'ask cwd'],
    ['cd ../docs && sed -i s/a/b/ x', 'ask argument.effect'],
    ['cd ../docs && cat ../notes', 'ask path.outside'],
    ['cd ../docs && cat .env', 'ask path.protected'],
    ['cd ../docs/.ssh && ls', 'ask cwd'],
    ['cd ../notes && ls', 'ask cwd'],
    ['cd "$x" && ls', 'ask cwd'],
  ])('is nothing to work in: %s', (command, expected) => {
    expect(said(RULES, command)).toBe(expected);
  });

  it.each([
    'go test ../docs/x',
    'go build ../docs/x',
    'node --test ../docs/x.js',
    'npx eslint ../docs',
    'pytest ../docs/test_x.py',
  ])('has no code to run: %s', (command) => {
    expect(said(RULES, command)).toBe('ask path.outside');
    const own = { ...RULES, more: 'scopes: {cwd: [../docs], read: [../docs]}\n' };
    expect(said(own, command)).toBe('allow');
  });
});
