// The three kinds of arguments, made in one place: they are made often, and spreading is slow.

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
