// Rules as a policy: grouped by the family of their program, each group by descending frequency,
// ties by pattern.

import { factsOf } from '../facts.ts';
import { type CommandRule, EMPTY_POLICY, type Policy, type PolicyGroup } from '../policy.ts';
import { compare } from './evidence.ts';
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
  const { cwd, read, redirects, env, network } = around;
  // Without a rule there is nothing that could write or be filtered.
  const opens = rules.length > 0;
  const scopes = { ...EMPTY_POLICY.scopes, cwd, read, write: opens ? PROJECT : [] };
  const more = { scopes, redirects, filters: opens, env, network };
  const version = opens ? 2 : 1;
  return { ...EMPTY_POLICY, version, policies: groupsOf(rules), ...more };
}

/** What `scopes.write` means in version 2 where it is missing. */
const PROJECT: readonly string[] = ['.'];

function groupsOf(rules: readonly RuleDraft[]): readonly PolicyGroup[] {
  const members = new Map<string, RuleDraft[]>(FAMILIES.map(({ name }) => [name, []]));
  for (const rule of rules) members.get(factsOf(rule.program)?.family ?? OTHER)?.push(rule);
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

// In which order the groups stand; the records of programs say which is in which.

type Family = { readonly name: string; readonly description: string };

const OTHER = 'other-commands';

const FAMILIES: readonly Family[] = [
  { name: 'git-operations', description: 'Git version control commands' },
  { name: 'github-commands', description: 'GitHub and GitLab command line' },
  { name: 'npm-commands', description: 'Node.js package manager commands' },
  { name: 'node-commands', description: 'Node.js programs, tests and linters' },
  { name: 'python-commands', description: 'Python programs, tests and packages' },
  { name: 'rust-commands', description: 'Rust builds and tests' },
  { name: 'go-commands', description: 'Go builds and tests' },
  { name: 'build-commands', description: 'Build tools' },
  { name: 'docker-commands', description: 'Containers' },
  { name: 'kubernetes-commands', description: 'Kubernetes clusters' },
  { name: 'infrastructure-commands', description: 'Infrastructure and deployment' },
  { name: 'file-operations', description: 'File viewing and listing' },
  { name: 'search-commands', description: 'Searching files and text' },
  { name: 'text-processing', description: 'Text processing' },
  { name: 'file-changes', description: 'Creating, changing and removing files' },
  { name: 'network-commands', description: 'Network' },
  { name: 'system-commands', description: 'Shell and system information' },
  { name: OTHER, description: 'Other commands' },
];
