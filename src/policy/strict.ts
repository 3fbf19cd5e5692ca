// Whether a unit is what a denying or asking rule means. Strict where an allowing rule is narrow:
// the program counts wherever it lies, the words may stand in any order among others, options may
// be bundled, shortened or spelled out, subcommands and paths named otherwise. More words never
// make a rule miss.

import { posix } from 'node:path';
import { baseName } from '../text/base-name.ts';
import { wordArg } from './analyse/args.ts';
import { programNames, subcommandName } from './equivalents.ts';
import { absolute, globRegex, type Roots } from './paths.ts';
import { isTooLong, type WordPattern } from './pattern.ts';
import { readCall } from './profiles/index.ts';
import type { Arg } from './unit.ts';

/** `maybe`: with what is only known when it runs, it could be. */
export type StrictMatch = 'yes' | 'maybe' | 'no';

export type StrictContext = Roots & {
  /** Where the command may run; undefined when that is not known. */
  readonly cwds: readonly string[] | undefined;
};

export function strictMatch(
  words: readonly WordPattern[],
  argv: readonly Arg[],
  context: StrictContext,
): StrictMatch {
  const [program, ...rest] = words;
  const first = argv[0];
  if (program === undefined || first === undefined) return 'no';
  if (first.kind !== 'literal') return 'maybe';
  const name = baseName(first.value);
  if (!isProgram(program, name)) return 'no';
  const wilds = argv.slice(1).filter(({ kind }) => kind !== 'literal');
  let missing = missingOptions(words, argv);
  const operands = rest.filter((word) => optionOf(word) === undefined && word.kind !== 'rest');
  // `npm.cmd` has the commands of `npm`.
  const known = program.kind === 'literal' ? baseName(program.value) : name;
  const { left, globs } = missingOperands(operands, argv.slice(1), { ...context, name: known });
  missing += left;
  if (missing === 0) return globs > 0 ? 'maybe' : 'yes';
  const many = wilds.some((arg) => arg.kind === 'unknown' && !arg.one);
  const could = many || missing <= wilds.length;
  return could && !isAnother(operands[0], argv, name) ? 'maybe' : 'no';
}

/** Their subcommands are what they say; `docker image $x` may be `docker rmi`. */
const ONE_WAY = /^(?:git|cargo|go|gh|kubectl|terraform|helm|brew|apt|apt-get)$/;

/** `git add "$x"` is never `git push`: which subcommand it is, is known. */
function isAnother(wanted: WordPattern | undefined, argv: readonly Arg[], name: string): boolean {
  if (wanted?.kind !== 'literal' || !ONE_WAY.test(name)) return false;
  const chosen = subcommandOf(argv);
  const meant = subcommandOf([wordArg(name), wordArg(wanted.value)]);
  if (chosen === undefined || meant === undefined) return false;
  return subcommandName(name, chosen) !== subcommandName(name, meant);
}

/** Undefined: there is none, or it is not known, or what is in front of it is not. */
function subcommandOf(argv: readonly Arg[]): string | undefined {
  const call = readCall(argv);
  const [at] = call?.subcommands ?? [];
  if (at === undefined || argv.slice(0, at + 1).some(({ kind }) => kind !== 'literal')) {
    return undefined;
  }
  return call?.parts.find(({ index, effect }) => index === at && effect !== 'unknown')?.value;
}

function isProgram(pattern: WordPattern, name: string): boolean {
  if (pattern.kind === 'literal') return programNames(baseName(pattern.value), name);
  return pattern.kind === 'partial' ? pattern.regex.test(name) : true;
}

/** The option that a word of a rule asks for; of `-fd*` what is sure. */
function optionOf(word: WordPattern): string | undefined {
  if (word.kind === 'literal') return /^-./.test(word.value) ? word.value : undefined;
  return word.kind === 'partial' && /^-[A-Za-z]+$/.test(word.lead) ? word.lead : undefined;
}

/** How many options of the rule are not there, by any of their spellings. */
function missingOptions(words: readonly WordPattern[], argv: readonly Arg[]): number {
  const wanted = words.flatMap((word) => optionOf(word) ?? []);
  if (wanted.length === 0) return 0;
  const given = argv.flatMap((arg) => (arg.kind === 'literal' ? [arg.value] : []));
  const names = new Set(optionNames(argv));
  const letters = new Set(given.filter((one) => /^-[^-]/.test(one)).join(''));
  const head = words.flatMap(literalArg).filter(({ value }) => !value.startsWith('-'));
  return wanted.filter((option) => {
    if (given.some((one) => sameOption(option, one))) return false;
    const own = option.includes('=') ? [] : optionNames([...head, wordArg(option)]);
    if (own.length > 0 && own.every((name) => names.has(name))) return false;
    const parts = head[0]?.value === 'git' ? GIT_BOTH[option] : undefined;
    if (parts?.every((name) => names.has(name)) === true) return false;
    const bundle = /^-[A-Za-z0-9]+$/.test(option);
    return !(bundle && [...option.slice(1)].every((letter) => letters.has(letter)));
  }).length;
}

/** One letter of `git branch` that means the same as two options. */
const GIT_BOTH: Readonly<Record<string, readonly string[]>> = {
  '-D': ['--delete', '--force'],
  '-M': ['--move', '--force'],
  '-C': ['--copy', '--force'],
};

function sameOption(option: string, word: string): boolean {
  if (word === option || word.startsWith(`${option}=`)) return true;
  const name = word.split('=', 1)[0] ?? '';
  return option.startsWith('--') && name.length > 2 && option.startsWith(name);
}

/** The options of a command line by their full names. */
function optionNames(argv: readonly Arg[]): readonly string[] {
  const parts = readCall(argv)?.parts ?? [];
  return parts.flatMap(({ role, option }) => (role === 'option' ? (option ?? []) : []));
}

function literalArg(word: WordPattern) {
  return word.kind === 'literal' ? [wordArg(word.value)] : [];
}

type OperandContext = StrictContext & { readonly name: string };

/** The operands of the rule in their order, anywhere among the words. */
function missingOperands(
  operands: readonly WordPattern[],
  args: readonly Arg[],
  context: OperandContext,
): { readonly left: number; readonly globs: number } {
  let [at, left, globs] = [0, 0, 0];
  for (const operand of operands) {
    const found = args.findIndex((arg, index) => index >= at && isOperand(operand, arg, context));
    if (found < 0) left += 1;
    else {
      at = found + 1;
      if (args[found]?.kind === 'glob') globs += 1;
    }
  }
  return { left, globs };
}

function isOperand(operand: WordPattern, arg: Arg, context: OperandContext): boolean {
  if (arg.kind === 'unknown') return false;
  if (arg.kind === 'glob') {
    return operand.kind !== 'literal' || globRegex(arg.pattern).test(operand.value);
  }
  const { name, project, home } = context;
  if (operand.kind === 'literal') {
    const { value } = operand;
    if (arg.value === value || subcommandName(name, arg.value) === subcommandName(name, value)) {
      return true;
    }
    // To the shell `~` is the person's home, and so it is in a rule.
    const at = /^~(?=\/|$)/.test(value) ? `${home}${value.slice(1)}` : value;
    const there = absolute(at, project);
    return arg.value.includes('/') || value.includes('/') || arg.value.startsWith('.')
      ? spellings(arg.value, context).includes(there)
      : (context.cwds ?? []).some((cwd) => cwd !== project && absolute(arg.value, cwd) === there);
  }
  if (operand.kind !== 'partial' || isTooLong(operand, arg.value)) return true;
  return [arg.value, ...spellings(arg.value, context)].some((one) => operand.regex.test(one));
}

/** The path as it is, absolute and from the project. */
function spellings(value: string, { project, cwds }: StrictContext): readonly string[] {
  return (cwds ?? [project]).flatMap((cwd) => {
    const path = absolute(value, cwd);
    return [path, posix.relative(project, path)];
  });
}
