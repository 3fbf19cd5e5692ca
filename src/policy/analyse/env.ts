// `env`: variables, a directory, and a command. The text of `-S` is split when it has nothing in it
// that `env` would read in its own way.

import type { Arg } from '../unit.ts';
import { wordArg } from './args.ts';
import { readOptions, type Spec } from './options.ts';

type Variable = { readonly name: string; readonly value: string | undefined };

type PeeledEnv = {
  readonly name: string;
  readonly argv: readonly Arg[];
  readonly inShell: boolean;
  readonly variables: readonly Variable[];
  readonly cleared: boolean;
  readonly unset: readonly string[];
  readonly directory?: Arg;
};

const SPEC: Spec = {
  flags: 'iv0',
  values: 'uCSa',
  long: [
    'ignore-environment unset= chdir= split-string= debug null argv0= default-signal[=]',
    'ignore-signal[=] block-signal[=] list-signal-handling',
  ].join(' '),
};

const PLAIN_TEXT = /^[\w \t\n./:=@%+,-]*$/;

/** Whether one of its words may be `-S` in any of its forms. */
export function splitsText(argv: readonly Arg[]): boolean {
  return argv.some((arg) => arg.kind === 'literal' && /^-(?!-)\w*S|^--s/s.test(arg.value));
}

export function peelEnv(argv: readonly Arg[]): PeeledEnv | undefined {
  const unset = unsetIn(argv);
  const options = readOptions(argv, SPEC);
  if (options === undefined || unset === undefined) return undefined;
  const { found } = options;
  const text = found.get('S') ?? found.get('split-string');
  if (text !== undefined) return peelSplit(argv, text, options.at);
  let { at } = options;
  let cleared = found.has('i') || found.has('ignore-environment');
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
  const directory = found.get('C') ?? found.get('chdir');
  const base = { name: 'env', argv: argv.slice(at), inShell: false, variables, cleared, unset };
  return directory === undefined ? base : { ...base, directory };
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

/** There may be several `-u`. */
function unsetIn(argv: readonly Arg[]): readonly string[] | undefined {
  const names: string[] = [];
  for (const [at, arg] of argv.entries()) {
    if (arg.kind !== 'literal') continue;
    const next = argv[at + 1];
    const joined = /^(?:-u|--unset=)(.+)$/.exec(arg.value)?.[1];
    if (joined !== undefined) names.push(joined);
    else if (/^-[iv]*u$|^--unset$/.test(arg.value)) {
      if (next?.kind !== 'literal') return undefined;
      names.push(next.value);
    }
  }
  return names;
}

function peelSplit(argv: readonly Arg[], text: Arg, at: number): PeeledEnv | undefined {
  const [env] = argv;
  // Options in front of it would have to be carried over.
  const alone = at === 2 || (at === 3 && argv[1]?.kind === 'literal' && argv[1].value === '-S');
  if (env === undefined || !alone || text.kind !== 'literal' || !PLAIN_TEXT.test(text.value)) {
    return undefined;
  }
  const words = text.value.split(/[ \t\n]+/).filter((word) => word !== '');
  const args = words.map(wordArg);
  if (words.some((word) => word.startsWith('-S') || word.startsWith('--sp'))) return undefined;
  return peelEnv([env, ...args, ...argv.slice(at)]);
}
