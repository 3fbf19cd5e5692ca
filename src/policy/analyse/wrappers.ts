// Programs that do nothing but run the program behind them. `peel` takes one off; what remains is a
// command line of its own. A wrapper whose options are not understood is left as it is.

import { optionTable, readOptions } from '../../text/options.ts';
import { wrapperOf } from '../../text/wrappers.ts';
import type { Arg } from '../unit.ts';
import { literalOf, textOf, unknownArg, wordArg } from './args.ts';
import { type Options, optionsOf, optionValue } from './options.ts';

export type Peeled = {
  /** What `via` says. */
  readonly name: string;
  readonly argv: readonly Arg[];
  /** It is still the shell that runs it: a builtin can be behind it. */
  readonly inShell: boolean;
  /** Variables that it gets besides; undefined values are not known. */
  readonly variables?: readonly Variable[];
  /** It gets nothing of the shell's variables. */
  readonly cleared?: boolean;
  readonly unset?: readonly string[];
  /** Where it runs, when that is somewhere else. */
  readonly directory?: Arg;
  /** A file that the wrapper reads. */
  readonly reads?: Arg;
};

type Variable = { readonly name: string; readonly value: string | undefined };

/** Where programs of that name are what they are everywhere. */
const PLACES = /^(?:\/usr)?\/bin\//;

/** The program by its name, when that can be relied on: `./env` is not `env`. */
export function programOf(arg: Arg | undefined): string | undefined {
  return arg?.kind === 'literal' ? arg.value.replace(PLACES, '') : undefined;
}

/** Those with a rule of their own; what they run can only be denied. */
const OPAQUE = /^(?:sudo|doas)$/;

const OTHERS = /^(?:xargs|busybox|toybox)$/;

/** Whether `peel` could take this program off, with the words that it wants behind it. */
export function mayWrap(name: string): boolean {
  const program = name.replace(PLACES, '');
  if (OPAQUE.test(program)) return false;
  return wrapperOf(program) !== undefined || OTHERS.test(program);
}

export function peel(argv: readonly Arg[], inShell: boolean): Peeled | undefined {
  const [first] = argv;
  const name = programOf(first);
  if (first?.kind !== 'literal' || name === undefined) return undefined;
  if (name === 'env') return peelEnv(argv);
  if (name === 'xargs') return peelXargs(argv);
  if (name === 'busybox' || name === 'toybox') return peelBox(argv, name);
  const wrapper = OPAQUE.test(name) ? undefined : wrapperOf(name);
  if (wrapper === undefined) return undefined;
  if (wrapper.builtin && (!inShell || first.value !== name)) return undefined;
  const options = optionsOf(argv, wrapper.options);
  if (options === undefined || options.effects.length > 0) return undefined;
  const from = options.at + wrapper.operands;
  const between = argv.slice(options.at, from);
  if (between.some(({ kind }) => kind !== 'literal') || from >= argv.length) return undefined;
  // Newer ones need no priority: `chrt -i rm x`.
  if (name === 'chrt' && !/^\d/.test(literalOf(between[0]))) return undefined;
  return {
    name,
    argv: argv.slice(from),
    inShell: wrapper.builtin && name !== 'exec',
    cleared: name === 'exec' && optionValue(options, '-c') !== undefined,
  };
}

function peelBox(argv: readonly Arg[], name: string): Peeled | undefined {
  const applet = argv[1];
  if (applet?.kind !== 'literal' || applet.value.startsWith('-')) return undefined;
  return { name, argv: argv.slice(1), inShell: false };
}

const PLAIN_TEXT = /^[\w \t\n./:=@%+,-]*$/;

/** Whether one of the words of `env` may be `-S` in any of its forms. */
export function splitsText(argv: readonly Arg[]): boolean {
  return argv.some((arg) => arg.kind === 'literal' && /^-(?!-)\w*S|^--s/s.test(arg.value));
}

/** What `-S` gives it to split, and the words behind that. */
export function splitWords(argv: readonly Arg[]): readonly Arg[] {
  const table = optionTable(wrapperOf('env')?.options ?? '');
  const { uses, at } = readOptions(argv, table, textOf, { from: 1 });
  const split = uses.find(({ option }) => option?.name === '--split-string');
  const text = split?.joined?.value;
  const given = text === undefined ? argv.slice(split?.next ?? at, at) : [wordArg(text)];
  return [...given, ...argv.slice(at)];
}

/** Variables, a directory, and a command. */
function peelEnv(argv: readonly Arg[]): Peeled | undefined {
  const options = optionsOf(argv, wrapperOf('env')?.options ?? '');
  if (options === undefined) return undefined;
  const text = optionValue(options, '--split-string');
  if (text !== undefined) return peelSplit(argv, text, options);
  const unset = options.given.flatMap(({ name, value }) => (name === '--unset' ? [value] : []));
  const names = unset.flatMap((arg) => (arg.kind === 'literal' ? [arg.value] : []));
  if (names.length < unset.length) return undefined;
  let { at } = options;
  let cleared = optionValue(options, '--ignore-environment') !== undefined;
  const first = argv[at];
  if (first?.kind === 'literal' && first.value === '-') {
    cleared = true;
    at += 1;
  }
  const variables: Variable[] = [];
  for (; at < argv.length; at += 1) {
    const variable = variableOf(argv[at]);
    if (variable === undefined) break;
    variables.push(variable);
  }
  const next = argv[at];
  if (next === undefined) return undefined;
  // It could be one more variable.
  if (next.kind !== 'literal' && !(next.kind === 'unknown' && next.one && /\//.test(next.prefix))) {
    return undefined;
  }
  const directory = optionValue(options, '--chdir');
  return {
    ...{ name: 'env', argv: argv.slice(at), inShell: false, variables, cleared, unset: names },
    ...(directory !== undefined && { directory }),
  };
}

function variableOf(arg: Arg | undefined): Variable | undefined {
  if (arg?.kind === 'literal') {
    const equals = arg.value.indexOf('=');
    if (equals === -1) return undefined;
    return { name: arg.value.slice(0, equals), value: arg.value.slice(equals + 1) };
  }
  // Without quotes it could be more than one word.
  if (arg?.kind !== 'unknown' || !arg.one || !arg.prefix.includes('=')) return undefined;
  return { name: arg.prefix.slice(0, arg.prefix.indexOf('=')), value: undefined };
}

/** The text of `-S` is split when it has nothing in it that `env` would read in its own way. */
function peelSplit(argv: readonly Arg[], text: Arg, { at }: Options): Peeled | undefined {
  const [env] = argv;
  // Options in front of it would have to be carried over.
  const alone = at === 2 || (at === 3 && argv[1]?.kind === 'literal' && argv[1].value === '-S');
  if (env === undefined || !alone || text.kind !== 'literal' || !PLAIN_TEXT.test(text.value)) {
    return undefined;
  }
  const words = text.value.split(/[ \t\n]+/).filter((word) => word !== '');
  if (words.some((word) => word.startsWith('-S') || word.startsWith('--sp'))) return undefined;
  return peelEnv([env, ...words.map(wordArg), ...argv.slice(at)]);
}

const XARGS = `-0,--null -r,--no-run-if-empty -t,--verbose -p,--interactive -x,--exit -o,--open-tty
  -a,--arg-file: -d,--delimiter: -E: -I: -L: -n,--max-args: -P,--max-procs: -s,--max-chars:
  -e,--eof? -i,--replace? -l,--max-lines?`;

/** A command that gets unknown words from its input. */
function peelXargs(argv: readonly Arg[]): Peeled | undefined {
  const options = optionsOf(argv, XARGS);
  if (options === undefined) return undefined;
  const { at } = options;
  const mark = optionValue(options, '-I') ?? optionValue(options, '--replace');
  if (mark !== undefined && mark.kind !== 'literal') return undefined;
  const words = at < argv.length ? argv.slice(at) : [wordArg('echo')];
  const file = optionValue(options, '--arg-file');
  const marked = mark === undefined ? words : withMark(words, mark.value || '{}');
  // Of `-I`, `-n` and `-L` the last one wins: then it gets both.
  const appends =
    mark === undefined ||
    ['--max-args', '-L', '--max-lines'].some((name) => optionValue(options, name) !== undefined);
  const more = unknownArg({ source: 'xargs', span: undefined }, '', false);
  const inner = appends ? [...marked, more] : marked;
  return {
    ...{ name: 'xargs', argv: inner, inShell: false },
    ...(file !== undefined && { reads: file }),
  };
}

/** `src/{}` and `{}/../x` are paths that the text makes, and not what `find` found. */
function withMark(words: readonly Arg[], mark: string): readonly Arg[] {
  return replaced(words, mark).map((arg, at) => {
    const word = words[at];
    const whole = word?.kind === 'literal' && (word.value === mark || word.value === `./${mark}`);
    return whole ? { ...arg, source: 'xargs', span: undefined } : arg;
  });
}

/** Words in which `mark` stands for one that is not known. */
export function replaced(words: readonly Arg[], mark: string, prefix = ''): readonly Arg[] {
  return words.map((word): Arg => {
    if (word.kind === 'literal') {
      const at = word.value.indexOf(mark);
      return at === -1 ? word : unknownArg(word, word.value.slice(0, at) + prefix, true);
    }
    // What is not known may complete the mark, or have it in it.
    const [first = ''] = mark;
    const at = word.prefix.indexOf(first);
    const known = at === -1 ? word.prefix : word.prefix.slice(0, at);
    return unknownArg(word, known, word.kind === 'unknown' && word.one);
  });
}
