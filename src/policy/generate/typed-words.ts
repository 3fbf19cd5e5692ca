// The words of a command that writes, with typed holes: `gofmt -w <path>`, `sed -i <word> <path>`,
// `mv <path> <path>`. Options and subcommands stay as they were seen.

import { literalOf } from '../analyse/args.ts';
import type { Call, Part } from '../profile.ts';
import type { Arg } from '../unit.ts';

export type TypedWords = {
  /** The words without the holes for files at the end. */
  readonly start: string;
  /** How many holes for files stand at the end. */
  readonly files: number;
};

/** `word`: a word as a pattern has it; undefined for what no pattern can say. */
export function typedWords(
  argv: readonly Arg[],
  call: Call,
  word: (arg: Arg) => string | undefined,
): TypedWords | undefined {
  if (!mayBeTyped(argv, call)) return undefined;
  const words = argv.map((arg, at) => (at === 0 ? word(arg) : typedWord(arg, at, call, word)));
  if (words.some((one) => one === undefined) || !words.some(isHole)) return undefined;
  const files = [...words].reverse().findIndex((one) => one !== PATH);
  return { start: words.slice(0, words.length - files).join(' '), files };
}

export const PATH = '<path>';
const WORD = '<word>';

function isHole(word: string | undefined): boolean {
  return word === PATH || word === WORD;
}

/** What only reads needs no such hole, and what deletes is to be named; to move is to write. */
function mayBeTyped(argv: readonly Arg[], { kind, parts }: Call): boolean {
  if (kind === 'delete') return literalOf(argv[0]) === 'mv';
  if (kind === 'write') return true;
  return kind === 'read' && parts.some(({ effect }) => effect === 'write');
}

function typedWord(
  arg: Arg,
  at: number,
  { parts, subcommands }: Call,
  word: (arg: Arg) => string | undefined,
): string | undefined {
  const own = parts.filter(({ index }) => index === at);
  if (own.some(({ effect }) => effect !== undefined && effect !== 'write')) return undefined;
  const [first] = own;
  if (first === undefined) return undefined;
  if (subcommands.includes(at) || first.role === 'option' || first.role === 'program') {
    return arg.kind === 'literal' ? word(arg) : undefined;
  }
  // On a Mac `sed -i '' s/a/b/ x` has a suffix in front of the script.
  if (arg.kind === 'literal' && arg.value === '' && first.role === 'sed') return word(arg);
  return holeFor(arg, own);
}

function holeFor(arg: Arg, parts: readonly Part[]): string | undefined {
  if (arg.kind === 'unknown' || parts.some(({ value }) => value === '')) return undefined;
  if (parts.every(({ role }) => role === 'path' || role === 'output')) return PATH;
  const words = parts.some(({ role }) => role === 'sed')
    ? parts.filter(({ role }) => role !== 'path')
    : parts;
  if (arg.kind !== 'literal' || !words.every(({ role }) => WORDS.has(role))) return undefined;
  return /\s/.test(arg.value) ? '*' : WORD;
}

const WORDS = new Set<Part['role']>(['word', 'int', 'sed']);
