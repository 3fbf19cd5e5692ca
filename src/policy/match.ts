// Whether the words of a unit are those of an allowing rule, and whether the words that its holes
// cover are inert: by the profile of the program they do not change the kind of effect.

import {
  type Bounds,
  hostOf,
  type Objection,
  type PathWord,
  pathObjection,
  urlObjection,
} from './bounds.ts';
import { factsOf } from './facts.ts';
import { absolute, type PathSet, pathSet } from './paths.ts';
import { isTooLong, type WordPattern } from './pattern.ts';
import type { CommandRule } from './policy.ts';
import type { Call, Part } from './profile.ts';
import { programName, showsEnvironment } from './programs.ts';
import { rewritesFiles } from './touched.ts';
import type { Arg, Unit } from './unit.ts';

/** The kind of pattern that matches a word of the unit. */
type Cover = 'literal' | 'partial' | 'hole' | 'rest';

export type Covers = readonly { readonly by: Cover; readonly pattern: WordPattern }[];

/** Undefined when the words differ; `near` of them agreed. */
export function coversOf(
  words: readonly WordPattern[],
  argv: readonly Arg[],
): { readonly covers: Covers } | { readonly near: number } {
  const covers: { by: Cover; pattern: WordPattern }[] = [];
  let at = 0;
  for (const pattern of words) {
    if (pattern.kind === 'rest') {
      while (at < argv.length) {
        covers.push({ by: 'rest', pattern });
        at += 1;
      }
      return { covers };
    }
    const arg = argv[at];
    const by = arg === undefined ? undefined : coverOf(pattern, arg, at);
    if (by === undefined) return { near: at };
    covers.push({ by, pattern });
    at += 1;
  }
  return at === argv.length ? { covers } : { near: at };
}

function coverOf(pattern: WordPattern, arg: Arg, at: number): Cover | undefined {
  if (pattern.kind === 'literal') {
    if (arg.kind !== 'literal') return undefined;
    const same =
      arg.value === pattern.value || (at === 0 && programName(arg.value) === pattern.value);
    return same ? 'literal' : undefined;
  }
  if (at === 0) return undefined; // which program it is, is never left open
  if (pattern.kind === 'one') return arg.kind !== 'unknown' || arg.one ? 'rest' : undefined;
  if (pattern.kind !== 'partial') return undefined;
  const whole = pattern.segments.length === 1 && pattern.lead === '';
  if (arg.kind === 'literal') {
    if (isTooLong(pattern, arg.value)) return undefined;
    if (!pattern.regex.test(arg.value) || climbs(pattern.lead, arg.value)) return undefined;
    return whole ? 'hole' : 'partial';
  }
  if (arg.kind === 'glob') {
    if (isTooLong(pattern, arg.pattern)) return undefined;
    const fits = pattern.regex.test(arg.pattern) && !climbs(pattern.lead, arg.pattern);
    return fits ? 'partial' : undefined;
  }
  const open = pattern.segments.length === (pattern.lead === '' ? 1 : 2);
  return arg.one && open && arg.prefix.startsWith(pattern.lead) ? 'partial' : undefined;
}

/** `src/../x` is not in `src/`, which is all that `src/*` is about. */
function climbs(lead: string, value: string): boolean {
  return lead.includes('/') && /(?:^|\/)\.\.(?:\/|$)/.test(value.slice(lead.length));
}

export type RuleMatch = {
  readonly unit: Unit;
  readonly call: Call | undefined;
  readonly rule: CommandRule;
  readonly covers: Covers;
  readonly bounds: Bounds;
  /** The rule ends in a star. */
  readonly open: boolean;
  /** The rule names `xargs`, so it also means arguments that are not in the text. */
  readonly unseen: boolean;
};

/** The objection to the first covered word that is not inert. */
export function inertObjection(matching: RuleMatch): Objection | undefined {
  const { unit, call, rule, covers } = matching;
  if (rule.args === 'any') return undefined;
  const covered = covers.flatMap(({ by }, index) => (by === 'literal' ? [] : [index]));
  // A star that covers nothing is still a star: `env *` is no rule for what `env` alone shows.
  if (covered.length === 0 && !matching.open) return undefined;
  if (call === undefined) return unprofiled(matching, covered);
  const kind = kindObjection(matching, call);
  if (kind !== undefined) return kind;
  if (matching.open && showsEnvironment(unit)) {
    const message = 'it shows every variable there is, secrets too';
    return { code: 'env', detail: 'secret', span: unit.span, message };
  }
  const seen = new Set(call.parts.map(({ index }) => index));
  const missed = covered.find((index) => !seen.has(index) && !call.subcommands.includes(index));
  if (missed !== undefined && missed !== call.inner) {
    return unknownWord(unit.argv[missed], 'what it means there is not known');
  }
  for (const part of call.parts) {
    const cover = covers[part.index];
    if (cover === undefined || cover.by === 'literal') continue;
    const objection = partObjection(part, cover.by, matching);
    if (objection !== undefined) return objection;
  }
  return undefined;
}

function unprofiled(matching: RuleMatch, covered: readonly number[]): Objection | undefined {
  const { unit, covers } = matching;
  if (covered.length === 0) return nothingKnown(unit, unit.argv[0]);
  for (const index of covered) {
    const arg = unit.argv[index];
    const cover = covers[index];
    if (arg === undefined || cover === undefined) continue;
    const segments = cover.pattern.kind === 'partial' ? cover.pattern.segments : [];
    const typed = segments.length > 0 && segments.every(({ kind }) => kind !== 'any');
    if (!typed || arg.kind !== 'literal') return nothingKnown(unit, arg);
    const holes = segments.flatMap((one) => (one.kind === 'hole' ? [one.type] : []));
    if (holes.includes('path')) {
      const word = { value: arg.value, prefix: '', arg };
      const objection = scopeObjection(word, 'write', matching);
      if (objection !== undefined) return objection;
    }
    const url = urlCover(cover.pattern, arg.value, matching);
    if (url !== undefined) return url;
  }
  return undefined;
}

function nothingKnown({ argv }: Unit, arg: Arg | undefined): Objection {
  return {
    code: 'program.unprofiled',
    span: arg?.span,
    message: `what \`${argv[0]?.source ?? ''}\` does with its arguments is not known`,
    hint: 'Write the arguments into the rule, or `args: any` if all of them are fine.',
  };
}

function kindObjection({ unit, covers, open }: RuleMatch, call: Call): Objection | undefined {
  const chosen = call.subcommands.find(
    (index) => covers[index]?.by !== 'literal' && !call.alike.includes(index),
  );
  const span = unit.argv[chosen ?? 0]?.span;
  if (chosen !== undefined && call.kind !== 'read') {
    const word = unit.argv[chosen]?.source ?? '';
    return {
      code: 'argument.effect',
      detail: call.kind,
      span,
      message: `\`${word}\` does more than read, so the rule has to name it`,
    };
  }
  const program = call.parts.find(
    ({ role, index }) => role === 'program' && covers[index]?.by !== 'literal',
  );
  if (program !== undefined) {
    const word = unit.argv[program.index];
    return {
      code: 'argument.effect',
      detail: 'exec',
      span: word?.span,
      message: `\`${word?.source ?? ''}\` is a program of its own, so the rule has to name it`,
    };
  }
  if (!open || (call.kind !== 'delete' && call.kind !== 'config')) return undefined;
  return {
    code: call.kind === 'delete' ? 'program.destructive' : 'argument.effect',
    detail: call.kind,
    span,
    message: `\`*\` does not cover what ${call.kind === 'delete' ? 'deletes' : 'configures'}`,
    hint: 'Name the arguments in the rule, or use a typed hole like <path>.',
  };
}

function partObjection(part: Part, by: Cover, matching: RuleMatch): Objection | undefined {
  const { unit, call, covers } = matching;
  const arg = unit.argv[part.index];
  const pattern = covers[part.index]?.pattern;
  // `--tail=*` names its option, and `<path>` says what it is: their authors meant what they do.
  const named =
    (by === 'partial' && pattern?.kind === 'partial' && /^-.*=/.test(pattern.lead)) ||
    (by === 'hole' &&
      pattern?.kind === 'partial' &&
      isPathHole(pattern) &&
      isMeant(part, matching));
  if (part.effect === 'unknown' && !(named && by === 'hole')) {
    if (arg?.kind === 'unknown' && matching.unseen && call?.harmless === true) return undefined;
    const why = part.why ?? 'what it does is not known';
    return part.role === 'option' && arg?.kind === 'literal'
      ? { ...unknownWord(arg, why), code: 'argument.option' }
      : unknownWord(arg, why);
  }
  if (part.effect !== undefined && !named && !isOwn(part, call)) {
    return {
      code: 'argument.effect',
      detail: part.effect,
      span: arg?.span,
      message: effectText(part, part.effect, arg),
    };
  }
  return roleObjection(part, matching);
}

/** Not the value of an option that a star brought: `sed -n * <path>` is not for `sed -n -f x`. */
function isMeant({ option, index }: Part, { call, covers }: RuleMatch): boolean {
  if (option === undefined) return true;
  const word = call?.parts.find((one) => one.role === 'option' && one.option === option);
  return word === undefined || word.index === index || covers[word.index]?.by === 'literal';
}

/** A value is told by its option: `--output`, not `x`, writes the file `x`. */
function effectText({ option, role, why }: Part, effect: string, arg: Arg | undefined): string {
  const valued = option !== undefined && role !== 'option';
  if (why !== undefined && !valued) return why;
  return `\`${valued ? option : (arg?.source ?? '')}\` would ${EFFECTS[effect] ?? 'do more'}`;
}

const EFFECTS: Readonly<Record<string, string>> = {
  exec: 'run other code',
  write: 'write a file',
  delete: 'delete something',
  config: 'change a configuration',
  net: 'reach the network',
  secret: 'show secrets',
};

/** A program that writes may be told to; where to is another question. */
function isOwn({ effect, role }: Part, call: Call | undefined): boolean {
  return effect === 'write' && call?.kind === 'write' && (role === 'write' || role === 'output');
}

function isPathHole(pattern: WordPattern & { kind: 'partial' }): boolean {
  return pattern.segments.some((one) => one.kind === 'hole' && one.type === 'path');
}

function roleObjection(part: Part, matching: RuleMatch): Objection | undefined {
  const { unit, covers, bounds } = matching;
  const arg = unit.argv[part.index];
  const pattern = covers[part.index]?.pattern;
  switch (part.role) {
    case 'path':
    case 'exec':
      return pathPart(part, arg, isRewritten(part, matching) ? 'write' : 'read', matching);
    case 'delete':
      return pathPart(part, arg, 'write', matching) ?? wholeObjection(part, arg, matching);
    case 'output':
    case 'write':
      return pathPart(part, arg, 'write', matching);
    case 'url':
      if (pattern?.kind === 'partial' && part.value !== undefined) {
        return urlCover(pattern, part.value, matching);
      }
      return urlObjection(part.value, arg?.span, bounds);
    default:
      // Whatever it is to the program: the shell looks for files, or the rule says that it is one.
      return looksForFiles(arg) || (pattern?.kind === 'partial' && isPathHole(pattern))
        ? pathPart(part, arg, 'read', matching)
        : undefined;
  }
}

/** `gofmt -w <path>`: what it names, it writes. */
function isRewritten({ option }: Part, { unit, call }: RuleMatch): boolean {
  return option === undefined && call !== undefined && rewritesFiles(unit.argv, call);
}

/** Deleting a parent deletes the protected files below it, so a rule has to name it. */
function wholeObjection(
  { value }: Part,
  arg: Arg | undefined,
  { unit, bounds }: RuleMatch,
): Objection | undefined {
  if (value === undefined) return undefined;
  const { project } = bounds.roots;
  const all = (unit.cwds ?? [project]).some((cwd) => {
    const path = absolute(value, cwd);
    return `${project}/`.startsWith(`${path}/`) || /\/\.git$/i.test(path);
  });
  if (!all) return undefined;
  const message = `\`${value}\` contains the whole project, including protected files`;
  return { code: 'path.protected', detail: 'control', span: arg?.span, message };
}

/** A pattern, also one with something unknown in it. */
function looksForFiles(arg: Arg | undefined): boolean {
  if (arg?.kind === 'glob') return true;
  return arg?.kind === 'unknown' && /(?<!\\)[*?[]/.test(arg.shape?.shut ?? '');
}

function pathPart(
  part: Part,
  arg: Arg | undefined,
  access: 'read' | 'write',
  matching: RuleMatch,
): Objection | undefined {
  // Only a rule that names `xargs` gets here with words that are not in the text.
  if (matching.unseen && arg?.kind === 'unknown' && arg.source === 'xargs') return undefined;
  const word = { value: part.value, prefix: part.prefix, arg };
  return scopeObjection(word, access, matching) ?? codeObjection(word, matching);
}

/** What is there to be read is not there to be run, nor to tell a program what to run. */
function codeObjection(
  word: PathWord,
  { unit, call, rule, bounds }: RuleMatch,
): Objection | undefined {
  if (rule.paths !== undefined || call === undefined || !runsFiles(unit, call)) return undefined;
  const where = { cwds: unit.cwds, bounds, scope: bounds.cwd };
  const objection = pathObjection(word, 'read', where);
  if (objection?.code !== 'path.outside') return objection;
  const shown = word.value ?? word.arg?.source ?? word.prefix;
  return {
    ...objection,
    message: `\`${shown}\` may be read, but what lies there may not be run`,
    hint: 'Directories that commands may run in are listed under scopes.cwd.',
  };
}

function runsFiles({ argv }: Unit, { kind, inner }: Call): boolean {
  const programs = [argv[0], inner === undefined ? undefined : argv[inner]];
  return (
    kind === 'exec' ||
    programs.some(
      (arg) => arg?.kind === 'literal' && factsOf(programName(arg.value))?.manifests !== undefined,
    )
  );
}

function scopeObjection(
  word: PathWord,
  access: 'read' | 'write',
  { unit, rule, bounds }: RuleMatch,
): Objection | undefined {
  const own = rule.paths === undefined ? undefined : pathSet(rule.paths, bounds.roots);
  const scope: PathSet = own ?? bounds[access];
  return pathObjection(word, access, { cwds: unit.cwds, bounds, scope });
}

/** A pattern that has the whole host in its text, or in its hole, needs no list of hosts. */
function urlCover(
  pattern: WordPattern,
  value: string,
  { bounds, unit }: RuleMatch,
): Objection | undefined {
  if (!/^[a-z][a-z0-9+.-]*:\/\//i.test(value)) return undefined;
  if (pattern.kind === 'partial') {
    const hole = pattern.segments.find((one) => one.kind === 'hole' && one.type === 'url');
    const wanted = hole?.kind === 'hole' ? hole.host : undefined;
    if (wanted !== undefined && hostOf(value) === wanted.toLowerCase()) return undefined;
    const authority = /^https?:\/\/[^/?#@]+\//i.test(pattern.lead);
    if (authority && hostOf(value) !== undefined) return undefined;
  }
  return urlObjection(value, unit.argv[0]?.span, bounds);
}

function unknownWord(arg: Arg | undefined, why: string): Objection {
  const known = arg?.kind === 'literal';
  return {
    code: 'argument.unknown',
    span: arg?.span,
    message: known ? `\`${arg.source}\`: ${why}` : `\`${arg?.source ?? ''}\` could be an option`,
  };
}
