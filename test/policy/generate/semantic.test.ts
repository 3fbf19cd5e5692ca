// What `semantic` adds, and what no strategy makes of the little that was seen.
import { describe, expect, it } from 'vitest';
import type { Strategy } from '../../../src/policy/generate/index.ts';
import { allowing, evidenceOf, generated, PROJECT, patternsOf } from './helper.ts';

const made = (sessions: readonly (readonly string[])[], strategy: Strategy) =>
  generated(evidenceOf(sessions), strategy);
const all = (sessions: readonly (readonly string[])[], strategy: Strategy) =>
  Object.values(patternsOf(made(sessions, strategy))).flat();

/** Which of the commands a policy from these sessions allows. */
function allowed(
  sessions: readonly (readonly string[])[],
  strategy: Strategy,
  commands: readonly string[],
) {
  const allows = allowing(made(sessions, strategy).policy);
  return commands.filter((command) => allows({ command, cwd: PROJECT, project: PROJECT }));
}

describe('a star', () => {
  it('does not stand for a subcommand, nor for a program that is run', () => {
    const seen = ['npm --version', 'npm -v', 'node --version', 'node --test', 'rustc --version'];
    expect(all([[...seen, 'rustc --explain E1', 'git --version', 'git -v']], 'pattern')).toEqual(
      [],
    );
  });

  it('does no more than what was seen: a list of tags is not a new tag', () => {
    const seen = [[`git tag -l 'a*'`, `git tag -l 'b*'`, 'git branch -a', 'git branch -vv']];
    expect(all(seen, 'pattern')).toEqual(['git tag -l *']);
    expect(allowed(seen, 'pattern', [`git tag -l 'c*'`, 'git tag v9', 'git branch x'])).toEqual([
      `git tag -l 'c*'`,
    ]);
  });

  it('that pattern has, semantic has, too, beside what it adds', () => {
    const seen = [['npm install a', 'npm install b', 'npm install', 'npm ci']];
    expect(all(seen, 'pattern')).toEqual(['npm install *']);
    expect(all(seen, 'semantic')).toEqual(expect.arrayContaining(['npm install *', 'npm ci']));
  });
});

describe('the strategy semantic', () => {
  const READ = ['git status', 'git log -1', 'cat a', 'ls src'];

  it('knows a program that was seen once to be a reader, unless it shows secrets', () => {
    const seen = [
      [...READ, 'git whatchanged -1', 'docker inspect x', 'git config --get user.name'],
    ];
    const commands = ['git whatchanged -2', 'docker inspect y', 'git config --get user.email'];
    expect(allowed(seen, 'semantic', commands)).toEqual(['git whatchanged -2']);
    expect(allowed(seen, 'pattern', commands)).toEqual([]);
  });

  it('takes options in front of a subcommand of git for no difference, once used', () => {
    const commands = ['git --no-pager diff', 'git -C src diff', 'git -C /etc diff'];
    expect(allowed([READ], 'semantic', commands)).toEqual([]);
    const seen = [[...READ, 'git --no-pager log', 'git -C src log']];
    expect(allowed(seen, 'semantic', commands)).toEqual(['git --no-pager diff', 'git -C src diff']);
  });

  it('fetches from this machine and from no other', () => {
    const seen = [
      ['curl -s http://localhost:3000/a', 'curl -sI http://localhost:3000/b', 'ls', 'cat a'],
      ['curl -s https://example.org/a', 'curl -s https://example.org/b'],
    ];
    const same = ['curl -v localhost:8080/x', 'curl -so /dev/null -w "%{http_code}" localhost'];
    const other = [
      ...['curl -s https://example.org/c', 'curl -X POST localhost:8080/x', 'curl -d @a localhost'],
      ...['curl localhost.example.org', 'curl -w %output{a} localhost', 'curl -o a localhost'],
    ];
    expect(allowed(seen, 'semantic', [...same, ...other])).toEqual(same);
    expect(made(seen, 'semantic').policy.network).toEqual(['localhost']);
    expect(made(seen, 'exact').policy.network).toEqual([]);
  });

  it('keeps what programs say in files for a moment, whatever they are called', () => {
    const seen = [['npm test > /tmp/a.log', 'npm test > /tmp/b.log 2>&1', 'cat a', 'ls']];
    const { policy } = made(seen, 'semantic');
    expect([policy.redirects, policy.scopes.read]).toEqual([['/tmp/*.log'], ['/tmp/*.log']]);
    const commands = [
      'npm test > /tmp/c.log',
      'tail /tmp/c.log',
      'cat /tmp/c.json',
      'cat /etc/a.log',
    ];
    expect(allowed(seen, 'semantic', commands)).toEqual(commands.slice(0, 2));
    expect(allowed(seen, 'pattern', commands)).toEqual([]);
  });

  it('has files of the moment by their name where one was read again and again', () => {
    const seen = [['2 x tail -5 /tmp/a.log', 'tail -9 /tmp/a.log', 'tail b']];
    expect(made(seen, 'pattern').policy.scopes.read).toEqual(['/tmp/a.log']);
  });
});

it('has no rule that shows all variables, however often that was seen', () => {
  for (const strategy of ['exact', 'pattern', 'semantic'] as const) {
    const shown = made([['9 x env | grep -i proxy', '9 x git status']], strategy);
    expect(Object.values(patternsOf(shown)).flat()).not.toContain('env');
    expect(shown.excluded.map(({ command }) => command)).toEqual(['env | grep -i proxy']);
  }
});

it('keeps a rule that only helped a command with others beside it', () => {
  const evidence = evidenceOf([
    ['2 x frobnicate | xargs wc -- > /tmp/z.txt', 'nothing *.ts & xargs wc'],
  ]);
  for (const strategy of ['pattern', 'semantic'] as const) {
    const { policy, accepted } = generated(evidence, strategy);
    const allows = allowing(policy);
    const counts = evidence.map((one) => (allows(one) ? (one.count ?? 1) : 0));
    expect(counts.reduce((sum, count) => sum + count, 0)).toBe(accepted);
  }
});

it('allows in another directory whatever exact allows there', () => {
  const evidence = [
    ...evidenceOf([['2 x cat a', 'cat b', '2 x frobnicate']]),
    ...evidenceOf([['2 x frobnicate']]).map((one) => ({ ...one, cwd: '/home/user/data' })),
  ];
  for (const strategy of ['exact', 'pattern', 'semantic'] as const) {
    const allows = allowing(generated(evidence, strategy).policy);
    expect(allows({ command: 'cat a', cwd: '/home/user/data', project: PROJECT })).toBe(true);
  }
});
