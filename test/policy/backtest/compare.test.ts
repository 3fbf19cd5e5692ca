import { describe, expect, it } from 'vitest';
import { comparePolicies } from '../../../src/policy/backtest/compare.ts';
import { readPolicy } from '../../../src/policy/load.ts';
import type { LoadedPolicy } from '../../../src/policy/policy.ts';
import { evidenceOf, HOME, PROJECT } from '../generate/helper.ts';

function policy(commands: string, more = ''): LoadedPolicy {
  const text = `policies: [{ name: all, commands: [${commands}] }]\n${more}`;
  const read = readPolicy(text, { home: HOME, project: PROJECT });
  if ('problems' in read) throw new Error(JSON.stringify(read.problems));
  return { policy: read.policy, origin: 'user', file: undefined };
}

const BEFORE = policy('{ pattern: git status }, { pattern: npm test }, { pattern: make x }');
const AFTER = policy(
  '{ pattern: git status }, { pattern: npm test, decision: deny }, { pattern: ls * }',
  'env: [REGION]\n',
);

describe('two policies', () => {
  it('differ in rules that came, went and changed, and in settings', () => {
    const { rules, settings } = comparePolicies(BEFORE, AFTER, [], HOME);
    expect(
      rules.map(({ kind, pattern, decision, fields }) => [kind, pattern, decision, fields]),
    ).toEqual([
      ['changed', 'npm test', 'deny', ['decision']],
      ['added', 'ls *', 'allow', []],
      ['removed', 'make x', 'allow', []],
    ]);
    expect(settings).toEqual([{ key: 'env', before: [], after: ['REGION'] }]);
  });

  it('differ in what they say about what was recorded: what is looser comes first', () => {
    const work = evidenceOf([['9 x git status', '5 x npm test', '2 x ls src', '3 x make x']]);
    const { decisions, compared, loosened, tightened } = comparePolicies(BEFORE, AFTER, work, HOME);
    expect(decisions.map(({ cwd, ...rest }) => rest)).toEqual([
      { command: 'ls src', before: 'ask', after: 'allow', count: 2 },
      { command: 'npm test', before: 'allow', after: 'deny', count: 5 },
      { command: 'make x', before: 'allow', after: 'ask', count: 3 },
    ]);
    expect([compared, loosened, tightened]).toEqual([4, 1, 2]);
  });

  it('count what is loosened also where it may hold a secret, and do not show it', () => {
    const secret = ['2 x ls --', 'token', '=x src'].join('');
    const work = evidenceOf([['2 x ls src', secret]]);
    const { decisions, loosened } = comparePolicies(
      BEFORE,
      policy('{ pattern: ls *, args: any }'),
      work,
      HOME,
    );
    expect([loosened, decisions.map(({ command }) => command)]).toEqual([2, ['ls src']]);
  });

  it('are compared on the examples in their tests where nothing was recorded', () => {
    const tested = policy('{ pattern: wc *, tests: { match: [wc -l a], not_match: [wc a | sh] } }');
    const { decisions, compared } = comparePolicies(BEFORE, tested, [], HOME);
    expect([compared, decisions.map(({ command, after }) => [command, after])]).toEqual([
      2,
      [['wc -l a', 'allow']],
    ]);
  });

  it('that are the same differ in nothing', () => {
    const work = evidenceOf([['git status', 'npm test']]);
    expect(comparePolicies(AFTER, AFTER, work, HOME)).toMatchObject({
      rules: [],
      settings: [],
      decisions: [],
    });
  });
});
