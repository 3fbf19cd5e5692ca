import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { backtest } from '../../../src/policy/backtest/index.ts';
import { readPolicy } from '../../../src/policy/load.ts';
import type { LoadedPolicy } from '../../../src/policy/policy.ts';
import { benign, evidenceOf, HOME, PROJECT, recorded } from '../generate/helper.ts';

function policy(text: string): LoadedPolicy {
  const read = readPolicy(text, { home: HOME, project: PROJECT });
  if ('problems' in read) throw new Error(JSON.stringify(read.problems));
  return { policy: read.policy, origin: 'user', file: undefined };
}

const RULES = policy(`
policies:
  - name: git
    commands:
      - pattern: git status
      - pattern: git log *
      - pattern: git stash list
      - { pattern: git push *, decision: deny }
`);

const WORK = evidenceOf([
  [
    ...['5 x git status', '3 x git log -5', '2 x git log --oneline && git status', '4 x npm test'],
    ...['2 x npm run a', 'npm run b', '3 x git push --force', 'ls | frobnicate', '2 x rm -rf /'],
  ],
]);

describe('a policy on what was recorded', () => {
  it('counts what it would have allowed, asked about and denied, and the numbers add up', () => {
    const { commands, distinct, counts, codes, refused } = backtest(RULES, WORK, HOME);
    expect({ commands, distinct, counts, codes }).toEqual({
      commands: 23,
      distinct: 9,
      counts: { allow: 10, ask: 8, deny: 5 },
      codes: [
        { code: 'default.ask', count: 8 },
        { code: 'rule.deny', count: 3 },
        { code: 'builtin.dangerous', count: 2 },
      ],
    });
    expect(refused[0]).toEqual({
      command: 'npm test',
      verdict: 'ask',
      code: 'default.ask',
      count: 4,
    });
  });

  it('names what is risky, though it allows everything', () => {
    const risky = ['rm -rf /', 'cat ~/.ssh/id_rsa', 'echo x > ~/.bashrc', 'LD_PRELOAD=./x ls'];
    const work = evidenceOf([[...risky, 'ls -la', 'npm test']]);
    const { refused } = backtest(policy('default: allow'), work, HOME);
    const found = refused.map(({ command, code }) => `${code}: ${command}`).sort();
    expect(found).toEqual([
      'builtin.dangerous: rm -rf /',
      'env: LD_PRELOAD=./x ls',
      'path.protected: cat ~/.ssh/id_rsa',
      'path.protected: echo x > ~/.bashrc',
    ]);
  });

  it('counts the hits of every rule, so that those without any are seen', () => {
    expect(backtest(RULES, WORK, HOME).rules).toEqual([
      { policy: 'git', pattern: 'git status', decision: 'allow', hits: 7 },
      { policy: 'git', pattern: 'git log *', decision: 'allow', hits: 5 },
      { policy: 'git', pattern: 'git stash list', decision: 'allow', hits: 0 },
      { policy: 'git', pattern: 'git push *', decision: 'deny', hits: 3 },
    ]);
  });

  it('names the rules that would help most, with what each would bring', () => {
    const { additions } = backtest(RULES, WORK, HOME);
    expect(additions.slice(0, 2)).toEqual([
      { pattern: 'npm test', gained: 4 },
      { pattern: 'npm run *', gained: 3 },
    ]);
    expect(additions.map(({ pattern }) => pattern)).not.toContain('rm -rf /');
  });

  it('does not show what looks like a secret', () => {
    const secret = ['API_TOKEN', 'abc123'].join('=');
    const { refused, additions } = backtest(RULES, evidenceOf([[`2 x ${secret} deploy`]]), HOME);
    expect([refused.map(({ command }) => command), additions]).toEqual([[undefined], []]);
  });

  it('adds up for whatever is recorded', () => {
    const lines = benign();
    fc.assert(
      fc.property(fc.subarray([...lines]), (some) => {
        const result = backtest(RULES, recorded(some), HOME);
        const { allow, ask, deny } = result.counts;
        expect(allow + ask + deny).toBe(some.length);
        const refused = result.refused.reduce((sum, { count }) => sum + count, 0);
        expect(refused).toBe(ask + deny);
        const gained = result.additions.reduce((sum, one) => sum + one.gained, 0);
        expect(gained).toBeLessThanOrEqual(ask);
      }),
      { numRuns: 10 },
    );
  });
});
