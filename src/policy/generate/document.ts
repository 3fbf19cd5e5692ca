// Rules as a policy: grouped by family, each group by descending frequency, ties by pattern.

import type { CommandRule, Policy, PolicyGroup } from '../policy.ts';
import { compare } from './evidence.ts';
import { FAMILIES, familyOf } from './families.ts';
import type { NEEDS } from './surroundings.ts';

export type RuleDraft = {
  readonly pattern: string;
  readonly program: string;
  readonly frequency: number;
  readonly tests?: CommandRule['tests'];
};

export type Surroundings = Readonly<Record<(typeof NEEDS)[number], readonly string[]>>;

const NO_TESTS: CommandRule['tests'] = { match: [], not_match: [] };

export function policyOf(rules: readonly RuleDraft[], around: Surroundings): Policy {
  return {
    version: 1,
    default: 'ask',
    mode: 'enforce',
    policies: groupsOf(rules),
    scopes: { cwd: around.cwd, read: around.read, write: [], protect: [] },
    redirects: around.redirects,
    env: around.env,
    network: around.network,
    shadow: undefined,
    gate: 'on',
    sandbox: 'off',
  };
}

function groupsOf(rules: readonly RuleDraft[]): readonly PolicyGroup[] {
  const members = new Map<string, RuleDraft[]>(FAMILIES.map(({ name }) => [name, []]));
  for (const rule of rules) members.get(familyOf(rule.program).name)?.push(rule);
  return FAMILIES.flatMap(({ name, description }) => {
    const own = members.get(name) ?? [];
    if (own.length === 0) return [];
    own.sort((a, b) => b.frequency - a.frequency || compare(a.pattern, b.pattern));
    return [{ name, description, commands: own.map(ruleOf) }];
  });
}

export function ruleOf({ pattern, frequency, tests = NO_TESTS }: RuleDraft): CommandRule {
  return {
    pattern,
    frequency,
    decision: 'allow',
    reason: undefined,
    paths: undefined,
    args: 'inert',
    stdin: undefined,
    tests,
  };
}
