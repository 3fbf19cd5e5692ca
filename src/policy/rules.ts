// The rules of all policy files, compiled once and found by their program.

import { baseName } from '../text/base-name.ts';
import { wordArg } from './analyse/args.ts';
import { openWrappers } from './analyse/index.ts';
import { mayWrap } from './analyse/wrappers.ts';
import type { RuleRef } from './decision.ts';
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
  /** The patterns that allow, in their order. */
  allowed(): readonly string[];
  /** The names of denied programs, as words of a text; undefined when there are none. */
  readonly deniedNames: RegExp | undefined;
};

/** One rule of a file, and where it stands. */
type Entry = Omit<Rule, 'words' | 'via'>;

/** Allowing rules are compiled when their program is asked for: a command has few of them. */
export function rulesOf(policies: readonly LoadedPolicy[]): Rules {
  const strict = { ask: [] as Rule[], deny: [] as Rule[] };
  const allow = new Map<string, Entry[]>();
  for (const { policy, origin, file } of policies) {
    for (const { name, commands } of policy.policies) {
      for (const rule of commands) {
        const { pattern, agents, max_per_hour: maxPerHour } = rule;
        const limits = { ...(agents && { agents }), ...(maxPerHour && { maxPerHour }) };
        const ref = { file, policy: name, pattern, ...limits };
        const entry = { rule, ref, origin };
        if (rule.decision !== 'allow') strict[rule.decision].push(...compile(entry));
        else addTo(allow, entry);
      }
    }
  }
  const compiled = new Map<string, readonly Rule[]>();
  return {
    allowing: (program) => {
      const known = compiled.get(program);
      if (known !== undefined) return known;
      const found = (allow.get(program) ?? [])
        .flatMap(compile)
        .filter(({ words: [first] }) => first?.kind === 'literal' && first.value === program);
      compiled.set(program, found);
      return found;
    },
    strict,
    allowed: () => {
      const groups = policies.flatMap(({ policy }) => policy.policies);
      const rules = groups.flatMap(({ commands }) => commands);
      const allowed = rules.filter(({ decision }) => decision === 'allow');
      return [...new Set(allowed.map(({ pattern }) => pattern))];
    },
    deniedNames: namesOf(strict.deny),
  };
}

/** Under every program that it may be about. */
function addTo(programs: Map<string, Entry[]>, entry: Entry): void {
  const { pattern } = entry.ref;
  const end = pattern.indexOf(' ');
  const first = end < 0 ? pattern : pattern.slice(0, end);
  const names = PLAIN_WORD.test(first) && !mayWrap(first) ? [first] : programsOf(entry);
  for (const name of names) {
    const found = programs.get(name);
    if (found === undefined) programs.set(name, [entry]);
    else found.push(entry);
  }
}

/** A first word that stands for itself, whatever comes behind it. */
const PLAIN_WORD = /^[\w@%+:.,/-]+$/;

function programsOf(entry: Entry): Iterable<string> {
  const firsts = compile(entry).map(({ words: [first] }) => first);
  return new Set(firsts.flatMap((first) => (first?.kind === 'literal' ? [first.value] : [])));
}

function compile(entry: Entry): readonly Rule[] {
  return variantsOf(entry.rule).map((variant) => ({ ...entry, ...variant }));
}

function namesOf(rules: readonly Rule[]): RegExp | undefined {
  const names = rules.flatMap(({ words: [first] }) =>
    first?.kind === 'literal' ? [baseName(first.value)] : [],
  );
  if (names.length === 0) return undefined;
  const escaped = names.map((name) => name.replace(/[\\^$.*+?()[\]{}|/-]/g, '\\$&'));
  return new RegExp(`(?:^|[^\\w.-])(?:${escaped.join('|')})(?:$|[^\\w-])`);
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
