// Gives every rule with a `*` examples that are proven when the policy is loaded: observed commands
// that it allows, and an attack on the same program that it does not.

import { ATTACKS } from './attacks.ts';
import type { Covering, Draft } from './covering.ts';
import type { Surroundings } from './document.ts';
import { compare } from './evidence.ts';
import type { Shape } from './shape.ts';
import type { Count } from './tally.ts';
import { trialOf } from './trial.ts';

const MATCH_MAX = 2;
const LENGTH_MAX = 100; // an example is read, too

/** The policy may be loaded in any directory, so the examples must hold anywhere. */
const ANY_PROJECT = { cwd: '/project', project: '/project' };

export function withTests(
  rules: readonly Draft[],
  around: Surroundings,
  { coveredBy }: Covering,
  home: string,
): readonly Draft[] {
  const trial = trialOf(rules, around, home);
  return rules.map((rule) => {
    const { pattern } = rule;
    const shapes = coveredBy(pattern);
    if (shapes.length === 0) return rule;
    // They are proven for each rule alone, so that no other may have had a part in it.
    const alone = (text: string): boolean => {
      const { verdict, reasons } = trial.decide(text, ANY_PROJECT);
      return verdict === 'allow' && reasons.every((reason) => reason.rule?.pattern === pattern);
    };
    const start = pattern.replace(/(?:\*|[[<]).*$/, '');
    const attacks = ATTACKS.filter((text) => text.startsWith(start)).slice(0, 1);
    const match = examples(shapes).filter(alone).slice(0, MATCH_MAX);
    return { ...rule, tests: { match, not_match: attacks } };
  });
}

const PLACED = /(?:^|[\s='"])(?:\/|~|\.\.(?:[\s/'"]|$))/;

/** The most frequent first, without those that hold only in one directory. */
function examples(shapes: readonly (readonly [Shape, Count])[]): readonly string[] {
  return shapes
    .filter(([{ literal, text, head }]) => {
      const short = text.length <= LENGTH_MAX && !text.includes('\n');
      return literal !== undefined && short && head?.unseen !== true && !PLACED.test(text);
    })
    .sort(([a, m], [b, n]) => n.count - m.count || compare(a.text, b.text))
    .slice(0, MATCH_MAX * 2)
    .map(([{ text }]) => text);
}
