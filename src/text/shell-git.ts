// Which subcommand a call of git runs, behind git's own options. As for every program: only
// options that are known are stepped over, at anything else the answer is "unsure" (undefined).

import type { SimpleCommand, Word } from './shell-parse.ts';
import { programOf } from './shell-program.ts';

export type GitCall = {
  readonly subcommand: string;
  /** The word that names it. */
  readonly word: Word;
  readonly args: readonly Word[];
};

const FLAGS = `-p -P --paginate --no-pager --bare --no-replace-objects --no-lazy-fetch
  --no-optional-locks --no-advice --literal-pathspecs --glob-pathspecs --noglob-pathspecs
  --icase-pathspecs`.split(/\s+/);
const VALUED = ['--git-dir', '--work-tree', '--namespace', '--config-env', '--attr-source'];

export function gitCall(command: SimpleCommand): GitCall | undefined {
  const program = programOf(command);
  if (program?.name !== 'git') return undefined;
  const { args } = program;
  for (let at = 0; at < args.length; at += 1) {
    const word = args[at];
    const option = word?.literal ?? leadingText(word);
    if (word === undefined || option === undefined) return undefined;
    if (option === '-C' || option === '-c' || VALUED.includes(option)) at += 1;
    else if (option.startsWith('-')) {
      if (!FLAGS.includes(option) && !glued(option)) return undefined;
    } else if (word.literal === undefined) return undefined;
    else return { subcommand: option, word, args: args.slice(at + 1) };
  }
  return undefined;
}

/** `--git-dir=x` and the like; `--exec-path` has no other way to carry a value. */
function glued(option: string): boolean {
  return [...VALUED, '--exec-path'].some((name) => option.startsWith(`${name}=`));
}

/** `--git-dir=` of `--git-dir="$x"`. */
function leadingText(word: Word | undefined): string | undefined {
  const first = word?.pieces[0];
  return first?.kind === 'text' && first.value.includes('=') ? first.value : undefined;
}
