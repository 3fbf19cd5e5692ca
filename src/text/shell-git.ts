// Which subcommand a call of git runs, behind git's own options. As for every program: only
// options that are known are stepped over, at anything else the answer is "unsure" (undefined).

import { optionTable, readOptions } from './options.ts';
import type { SimpleCommand, Word } from './shell-parse.ts';
import { programOf, textOfWord } from './shell-program.ts';

export type GitCall = {
  readonly subcommand: string;
  /** The word that names it. */
  readonly word: Word;
  readonly args: readonly Word[];
};

const OPTIONS = `-p -P --paginate --no-pager --bare --no-replace-objects --no-lazy-fetch
  --no-optional-locks --no-advice --literal-pathspecs --glob-pathspecs --noglob-pathspecs
  --icase-pathspecs -C: -c: --git-dir: --work-tree: --namespace: --config-env: --attr-source:
  --exec-path?`;

export function gitCall(command: SimpleCommand): GitCall | undefined {
  const program = programOf(command);
  if (program?.name !== 'git') return undefined;
  const { args } = program;
  const { uses, at } = readOptions(args, optionTable(OPTIONS, 'exact'), textOfWord);
  // `--exec-path` alone shows where it is.
  const runs = uses.every(
    ({ option, joined }) =>
      option !== undefined && (option.value !== 'may' || joined !== undefined),
  );
  const word = args[at];
  if (!runs || word?.literal === undefined) return undefined;
  return { subcommand: word.literal, word, args: args.slice(at + 1) };
}
