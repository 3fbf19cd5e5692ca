// Which of the calls that deserve a look a command line is, by the `deeds` of its program.

import { literalOf } from '../analyse/args.ts';
import { factsOf } from '../facts.ts';
import type { DeedMark, Deeds } from '../profile.ts';
import { programName } from '../programs.ts';
import type { Arg } from '../unit.ts';
import { profileOf, readCall } from './index.ts';
import { sqlAsks, sqlLoss } from './sql.ts';

/** A command line as its words in order, and its options with their values. */
type Line = { readonly words: string; readonly options: ReadonlyMap<string, readonly string[]> };

/** Of the program, and of the one that it starts: `npx wrangler deploy`. */
export function deedMarks(argv: readonly Arg[], depth = 0): readonly DeedMark[] {
  const [program] = argv;
  if (program?.kind !== 'literal') return [];
  const inner = innerOf(argv);
  const started = inner > 0 && depth < DEPTH_MAX ? deedMarks(argv.slice(inner), depth + 1) : [];
  const deeds = deedsOf(program.value);
  if (deeds === undefined) return started;
  const line = lineOf(argv);
  if (changesNothing(line)) return started;
  const own = patternsOf(deeds).filter(({ calls }) => calls.some((call) => fits(call, line)));
  return [...own.map(({ mark }) => mark), ...started];
}

const DEPTH_MAX = 8;

/** Where a command line of its own begins, also one in a container: `docker exec db psql`. */
function innerOf(argv: readonly Arg[]): number {
  const call = readCall(argv);
  if (call?.inner !== undefined) return call.inner;
  const last = call?.subcommands.at(-1) ?? 0;
  if (call?.kind !== 'exec' || !/^(?:exec|run)$/.test(literalOf(argv[last]))) return 0;
  const dashes = argv.findIndex((arg, at) => at > last && literalOf(arg) === '--');
  if (dashes > 0) return dashes + 1;
  // The first is the container.
  const operands = call.parts.filter(
    ({ index, option, role }) => index > last && option === undefined && role !== 'option',
  );
  return operands.find(({ index }) => index > (operands[0]?.index ?? 0))?.index ?? 0;
}

/** Whether something is known of the program. */
export function isWatched(program: string): boolean {
  return deedsOf(program) !== undefined || readsSql(program);
}

function readsSql(program: string): boolean {
  const { options = '', operands = '' } = profileOf(program) ?? {};
  return /:sql\b/.test(options) || /\bsql\b/.test(operands);
}

/** Whether it is given statements, and all of them only look. */
export function onlyAsks(argv: readonly Arg[]): boolean {
  const given = (readCall(argv)?.parts ?? []).filter(({ role }) => role === 'sql');
  // A variable may stand for more than a value; here that is not worth an alarm.
  const text = (index: number): string => (argv[index]?.source ?? '').replace(/^["']|["']$/g, '');
  return given.length > 0 && given.every(({ value, index }) => sqlAsks(value ?? text(index)));
}

/** The statements that a database is given, or that may be in `input`, from 0 to 3. */
export function dataLoss(argv: readonly Arg[], input: string, depth = 0): number {
  const [program] = argv;
  if (program?.kind !== 'literal') return 0;
  const inner = innerOf(argv);
  const started =
    inner > 0 && depth < DEPTH_MAX ? dataLoss(argv.slice(inner), input, depth + 1) : 0;
  if (!readsSql(program.value)) return started;
  const given = (readCall(argv)?.parts ?? []).flatMap(({ role, value }) =>
    role === 'sql' && value !== undefined ? [value] : [],
  );
  return Math.max(started, ...[...given, input].map(sqlLoss));
}

function deedsOf(program: string): Deeds | undefined {
  const name = programName(program);
  return factsOf(name)?.deeds ?? profileOf(program)?.deeds;
}

// What a person typed is far shorter, and patterns take long for more.
const WORDS_MAX = 256;
const WORDS_LENGTH_MAX = 4_096;

function lineOf(argv: readonly Arg[]): Line {
  const call = readCall(argv);
  const words: string[] = [];
  const options = new Map<string, string[]>();
  const option = (name: string, value?: string): void => {
    const values = options.get(name) ?? [];
    options.set(name, value === undefined ? values : [...values, value]);
  };
  const plain = (text: string): void => {
    const [, name, value] = /^(--?[^=]+)(?:=(.*))?$/s.exec(text) ?? [];
    if (name === undefined) words.push(text);
    else option(name, value);
  };
  if (call === undefined) {
    for (const arg of argv.slice(1, WORDS_MAX)) plain(textOf(arg));
  } else {
    let last = 0;
    for (const { index, role, option: name, value } of call.parts.slice(0, WORDS_MAX)) {
      if (index >= (call.inner ?? argv.length)) continue;
      const text = value ?? argv[index]?.source ?? '';
      if (name !== undefined) option(name, role === 'option' ? undefined : text);
      // A word of which it is not known what it is has several parts.
      else if (index > last) plain(text);
      if (name === undefined) last = index;
    }
  }
  const text = words.map((word) => `${word}\n`).join('');
  return { words: text.slice(0, WORDS_LENGTH_MAX), options };
}

function textOf(arg: Arg): string {
  return arg.kind === 'literal' ? arg.value : arg.source;
}

/** It only says what it would do. */
function changesNothing({ options }: Line): boolean {
  return NO_CHANGE.some((name) =>
    options.get(name)?.every((value) => !/^(?:none|false)$/.test(value)),
  );
}

const NO_CHANGE = ['--dry-run', '--dryrun', '-dry-run', '--help', '--just-print'];

type Call = {
  readonly words: RegExp;
  readonly options: readonly { readonly name: string; readonly value: RegExp | undefined }[];
  readonly without: readonly { readonly name: string; readonly value: RegExp | undefined }[];
};

type Pattern = { readonly mark: DeedMark; readonly calls: readonly Call[] };

const COMPILED = new WeakMap<Deeds, readonly Pattern[]>();

function patternsOf(deeds: Deeds): readonly Pattern[] {
  const known = COMPILED.get(deeds);
  if (known !== undefined) return known;
  const compiled = (Object.entries(deeds) as [DeedMark, string][]).map(([mark, texts]) => ({
    mark,
    calls: texts.split(';').map((text) => callOf(text.trim().split(/\s+/))),
  }));
  COMPILED.set(deeds, compiled);
  return compiled;
}

function callOf(tokens: readonly string[]): Call {
  const words = tokens.filter((token) => !/^!?-/.test(token));
  const named = (sign: RegExp) =>
    tokens
      .filter((token) => sign.test(token))
      .map((token) => {
        const [name = '', value] = token.replace(/^!/, '').split(/=(.*)/s);
        return {
          name,
          value: value === undefined ? undefined : new RegExp(`^${glob(value)}$`, 'is'),
        };
      });
  const sequence = words.map((word) => (word === '**' ? '(?:[^\n]*\n)*?' : `${glob(word)}\n`));
  return {
    words: new RegExp(`^${sequence.join('')}`, 'i'),
    options: named(/^-/),
    without: named(/^!-/),
  };
}

function glob(word: string): string {
  return word.replace(/[.+?^${}()|[\]\\]/g, '\\$&').replaceAll('*', '[^\n]*');
}

function fits({ words, options, without }: Call, line: Line): boolean {
  const has = ({ name, value }: Call['options'][number]): boolean => {
    const values = line.options.get(name);
    return values !== undefined && (value === undefined || values.some((one) => value.test(one)));
  };
  return words.test(line.words) && options.every(has) && !without.some(has);
}
