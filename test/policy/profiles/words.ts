// Makes command lines for tests of profiles: words as bash would split them, and a table of what
// each of them is found to do.

import type { Call, Part } from '../../../src/policy/profile.ts';
import { readCall } from '../../../src/policy/profiles/index.ts';
import type { Arg } from '../../../src/policy/unit.ts';

export function literal(value: string): Arg {
  return { source: value, span: undefined, kind: 'literal', value };
}

/** `$x` (several words), `"$x"` (one), `*` in a word (a glob), everything else as it is. */
export function argOf(word: string): Arg {
  const span = undefined;
  const at = word.indexOf('$');
  if (at !== -1) {
    const one = word.startsWith('"');
    const prefix = word.slice(one ? 1 : 0, at);
    return { source: word, span, kind: 'unknown', prefix, one };
  }
  const star = word.search(/[*?[]/);
  if (star !== -1) {
    return { source: word, span, kind: 'glob', pattern: word, prefix: word.slice(0, star) };
  }
  return literal(word);
}

export function call(words: readonly (string | Arg)[]): Call {
  const read = readCall(words.map((word) => (typeof word === 'string' ? literal(word) : word)));
  if (read === undefined) throw new Error(`no profile: ${JSON.stringify(words[0])}`);
  return read;
}

/** A line split at spaces, with '...' kept together; `$x` and globs are not literal. */
export function line(text: string): Call {
  const words = text.match(/'[^']*'|\S+/g) ?? [];
  return call(words.map((w) => (w.startsWith("'") ? literal(w.slice(1, -1)) : argOf(w))));
}

/** The effects that are in it, each once, in order of argv. */
export function effects(read: Call): readonly Part['effect'][] {
  return [...new Set(read.parts.map((part) => part.effect))].filter((e) => e !== undefined);
}

/** The files that are judged: what is read, and what is written. */
export function files(read: Call): readonly string[] {
  return read.parts
    .filter((part) => part.role === 'path' || part.role === 'output')
    .map((part) => `${part.role} ${part.value ?? `${part.prefix}...`}`);
}
