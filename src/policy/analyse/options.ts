// The options that stand in front of the operands of a command line, when all of them are
// understood. What they are is told by a list, which `text/options.ts` reads.

import { optionTable, readOptions } from '../../text/options.ts';
import type { Arg } from '../unit.ts';
import { literalArg, textOf } from './args.ts';

export type Options = {
  /** In order: the longest name of each with its value, which is empty for those without one. */
  readonly given: readonly { readonly name: string; readonly value: Arg }[];
  /** Where the operands begin. */
  readonly at: number;
  /** What the options do besides. */
  readonly effects: readonly string[];
};

/** `undefined`: there is one that is not known. */
export function optionsOf(argv: readonly Arg[], list: string, from = 1): Options | undefined {
  const { uses, at } = readOptions(argv, optionTable(list), textOf, { from });
  const given: { name: string; value: Arg }[] = [];
  const effects: string[] = [];
  for (const { option, at: own, joined, next } of uses) {
    const word = argv[own];
    const value = next === undefined ? word && literalArg(word, joined?.value ?? '') : argv[next];
    const sure = word?.kind === 'literal' && (value?.kind === 'literal' || isOne(value));
    if (option === undefined || value === undefined || !sure) return undefined;
    given.push({ name: option.name, value });
    if (option.effect !== undefined) effects.push(option.effect);
  }
  const next = argv[at];
  // It may turn out to be an option, or several words.
  if (next !== undefined && next.kind !== 'literal') {
    const sure = isOne(next) && !/^(?:$|-)/.test(next.prefix);
    if (!sure && argv[at - 1]?.source !== '--') return undefined;
  }
  return { given, at, effects };
}

function isOne(arg: Arg | undefined): boolean {
  return arg?.kind === 'unknown' && arg.one;
}

/** The value of an option, of which the last one counts. */
export function optionValue({ given }: Options, name: string): Arg | undefined {
  return given.findLast((one) => one.name === name)?.value;
}
