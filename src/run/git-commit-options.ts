// The options of `git commit`, as far as it matters whether one is given: which words are values
// of others, what the message is, and whether anything is committed at all.

import type { Word } from '../text/shell-parse.ts';
import { splitOnce } from '../text/shell-program.ts';

export type CommitOptions = {
  /** False for `--help`, `--dry-run` and the options that imply it. */
  readonly commits: boolean;
  /** The message is given, it is empty, and git will refuse it. */
  readonly messageEmpty: boolean;
  /** The message begins as a template, and git refuses it if that is all it is. */
  readonly template: boolean;
};

/** Letters whose value is the rest of the word, or else the next word. */
const VALUED = 'CFcmt';
/** Letters whose value, if any, is the rest of the word. */
const GLUED = 'Su';
const LETTERS: Readonly<Record<string, string>> = { m: 'message', t: 'template' };
const LONG_VALUED = [
  'author',
  'cleanup',
  'date',
  'file',
  'fixup',
  'message',
  'pathspec-from-file',
  'reedit-message',
  'reuse-message',
  'squash',
  'template',
  'trailer',
];
/** With these an empty message is allowed, or not all there is. */
const NEED_NO_MESSAGE = ['allow-empty-message', 'fixup', 'squash'];
const COMMITS_NOTHING = ['dry-run', 'help', 'long', 'null', 'porcelain', 'short'];

/** Stands for text that is known at run time only. */
const UNKNOWN = '?';

export function commitOptions(args: readonly Word[]): CommitOptions {
  const names = new Set<string>();
  let message: string | undefined;
  for (let at = 0; at < args.length; at += 1) {
    const option = args[at]?.literal ?? '';
    if (option === '--') break;
    const [name, value] = optionOf(option);
    names.add(name);
    if (value === 'next') at += 1;
    if (name !== 'message' || value === 'none') continue;
    const text = value === 'next' ? (args[at]?.literal ?? UNKNOWN) : value.glued;
    message = `${message ?? ''}${text}`;
  }
  return {
    commits: !COMMITS_NOTHING.some((name) => names.has(name)),
    messageEmpty: message?.trim() === '' && !NEED_NO_MESSAGE.some((name) => names.has(name)),
    template: names.has('template'),
  };
}

type Value = 'none' | 'next' | { readonly glued: string };

function optionOf(option: string): readonly [name: string, value: Value] {
  if (option.startsWith('--')) {
    const [given, value] = splitOnce(option.slice(2), '=');
    const name = fullName(given);
    if (!LONG_VALUED.includes(name)) return [name, 'none'];
    return [name, value === undefined ? 'next' : { glued: value }];
  }
  if (!option.startsWith('-')) return ['', 'none'];
  for (let at = 1; at < option.length; at += 1) {
    const letter = option.charAt(at);
    const rest = option.slice(at + 1);
    if (letter === 'h') return ['help', 'none'];
    if (letter === 'z') return ['null', 'none'];
    if (GLUED.includes(letter)) return [letter, 'none'];
    if (VALUED.includes(letter)) {
      return [LETTERS[letter] ?? letter, rest === '' ? 'next' : { glued: rest }];
    }
  }
  return ['', 'none'];
}

/** Git takes any beginning that fits one option only: `--mess`, `--dry`. */
function fullName(given: string): string {
  const known = [...LONG_VALUED, ...COMMITS_NOTHING];
  if (given === '' || known.includes(given)) return given;
  const fitting = known.filter((name) => name.startsWith(given));
  return fitting.length === 1 ? (fitting[0] ?? given) : given;
}
