// Whether a command would notice a trap that we have set for the end of its shell. Code that sets
// such a trap asks here first, and sets none for commands that would notice.

import { parseShell, type SimpleCommand, textOf, type Word } from './shell-parse.ts';
import { programOf } from './shell-program.ts';

/**
 * True for a command that shows traps or sets its own, lists the variables of the shell, restricts
 * it, or makes it print its text; and for text that is not understood and has such words in it. No
 * other command sees a trap that runs nothing but `\builtin` and has no variables.
 */
export function noticesTrap(command: string): boolean {
  if (VARIABLES.test(command) || OWN_BUILTIN.test(command)) return true;
  if (!WORDS.test(command)) return false;
  const { ok, commands } = parseShell(command);
  return !ok || commands.some((one) => notices(one, command));
}

/** Variables that a trap changes, or that change how bash runs one. */
const VARIABLES = /\b(?:PIPESTATUS|BASH_ENV|BASH_XTRACEFD|PS4)\b/;

const OWN_BUILTIN = /\bbuiltin['"]?\s*\(|\bfunction\s+['"\\]?builtin\b/;

const ALWAYS = ['trap', 'ulimit', 'alias', 'enable', 'caller', 'compgen'];
const ALWAYS_WORDS = new RegExp(`\\b(?:${ALWAYS.join('|')})\\b`);
const WORDS = /\b(?:trap|ulimit|alias|enable|caller|compgen|declare|typeset|set|shopt)\b/;

function notices(command: SimpleCommand, text: string): boolean {
  if (command.words.length === 0) return false;
  const program = programOf(command);
  // It is not known before it runs: then it may be any of the words there are.
  if (program === undefined) return ALWAYS_WORDS.test(text);
  const { name, args } = program;
  if (ALWAYS.includes(name)) return true;
  if (name === 'eval') return noticesTrap(args.map(textOf).join(' '));
  if (name === 'declare' || name === 'typeset') return lists(args);
  if (name === 'set') return args.length === 0 || optionsOf(args).some(isLoud);
  if (name === 'shopt') return args.some(isLoud);
  return false;
}

/** Without names it lists everything, and `-p` may be of anything. */
function lists(args: readonly Word[]): boolean {
  const names = args.filter(({ source }) => !/^[-+]/.test(source));
  return names.length === 0 || args.some(({ source }) => /^-\w*p/.test(source));
}

/** The options of `set`: there are none behind `--` or `-`. */
function optionsOf(args: readonly Word[]): readonly Word[] {
  const end = args.findIndex(({ literal }) => literal === '--' || literal === '-');
  return end < 0 ? args : args.slice(0, end);
}

/** The shell prints its text, is restricted, or traces its traps; or the word is unknown. */
function isLoud({ literal }: Word): boolean {
  if (literal === undefined) return true;
  return (
    /^(?:verbose|extdebug)$/.test(literal) || (/^[-+]\w+$/.test(literal) && /[rv]/.test(literal))
  );
}
