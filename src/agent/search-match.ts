// Lines that have a text in them, or match a regular expression. A regular expression can take for
// ever on a short line, so each look has a deadline, after which the pattern is given up.

import { createContext, Script } from 'node:vm';
import { messageOf } from '../errors.ts';

const LOOK_MS = 250; // the server does nothing else meanwhile
const BATCH_LENGTH = 65_536;

export type Pattern = {
  readonly text: string;
  readonly regex: boolean;
  readonly ignoreCase: boolean;
};

export type Matcher = {
  /** Which of the lines match. Throws `PatternError`. */
  find(lines: readonly string[]): readonly number[];
};

/** A pattern that cannot be used; its message says why. */
export class PatternError extends Error {}

/** Throws `PatternError`. */
export function matcherOf(pattern: Pattern): Matcher {
  return pattern.regex ? regexMatcher(pattern) : textMatcher(pattern);
}

function textMatcher({ text, ignoreCase }: Pattern): Matcher {
  const folded = (line: string): string => (ignoreCase ? line.toLowerCase() : line);
  const wanted = folded(text);
  return {
    find: (lines) => lines.flatMap((line, i) => (folded(line).includes(wanted) ? [i] : [])),
  };
}

// The globals of a context are slow to reach: it looks at each of them once.
const FIND = new Script(`
  found = (() => {
    const [own, all, hits] = [re, lines, []];
    for (let i = 0; i < all.length; i++) if (own.test(all[i])) hits.push(i);
    return hits;
  })();
`);

type LookContext = { re: RegExp; lines: readonly string[]; found: readonly number[] };

function regexMatcher({ text, ignoreCase }: Pattern): Matcher {
  const looking: LookContext = { re: regexOf(text, ignoreCase), lines: [], found: [] };
  const context = createContext(looking);
  return { find: (lines) => [...batches(lines)].flatMap(({ from, some }) => findIn(from, some)) };

  function findIn(from: number, lines: readonly string[]): readonly number[] {
    looking.lines = lines;
    try {
      // Only code inside of such a context can be stopped, a regular expression included.
      FIND.runInContext(context, { timeout: LOOK_MS });
    } catch (error) {
      if (!timedOut(error)) throw error;
      throw new PatternError('The regular expression takes too long on some line: simplify it.');
    }
    return Array.from(looking.found, (index) => from + index);
  }
}

/** So many lines that a harmless pattern is through with them long before the deadline. */
function* batches(
  lines: readonly string[],
): Generator<{ readonly from: number; readonly some: readonly string[] }> {
  let [from, length] = [0, 0];
  for (const [index, line] of lines.entries()) {
    length += line.length + 1;
    if (length < BATCH_LENGTH && index < lines.length - 1) continue;
    yield { from, some: lines.slice(from, index + 1) };
    [from, length] = [index + 1, 0];
  }
}

function regexOf(text: string, ignoreCase: boolean): RegExp {
  const flags = ignoreCase ? 'iu' : 'u';
  try {
    return new RegExp(text, flags);
  } catch (strict) {
    try {
      return new RegExp(text, flags.replace('u', '')); // `\-` and the like are no errors there
    } catch {
      const why = messageOf(strict);
      throw new PatternError(`${why}.`);
    }
  }
}

/** The error may belong to the context: then it is no `Error` of ours. */
function timedOut(error: unknown): boolean {
  const code = typeof error === 'object' && error !== null && 'code' in error && error.code;
  return code === 'ERR_SCRIPT_EXECUTION_TIMEOUT';
}
