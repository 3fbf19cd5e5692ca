// The meaning of a star in an allowing pattern for its program: arguments that change nothing, or,
// where the profile does not tell which those are, that a person is asked.

import { wordArg } from './analyse/args.ts';
import { literalText, type WordPattern } from './pattern.ts';
import { readCall } from './profiles/index.ts';
import { isOpaque, isShell } from './programs.ts';
import type { Arg } from './unit.ts';

export type StarMeaning =
  /** There is none, or it covers what is inert. */
  | 'inert'
  /** The program runs what it is given: a shell, `sudo`. */
  | 'runs'
  /** Nothing is known of the program. */
  | 'unprofiled'
  | 'deletes'
  | 'configures';

/** `words` without the wrappers that the pattern names. */
export function starMeaning(words: readonly WordPattern[]): StarMeaning {
  const whole = words.some(({ kind }) => kind === 'rest' || kind === 'one');
  if (!whole && !words.some(hasStar)) return 'inert';
  const [first] = words;
  const program = literalText(first);
  if (words.at(-1)?.kind === 'rest' && (isShell(program) || isOpaque(program))) return 'runs';
  const call = readCall(argsOf(words));
  if (call === undefined) return 'unprofiled';
  if (!whole) return 'inert';
  if (call.kind === 'delete') return 'deletes';
  return call.kind === 'config' ? 'configures' : 'inert';
}

function hasStar(word: WordPattern): boolean {
  return word.kind === 'partial' && word.segments.some(({ kind }) => kind === 'any');
}

function argsOf(words: readonly WordPattern[]): readonly Arg[] {
  return words.flatMap((word): Arg[] => {
    if (word.kind === 'literal') return [wordArg(word.value)];
    if (word.kind === 'rest') return [];
    const prefix = word.kind === 'partial' ? word.lead : '';
    return [{ kind: 'unknown', prefix, one: true, source: '*', span: undefined }];
  });
}
