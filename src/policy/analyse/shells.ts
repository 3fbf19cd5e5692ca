// Shells with their script on the command line (`bash -c '...'`), or in their input. Which of their
// options leave the script what it is, and which shells read it as bash does.

import { optionTable, readOptions } from '../../text/options.ts';
import { shellKind } from '../../text/shells.ts';
import type { Arg } from '../unit.ts';
import { literalOf, textOf } from './args.ts';
import { programOf } from './wrappers.ts';

export type Script = {
  /** What `via` says. */
  readonly name: string;
  readonly text: string;
  /** `$0`, `$1` ... */
  readonly positional: readonly Arg[];
  /** Whether the shell runs just that: no start-up files of a person, no other syntax. */
  readonly understood: boolean;
};

/** What a shell executes: a text, its input, or something else that is not looked into. */
export type Shell =
  | { readonly kind: 'script'; readonly script: Script }
  | { readonly kind: 'input'; readonly name: string; readonly understood: boolean }
  /** `text`: one that is only known when it runs. */
  | { readonly kind: 'other'; readonly text?: Arg };

const OTHER = { kind: 'other' } as const;

/** With any other one it is another shell than the text shows. */
const HARMLESS = `-b -c -e -f -h -l -m -n -p -s -t -u -v -x -C -E -T -o> -O> --login --noprofile
  --norc --verbose --rcfile:!other --init-file:!other`;
const HARMLESS_OPTIONS = new Set([
  ...['errexit', 'nounset', 'pipefail', 'xtrace', 'verbose', 'noglob', 'noclobber', 'errtrace'],
  ...['functrace', 'monitor', 'notify', 'noexec'],
]);
/** None by which a star means more names of one directory, such as `.env`. */
export const HARMLESS_SHOPTS = /^(?:globstar|failglob|nocaseglob|checkwinsize)$/;

type ShellWords = {
  /** `file`: a script in a file, or by a word that is only known when it runs. */
  readonly runs: 'text' | 'file' | 'input';
  /** One of the options is only known when it runs. */
  readonly open: boolean;
  /** All options leave the script what it is. */
  readonly plain: boolean;
  /** The text, or the file, and the words behind it. */
  readonly words: readonly Arg[];
};

/** What a shell is told to run. */
export function shellWords(argv: readonly Arg[]): ShellWords {
  const { uses, at } = readOptions(argv, optionTable(HARMLESS, 'shell'), textOf, { from: 1 });
  const has = (flag: string, off = false): boolean =>
    uses.some((use) => use.option?.name === flag && (off || !use.off));
  const plain = uses.every(
    ({ option, next }) =>
      option !== undefined && option.effect === undefined && isHarmless(option.name, argv, next),
  );
  const dash = literalOf(argv[at]) === '-' && literalOf(argv[at - 1]) !== '--' ? 1 : 0;
  const words = argv.slice(at + dash);
  const file = words.length > 0 && !has('-s', true);
  const open = uses.some((use) => argv[use.at]?.kind !== 'literal');
  return { runs: has('-c') ? 'text' : file ? 'file' : 'input', open, plain, words };
}

/** Undefined: it is no shell. */
export function shellOf(argv: readonly Arg[]): Shell | undefined {
  const name = programOf(argv[0]);
  const kind = name === undefined ? undefined : shellKind(name);
  if (name === undefined || kind === undefined || kind === 'other') return undefined;
  const { runs, open, plain, words } = shellWords(argv);
  const [first, ...positional] = words;
  if (open || runs === 'file') return OTHER;
  if (runs === 'input') return { kind: 'input', name, understood: plain };
  if (first?.kind !== 'literal') return first === undefined ? OTHER : { ...OTHER, text: first };
  const text = first.value;
  const understood = plain && reads(name, text);
  return { kind: 'script', script: { name: `${name} -c`, text, positional, understood } };
}

function isHarmless(option: string, argv: readonly Arg[], next: number | undefined): boolean {
  const value = literalOf(argv[next ?? argv.length]);
  if (option === '-o') return HARMLESS_OPTIONS.has(value);
  return option !== '-O' || HARMLESS_SHOPTS.test(value);
}

/** Syntax that only bash reads this way: to other shells `22>x` is a word and a file. */
const OF_BASH = new RegExp(
  [
    /\$['"[]|\$\d\d|\(\(|\[\[|[<>]\(|&>|>&|\|&|<<<|;&|\{(?!\s)|\d\d[<>]/,
    /~[+-]|[=:]~|[!?*+@]\(|\+=|=\(|\\\n/,
  ]
    .map(({ source }) => source)
    .join('|'),
);
const WORDS_OF_BASH =
  /\b(?:function|coproc|select|time|let|declare|typeset|export|readonly|local|source)\b/;
/** What stands in front of these stays set in a shell that keeps to the standard. */
const STAYS_SET =
  /=[^\n;&|]*\s(?:[:.]|eval|exec|set|shift|trap|unset|times|return|break|continue|exit)(?![\w./-])/;
/** What looks as if it were of bash, but is read alike everywhere. */
const ALIKE = /\$\{[A-Za-z_]\w*\}|[12]?>&[12](?![\w-])/g;
/** Other shells have flags, qualifiers and expansions that execute; they get plain words only. */
const OF_ALL_SHELLS = /^[\w\s./:=@%+,;&|'"-]*$/;

/** Matching a longer script takes long, and real scripts for `sh -c` are shorter. */
const LENGTH_MAX = 8_192;

/** Whether that shell takes the text as bash would. */
export function reads(name: string, text: string): boolean {
  const kind = shellKind(name);
  if (kind === 'bash') return true;
  if (kind === 'posix') {
    if (text.length > LENGTH_MAX) return false;
    const rest = text.replace(ALIKE, ' ');
    return !OF_BASH.test(rest) && !WORDS_OF_BASH.test(text) && !STAYS_SET.test(text);
  }
  return OF_ALL_SHELLS.test(text) && !/(?:^|\s)=/.test(text);
}
