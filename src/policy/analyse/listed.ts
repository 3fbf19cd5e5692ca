// The words that a loop goes through, when all of them are known: texts, and patterns of files.

import type { Word } from '../../text/shell-tree.ts';
import type { Arg } from '../unit.ts';
import { unknownArg } from './args.ts';
import { atomsOf } from './atoms.ts';
import { expandWord } from './expand.ts';
import type { Choice } from './resolve.ts';
import { type Place, type Run, spanIn } from './run.ts';
import type { Glob, State } from './state.ts';

export function listed(
  words: readonly Word[] | undefined,
  place: Place,
  run: Run,
  state: State,
): readonly Choice[] | undefined {
  if (words === undefined) return undefined;
  const args = words.flatMap((word): readonly Arg[] => {
    const atoms = atomsOf(place.frame.source, word);
    const written = { source: word.text, span: undefined };
    const lostOne = unknownArg(written, '', false);
    if (atoms === undefined) {
      run.problem('hidden_substitution', spanIn(place.frame, word), 'a word is not understood');
      return [lostOne];
    }
    const expanded = expandWord(atoms, written, { run, state, world: new Map() });
    if (expanded === undefined) {
      const message = 'what its braces make cannot be told';
      run.problem('too_many', spanIn(place.frame, word), message);
    }
    return expanded ?? [lostOne];
  });
  const values = args.flatMap((arg): Choice[] =>
    arg.kind === 'literal' ? [arg.value] : arg.kind === 'glob' ? [globOf(arg, state)] : [],
  );
  return values.length === args.length && values.length > 0 ? [...new Set(values)] : undefined;
}

function globOf({ pattern, prefix }: Extract<Arg, { kind: 'glob' }>, { cwds }: State): Glob {
  return { pattern, prefix, cwds };
}
