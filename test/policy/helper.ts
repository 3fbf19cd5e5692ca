// A policy in a few words, and what it decides about a command in a project that is not there.
import { type Judgement, judge } from '../../src/policy/decide.ts';
import { readPolicy } from '../../src/policy/load.ts';
import type { Policy } from '../../src/policy/policy.ts';

export const PROJECT = '/home/user/app';
export const HOME = '/home/user';

/** Throws with the problems of a text that is no policy. */
export function policyOf(text: string): Policy {
  const read = readPolicy(text, { home: HOME, project: PROJECT });
  if ('policy' in read) return read.policy;
  throw new Error(read.problems.map(({ line, message }) => `${line}: ${message}`).join('\n'));
}

type Rules = {
  readonly default?: string;
  readonly allow?: readonly string[];
  readonly ask?: readonly string[];
  readonly deny?: readonly string[];
  /** Other keys of the policy, as YAML. */
  readonly more?: string;
};

export function policyText({ default: by = 'ask', allow, ask, deny, more = '' }: Rules): string {
  const rules = [
    ...(allow ?? []).map((pattern) => ({ pattern, decision: 'allow' })),
    ...(ask ?? []).map((pattern) => ({ pattern, decision: 'ask' })),
    ...(deny ?? []).map((pattern) => ({ pattern, decision: 'deny' })),
  ];
  const commands = JSON.stringify(rules);
  return `default: ${by}\npolicies:\n  - name: rules\n    commands: ${commands}\n${more}`;
}

export function judgement(rules: Rules): Judgement {
  const policy = policyOf(policyText(rules));
  const policies = [{ policy, origin: 'user', file: undefined }] as const;
  return judge({ policies, project: PROJECT, home: HOME });
}

/** `allow`, or `ask path.outside` and its like. */
export function said(rules: Rules, command: string, cwd = PROJECT): string {
  const { verdict, code } = judgement(rules).decide(command, cwd);
  return verdict === 'allow' ? 'allow' : `${verdict} ${code}`;
}
