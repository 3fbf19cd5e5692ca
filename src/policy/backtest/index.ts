// Tries a policy on what was recorded: what it would have allowed, asked about and denied, which of
// its rules were of use, and which few rules more would have helped most. Equal commands in equal
// places are judged once; the numbers count every time they were run, and add up.

import { type ReasonCode, VERDICTS, type Verdict } from '../decision.ts';
import { compare, type Evidence, type Observation, seenOf } from '../generate/evidence.ts';
import { looksSecret } from '../generate/secrets.ts';
import { Trial } from '../generate/trial.ts';
import type { LoadedPolicy } from '../policy.ts';
import { type Addition, additions } from './additions.ts';

type RuleHits = {
  readonly policy: string;
  readonly pattern: string;
  readonly decision: Verdict;
  /** How many runs it had a part in. */
  readonly hits: number;
};

type Refused = {
  /** Undefined where it holds what looks like a secret. */
  readonly command: string | undefined;
  readonly verdict: Verdict;
  readonly code: ReasonCode;
  readonly count: number;
};

export type Backtest = {
  readonly commands: number;
  readonly distinct: number;
  readonly counts: Readonly<Record<Verdict, number>>;
  /** By the code of the reason, for what is not allowed: the most frequent first. */
  readonly codes: readonly { readonly code: ReasonCode; readonly count: number }[];
  /** In the order of the file. */
  readonly rules: readonly RuleHits[];
  /** What is not allowed, the most frequent first. */
  readonly refused: readonly Refused[];
  readonly additions: readonly Addition[];
};

export function backtest(
  policy: LoadedPolicy,
  evidence: readonly Evidence[],
  home: string,
): Backtest {
  const seen = seenOf(evidence);
  const bench = new Trial(policy, home);
  const counts: Record<Verdict, number> = { allow: 0, ask: 0, deny: 0 };
  const codes = new Map<ReasonCode, number>();
  const hits = new Map<string, number>();
  const left: { seen: Observation; verdict: Verdict; code: ReasonCode }[] = [];
  for (const one of seen) {
    const { verdict, code, reasons } = bench.decide(one.command, one);
    counts[verdict] += one.count;
    const used = new Set(reasons.flatMap(({ rule }) => (rule === undefined ? [] : [keyOf(rule)])));
    for (const key of used) hits.set(key, (hits.get(key) ?? 0) + one.count);
    if (verdict === 'allow') continue;
    codes.set(code, (codes.get(code) ?? 0) + one.count);
    left.push({ seen: one, verdict, code });
  }
  return {
    commands: VERDICTS.reduce((sum, verdict) => sum + counts[verdict], 0),
    distinct: seen.length,
    counts,
    codes: [...codes]
      .map(([code, count]) => ({ code, count }))
      .sort((a, b) => b.count - a.count || compare(a.code, b.code)),
    rules: policy.policy.policies.flatMap(({ name, commands }) =>
      commands.map(({ pattern, decision }) => ({
        policy: name,
        pattern,
        decision,
        hits: hits.get(keyOf({ policy: name, pattern })) ?? 0,
      })),
    ),
    refused: merged(left),
    additions: additions(
      policy,
      left.map((one) => one.seen),
      home,
    ),
  };
}

function keyOf({ policy, pattern }: { readonly policy: string; readonly pattern: string }): string {
  return `${policy}\0${pattern}`;
}

function merged(
  left: readonly {
    readonly seen: Observation;
    readonly verdict: Verdict;
    readonly code: ReasonCode;
  }[],
): readonly Refused[] {
  const all = new Map<string, Refused>();
  for (const { seen, verdict, code } of left) {
    const command = looksSecret(seen.command) ? undefined : seen.command;
    const key = `${verdict}\0${code}\0${command ?? ''}`;
    const count = seen.count + (all.get(key)?.count ?? 0);
    all.set(key, { command, verdict, code, count });
  }
  return [...all.values()].sort(
    (a, b) => b.count - a.count || compare(a.command ?? '', b.command ?? ''),
  );
}
