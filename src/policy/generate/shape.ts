// A unit as a rule sees it: the words that say what it does (program, subcommands), which are never
// generalised, and the words behind them, which may be. A program without a profile has only its
// literal.

import { wordArg } from '../analyse/args.ts';
import { quotedWord } from '../pattern.ts';
import type { Call, Kind } from '../profile.ts';
import { readCall } from '../profiles/index.ts';
import { programName } from '../programs.ts';
import type { Arg, Unit } from '../unit.ts';
import { type TypedWords, typedWords } from './typed-words.ts';

export type Shape = {
  readonly program: string;
  /** A pattern that matches this and nothing else; undefined where no pattern can say it. */
  readonly literal: string | undefined;
  /** The same as a command, for judging it alone. */
  readonly text: string;
  /** Undefined: nothing of it may be generalised. */
  readonly head: Head | undefined;
  /** Words behind the head, each as a pattern. */
  readonly tail: readonly string[];
  /** With holes for the words that say which files, where it writes. */
  readonly typed: TypedWords | undefined;
};

export type Head = {
  readonly words: readonly string[];
  readonly kind: Kind;
  /** Its operands are names in the project's own build file. */
  readonly scripts: boolean;
  /** `xargs` adds to it what is not in the text. */
  readonly unseen: boolean;
  /** A star right behind it would choose a subcommand or a program, or do more than was seen. */
  readonly narrow: boolean;
};

/** Undefined for a unit without a program, or one that is only known when it runs. */
export function shapeOf({ argv: given, via }: Unit): Shape | undefined {
  const [first] = given;
  if (first?.kind !== 'literal') return undefined;
  const program = programName(first.value);
  const argv = [{ ...first, value: program, source: quotedWord(program) }, ...given.slice(1)];
  // Words that `xargs` adds are not in the text: the rule names xargs and leaves them open.
  const unseen = via.includes(XARGS) && argv.some(isUnseen);
  const words = argv.map(patternWord);
  const known = words.every((word) => word !== undefined);
  const call = readCall(argv);
  const own = call && headOf(argv, call);
  const head = own && unseen ? { ...own, words: [XARGS, ...own.words], unseen } : own;
  return {
    program,
    literal: known ? words.join(' ') : undefined,
    text: argv.map(commandWord).join(' '),
    head: unseen && own?.kind !== 'read' ? undefined : head,
    tail: argv
      .slice(own?.words.length ?? argv.length)
      .filter((arg) => !isUnseen(arg))
      .map(commandWord),
    typed: unseen || call === undefined ? undefined : typedWords(argv, call, patternWord),
  };
}

const XARGS = 'xargs';

function isUnseen(arg: Arg): boolean {
  return arg.kind === 'unknown' && arg.source === XARGS;
}

/** Plain, or one string in quotes in which nothing is special: it may stay as it was written. */
const AS_WRITTEN = /^(?:[A-Za-z0-9_@%+:.,/=^-]+|"[^"\\$`]*"|'[^']*')$/;

function patternWord(arg: Arg): string | undefined {
  if (arg.kind === 'glob') return globWord(arg.source);
  if (arg.kind === 'unknown') return undefined;
  if (AS_WRITTEN.test(arg.source) && unquoted(arg.source) === arg.value) return arg.source;
  return quotedWord(arg.value);
}

/** `src/*.ts` is the same for a pattern; a star alone would be any argument at all. */
function globWord(source: string): string | undefined {
  return /^[\w@%+:.,/=-]*\*[\w@%+:.,/=*-]*$/.test(source) && !/^[*-]/.test(source)
    ? source
    : undefined;
}

function unquoted(source: string): string {
  return /^["']/.test(source) ? source.slice(1, -1) : source;
}

function commandWord(arg: Arg): string {
  if (arg.kind === 'literal') return patternWord(arg) ?? quotedWord(arg.value);
  return arg.source;
}

/** The program, its subcommands, and what it starts itself: `npx tsc`, `python -m pytest`. */
function headOf(argv: readonly Arg[], call: Call): Head | undefined {
  if (call.kind === 'delete') return undefined;
  const last = Math.max(0, call.inner ?? 0, ...call.subcommands);
  const words = literalWords(argv.slice(0, last + 1));
  if (words === undefined) return undefined;
  const scripts = call.parts.some(({ role }) => role === 'script');
  const narrow = isNarrow(argv.slice(0, last + 1), call.kind);
  return { words, kind: call.kind, scripts, unseen: false, narrow };
}

/** `npm *` would be any subcommand, `node *` any program, `git tag *` more than `git tag -l`. */
function isNarrow(head: readonly Arg[], kind: Kind): boolean {
  const call = readCall([...head, wordArg('x')]);
  const at = head.length;
  if (call === undefined || call.subcommands.includes(at)) return true;
  const runs = call.parts.some(({ index, effect }) => index === at && effect === 'exec');
  if (runs || kind !== 'read' || call.kind === 'read') return runs;
  // `sqlite3 x` would read statements from its input; with one that reads, it only reads.
  const stated = readCall([...head, wordArg('x'), wordArg('select 1')]);
  return !(stated?.kind === 'read' && stated.parts.some(({ role }) => role === 'sql'));
}

function literalWords(argv: readonly Arg[]): readonly string[] | undefined {
  const words = argv.map((arg) => (arg.kind === 'literal' ? quotedWord(arg.value) : undefined));
  return words.every((word) => word !== undefined) ? words : undefined;
}
