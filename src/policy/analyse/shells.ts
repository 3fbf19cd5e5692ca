// Shells with their script on the command line (`bash -c '...'`), or in their input. Which of their
// options leave the script what it is, and which shells read it as bash does.

import type { Arg } from '../unit.ts';
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
  | { readonly kind: 'other' };

const SHELLS = /^(?:bash|sh|dash|ash|zsh|ksh|mksh|rbash)$/;
const OTHER: Shell = { kind: 'other' };

const HARMLESS_FLAGS = /^[befhlmnpstuvxCETc]*$/;
const HARMLESS_OPTIONS = new Set([
  'errexit',
  'nounset',
  'pipefail',
  'xtrace',
  'verbose',
  'noglob',
  'noclobber',
  'errtrace',
  'functrace',
  'monitor',
  'notify',
  'noexec',
]);
const HARMLESS_SHOPTS = /^(?:globstar|dotglob|failglob)$/;
const HARMLESS_LONG = /^--(?:login|noprofile|norc|verbose)$/;

/** Undefined: it is no shell. */
export function shellOf(argv: readonly Arg[]): Shell | undefined {
  const name = programOf(argv[0]);
  if (name === undefined || !SHELLS.test(name)) return undefined;
  let understood = true;
  let command = false;
  let input = false;
  let at = 1;
  for (; at < argv.length; at += 1) {
    const arg = argv[at];
    if (arg?.kind !== 'literal') break;
    const { value } = arg;
    if (value === '--' || value === '-') {
      at += 1;
      break;
    }
    if (!/^[-+]./.test(value)) break;
    if (value.startsWith('--')) {
      if (!HARMLESS_LONG.test(value)) understood = false;
      if (/^--(?:rcfile|init-file)$/.test(value)) at += 1;
      continue;
    }
    const letters = value.slice(1);
    const plain = letters.replace(/[oO]/g, '');
    if (!HARMLESS_FLAGS.test(plain)) understood = false;
    if (value.startsWith('-') && letters.includes('c')) command = true;
    if (letters.includes('s')) input = true;
    for (const letter of letters) {
      if (letter !== 'o' && letter !== 'O') continue;
      at += 1;
      if (!harmlessOption(letter, argv[at])) understood = false;
    }
  }
  const first = argv[at];
  if (command) {
    if (first?.kind !== 'literal') return OTHER;
    const { value: text } = first;
    const positional = argv.slice(at + 1);
    return {
      kind: 'script',
      script: { name: `${name} -c`, text, positional, understood: understood && reads(name, text) },
    };
  }
  if (first !== undefined && !input) return OTHER;
  return { kind: 'input', name, understood };
}

function harmlessOption(letter: string, arg: Arg | undefined): boolean {
  if (arg?.kind !== 'literal') return false;
  return letter === 'o' ? HARMLESS_OPTIONS.has(arg.value) : HARMLESS_SHOPTS.test(arg.value);
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
  if (name === 'bash' || name === 'rbash') return true;
  if (name === 'sh' || name === 'dash' || name === 'ash') {
    if (text.length > LENGTH_MAX) return false;
    const rest = text.replace(ALIKE, ' ');
    return !OF_BASH.test(rest) && !WORDS_OF_BASH.test(text) && !STAYS_SET.test(text);
  }
  return OF_ALL_SHELLS.test(text) && !/(?:^|\s)=/.test(text);
}
