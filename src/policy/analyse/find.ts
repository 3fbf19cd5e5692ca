// `find -exec` and `fd -x`: the commands inside of them, and what is left without them.

import type { Arg, FindNames } from '../unit.ts';
import { replaced } from './wrappers.ts';

type Clause = {
  readonly argv: readonly Arg[];
  /** It runs in the directory of each file. */
  readonly elsewhere: boolean;
};

export type Finding = {
  readonly argv: readonly Arg[];
  readonly clauses: readonly Clause[];
  /** A word inside may turn out to be the `;`, and what follows it is an option then. */
  readonly doubtful: boolean;
};

const EXECUTES = /^-(?:exec|execdir|ok|okdir)$/;

export function clausesOfFind(argv: readonly Arg[]): Finding {
  const rest: Arg[] = [];
  const clauses: Clause[] = [];
  let doubtful = false;
  const start = startOf(argv);
  const names = namesOf(argv);
  for (let at = 0; at < argv.length; at += 1) {
    const arg = argv[at];
    if (arg === undefined) break;
    if (at === 0 || arg.kind !== 'literal' || !EXECUTES.test(arg.value)) {
      rest.push(arg);
      continue;
    }
    const end = endOf(argv, at + 1);
    const words = argv.slice(at + 1, end);
    doubtful ||= mayEnd(words);
    const elsewhere = arg.value.endsWith('dir');
    // In the directory of a file its name is `./x`, but that of `/` is `/`.
    const prefix = !elsewhere ? start : /^[^/]/.test(start) ? './' : '';
    if (words.length === 0) rest.push(...argv.slice(at, end + 1));
    else clauses.push({ argv: found(words, { prefix, names, end: argv[end] }), elsewhere });
    at = end;
  }
  return { argv: rest, clauses, doubtful };
}

/** Without an option behind it, `find` would not understand the rest, and run nothing. */
function mayEnd(words: readonly Arg[]): boolean {
  return words.some((word, at) => {
    if (word.kind === 'literal') return false;
    if (word.kind === 'unknown' && !word.one) return true;
    if (!/^(?:$|[;+])/.test(word.prefix)) return false;
    if (word.kind === 'glob') return true;
    return words.slice(at + 1).some((arg) => arg.kind !== 'literal' || arg.value.startsWith('-'));
  });
}

type Finds = { readonly prefix: string; readonly names: FindNames; readonly end: Arg | undefined };

/** With a `+` at the end it gets many files at once. */
function found(words: readonly Arg[], { prefix, names, end }: Finds): readonly Arg[] {
  const single = end?.kind === 'literal' && end.value === ';';
  return replaced(words, '{}', prefix).map((arg, at): Arg => {
    if (arg.kind !== 'unknown') return arg;
    if (words[at]?.kind !== 'literal') {
      // Where nothing ends it, the last word may be the end itself.
      const ends = end === undefined && at === words.length - 1 && /^(?:$|[;+])/.test(arg.prefix);
      return ends ? { ...arg, one: false } : arg;
    }
    const one = { ...arg, found: names };
    return single ? one : { ...one, one: false, each: true };
  });
}

const NAMES = /^-(i?)(?:name|path|wholename|(l)name|(regex))$/;

/** The names that tests ask for; what is behind `!` is left out by them. */
function namesOf(argv: readonly Arg[]): FindNames {
  const values = argv.map((arg) => (arg.kind === 'literal' ? arg.value : ''));
  const names = values.flatMap((value, at) => {
    const [, fold, , regex] = NAMES.exec(value) ?? [undefined];
    if (fold === undefined || /^(?:!|-not)$/.test(values[at - 1] ?? '')) return [];
    const plain = values[at + 1] ?? '';
    const glob = regex === undefined ? plain : globOf(plain);
    return [fold === '' ? glob : glob.toLowerCase()];
  });
  const choice = values.some((value) => /^(?:-o|-or|,)$/.test(value));
  return { names, narrowed: names.length > 0 && !choice };
}

/** What a regex finds, at least: its signs stand for any text. */
function globOf(regex: string): string {
  return regex.replace(/\\\.|\.(?:[*+?]|\{[^}]*\})?|[()|\\^$+?*]+/g, (sign) => {
    if (sign === '\\.') return '.';
    return sign === '.' ? '?' : '*';
  });
}

/** `;` ends it, and `+` behind `{}`. */
function endOf(argv: readonly Arg[], from: number): number {
  for (let at = from; at < argv.length; at += 1) {
    const arg = argv[at];
    const before = argv[at - 1];
    if (arg?.kind !== 'literal') continue;
    if (arg.value === ';') return at;
    if (arg.value === '+' && before?.kind === 'literal' && before.value === '{}') return at;
  }
  return argv.length;
}

/** What every file found begins with, when there is one place to start from: the place itself. */
function startOf(argv: readonly Arg[]): string {
  const paths: Arg[] = [];
  for (const arg of argv.slice(1)) {
    if (arg.kind === 'literal' && /^-(?:[HLP]|O\d|D)$/.test(arg.value)) continue;
    if (arg.kind === 'literal' && /^-.|^[(),!]$/s.test(arg.value)) break;
    paths.push(arg);
  }
  const [only, ...more] = paths;
  if (argv.some((arg) => arg.kind !== 'literal' || arg.value === '-files0-from')) return '';
  if (only === undefined) return '.';
  return only.kind !== 'literal' || more.length > 0 ? '' : only.value;
}

const FD_EXECUTES = /^(?:-[a-zA-Z]*[xX]|--exec(?:-batch)?)(?:=(.*))?$/s;

/** Everything behind `-x` is the command, up to a `;`. */
export function clausesOfFd(argv: readonly Arg[]): Finding {
  const at = argv.findIndex(
    (arg, index) => index > 0 && arg.kind === 'literal' && FD_EXECUTES.test(arg.value),
  );
  const option = argv[at];
  if (at === -1 || option?.kind !== 'literal') return { argv, clauses: [], doubtful: false };
  const end = endOf(argv, at + 1);
  const joined = FD_EXECUTES.exec(option.value)?.[1];
  const first: Arg[] = joined === undefined ? [] : [{ ...option, value: joined }];
  const words = [...first, ...argv.slice(at + 1, end)];
  const marked = words.map(
    (word): Arg =>
      word.kind === 'literal' && /\{(?:\/|\/\/|\.|\/\.)?\}/.test(word.value)
        ? { ...unknown(word), prefix: word.value.slice(0, word.value.indexOf('{')) }
        : word,
  );
  const lacks = marked.every(({ kind }) => kind === 'literal');
  const [any = option] = words;
  const whole = lacks ? [...marked, unknown(any)] : marked;
  const rest = [...argv.slice(0, at), ...argv.slice(end + 1)];
  const clauses = words.length === 0 ? [] : [{ argv: whole, elsewhere: false }];
  return { argv: rest, clauses, doubtful: mayEnd(words) };
}

function unknown(word: Arg): Extract<Arg, { kind: 'unknown' }> {
  return { kind: 'unknown', prefix: '', one: true, source: word.source, span: word.span };
}
