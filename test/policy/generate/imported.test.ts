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
