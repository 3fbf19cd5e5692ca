// Which words xargs may be given: a rule for `xargs head` is for names of files that were looked
// for. What prints the text of a file, or a text that somebody chose, can name any file there is:
// `sort list | xargs head`, `git log --format=%s | xargs head`.

import { literalOf } from './analyse/args.ts';
import { type Bounds, type Objection, secretObjection } from './bounds.ts';
import { isListed } from './facts.ts';
import { absolute } from './paths.ts';
import type { Part } from './profile.ts';
import { readCall } from './profiles/index.ts';
import { aimsAtSecrets } from './profiles/name-globs.ts';
import { programName } from './programs.ts';
import type { Analysis, Arg, Unit } from './unit.ts';

/** Undefined: every command of the text prints names that it found, and looks for no secrets. */
export function wordsForXargs(
  { units, functions, text }: Analysis,
  bounds: Bounds,
): Objection | undefined {
  const last = units.findLastIndex(({ via }) => via.includes('xargs'));
  const end = functions.length === 0 && !LEADS_BACK.test(text) ? spanEnd(units[last]) : Infinity;
  for (const [at, unit] of units.entries()) {
    const { argv, via, redirects, span } = unit;
    if (via.includes('xargs')) {
      // A list in a file, or in the text: its content is not looked at.
      if (redirects.some(({ effect }) => effect === 'read' || effect === 'text')) {
        const message = 'the words for xargs are in what it reads';
        return { code: 'argument.unknown', detail: 'xargs', span, message };
      }
      // What one of them prints, the next may be given.
      if (at === last || printsNames(argv)) continue;
      return unknownWords(argv[0]);
    }
    // What stands behind the last one reads what that prints, and gives it nothing.
    if ((span?.from ?? 0) >= end) continue;
    const found = argv.length === 0 ? undefined : printed(unit, bounds);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** Where a command may write to one that stands in front of it. */
const LEADS_BACK = /[<>]\(|<>|[<>]&\s*[^12]|\b(?:exec|coproc|mkfifo|mknod)\b/;

function spanEnd(unit: Unit | undefined): number {
  return unit?.span?.to ?? Infinity;
}

function printed({ argv, cwds }: Unit, bounds: Bounds): Objection | undefined {
  const { read, protected: held, roots } = bounds;
  const [program, ...rest] = argv;
  if (program === undefined || literalOf(program) === 'cd') return undefined;
  if (!printsNames(argv)) return unknownWords(program);
  const [cwd = roots.project] = cwds ?? [];
  for (const arg of rest) {
    const path = absolute(arg.kind === 'literal' ? arg.value : arg.prefix, cwd);
    const aims =
      arg.kind === 'literal'
        ? aimsAtSecrets(plainGlob(arg.value))
        : arg.kind === 'glob' && held.globSecret(absolute(arg.pattern, cwd));
    if (aims || held.secret(path)) return secretObjection(arg.source, arg.span);
    if (!read.has(path)) {
      const message = `\`${arg.source}\` is outside of what may be read`;
      return { code: 'path.outside', detail: 'read', span: arg.span, message };
    }
  }
  return undefined;
}

function unknownWords(program: Arg | undefined): Objection {
  return {
    code: 'argument.unknown',
    detail: 'xargs',
    span: program?.span,
    message: `it is unknown which words \`${program?.source ?? ''}\` passes to xargs`,
  };
}

/** A pattern for names as a glob, if it is a regex; names may be in letters of any size. */
function plainGlob(pattern: string): string {
  return pattern
    .replace(/\\(.)/g, '$1')
    .replace(/^\^|\$$/g, '')
    .toLowerCase();
}

function printsNames(argv: readonly Arg[]): boolean {
  const [program, ...rest] = argv;
  if (program?.kind !== 'literal' || !isListed('listers', program.value)) return false;
  const name = programName(program.value);
  const call = readCall(argv);
  if (call === undefined) return false;
  const has = (options: RegExp): boolean =>
    call.parts.some(({ option }) => option !== undefined && options.test(option));
  // A format says what is printed, and may say any text.
  const formats = (parts: readonly Arg[]): boolean => parts.some((arg) => /[%\\]/.test(arg.source));
  switch (name) {
    case 'find':
      return behind(argv, '-printf').every((arg) => NAME_FORMAT.test(literalOf(arg)));
    case 'fd':
    case 'ls':
      return !has(/^--(?:format|time-style)$/) && !formats(rest.filter(isOption));
    case 'grep':
    case 'rg':
    case 'ag':
      return has(/^(?:--files|--files-with(?:out-match|-matches)|-l|-L)$/);
    case 'git':
      return gitPrintsNames(literalOf(argv[call.subcommands[0] ?? -1]), has);
    default:
      return !call.parts.some(isContent);
  }
}

/** Paths and names, each on a line or with a zero behind it. */
const NAME_FORMAT = /^(?:%[fpP]|\\[n0])+$/;

function gitPrintsNames(subcommand: string, has: (options: RegExp) => boolean): boolean {
  if (has(/^--format$/)) return false;
  if (subcommand === 'grep')
    return has(/^(?:--files-with(?:out-match|-matches)|--name-only|-l|-L)$/);
  if (subcommand === 'diff') return has(/^--name-(?:only|status)$/);
  return /^(?:ls-files|ls-tree|status|check-ignore)$/.test(subcommand);
}

function behind(argv: readonly Arg[], option: string): readonly Arg[] {
  return argv.filter((_, at) => literalOf(argv[at - 1]) === option);
}

function isOption(arg: Arg): boolean {
  return literalOf(arg).startsWith('-');
}

/** Of `sort` and its like, which print what is in it; without one they pass names on. */
function isContent({ role, value }: Part): boolean {
  return role === 'path' && value !== '-';
}
