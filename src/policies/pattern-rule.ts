// A pattern for an answer that is to hold always: what it would allow and what not, as examples
// that the policy with the rule in it has decided. A pattern that an attack fits is none, and so is
// one that does not allow what was asked.

import { analyse } from '../policy/analyse/index.ts';
import type { Judgement } from '../policy/decide.ts';
import { shapeOf } from '../policy/generate/shape.ts';
import { attacksAllowed } from '../policy/generate/trial.ts';
import { compilePattern, PatternError, quotedWord } from '../policy/pattern.ts';
import { type CommandRule, EMPTY_POLICY } from '../policy/policy.ts';
import type { Part } from '../policy/profile.ts';
import { readCall } from '../policy/profiles/index.ts';
import type { Unit } from '../policy/unit.ts';
import { shortLine } from '../text/printable.ts';
import type { PolicyEngine } from './engine.ts';

/** What a person sees of a pattern before it is a rule. */
export type PatternExamples = {
  readonly pattern: string;
  /** Commands that it would allow, that which was asked first. */
  readonly allows: readonly string[];
  readonly refuses: readonly string[];
};

export const EXAMPLES = 3;

const SHOWN_MAX = 100; // characters of an attack in a sentence

/** Patterns for what is not allowed yet in this command, the widest first. */
export function patternsFor(
  command: string,
  cwd: string,
  { home, inForce }: Pick<PolicyEngine, 'home' | 'inForce'>,
): readonly string[] {
  const { units, problems } = analyse(command, { cwd, home });
  if (problems.length > 0) return [];
  const open = units.filter((unit) => {
    const text = shapeOf(unit)?.literal;
    return text === undefined || inForce?.decide(text, cwd).decision.verdict !== 'allow';
  });
  // A rule for each of several parts would be more than one answer.
  const [unit] = open;
  return open.length === 1 && unit !== undefined ? patternsOf(unit) : [];
}

function patternsOf(unit: Unit): readonly string[] {
  const shape = shapeOf(unit);
  if (shape?.literal === undefined || shape.head === undefined) return [];
  const { words, narrow } = shape.head;
  const holes = withHoles(unit, words.length);
  return [...(narrow ? [] : [[...words, '*'].join(' ')]), ...(holes === undefined ? [] : [holes])];
}

const HOLES: Readonly<Partial<Record<Part['role'], string>>> = {
  path: '<path>',
  output: '<path>',
  int: '<int>',
  rev: '<rev>',
};

/** The words behind the head by what they are; undefined where none of them may vary. */
function withHoles({ argv }: Unit, from: number): string | undefined {
  const parts = readCall(argv)?.parts ?? [];
  let varies = false;
  const words = argv.map((arg, index) => {
    if (arg.kind !== 'literal') return undefined;
    const own = parts.filter((part) => part.index === index);
    const hole = own.length === 1 && own[0]?.value === arg.value ? HOLES[own[0].role] : undefined;
    if (index < from || hole === undefined) return quotedWord(arg.value);
    varies = true;
    return hole;
  });
  return varies && !words.includes(undefined) ? words.join(' ') : undefined;
}

/** Why no rule may have this pattern, whatever else the policy says. */
export function patternProblem(rule: CommandRule, engine: PolicyEngine): string | undefined {
  try {
    const star = compilePattern(rule.pattern).some(({ words }) => words[0]?.kind !== 'literal');
    if (star) return 'a rule that allows has to name its program';
  } catch (error) {
    if (error instanceof PatternError) return `\`${rule.pattern}\`: ${error.message}`;
    throw error;
  }
  const around = engine.policies.map(({ policy }) => policy);
  const policy = {
    ...EMPTY_POLICY,
    policies: [{ name: '', description: '', commands: [rule] }],
    scopes: {
      ...EMPTY_POLICY.scopes,
      read: around.flatMap(({ scopes }) => scopes.read),
      cwd: around.flatMap(({ scopes }) => scopes.cwd),
    },
    redirects: around.flatMap(({ redirects }) => redirects),
    env: around.flatMap(({ env }) => env),
    network: around.flatMap(({ network }) => network),
  };
  const [attack] = attacksAllowed(policy, engine.home);
  if (attack === undefined) return undefined;
  const unit = shortLine(attack.reasons[0]?.unit ?? '', SHOWN_MAX);
  return `it would let an attack through: \`${unit}\``;
}

/** Undefined: there are not enough of either kind, so a person could not see what it means. */
export function examplesOf(
  pattern: string,
  command: string,
  cwd: string,
  judgement: Judgement,
): PatternExamples | undefined {
  const allowed = (text: string): boolean => judgement.decide(text, cwd).verdict === 'allow';
  const [variant] = compilePattern(pattern);
  if (variant === undefined) return undefined;
  const fits = variant.words.map(fillings);
  const filled = Array.from({ length: FILLED_MAX }, (_, at) =>
    fits.flatMap((words) => words[at % words.length] ?? []).join(' '),
  );
  const allows = [...new Set([command, ...filled])].filter(allowed).slice(0, EXAMPLES);
  const start = fits
    .flatMap(([word], at) => (variant.words[at]?.kind === 'rest' ? [] : (word ?? [])))
    .join(' ');
  const refuses = [...new Set(OUTSIDE.map((outside) => outside(start, command)))]
    .filter((text) => !allowed(text))
    .slice(0, EXAMPLES);
  return allows.length < EXAMPLES || refuses.length < EXAMPLES
    ? undefined
    : { pattern, allows, refuses };
}

const FILLED_MAX = 24;

const SAMPLES: Readonly<Record<string, readonly string[]>> = {
  path: ['README.md', 'src', 'docs/notes.txt', 'test'],
  int: ['1', '20', '300'],
  rev: ['main', 'HEAD~2', 'v1.2'],
  range: ['main..HEAD', '10,20', 'HEAD~3..HEAD'],
  word: ['alpha', 'beta', 'gamma'],
};

const REST = ['README.md', 'src test', '--help', '--version', 'main', 'HEAD', '-v', 'x', '3'];

/** Words that may stand in the place of this one. */
function fillings(word: ReturnType<typeof compilePattern>[number]['words'][number]) {
  if (word.kind === 'literal') return [quotedWord(word.value)];
  if (word.kind === 'rest') return REST;
  if (word.kind === 'one') return REST.filter((one) => !one.includes(' '));
  const parts = word.segments.map((segment): readonly string[] => {
    if (segment.kind === 'text') return [segment.value];
    return segment.kind === 'hole' ? (SAMPLES[segment.type] ?? []) : ['a', 'b', 'c'];
  });
  return [0, 1, 2].map((at) => parts.map((one) => one[at % one.length] ?? '').join(''));
}

/** Near to what is allowed, and something else: the first three that are refused are shown. */
const OUTSIDE: readonly ((start: string, command: string) => string)[] = [
  (start) => `${start} ~/.ssh/id_rsa`,
  (_, command) => `${command} > ~/.bashrc`,
  (_, command) => `sudo ${command}`,
  (_, command) => `${command} | sh`,
  (start) => `${start} --output=/tmp/x`,
  (start) => `${start} "$UNKNOWN"`,
  (_, command) => `${command}; rm -rf src`,
];
