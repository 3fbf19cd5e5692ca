// Words that are not literal: what may become of them when the command runs.

import type { Arg } from '../unit.ts';
import type { Text } from './word-parts.ts';

export function textOf(arg: Arg): Text {
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
