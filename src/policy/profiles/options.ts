// Reads the notation of profiles: options and operands become tables, once per profile. A mistake
// in a profile throws; a test compiles all of them.

import {
  type Option as Listed,
  type OptionTable,
  parseOptions,
  tableOf,
} from '../../text/options.ts';
import type { Effect, Profile, Role } from '../profile.ts';

/** Roles of the notation alone: they come out as one of `Role`, see roles.ts. */
const OWN_WORDS = [
  'revpath', // of git: a revision or a file
  'remote', // of git: the name of a remote
  'branch', // of git: what is checked out; a file would be overwritten
  'refspec', // of git: what is pushed or fetched
  'nodebin', // a program that comes from a node package
  'module', // of python: the rest of the line is for that module
  'testid', // of pytest: `tests/a.py::test_b[c]`
  'gopkg', // of go: a directory, or a package of the standard library or the project
  'source', // a file; `@file` has more options in it
  'warning', // of compilers: `-Wall`; `-Wl,x` is for the linker
  'passed', // words for a script whose options are unknown
  'format', // a name, never a file
  'fallback', // a name that becomes a program where there is no script of that name
  'runnable', // the same, and most names are scripts
  'product', // like `source`, a file that is written
  'files', // a pattern for the names of files that are read
  'lines', // of git: `1,5:file`
  'report', // `html:directory`
  'figures', // a file for what was measured
  'archive', // of tar: a file, or `host:file`
  'kustomization', // a directory, or a repository elsewhere
  'repo', // of gh: `owner/name`, or with a host
  'endpoint', // of gh: a path at its host, a number, or a whole address
  'triple', // of rust: the name of a target, or a file that describes one
  'rebase', // of git: how a pull rebases
  'template', // of docker: what of a container is shown
  'image', // of docker: its name, with or without a host
  'paths', // several files in one word
  'goal', // of maven: a phase, or a goal of a plugin
  'fresh', // a directory that is emptied and written
  'feature', // of compilers: `-fPIC`; with a file or a program behind it, it is more
  'plain', // of cloud services: a value; `@file` is what is in the file
  'label', // of bazel: a target
  'thing', // of kubectl: `pod/name`
  'builder', // of sphinx: what is made
  'mode', // who may do what with a file: `755`
  'task', // of gradle and rake: a name in the build file
  'plugin', // of pytest: a module, or one that is left out
  'filter', // of python: which warnings are shown
  'switch', // of dotnet: a name, maybe behind a colon
  'variables', // of docker: what shows its environment
  'jq', // a filter that may read the environment
  'expression', // of yq: what is asked for, or a file
  'setting', // of git: the name of one
  'view', // of kubectl: how something is shown
  'listing', // a file with names of files to read
  'sink', // a file to write to, or nowhere: `/dev/null`, `-`
  'writeout', // of curl: what is told about a transfer; `%output{file}` writes it
] as const;

const ROLES: readonly Role[] = [
  ...(['word', 'int', 'rev', 'path', 'output', 'url', 'package', 'script', 'program'] as const),
  ...(['sed', 'awk', 'sql', 'assignment', 'write', 'delete', 'exec', 'config', 'net'] as const),
];
export const EFFECTS = ['exec', 'write', 'delete', 'config', 'net', 'secret'] as const;

export type Word = Role | (typeof OWN_WORDS)[number];

export type Option = Listed & { readonly word: Word; readonly effect: Effect | undefined };

/** `path* output`: those in front, any number of `rest`, those at the end. */
export type Operands = {
  readonly front: readonly Word[];
  readonly rest: Word | undefined;
  readonly end: readonly Word[];
};

export type Compiled = {
  readonly profile: Profile;
  readonly table: OptionTable<Option>;
  readonly operands: Operands;
  readonly operandsWith: ReadonlyMap<Option, Operands>;
  readonly harmless: boolean;
  /** Wherever `@file` stands, the words of that file do. */
  readonly expands: boolean;
  readonly readsFiles: boolean;
};

const cache = new WeakMap<Profile, Compiled>();

export function compile(profile: Profile): Compiled {
  const known = cache.get(profile);
  if (known !== undefined) return known;
  const compiled = compileAnew(profile);
  cache.set(profile, compiled);
  return compiled;
}

function compileAnew(profile: Profile): Compiled {
  const options = optionsOf(profile.options ?? '');
  const operands = parseOperands(profile.operands ?? '');
  const operandsWith = new Map<Option, Operands>();
  for (const [name, text] of Object.entries(profile.operandsWith ?? {})) {
    const option = options.get(name);
    if (option === undefined) throw new Error(`operandsWith names no option: ${name}`);
    operandsWith.set(option, parseOperands(text));
  }
  const values = [...new Set(options.values())];
  const words = [operands, ...operandsWith.values()].flatMap(wordsOf);
  const taken = [...words, ...values.filter((o) => o.value !== 'none').map((o) => o.word)];
  return {
    profile,
    table: tableOf(options, STYLES[profile.style ?? 'gnu']),
    operands,
    operandsWith,
    harmless:
      profile.kind === 'read' &&
      profile.subcommands === undefined &&
      profile.behindDashes === undefined &&
      values.every((option) => option.effect === undefined) &&
      taken.every((word) => HARMLESS.has(word)),
    expands: words.some((word) => EXPANDING.has(word)),
    readsFiles: taken.includes('path') || taken.includes('source'),
  };
}

/** Where options end is for others. */
const STYLES = { gnu: 'gnu', exact: 'exact', first: 'exact', none: 'exact', go: 'go' } as const;

const HARMLESS: ReadonlySet<Word> = new Set<Word>([
  ...(['word', 'int', 'rev', 'path', 'format', 'files', 'listing'] as const),
]);

const EXPANDING: ReadonlySet<Word> = new Set<Word>(['source', 'product', 'testid']);

/** Every role that an operand can have. */
export function wordsOf(operands: Operands): readonly Word[] {
  const rest = operands.rest === undefined ? [] : [operands.rest];
  return [...new Set([...operands.front, ...rest, ...operands.end])];
}

/** Lists are shared by many subcommands: each is read once. */
const lists = new Map<string, ReadonlyMap<string, Option>>();

function optionsOf(text: string): ReadonlyMap<string, Option> {
  const known = lists.get(text);
  if (known !== undefined) return known;
  const options = parseOptions(text, (option, role): Option => {
    const effect = option.effect === undefined ? undefined : effectOf(option.effect);
    return { ...option, word: wordOf(role), effect };
  });
  lists.set(text, options);
  return options;
}

function parseOperands(text: string): Operands {
  const front: Word[] = [];
  const end: Word[] = [];
  let rest: Word | undefined;
  for (const item of text.split(/\s+/)) {
    if (item === '') continue;
    const word = wordOf(item.replace(/[*?]$/, ''));
    if (item.endsWith('*')) {
      if (rest !== undefined) throw new Error(`two roles with a star: ${text}`);
      rest = word;
    } else if (rest !== undefined) {
      end.push(word);
    } else {
      front.push(word);
    }
  }
  return { front, rest, end };
}

const WORDS: ReadonlyMap<string, Word> = new Map(
  [...ROLES, ...OWN_WORDS].map((word): [string, Word] => [word, word]),
);

function wordOf(text: string): Word {
  const word = WORDS.get(text);
  if (word === undefined) throw new Error(`not a role: ${text}`);
  return word;
}

function effectOf(text: string): Effect {
  const effect = EFFECTS.find((known) => known === text);
  if (effect === undefined) throw new Error(`not an effect: ${text}`);
  return effect;
}
