// The rules of all policy files, compiled once and found by their program.

import { baseName } from '../text/base-name.ts';
import { wordArg } from './analyse/args.ts';
import { openWrappers } from './analyse/index.ts';
import type { RuleRef, Verdict } from './decision.ts';
import { compilePattern, literalText, type WordPattern } from './pattern.ts';
import type { CommandRule, LoadedPolicy, PolicyOrigin } from './policy.ts';
import { readCall } from './profiles/index.ts';
import { isOpaque, isShell } from './programs.ts';
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

/**
 * The meaning of a star in an allowing pattern for its program: arguments that change nothing, or,
 * where the profile does not tell which those are, that a person is asked.
 */
type StarMeaning =
  /** There is none, or it covers what is inert. */
  | 'inert'
  /** The program runs what it is given: a shell, `sudo`. */
  | 'runs'
  /** Nothing is known of the program. */
  | 'unprofiled'
  | 'deletes'
  | 'configures';

export function starMeaning({ words }: RuleVariant): StarMeaning {
  const whole = words.some(({ kind }) => kind === 'rest' || kind === 'one');
  if (!whole && !words.some(hasStar)) return 'inert';
  const program = literalText(words[0]);
  if (words.at(-1)?.kind === 'rest' && (isShell(program) || isOpaque(program))) return 'runs';
  const call = readCall(argsOf(words));
  if (call === undefined) return 'unprofiled';
  if (!whole) return 'inert';
  if (call.kind === 'delete') return 'deletes';
  return call.kind === 'config' ? 'configures' : 'inert';
}

function hasStar(word: WordPattern): boolean {
  return word.kind === 'partial' && word.segments.some(({ kind }) => kind === 'any');
}

function argsOf(words: readonly WordPattern[]): readonly Arg[] {
  return words.flatMap((word): Arg[] => {
    if (word.kind === 'literal') return [wordArg(word.value)];
    if (word.kind === 'rest') return [];
    const prefix = word.kind === 'partial' ? word.lead : '';
    return [{ kind: 'unknown', prefix, one: true, source: '*', span: undefined }];
  });
}
