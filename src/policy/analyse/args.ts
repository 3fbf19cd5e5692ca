// The three kinds of arguments, made in one place: they are made often, and spreading is slow.

import type { Arg, Span } from '../unit.ts';

export type Written = { readonly source: string; readonly span: Span | undefined };

export function literalArg({ source, span }: Written, value: string): Arg {
  return { source, span, kind: 'literal', value };
}

export function globArg({ source, span }: Written, pattern: string, prefix: string): Arg {
  return { source, span, kind: 'glob', pattern, prefix };
}

export function unknownArg({ source, span }: Written, prefix: string, one: boolean): Arg {
  return { source, span, kind: 'unknown', prefix, one };
}
