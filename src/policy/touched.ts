// Which files a command line would read, write or remove by its words: what is protected is
// compared with these. A program without a profile may do anything with every word.

import type { Access } from './facts.ts';
import type { Call, Part } from './profile.ts';
import { programName } from './programs.ts';
import type { Arg } from './unit.ts';

export type Touched = {
  readonly access: Access;
  /** With all that is in it. */
  readonly removes: boolean;
  readonly word: {
    readonly value: string | undefined;
    readonly prefix: string;
    readonly arg: Arg | undefined;
  };
};

export function touchedWords(argv: readonly Arg[], call: Call | undefined): readonly Touched[] {
  if (call === undefined) return pathLike(argv);
  const end = call.inner ?? argv.length;
  const [first] = argv;
  const program = first?.kind === 'literal' ? programName(first.value) : '';
  const isDd = program === 'dd';
  const rewrites =
    REFORMATTERS.has(program) || call.parts.some((part) => isRewriting(part, call.parts));
  return call.parts.flatMap((part) => {
    const { role, index, value, prefix, effect } = part;
    if (index >= end) return []; // it is a line of its own
    const word = { value, prefix, arg: argv[index] };
    if (isDd) return ddWords(word);
    if (role === 'output' || role === 'write' || role === 'delete') {
      return [{ access: 'write' as const, removes: role === 'delete', word }];
    }
    if (role === 'url' && /^(?:\.|\/|~)/.test(value ?? '')) return both(word);
    if (role === 'path' && rewrites) return both(word);
    if (role === 'path' || role === 'exec') return [{ access: 'read' as const, ...ONLY, word }];
    if (effect === undefined || role === 'option') return [];
    return pathLike([argv[0] ?? EMPTY, argv[index] ?? EMPTY]);
  });
}

/** They write what they are given, without being told to. */
const REFORMATTERS = new Set(['black', 'isort', 'rustfmt', 'yapf', 'autopep8', 'dos2unix']);

const ONLY = { removes: false };

const EMPTY: Arg = { kind: 'literal', value: '', source: '', span: undefined };

/** `sed -i`, `prettier --write`, `find -delete`: it names no file, so it is about all of them. */
function isRewriting({ role, option, effect }: Part, parts: readonly Part[]): boolean {
  if (role !== 'option' || (effect !== 'write' && effect !== 'delete')) return false;
  return !parts.some(
    (other) => other.role !== 'option' && other.option === option && other.effect !== undefined,
  );
}

function both(word: Touched['word']): readonly Touched[] {
  return [
    { access: 'read', ...ONLY, word },
    { access: 'write', ...ONLY, word },
  ];
}

/** `if=x of=y` */
function ddWords(word: Touched['word']): readonly Touched[] {
  const [, name, path] = /^(if|of)=(.*)$/s.exec(word.value ?? '') ?? [];
  if (path === undefined) return word.value === undefined ? both(word) : [];
  return [{ access: name === 'if' ? 'read' : 'write', ...ONLY, word: { ...word, value: path } }];
}

/** Every word that could name a file, also behind `--option=`. */
function pathLike(argv: readonly Arg[]): readonly Touched[] {
  return argv.slice(1).flatMap((arg) => {
    if (arg.kind === 'literal' && arg.value === '') return [];
    const value = arg.kind === 'literal' ? arg.value.replace(/^-[^=]*=/, '') : undefined;
    return both({ value, prefix: arg.kind === 'literal' ? '' : arg.prefix, arg });
  });
}
