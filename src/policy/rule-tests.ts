// The examples that rules carry, proven when their policy is read: what a rule must match and what
// it must not, each rule for itself.

import { shortLine } from '../text/printable.ts';
import { decideText } from './decide.ts';
import { factsOf } from './facts.ts';
import type { CommandRule, Policy } from './policy.ts';
import { rulesOf } from './rules.ts';

const SHOWN_MAX = 60;

export function failedTests(
  policy: Policy,
  { home, project = '/project' }: { readonly home: string; readonly project?: string | undefined },
): readonly { readonly rule: CommandRule; readonly message: string }[] {
  const rules = policy.policies.flatMap(({ name, commands }) =>
    commands.filter(hasTests).map((rule) => ({ name, rule })),
  );
  if (rules.length === 0) return [];
  const whole = { policy, origin: 'user', file: undefined } as const;
  const facts = factsOf([whole], { project, home });
  return rules.flatMap(({ name, rule }) => {
    const alone = { ...policy, policies: [{ name, description: '', commands: [rule] }] };
    // What the rule does not match falls to the other side.
    const fallback = rule.decision === 'allow' ? 'ask' : 'allow';
    const court = {
      rules: rulesOf([{ ...whole, policy: alone }]),
      facts,
      fallback,
      sealed: false,
    } as const;
    const matches = (text: string): boolean =>
      decideText(court, text, project).verdict === rule.decision;
    const wrong = (key: 'match' | 'not_match', text: string) => ({
      rule,
      message: [
        `tests.${key} has ${JSON.stringify(shortLine(text, SHOWN_MAX))},`,
        `but the rule ${JSON.stringify(rule.pattern)}`,
        key === 'match' ? 'does not match it' : 'matches it',
      ].join(' '),
    });
    return [
      ...rule.tests.match.filter((text) => !matches(text)).map((text) => wrong('match', text)),
      ...rule.tests.not_match.filter(matches).map((text) => wrong('not_match', text)),
    ];
  });
}

function hasTests({ tests }: CommandRule): boolean {
  return tests.match.length + tests.not_match.length > 0;
}
