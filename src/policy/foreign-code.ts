// Code that a command runs and does not show: what a server answers, or what was decoded. It comes
// by a pipe, in a substitution, or by a file that an earlier part of the same command has written.

import { posix } from 'node:path';
import { literalOf } from './analyse/args.ts';
import { analyse } from './analyse/index.ts';
import type { Act } from './deed-kinds.ts';
import { factsOf } from './facts.ts';
import { codeWord, inputUse } from './input.ts';
import { absolute } from './paths.ts';
import { deedMarks } from './profiles/deeds.ts';
import { readCall } from './profiles/index.ts';
import { isOwnPath, isShell, plainName } from './programs.ts';
import { unitText } from './reasons.ts';
import type { Arg, Unit } from './unit.ts';

type Kind = 'remote-code' | 'hidden-code';
type Place = { readonly cwd: string; readonly home: string };

/** Where code may come from, and by which part of the command. */
type Source = { readonly kind: Kind; readonly unit: Unit; readonly at: number };

export function foreignCode(units: readonly Unit[], place: Place): readonly Act[] {
  const sources = units.flatMap((unit, at) => sourceOf(unit, at));
  if (sources.length === 0) return [];
  const act = ({ kind, unit }: Source, runner: Unit): Act => {
    const part = runner.argv.some((arg) => holds(arg, unit))
      ? unitText(runner)
      : `${unitText(unit)} | ${unitText(runner)}`;
    return { kind, weight: 3, part };
  };
  return units.flatMap((runner, at) => {
    const code = codeOf(runner);
    return sources
      .filter((source) => {
        if (source.at >= at) return false;
        if (isPiped(units, source.at, at) && readsCode(runner)) return true;
        if (code === undefined) return false;
        return isResult(code, source, place) || isFile(code, units, source, runner, place);
      })
      .map((source) => act(source, runner));
  });
}

function sourceOf(unit: Unit, at: number): readonly Source[] {
  const marks = deedMarks(unit.argv);
  if (marks.includes('fetches')) {
    const local = unit.argv.some((arg) => LOCAL.test(literalOf(arg)));
    return local ? [] : [{ kind: 'remote-code', unit, at }];
  }
  return marks.includes('decodes') ? [{ kind: 'hidden-code', unit, at }] : [];
}

/** An address of this machine. */
export const LOCAL = new RegExp(
  '^(?:[a-z]+://(?:[^/@\\s]*@)?)?' +
    '(?:localhost|127\\.\\d+\\.\\d+\\.\\d+|0\\.0\\.0\\.0|\\[::1\\])(?=[:/?#]|$)',
  'i',
);

/** Every part between them reads from the one in front of it. */
function isPiped(units: readonly Unit[], from: number, to: number): boolean {
  return units.slice(from + 1, to + 1).every(({ stdin }) => stdin === 'pipe');
}

function isInterpreter(program: string): boolean {
  return isShell(program) || factsOf(plainName(program))?.interpreter !== undefined;
}

function readsCode(unit: Unit): boolean {
  const { argv } = unit;
  if (!isInterpreter(literalOf(argv[0]))) return false;
  return inputUse(unit, [{ argv, call: readCall(argv) }]) === 'code';
}

/** The word that is run, or names a file that is: `eval X`, `sh -c X`, `python3 X`, `./x`. */
function codeOf({ argv }: Unit): Arg | undefined {
  const [first, ...rest] = argv;
  if (first === undefined) return undefined;
  const program = literalOf(first);
  if (/^(?:eval|source|\.)$/.test(program)) return rest[0];
  if (!isInterpreter(program)) return program === '' || isOwnPath(program) ? first : undefined;
  return codeWord(argv);
}

/** `$(...)`, `<(...)` and backquotes, as the beginning of a word. */
const SUBSTITUTION = /^["']?(?:[$<]\(|`)([\s\S]*?)[)`]?["']?$/;

function isResult(code: Arg, { kind }: Source, { cwd, home }: Place): boolean {
  if (code.kind === 'literal') return false;
  const inner = SUBSTITUTION.exec(code.source)?.[1];
  if (inner === undefined) return false;
  const { units } = analyse(inner, { cwd, home });
  return units.some((unit) => sourceOf(unit, 0).some((source) => source.kind === kind));
}

function holds(arg: Arg, unit: Unit): boolean {
  const [outer, inner] = [arg.span, unit.span];
  return (
    outer !== undefined && inner !== undefined && outer.from < inner.from && inner.to < outer.to
  );
}

function isFile(
  code: Arg,
  units: readonly Unit[],
  { unit, at }: Source,
  runner: Unit,
  { cwd }: Place,
): boolean {
  if (code.kind !== 'literal' || code.value === '') return false;
  const path = absolute(code.value, runner.cwds?.[0] ?? cwd);
  // What it printed may have gone through others to the file: `curl ... | tee x`.
  const writers = units.filter((_, other) => other >= at && isPiped(units, at, other));
  return writers.some((one) =>
    filesOf(one, one === unit).some((file) => absolute(file, one.cwds?.[0] ?? cwd) === path),
  );
}

/** The files that a part of the command writes. */
function filesOf({ argv, redirects }: Unit, fetches: boolean): readonly string[] {
  const redirected = redirects.flatMap(({ effect, target }) =>
    effect === 'write' || effect === 'append' ? [literalOf(target)] : [],
  );
  const parts = readCall(argv)?.parts ?? [];
  const written = parts.flatMap(({ role, option, value = '' }) => {
    if (role === 'output' || role === 'write') return [value];
    return role !== 'option' && /^--?(?:output|output-document|out|o)$/.test(option ?? '')
      ? [value]
      : [];
  });
  // Under the name that it has on the server.
  const served = fetches ? argv.flatMap(({ source }) => servedName(source)) : [];
  return [...redirected, ...written, ...served].filter((file) => file !== '' && file !== '-');
}

function servedName(source: string): readonly string[] {
  const address = source.replace(/^["']|["']$/g, '');
  if (!/^[a-z]+:\/\//i.test(address)) return [];
  return [posix.basename(address.replace(/[?#].*$/s, ''))];
}
