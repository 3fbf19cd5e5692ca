// The part that the exports for other tools share: each variant of each rule, and the list of all
// that would be lost by writing it there. A rule that would let more through there than here is
// left out, and named, unless the caller wants it all the same.

import type { Verdict } from '../decision.ts';
import { compilePattern, fixedText, literalText, type WordPattern } from '../pattern.ts';
import type { CommandRule, Policy } from '../policy.ts';
import { type RuleVariant, starMeaning, variantsOf } from '../rules.ts';

export type Loss = {
  readonly kind: LossKind;
  /** With it, more is allowed there than here. */
  readonly loosens: boolean;
  /** It is not in the export, which allows nothing more than we do. */
  readonly leftOut: boolean;
  /** A clause: "`*` covers every argument there". */
  readonly message: string;
  /** Patterns or entries, as they stand in the policy; empty for what is one fact. */
  readonly items: readonly string[];
};

/** One variant of a rule. */
export type Item = {
  readonly rule: CommandRule;
  readonly group: string;
  readonly decision: Verdict;
  /** Without the star at the end. */
  readonly words: readonly WordPattern[];
  /** More words may follow. */
  readonly open: boolean;
  /** It allows nothing that its star covers. */
  readonly asks: boolean;
};

export type Plan = {
  readonly items: readonly Item[];
  readonly losses: readonly Loss[];
  /** Undefined when it must not be written. */
  readonly fallback: Verdict | undefined;
};

/** The abilities of another tool's rules. */
export type Ability = {
  /** That no word may follow. */
  readonly exact: boolean;
  /** The defaults that it has for commands without a rule. */
  readonly defaults: readonly Verdict[];
  readonly reasons: boolean;
  readonly tests: boolean;
  /** Whether these words cannot be written at all. */
  readonly unsaid: (words: readonly WordPattern[], decision: Verdict) => boolean;
  /** Characters of a literal word that mean something else there. */
  readonly special: RegExp | undefined;
};

export const CLAUSES = {
  star: '`*` covers every argument there, here only those that change nothing',
  hole: 'what a hole covers is not checked there',
  exact: 'more words may follow there',
  characters: '`*` and `?` in a word cannot be quoted there',
  paths: '`paths` has no equal there',
  stdin: '`stdin: none` has no equal there',
  budget: '`max_per_hour` has no equal there',
  strict: 'what denies or asks meets only words in this order and spelling there',
  unsaid: 'cannot be written there',
  asks: '`*` means ask here, so that it allows nothing',
  reason: '`reason` is not passed on',
  tests: '`tests` are not passed on',
  agents: '`agents` names others',
  default: 'has no equal there',
  open: 'what is protected here is not there',
  mode: 'has no equal there: what is exported is enforced',
  scopes: 'has no equal there',
  redirects: 'has no equal there',
  filters: 'has no equal there: each filter needs a rule there',
  env: 'has no equal there',
  network: 'has no equal there',
  programs: 'has no equal there',
  gate: 'has no equal there: processes are not judged',
  sandbox: 'has no equal there',
  shadow: 'has no equal there',
  builtin: 'what cuff protects always (secrets, start-up files, configuration) is not in the rules',
} as const;

export type LossKind = keyof typeof CLAUSES;

/** Terminal control and invisible characters: a reviewer of the rule would not see them. */
const UNPRINTABLE = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/u;

export function planOf(policy: Policy, ability: Ability, loose: boolean): Plan {
  const lost = new Losses();
  const items = policy.policies.flatMap(({ name, commands }) =>
    commands.flatMap((rule) =>
      itemsOf(rule, name).filter((item) => isKept(item, ability, { loose, lost })),
    ),
  );
  for (const item of items) {
    const { rule } = item;
    if (rule.reason !== undefined && !ability.reasons) lost.add('reason', rule.pattern);
    const tests = rule.tests.match.length + rule.tests.not_match.length;
    if (tests > 0 && !ability.tests) lost.add('tests', rule.pattern);
  }
  const fallback = fallbackOf(policy, ability, { loose, lost });
  return { items, losses: [...lost.all(), ...aroundLosses(policy)], fallback };
}

function itemsOf(rule: CommandRule, group: string): readonly Item[] {
  const { decision } = rule;
  const meansAsk = (variant: RuleVariant): boolean => starMeaning(variant) !== 'inert';
  const asks = decision === 'allow' && rule.args !== 'any' && variantsOf(rule).some(meansAsk);
  return compilePattern(rule.pattern).map(({ words }) => {
    const rest = words.at(-1)?.kind === 'rest';
    // Here, more words never make a rule miss that denies or asks.
    const open = rest || decision !== 'allow';
    return { rule, group, decision, words: rest ? words.slice(0, -1) : words, open, asks };
  });
}

type LossContext = { readonly loose: boolean; readonly lost: Losses };

function isKept(item: Item, ability: Ability, { loose, lost }: LossContext): boolean {
  const { rule, words, decision } = item;
  const strange = words.some((word) => UNPRINTABLE.test(fixedText(word)));
  if (strange || ability.unsaid(words, decision)) {
    lost.add('unsaid', rule.pattern, decision !== 'allow', true);
    return false;
  }
  if (decision !== 'allow') {
    lost.add('strict', rule.pattern);
    return true;
  }
  if (item.asks) {
    lost.add('asks', rule.pattern, false, true);
    return false;
  }
  const looser = loosenings(item, ability);
  const leftOut = !loose && looser.length > 0;
  for (const kind of looser) lost.add(kind, rule.pattern, !leftOut, leftOut);
  return !leftOut;
}

function loosenings({ rule, words, open }: Item, ability: Ability): readonly LossKind[] {
  const holes = words.some(({ kind }) => kind !== 'literal');
  const { special } = ability;
  const found: LossKind[] = [];
  if (open && rule.args !== 'any') found.push('star');
  if (holes) found.push('hole');
  if (!open && !ability.exact) found.push('exact');
  if (special !== undefined && words.some((word) => special.test(literalText(word)))) {
    found.push('characters');
  }
  if (rule.paths !== undefined) found.push('paths');
  if (rule.stdin === 'none') found.push('stdin');
  if (rule.max_per_hour !== undefined) found.push('budget');
  return found;
}

function fallbackOf(
  { default: fallback }: Policy,
  { defaults }: Ability,
  { loose, lost }: LossContext,
): Verdict | undefined {
  const item = `default: ${fallback}`;
  if (!defaults.includes(fallback)) {
    lost.add('default', item, fallback === 'deny');
    return undefined;
  }
  if (fallback !== 'allow') return fallback;
  lost.add('open', item, loose, !loose);
  return loose ? fallback : undefined;
}

/** Each kind once, with the rules it is about in the order of the policy. */
class Losses {
  readonly #found = new Map<
    string,
    { kind: LossKind; loosens: boolean; leftOut: boolean; items: Set<string> }
  >();

  add(kind: LossKind, item: string, loosens = kind === 'strict', leftOut = false): void {
    const key = `${kind} ${loosens} ${leftOut}`;
    const known = this.#found.get(key);
    if (known !== undefined) known.items.add(item);
    else this.#found.set(key, { kind, loosens, leftOut, items: new Set([item]) });
  }

  all(): readonly Loss[] {
    return [...this.#found.values()].map(({ kind, loosens, leftOut, items }) => ({
      kind,
      loosens,
      leftOut,
      message: CLAUSES[kind],
      items: [...items],
    }));
  }
}

function aroundLosses(policy: Policy): readonly Loss[] {
  const { scopes, redirects, filters, env, network, programs, gate, sandbox, shadow, mode } =
    policy;
  const entries = (['cwd', 'read', 'write', 'protect'] as const).flatMap((key) =>
    scopes[key].map((glob) => `${key}: ${glob}`),
  );
  const lists: readonly (readonly [LossKind, readonly string[], boolean])[] = [
    ['scopes', entries, scopes.protect.length > 0],
    ['redirects', redirects, false],
    ['filters', filters ? ['filters: true'] : [], false],
    ['env', env, false],
    ['network', network, false],
    ['programs', programs, false],
    ['mode', mode === 'enforce' ? [] : [`mode: ${mode}`], false],
    ['gate', gate === 'off' ? [] : [`gate: ${gate}`], true],
    ['sandbox', sandbox === 'off' ? [] : [`sandbox: ${sandbox}`], true],
    ['shadow', shadow === undefined ? [] : [`shadow: ${shadow}`], false],
  ];
  const around = lists
    .filter(([, items]) => items.length > 0)
    .map(([kind, items, loosens]): Loss => {
      return { kind, loosens, leftOut: false, message: CLAUSES[kind], items };
    });
  const message = CLAUSES.builtin;
  return [...around, { kind: 'builtin', loosens: true, leftOut: false, message, items: [] }];
}
