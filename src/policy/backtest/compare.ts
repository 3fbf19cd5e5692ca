// What differs between two policies: rules that came, went or changed, settings, and above all
// which commands are decided otherwise. Those are what was recorded, and the examples in the tests
// of both.

import { VERDICTS, type Verdict } from '../decision.ts';
import { compare, type Evidence, type Observation, seenOf } from '../generate/evidence.ts';
import { looksSecret } from '../generate/secrets.ts';
import { Trial } from '../generate/trial.ts';
import type { CommandRule, LoadedPolicy, Policy } from '../policy.ts';

type RuleChange = {
  readonly kind: 'added' | 'removed' | 'changed';
  readonly policy: string;
  readonly pattern: string;
  /** What it says now, or said last. */
  readonly decision: Verdict;
  /** For `changed`: which of its fields. */
  readonly fields: readonly string[];
};

type DecisionChange = {
  readonly command: string;
  readonly cwd: string;
  readonly before: Verdict;
  readonly after: Verdict;
  /** How often it was recorded; 0 for an example of a test. */
  readonly count: number;
};

export type PolicyDiff = {
  readonly rules: readonly RuleChange[];
  readonly settings: readonly {
    readonly key: string;
    readonly before: unknown;
    readonly after: unknown;
  }[];
  readonly compared: number;
  /** The loosened first, then the most frequent. What may hold a secret is counted, not shown. */
  readonly decisions: readonly DecisionChange[];
  readonly loosened: number;
  readonly tightened: number;
};

export function comparePolicies(
  before: LoadedPolicy,
  after: LoadedPolicy,
  evidence: readonly Evidence[],
  home: string,
): PolicyDiff {
  const seen = [...seenOf(evidence), ...examples([before, after], evidence[0]?.project ?? home)];
  const [old, now] = [new Trial(before, home), new Trial(after, home)];
  const decisions = seen.flatMap((one): readonly DecisionChange[] => {
    const [was, is] = [old.decide(one.command, one).verdict, now.decide(one.command, one).verdict];
    if (was === is) return [];
    return [{ command: one.command, cwd: one.cwd, before: was, after: is, count: one.count }];
  });
  return {
    rules: ruleChanges(before.policy, after.policy),
    settings: settingChanges(before.policy, after.policy),
    compared: seen.length,
    decisions: decisions
      .filter(({ command }) => !looksSecret(command))
      .sort(
        (a, b) =>
          Number(isLooser(b)) - Number(isLooser(a)) ||
          b.count - a.count ||
          compare(a.command, b.command),
      ),
    loosened: decisions.filter(isLooser).length,
    tightened: decisions.filter((one) => !isLooser(one)).length,
  };
}

function isLooser({ before, after }: Pick<DecisionChange, 'before' | 'after'>): boolean {
  return VERDICTS.indexOf(after) < VERDICTS.indexOf(before);
}

/** The tests of both, where they are not recorded anyway. */
function examples(policies: readonly LoadedPolicy[], project: string): readonly Observation[] {
  const texts = policies.flatMap(({ policy }) =>
    rulesOf(policy).flatMap(({ rule: { tests } }) => [...tests.match, ...tests.not_match]),
  );
  return [...new Set(texts)].sort(compare).map((command) => {
    const none = { count: 0, sessions: new Set<string>(), imported: false, denied: false };
    return { command, cwd: project, project, ...none };
  });
}

type Placed = { readonly policy: string; readonly rule: CommandRule };

function rulesOf({ policies }: Policy): readonly Placed[] {
  return policies.flatMap(({ name, commands }) => commands.map((rule) => ({ policy: name, rule })));
}

function ruleChanges(before: Policy, after: Policy): readonly RuleChange[] {
  const old = new Map(rulesOf(before).map((one) => [one.rule.pattern, one]));
  const now = new Map(rulesOf(after).map((one) => [one.rule.pattern, one]));
  const change = (kind: RuleChange['kind'], { policy, rule }: Placed, fields: string[] = []) => {
    const { pattern, decision } = rule;
    return { kind, policy, pattern, decision, fields };
  };
  return [
    ...[...now.values()].flatMap((one) => {
      const was = old.get(one.rule.pattern);
      if (was === undefined) return [change('added', one)];
      const fields = FIELDS.filter(
        (field) => JSON.stringify(was.rule[field]) !== JSON.stringify(one.rule[field]),
      );
      return fields.length === 0 ? [] : [change('changed', one, [...fields])];
    }),
    ...[...old.values()]
      .filter(({ rule }) => !now.has(rule.pattern))
      .map((one) => change('removed', one)),
  ];
}

/** How often it was seen is not what it says. */
const FIELDS = ['decision', 'paths', 'args', 'stdin', 'agents', 'max_per_hour'] as const;

const SETTINGS = [
  ...([
    'default',
    'mode',
    'scopes',
    'redirects',
    'filters',
    'env',
    'network',
    'programs',
    'shadow',
    'gate',
  ] as const),
  'sandbox',
] as const;

function settingChanges(before: Policy, after: Policy): PolicyDiff['settings'] {
  return SETTINGS.filter((key) => JSON.stringify(before[key]) !== JSON.stringify(after[key])).map(
    (key) => ({ key, before: before[key] ?? null, after: after[key] ?? null }),
  );
}
