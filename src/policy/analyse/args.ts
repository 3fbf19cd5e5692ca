// The three kinds of arguments, made in one place: they are made often, and spreading is slow. And
// what may become of those that are not literal when the command runs.

import type { WordText } from '../../text/options.ts';
import type { Arg, Shape, Span } from '../unit.ts';

export type Written = { readonly source: string; readonly span: Span | undefined };

export function literalArg({ source, span }: Written, value: string): Arg {
  return { source, span, kind: 'literal', value };
}

/** A word that is not in the text: from a rule, or made by the analysis. */
export function wordArg(value: string): Literal {
  return { source: value, span: undefined, kind: 'literal', value };
}

type Literal = Extract<Arg, { kind: 'literal' }>;

/** What it says, or nothing if that is not known. */
export function literalOf(arg: Arg | undefined): string {
  return arg?.kind === 'literal' ? arg.value : '';
}

const QUOTED = /\\\n|\\([\s\S])|\$?'([^']*)'|\$?"((?:\\[\s\S]|[^"\\])*)"/g;

/** What it says, with what is not known as it is written. */
export function writtenText(arg: Arg): string {
  return arg.kind === 'literal' ? arg.value : unquoted(arg.source);
}

/** What is written, without its quotes. */
export function unquoted(source: string): string {
  return source.replace(
    QUOTED,
    (_, escaped: string | undefined, single: string | undefined, double: string | undefined) =>
      escaped ?? single ?? double?.replace(/\\\n|\\([\\"$`])/g, '$1') ?? '',
  );
}

export function globArg({ source, span }: Written, pattern: string, prefix: string): Arg {
  return { source, span, kind: 'glob', pattern, prefix };
}

export function unknownArg(
  { source, span }: Written,
  prefix: string,
  one: boolean,
  shape?: Shape,
): Arg {
  const arg = { source, span, kind: 'unknown', prefix, one } as const;
  return shape === undefined ? arg : { ...arg, shape };
}

export function textOf(arg: Arg): WordText {
  if (arg.kind === 'literal') return { value: arg.value, prefix: arg.value };
  const { prefix } = arg;
  if (arg.kind === 'unknown') return { value: undefined, prefix };
  return { value: undefined, prefix, pattern: arg.pattern };
}

/** It may be several words, or none. */
export function isMany(arg: Arg): boolean {
  return arg.kind === 'glob' || (arg.kind === 'unknown' && !arg.one);
}

/** Not literal, and one of the words that it becomes may begin with a dash. */
export function mayBeOption(arg: Arg): boolean {
  if (arg.kind === 'literal') return false;
  // `src/$x` can be split into `src/a` and `-exec`.
  if (arg.kind === 'unknown') {
    const split = !arg.one && arg.each !== true;
    return split || arg.prefix === '' || arg.prefix.startsWith('-');
  }
  return /^(\\?-|[*?[]|[@+!]\(|$)/.test(arg.pattern);
}
