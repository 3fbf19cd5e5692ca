// Which program a simple command really runs: the one behind `env A=1`, `sudo -u x`, `timeout 10`
// and the like. Only options that are listed for them are stepped over; at any other, and at one
// that is not literal, the answer is "unsure" (undefined), never a guess.

import { optionTable, readOptions, type WordText } from './options.ts';
import type { SimpleCommand, Word } from './shell-parse.ts';
import { type Wrapper, wrapperOf } from './wrappers.ts';

export type Program = {
  /** Without its directory. */
  readonly name: string;
  readonly args: readonly Word[];
};

/** `env env env ...`: people write one or two, and each copies what is behind it. */
const WRAPPERS_MAX = 32;

/** The program that gives the command its exit status. */
export function programOf({ words }: SimpleCommand): Program | undefined {
  let rest = words;
  for (let depth = 0; depth < WRAPPERS_MAX; depth += 1) {
    const [first, ...args] = rest;
    const path = first?.literal;
    if (path === undefined) return undefined;
    const name = path.slice(path.lastIndexOf('/') + 1);
    const wrapper = wrapperOf(name);
    if (wrapper === undefined) return { name, args };
    const inner = unwrapped(args, wrapper);
    if (inner === undefined) return undefined;
    if (inner === 'itself' || inner.length === 0) return { name, args };
    rest = inner;
  }
  return undefined;
}

/** The words behind the wrapper's own. */
function unwrapped(
  args: readonly Word[],
  wrapper: Wrapper,
): readonly Word[] | 'itself' | undefined {
  const read = readOptions(args, optionTable(wrapper.options), textOfWord);
  const known = read.uses.every(
    (use) => use.option !== undefined && args[use.at]?.literal !== undefined,
  );
  if (!known || read.uses.some(({ option }) => option?.effect === 'splits')) return undefined;
  if (read.uses.some(({ option }) => option?.effect === 'instead')) return 'itself';
  let { at } = read;
  if (args[at]?.literal === '-' && wrapper.assignments) at += 1; // env's old -i
  while (wrapper.assignments && /^[A-Za-z_]\w*=/.test(args[at]?.source ?? '')) at += 1;
  const own = args.slice(at, at + wrapper.operands);
  if (own.length < wrapper.operands || own.some(({ literal }) => literal === undefined)) {
    return undefined;
  }
  return args.slice(at + wrapper.operands);
}

/** What is known of a word: all of it, or the text that it begins with. */
export function textOfWord({ literal, pieces: [first] }: Word): WordText {
  const prefix = literal ?? (first?.kind === 'text' ? first.value : '');
  return { value: literal, prefix };
}
