// The few rules that would help a policy most: each with how many runs more it would have allowed.
// They are made from what the policy refuses, as `generate` makes them, and chosen one after the
// other by what they bring together with those before.

import { ruleOf } from '../generate/document.ts';
import { compare, type Observation } from '../generate/evidence.ts';
import { generatePolicy } from '../generate/index.ts';
import { Trial } from '../generate/trial.ts';
import { type CommandRule, type LoadedPolicy, unsaved } from '../policy.ts';

export type Addition = {
  readonly pattern: string;
  /** Runs that are allowed with it, and with those before it, and were not before. */
  readonly gained: number;
};

const ADDITIONS_MAX = 5;
const LOOKED_AT_MAX = 1_000; // rarer ones would not be among the best
const NAME = 'additions';

export function additions(
  policy: LoadedPolicy,
  refused: readonly Observation[],
  home: string,
): readonly Addition[] {
  const frequent = [...refused].sort((a, b) => b.count - a.count).slice(0, LOOKED_AT_MAX);
  const wanting = needed(policy, frequent, home);
  const chosen: CommandRule[] = [];
  const found: Addition[] = [];
  let left = wanting;
  while (found.length < ADDITIONS_MAX) {
    const best = bestOf(left);
    if (best === undefined) break;
    const rule = ruleOf({ pattern: best, program: '', frequency: 0 });
    const bench = new Trial(withRules(policy, [...chosen, rule]), home);
    const own = left.filter(({ patterns }) => patterns.has(best));
    const gained = own.filter(({ seen }) => bench.decide(seen.command, seen).verdict === 'allow');
    for (const { patterns } of own) patterns.delete(best);
    if (gained.length === 0) continue;
    chosen.push(rule);
    found.push({ pattern: best, gained: gained.reduce((sum, { seen }) => sum + seen.count, 0) });
    const done = new Set(gained);
    left = left.filter((one) => !done.has(one));
  }
  return found;
}

type Wanting = { readonly seen: Observation; readonly patterns: Set<string> };

/** Rules that would be made from what is refused, and for each command those that it needs. */
function needed(
  policy: LoadedPolicy,
  refused: readonly Observation[],
  home: string,
): readonly Wanting[] {
  const evidence = refused.flatMap(({ sessions, ...seen }) =>
    // How often in which of its sessions is not known any more, and makes no difference here.
    [...sessions].map((sessionId, at) => ({
      ...seen,
      sessionId,
      count: at === 0 ? seen.count : 0,
    })),
  );
  const options = { strategy: 'pattern', minFrequency: 1, now: 0, home } as const;
  const { policy: made } = generatePolicy(evidence, options);
  const bench = new Trial(unsaved(made), home);
  const own = new Trial(policy, home);
  return refused.flatMap((seen) => {
    const { verdict, reasons } = bench.decide(seen.command, seen);
    if (verdict !== 'allow') return [];
    const covered = new Set(
      own
        .decide(seen.command, seen)
        .reasons.filter((one) => one.verdict === 'allow')
        .map(({ unit }) => unit),
    );
    const patterns = reasons
      .filter(({ unit }) => !covered.has(unit))
      .flatMap(({ rule }) => (rule === undefined ? [] : [rule.pattern]));
    return patterns.length === 0 ? [] : [{ seen, patterns: new Set(patterns) }];
  });
}

/** The one that is all that is missing for the most runs. */
function bestOf(left: readonly Wanting[]): string | undefined {
  const gains = new Map<string, number>();
  for (const { seen, patterns } of left) {
    const [only] = patterns;
    if (only === undefined || patterns.size > 1) continue;
    gains.set(only, (gains.get(only) ?? 0) + seen.count);
  }
  const [best] = [...gains].sort(([a, m], [b, n]) => n - m || compare(a, b));
  return best?.[0];
}

function withRules(loaded: LoadedPolicy, commands: readonly CommandRule[]): LoadedPolicy {
  const { policy } = loaded;
  const group = { name: NAME, description: '', commands };
  return { ...loaded, policy: { ...policy, policies: [...policy.policies, group] } };
}
