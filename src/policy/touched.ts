// Which files a command line would read, write or remove, and where a copy lands: these are
// compared with the protected files. A program without a profile may do anything with every word.

import { posix } from 'node:path';
import { baseName } from '../text/base-name.ts';
import { literalOf } from './analyse/args.ts';
import {
  type Access,
  type Bounds,
  type Objection,
  type PathWord,
  protectionObjection,
} from './bounds.ts';
import { absolute, isInside } from './paths.ts';
import type { Call, Part } from './profile.ts';
import { programName } from './programs.ts';
import type { Arg } from './unit.ts';

export type FileUse = {
  readonly access: Access;
  /** With all that is in it. */
  readonly removes: boolean;
  readonly word: PathWord;
  /** What runs gets the word, and what it does with it is not known. */
  readonly perhaps?: true;
  /** A compiler makes it of sources. */
  readonly built?: true;
};

export function touchedWords(argv: readonly Arg[], call: Call | undefined): readonly FileUse[] {
  if (call === undefined) return pathLike(argv);
  const end = call.inner ?? argv.length;
  const program = programName(literalOf(argv[0]));
  const rewrites = rewritesFiles(argv, call);
  // `awk -f x` runs a script, as an interpreter does.
  const runs = call.kind === 'exec' || call.parts.some(isScriptFile);
  return call.parts.flatMap((part) => {
    const { role, index, value, prefix, effect, option } = part;
    if (index >= end) return []; // it is a line of its own
    const word = { value, prefix, arg: argv[index] };
    if (program === 'dd') return ddWords(word);
    if (role === 'output' || role === 'write' || role === 'delete') {
      const use = { access: 'write' as const, removes: role === 'delete', word };
      return [option === '-o' && COMPILERS.has(program) ? { ...use, built: true as const } : use];
    }
    if (role === 'url' && isLocal(program, value)) {
      const [read, write] = both(word);
      return isCopied(part, program, call) ? [read] : [read, write];
    }
    if (role === 'path' && rewrites && part.option === undefined) return both(word);
    if (runs && isPassed(part, call)) return perhaps(word);
    const mentioned = isCode(part) ? inCode(program, part, word) : [];
    if (role === 'path' || role === 'exec') {
      return [{ access: 'read' as const, ...ONLY, word }, ...mentioned];
    }
    if (effect === undefined || role === 'option' || role === 'filter') return [];
    return [...pathLike([argv[0] ?? EMPTY, argv[index] ?? EMPTY]), ...mentioned];
  });
}

/** What `-o` names there is a program, whatever its sources are. */
const COMPILERS = new Set(['go', 'gcc', 'g++', 'cc', 'c++', 'clang', 'clang++', 'rustc']);

function isScriptFile({ role, effect, option }: Part): boolean {
  return role === 'exec' && effect === 'exec' && (option === '--file' || option === '-f');
}

/** `python3 build.py ~/.ssh/id_rsa`: a word for a script, which may read or write what it names. */
function isPassed(part: Part, { subcommands }: Call): boolean {
  const { role, option, index, value, prefix } = part;
  if (subcommands.includes(index)) return false;
  if (role === 'option') return /[=./~]/.test(value ?? prefix);
  return option === undefined && PASSED.has(role);
}

const PASSED = new Set<Part['role']>(['word', 'path', 'exec', 'script', 'package']);

/** What such a word may name: `--out=x`, `-ox`, `of=x`, `kind:x`, `@x`, `a,x`. */
function perhaps(word: PathWord): readonly FileUse[] {
  const { value } = word;
  return maybe(value === undefined ? [undefined] : namesIn(value), word);
}

function namesIn(word: string): readonly string[] {
  const bare = word.replace(/^-[^=]*=/, '').replace(/^-[A-Za-z](?=.)/, '');
  return [bare, ...(/[=:,@+]/.test(bare) ? bare.split(/[=:,@+]/) : [])];
}

function maybe(values: readonly (string | undefined)[], word: PathWord): readonly FileUse[] {
  const several = [...new Set(values)].filter((value) => value !== '').slice(0, NAMES_MAX);
  return several.flatMap((value) =>
    both({ ...word, value }).map((use) => ({ ...use, perhaps: true as const })),
  );
}

const NAMES_MAX = 200; // in one word: more are in a program that is a file elsewhere

/** Rsync and scp take what has no host in front of it for a file. */
function isLocal(program: string, value: string | undefined): boolean {
  if (value === undefined) return false;
  return /^(?:\.|\/|~)/.test(value) || (program === 'rsync' && !/^[^/]*:/.test(value));
}

/** A text in a language of the program's own, which may name files. */
function isCode({ role, effect, option, value }: Part): boolean {
  if (effect === undefined || role === 'option' || value === undefined) return false;
  return role !== 'exec' || (option !== undefined && /[\s'"`]/.test(value));
}

const EDITORS = /^(?:vi|vim|nvim|view|vimdiff|ex|ed|emacs|gdb|lldb|sqlite3|psql|mysql)$/;

/** Names in it: those in quotes, or, where names need none, whatever looks like one. */
function inCode(program: string, { role }: Part, word: PathWord): readonly FileUse[] {
  const { value = '' } = word;
  const plain = role !== 'exec' || EDITORS.test(program);
  const names = plain
    ? value.split(/[\s"'`(){};,<>|]+/)
    : [...value.matchAll(/(["'`])([^"'`\n]{1,200})\1/g)].map(([, , name = '']) => name);
  return maybe(
    names.filter((name) => /[./~]/.test(name)),
    { ...word, prefix: '' },
  );
}

/** A source of `rsync` or `scp`: the last operand is where it goes. */
function isCopied({ index, option }: Part, program: string, { parts }: Call): boolean {
  if (!/^(?:rsync|scp)$/.test(program) || option !== undefined) return false;
  const moves = parts.some(({ effect }) => effect === 'delete');
  return !moves && parts.some((part) => part.option === undefined && part.index > index);
}

/** They write what they are given, without being told to. */
const REFORMATTERS = new Set(['black', 'isort', 'rustfmt', 'yapf', 'autopep8', 'dos2unix']);

const ONLY = { removes: false };

const EMPTY: Arg = { kind: 'literal', value: '', source: '', span: undefined };

/** Whether the files that it names as read are written, too. */
export function rewritesFiles([program]: readonly Arg[], { parts }: Call): boolean {
  if (REFORMATTERS.has(programName(literalOf(program)))) return true;
  return parts.some((part) => isRewriting(part, parts));
}

/** `sed -i`, `prettier --write`, `find -delete`: it names no file, so it is about all of them. */
function isRewriting({ role, option, effect }: Part, parts: readonly Part[]): boolean {
  if (role !== 'option' || (effect !== 'write' && effect !== 'delete')) return false;
  return !parts.some(
    (other) => other.role !== 'option' && other.option === option && other.effect !== undefined,
  );
}

function both(word: PathWord): readonly [FileUse, FileUse] {
  return [
    { access: 'read', ...ONLY, word },
    { access: 'write', ...ONLY, word },
  ];
}

/** `if=x of=y` */
function ddWords(word: PathWord): readonly FileUse[] {
  const [, name, path] = /^(if|of)=(.*)$/s.exec(word.value ?? '') ?? [];
  if (path === undefined) return word.value === undefined ? both(word) : [];
  return [{ access: name === 'if' ? 'read' : 'write', ...ONLY, word: { ...word, value: path } }];
}

/** Every word that could name a file, in whatever form a program may take it. */
function pathLike(argv: readonly Arg[]): readonly FileUse[] {
  return argv.slice(1).flatMap((arg) => {
    if (arg.kind !== 'literal') return both({ value: undefined, prefix: arg.prefix, arg });
    if (arg.value === '') return [];
    const names = [...new Set(namesIn(arg.value))].filter((name) => name !== '');
    return names.slice(0, NAMES_MAX).flatMap((value) => both({ value, prefix: '', arg }));
  });
}

const COPIERS = /^g?(?:cp|mv|ln|install)$/;

type PathContext = { readonly cwds: readonly string[] | undefined; readonly bounds: Bounds };

/**
 * Why a copy may not land where it would: `cp config .git` writes `.git/config`, and
 * `cp -r x/.claude .` the settings of an agent, which no word of the line says. Whether the last
 * word is a directory is not known here; it is judged as if it were.
 */
export function copyTargetObjection(
  argv: readonly Arg[],
  call: Call | undefined,
  context: PathContext,
): Objection | undefined {
  const [program] = argv;
  if (program?.kind !== 'literal' || !COPIERS.test(baseName(program.value))) return undefined;
  if (call === undefined) return undefined;
  const { sources, target, whole } = copyOf(argv, call);
  if (target?.kind !== 'literal') return undefined;
  const to = target.value;
  if (isRepository(to)) return inRepository(to, target);
  for (const source of sources) {
    const from = literalOf(source);
    if (isRepository(from)) return inRepository(from, source);
    const all = whole || /(?:^|\/)\.{1,2}\/*$/.test(from) || isHiddenGlob(source);
    if (all && coversProject(to, context)) {
      return {
        code: 'path.unknown',
        detail: 'write',
        span: source.span,
        message: `which files \`${source.source}\` puts over the project, is not said`,
        hint: 'Name the files.',
      };
    }
    const value = from === '' ? undefined : posix.join(to, posix.basename(from));
    const landed = protectionObjection({ value, prefix: '', arg: source }, 'write', context);
    // It is one only if there is such a directory, so that it can be asked for.
    if (value === undefined || landed === undefined) continue;
    // `cp CLAUDE.md CLAUDE.md.bak` is a copy beside it, and none that agents of the project obey.
    if (landed.detail === 'steering' && !isFolderOfProject(to, context)) continue;
    return { ...landed, final: false };
  }
  return undefined;
}

function isFolderOfProject(target: string, { cwds, bounds }: PathContext): boolean {
  const { project } = bounds.roots;
  const inside = (cwds ?? [project]).some((cwd) => isInside(absolute(target, cwd), project));
  return inside && !/[^/.]\.\w+$/.test(target);
}

type Copy = {
  readonly sources: readonly Arg[];
  readonly target: Arg | undefined;
  /** The source is put in the place of the target, with all that is in it. */
  readonly whole: boolean;
};

function copyOf(argv: readonly Arg[], { parts }: Call): Copy {
  const named = parts.find(({ option, role }) => option === DIRECTORY && role !== 'option');
  // A word that may be several has a part for each role that it may have.
  const operandParts = parts.filter(
    ({ option, role }) => option === undefined && role !== 'option',
  );
  const operands = [...new Set(operandParts.map(({ index }) => index))].flatMap(
    (at) => argv[at] ?? [],
  );
  const whole = parts.some(({ option }) => option === '--no-target-directory');
  if (named?.value === undefined) {
    return { sources: operands.slice(0, -1), target: operands.at(-1), whole };
  }
  const { value } = named;
  const target: Arg = { kind: 'literal', value, source: value, span: argv[named.index]?.span };
  return { sources: operands, target, whole };
}

const DIRECTORY = '--target-directory';

function isRepository(path: string): boolean {
  return /(?:^|\/)\.git\/*$/i.test(path);
}

function inRepository(path: string, arg: Arg): Objection {
  return {
    code: 'path.protected',
    detail: 'control',
    span: arg.span,
    message: `\`${path}\` has the hooks and the settings of the repository in it`,
    hint: 'Copy the files that are meant, or clone it.',
  };
}

/** `x/.*`: a star alone leaves out what begins with a dot. */
function isHiddenGlob(arg: Arg): boolean {
  return arg.kind === 'glob' && /(?:^|\/)(?:\.|\[|\{)[^/]*$/.test(arg.pattern);
}

function coversProject(target: string, { cwds, bounds }: PathContext): boolean {
  const { project } = bounds.roots;
  return (cwds ?? [project]).some((cwd) => isInside(project, absolute(target, cwd)));
}
