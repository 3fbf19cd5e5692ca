// Rules that rest on agents' own transcripts alone are marked; the policy is the same with or
// without the mark.
import { expect, it } from 'vitest';
import {
  type Evidence,
  generatePolicy,
  policyJson,
  policyYaml,
} from '../../../src/policy/generate/index.ts';

const OPTIONS = { strategy: 'pattern', minFrequency: 2, now: 0, home: '/home/user' } as const;

function seen(command: string, imported: boolean, sessionId = 's'): readonly Evidence[] {
  const place = { cwd: '/srv/app', project: '/srv/app', sessionId };
  return [1, 2, 3].map(() => ({ command, ...place, imported }));
}

it('marks a rule unless a recorded command has a part in it', () => {
  const evidence = [
    ...seen('git status', true),
    ...seen('npm test', true, 'a'),
    ...seen('npm test', false, 'b'),
    ...seen('ls -la', false),
  ];
  const made = generatePolicy(evidence, OPTIONS);
  const rules = made.policy.policies.flatMap(({ commands }) => commands.map((one) => one.pattern));
  expect(rules.sort()).toEqual(['git status', 'ls -la', 'npm test']);
  expect([...made.imported]).toEqual(['git status']);
  expect(policyYaml(made)).toContain('      # imported\n      - pattern: "git status"\n');
  const line = "# Marked as imported: 1 of 3 rules, which rest on agents' own transcripts alone\n";
  expect(policyYaml(made)).toContain(line);
});

it('says nothing of imports where there are none, and gives the same policy either way', () => {
  const recorded = generatePolicy(seen('git status', false), OPTIONS);
  const imported = generatePolicy(seen('git status', true), OPTIONS);
  expect(recorded.imported.size).toBe(0);
  expect(policyYaml(recorded)).not.toContain('imported');
  expect(policyJson(imported)).toBe(policyJson(recorded));
});

it.each([
  'rm -rf /home/user/other',
  'rm -rf /home/user/other/build',
  'rm -rf ~/notes',
  'cd /home/user/other && rm -rf src',
  'find /home/user/other -name x -delete',
  'mv a.txt /home/user/other/b.txt',
  'git -C /home/user/other clean -fdx',
  'git push --force',
  'git push origin --delete old',
  'kubectl delete pod x',
  'aws s3 rm s3://b --recursive',
  'terraform destroy',
  'dropdb app',
  'psql -c "DROP TABLE users"',
  'docker volume rm data',
])('makes no rule of what destroys something outside of the project: %s', (command) => {
  for (const strategy of ['exact', 'pattern', 'semantic'] as const) {
    for (const imported of [true, false]) {
      const made = generatePolicy(seen(command, imported), { ...OPTIONS, strategy });
      expect(made.policy.policies).toEqual([]);
      expect(made.excluded).toEqual([{ command, reason: 'destructive', count: 3 }]);
    }
  }
});

it.each([
  'rm -rf node_modules',
  'rm -rf /tmp/x',
  'git clean -fd',
  'git push origin topic',
  'sqlite3 app.db "delete from t"',
])('but it makes one of what stays inside: %s', (command) => {
  expect(generatePolicy(seen(command, true), OPTIONS).accepted).toBe(3);
});

it('makes no rule of what was denied after it was last run', () => {
  const evidence = [...seen('npm test', true), ...seen('npm run x', true)];
  const denied = evidence.map((one) => ({ ...one, denied: one.command === 'npm run x' }));
  const { excluded, policy } = generatePolicy(denied, OPTIONS);
  expect(excluded).toEqual([{ command: 'npm run x', reason: 'denied', count: 3 }]);
  expect(policy.policies.flatMap(({ commands }) => commands.map((one) => one.pattern))).toEqual([
    'npm test',
  ]);
});
