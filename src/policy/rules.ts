// The rules of all policy files, compiled once and found by their program.

import { baseName } from '../text/base-name.ts';
import { wordArg } from './analyse/args.ts';
import { openWrappers } from './analyse/index.ts';
import type { RuleRef, Verdict } from './decision.ts';
import { compilePattern, type WordPattern } from './pattern.ts';
import type { CommandRule, LoadedPolicy, PolicyOrigin } from './policy.ts';
import type { Arg } from './unit.ts';

export type Rule = {
  readonly rule: CommandRule;
  readonly ref: RuleRef;
  readonly origin: PolicyOrigin;
  readonly words: readonly WordPattern[];
  /** The wrappers that its pattern names: `xargs` in `xargs wc *`. */
  readonly via: readonly string[];
};

export type Rules = {
  /** Those whose program has this name; also those that leave it open. */
  allowing(program: string): readonly Rule[];
  readonly strict: Readonly<Record<'ask' | 'deny', readonly Rule[]>>;
  readonly allow: readonly Rule[];
  /** The names of denied programs, as words of a text; undefined when there are none. */
  readonly deniedNames: RegExp | undefined;
};

export function rulesOf(policies: readonly LoadedPolicy[]): Rules {
  const all = policies.flatMap(rulesIn);
  const by = (verdict: Verdict): readonly Rule[] =>
    all.filter(({ rule }) => rule.decision === verdict);
  const allow = by('allow');
  const programs = new Map<string, Rule[]>();
  for (const one of allow) {
    const [first] = one.words;
    if (first?.kind !== 'literal') continue;
    const found = programs.get(first.value);
    if (found === undefined) programs.set(first.value, [one]);
    else found.push(one);
  }
  return {
    allowing: (program) => programs.get(program) ?? [],
    strict: { ask: by('ask'), deny: by('deny') },
    allow,
    deniedNames: namesOf(by('deny')),
  };
}

function namesOf(rules: readonly Rule[]): RegExp | undefined {
  const names = rules.flatMap(({ words: [first] }) =>
    first?.kind === 'literal' ? [baseName(first.value)] : [],
  );
  if (names.length === 0) return undefined;
  const escaped = names.map((name) => name.replace(/[\\^$.*+?()[\]{}|/-]/g, '\\$&'));
  return new RegExp(`(?:^|[^\\w.-])(?:${escaped.join('|')})(?:$|[^\\w-])`);
}

function rulesIn({ policy, origin, file }: LoadedPolicy): readonly Rule[] {
  return policy.policies.flatMap(({ name, commands }) =>
    commands.flatMap((rule) => {
      const ref = { file, policy: name, pattern: rule.pattern };
      return variantsOf(rule).map((variant) => ({ rule, ref, origin, ...variant }));
    }),
  );
}

export type RuleVariant = Pick<Rule, 'words' | 'via'>;

/** A rule once for each way in which its alternatives and optional words can be chosen. */
export function variantsOf({ pattern }: CommandRule): readonly RuleVariant[] {
  return compilePattern(pattern).map(({ words }) => unwrapped(words));
}

/** `timeout 60 npm test` is about `npm test`; `xargs wc *` about `wc`, with words unseen. */
function unwrapped(words: readonly WordPattern[]): RuleVariant {
  const args = words.map((word): Arg => wordArg(word.kind === 'literal' ? word.value : '*'));
  const { via, argv } = openWrappers(args);
  const inner = argv.flatMap((arg) => {
    const at = args.indexOf(arg);
    const word = words[at];
    return word === undefined ? [] : [word];
  });
  return via.length === 0 || inner[0]?.kind !== 'literal'
    ? { words, via: [] }
    : { words: inner, via };
}
