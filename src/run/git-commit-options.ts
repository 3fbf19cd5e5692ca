// The options of `git commit`, as far as it matters whether one is given: which words are values
// of others, what the message is, and whether anything is committed at all.

import { optionTable, readOptions } from '../text/options.ts';
import type { Word } from '../text/shell-parse.ts';
import { textOfWord } from '../text/shell-program.ts';

export type CommitOptions = {
  /** False for `--help`, `--dry-run` and the options that imply it. */
  readonly commits: boolean;
  /** The message is given, it is empty, and git will refuse it. */
  readonly messageEmpty: boolean;
  /** The message begins as a template, and git refuses it if that is all it is. */
  readonly template: boolean;
};

const OPTIONS = `-a,--all -C,--reuse-message: -c,--reedit-message: -F,--file: -m,--message:
  -t,--template: -S,--gpg-sign? -u? -e -i -n -o -p -q -s -v --author: --cleanup: --date: --fixup:
  --pathspec-from-file: --squash: --trailer: --allow-empty --allow-empty-message --amend --dry-run
  -h,--help --long -z,--null --porcelain --short`;
/** With these an empty message is allowed, or not all there is. */
const NEED_NO_MESSAGE = ['--allow-empty-message', '--fixup', '--squash'];
const COMMITS_NOTHING = ['--dry-run', '--help', '--long', '--null', '--porcelain', '--short'];

/** Stands for text that is known at run time only. */
const UNKNOWN = '?';

export function commitOptions(args: readonly Word[]): CommitOptions {
  const { uses } = readOptions(args, optionTable(OPTIONS), textOfWord, { anywhere: true });
  const names = new Set(uses.map(({ option }) => option?.name));
  const messages = uses.flatMap(({ option, joined, next }) => {
    if (option?.name !== '--message') return [];
    return [joined?.value ?? args[next ?? args.length]?.literal ?? UNKNOWN];
  });
  const empty = messages.length > 0 && messages.join('').trim() === '';
  return {
    commits: !COMMITS_NOTHING.some((name) => names.has(name)),
    messageEmpty: empty && !NEED_NO_MESSAGE.some((name) => names.has(name)),
    template: names.has('--template'),
  };
}
