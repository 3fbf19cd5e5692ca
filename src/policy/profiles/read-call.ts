// Reads a command line with the profile of its program: every word becomes one part or more, with
// what it is and what it can do. What is not listed in the profile is unknown, never inert.

import { isMany, mayBeOption, textOf } from '../analyse/args.ts';
import { mayWrap } from '../analyse/wrappers.ts';
import { factsOf, hasTrait, isListed } from '../facts.ts';
import type { Call, Kind, Part, Profile } from '../profile.ts';
import { isShell } from '../programs.ts';
import type { Arg } from '../unit.ts';
import { shown, type Text } from './judged.ts';
import { type OptionRead, optionAt } from './option-word.ts';
import { type Compiled, compile, type Operands, type Word, wordsOf } from './options.ts';
import { judgeWord } from './roles.ts';

/** Where the program of an inner command line is looked up, by the role of its word. */
export type Lookups = Readonly<Record<Inner, (name: string) => Profile | undefined>> & {
  readonly own?: Readonly<Record<NonNullable<Profile['own']>, OwnReader>>;
};

type OwnReader = (argv: readonly Arg[], program: number, profile: Profile) => Call;

type Inner = 'program' | 'nodebin' | 'module';

type Reading = {
  readonly argv: readonly Arg[];
  readonly lookups: Lookups;
  /** How many command lines it is inside of. */
  readonly depth: number;
  readonly parts: Part[];
  readonly subcommands: number[];
  readonly alike: number[];
  inner: number | undefined;
  kind: Kind;
  harmless: boolean;
};

type Operand = { readonly index: number; readonly text: Text; readonly many: boolean };

/** Reads `argv` from behind the word at `program`, which has this profile. */
export function readWith(
  profile: Profile,
  argv: readonly Arg[],
  program: number,
  lookups: Lookups,
  depth = 0,
): Call {
  const own = profile.own && lookups.own?.[profile.own];
  if (own !== undefined) return own(argv, program, profile);
  const reading: Reading = {
    argv,
    lookups,
    depth,
    parts: [],
    subcommands: [],
    alike: [],
    inner: undefined,
    kind: profile.kind,
    harmless: false,
  };
  readProfile(reading, profile, program + 1);
  const { subcommands, alike, inner, kind, harmless } = reading;
  const parts = reading.parts.sort((a, b) => a.index - b.index);
  return { kind, subcommands, alike, parts, inner, harmless };
}

function readProfile(reading: Reading, profile: Profile, from: number): void {
  const compiled = compile(profile);
  reading.kind = profile.kind;
  reading.harmless = compiled.harmless;
  const seen = new Set<string>();
  const operands: Operand[] = [];
  const before = reading.parts.length;
  const end = scan(reading, compiled, from, seen, operands);
  if (end === 'elsewhere') return;
  giveRoles(reading, rolesNow(compiled, seen), operands);
  if (compiled.expands) expandFiles(reading, from);
  const inert = reading.parts.slice(before).every((part) => part.effect === undefined);
  const few = operands.length <= (profile.asks ?? 0);
  const asked = few || rolesNow(compiled, seen) !== compiled.operands;
  if (asked && inert) reading.kind = profile.bare ?? profile.kind;
}

/** `-n @x`: also where a value should be. */
function expandFiles(reading: Reading, from: number): void {
  reading.argv.forEach((arg, index) => {
    if (index < from || !textOf(arg).prefix.startsWith('@')) return;
    unknownWord(reading, index, `\`${arg.source}\` has options in it that are not seen`);
  });
}

/** Walks the words; `elsewhere` when a subcommand or an inner command line took the rest. */
function scan(
  reading: Reading,
  compiled: Compiled,
  from: number,
  seen: Set<string>,
  operands: Operand[],
): 'here' | 'elsewhere' {
  const { argv } = reading;
  const { profile } = compiled;
  let options = profile.style !== 'none';
  let subcommand = profile.subcommands !== undefined;
  for (let index = from; index < argv.length; index++) {
    const arg = argv[index];
    if (arg === undefined) break;
    if (options && arg.kind === 'literal' && arg.value === '--') {
      addPart(reading, index, textOf(arg), 'option');
      options = false;
      if (profile.behindDashes !== undefined) {
        return behindDashes(reading, compiled, index + 1) ? 'elsewhere' : 'here';
      }
      continue;
    }
    const option = options ? optionAt(compiled, argv, index) : undefined;
    if (option !== undefined) {
      addOption(reading, compiled, option);
      for (const name of option.names) seen.add(name);
      if (option.inner !== undefined) {
        enter(reading, option.inner, 'module');
        return 'elsewhere';
      }
      index = option.last;
      continue;
    }
    if (subcommand) {
      if (takesSubcommand(reading, profile, index)) return 'elsewhere';
      subcommand = false;
    }
    const maybe = options && mayBeOption(arg);
    if (maybe) addMaybe(reading, compiled, index, arg);
    const inner = innerRole(rolesNow(compiled, seen), operands.length, arg);
    if (inner !== undefined) {
      giveRoles(reading, { ...rolesNow(compiled, seen), end: [] }, operands);
      enter(reading, index, inner);
      return 'elsewhere';
    }
    operands.push({ index, text: textOf(arg), many: maybe || isMany(arg) });
    if (profile.style === 'first' || profile.ends === true) options = false;
  }
  return 'here';
}

/** A word that may become an option; where none has an effect it is a file at worst. */
function addMaybe(reading: Reading, compiled: Compiled, index: number, arg: Arg): void {
  if (!compiled.harmless) {
    unknownWord(reading, index, `\`${arg.source}\` could become an option`);
  } else if (compiled.readsFiles) {
    const prefix = arg.kind === 'glob' ? arg.prefix : '';
    addPart(reading, index, { value: undefined, prefix }, 'path');
  }
}

function addOption(reading: Reading, compiled: Compiled, read: OptionRead): void {
  for (const part of read.parts) {
    // What cannot be an option with an effect, because there is none, is only a file at worst.
    const harmless = compiled.harmless && part.maybe;
    const role = harmless && compiled.readsFiles ? 'path' : part.role;
    const { index, option, value, prefix } = part;
    const effect = harmless ? undefined : part.effect;
    const why = harmless ? undefined : part.why;
    reading.parts.push({ index, role, option, value, prefix, effect, why });
  }
}

/** The operands by what options are there. */
function rolesNow(compiled: Compiled, seen: ReadonlySet<string>): Operands {
  for (const [option, operands] of compiled.operandsWith) {
    if (seen.has(option.name)) return operands;
  }
  return compiled.operands;
}

function takesSubcommand(reading: Reading, profile: Profile, index: number): boolean {
  const arg = reading.argv[index];
  const { subcommands = {} } = profile;
  if (arg?.kind === 'literal' && Object.hasOwn(subcommands, arg.value)) {
    const sub = subcommands[arg.value];
    if (sub === undefined) return false;
    addPart(reading, index, textOf(arg), 'word');
    reading.subcommands.push(index);
    if (sub.alike === true) reading.alike.push(index);
    readProfile(reading, sub, index + 1);
    return true;
  }
  if (profile.operands !== undefined && arg?.kind === 'literal') return false;
  if (arg?.kind === 'literal') reading.subcommands.push(index);
  unknownWord(reading, index, `\`${arg?.source ?? ''}\` is not a subcommand that is known`);
  restUnknown(reading, index + 1);
  return true;
}

/** Which kind of inner command line begins here, if one does. */
function innerRole(roles: Operands, count: number, arg: Arg): Inner | undefined {
  const assigned = roles.rest === 'assignment' && count >= roles.front.length;
  if (assigned && arg.kind === 'literal' && /^\w+=/.test(arg.value)) return undefined;
  const word =
    roles.front[count] ?? (assigned ? roles.end[0] : count === roles.front.length && roles.rest);
  return word === 'program' || word === 'nodebin' || word === 'module' ? word : undefined;
}

const DEPTH_MAX = 8; // `npx npx npx ...` is never meant

/** Reads the command line that begins at `index` with the profile of its program. */
function enter(reading: Reading, index: number, word: Inner): void {
  const arg = reading.argv[index];
  if (arg === undefined) return;
  reading.inner = index;
  reading.harmless = false;
  const profile = arg.kind === 'literal' ? reading.lookups[word](arg.value) : undefined;
  if (profile === undefined || reading.depth >= DEPTH_MAX) {
    reading.kind = 'exec';
    add(reading, index, word, textOf(arg));
    restUnknown(reading, index + 1);
    return;
  }
  addPart(reading, index, textOf(arg), 'program');
  const call = readWith(profile, reading.argv, index, reading.lookups, reading.depth + 1);
  reading.kind = call.kind;
  for (const part of call.parts) reading.parts.push(part);
  reading.subcommands.push(...call.subcommands);
  reading.alike.push(...call.alike);
}

function behindDashes(reading: Reading, compiled: Compiled, from: number): boolean {
  const role = compiled.profile.behindDashes;
  if (role === 'program') {
    if (from >= reading.argv.length) return false;
    enter(reading, from, 'program');
    return true;
  }
  const word: Word = role === 'word' || role === undefined ? 'passed' : role;
  for (let index = from; index < reading.argv.length; index++) {
    const arg = reading.argv[index];
    if (arg !== undefined) add(reading, index, word, textOf(arg));
  }
  return false;
}

/**
 * Roles by position. Behind a word that may be several, or none, the position is not known: such a
 * word has every role that is possible, a part for each.
 */
function giveRoles(reading: Reading, roles: Operands, operands: readonly Operand[]): void {
  const firstMany = operands.findIndex((operand) => operand.many);
  const settled = firstMany === -1 ? operands.length : firstMany;
  const tail = operands.length - roles.end.length;
  operands.forEach(({ index, text }, at) => {
    if (at < settled && (firstMany === -1 || at < roles.front.length)) {
      const word =
        at < roles.front.length
          ? roles.front[at]
          : at >= tail && at >= roles.front.length
            ? roles.end[at - Math.max(tail, roles.front.length)]
            : roles.rest;
      if (word === undefined) unknownWord(reading, index, `${shown(text)} is one word too many`);
      else add(reading, index, word, text);
      const before = operands[at - 1]?.text.value;
      // On a Mac `sed -i '' 's/a/b/'` has a suffix first.
      if (at === 1 && before === '' && roles.front[0] === 'sed') add(reading, index, 'sed', text);
      return;
    }
    const later = { ...roles, front: roles.front.slice(Math.min(at, settled)) };
    const words = wordsOf(later);
    for (const word of words) add(reading, index, word, text);
    if (words.length === 0) unknownWord(reading, index, `${shown(text)} is one word too many`);
  });
}

function add(reading: Reading, index: number, word: Word, text: Text): void {
  for (const judged of judgeWord(settled(word, text, reading.lookups), text)) {
    reading.parts.push({ index, option: undefined, ...judged });
  }
}

/** A name that is a script, unless there is a program of that name. */
function settled(word: Word, { value }: Text, { program }: Lookups): Word {
  if (word !== 'runnable') return word;
  if (value === undefined || isListed('usual-scripts', value)) return 'script';
  if (value.length > 256) return 'fallback'; // it is no name of a script
  return isProgram(value.replace(/-?\d[\d.]*$/, '')) || program(value) !== undefined
    ? 'fallback'
    : 'script';
}

/** There is one, although nothing is known of its words. */
function isProgram(name: string): boolean {
  if (isShell(name) || mayWrap(name) || hasTrait(name, 'opaque')) return true;
  return hasTrait(name, 'program') || factsOf(name)?.interpreter !== undefined;
}

function addPart(reading: Reading, index: number, text: Text, role: Part['role']): void {
  const { value, prefix } = text;
  const option = role === 'option' ? value : undefined;
  reading.parts.push({ index, role, option, value, prefix, effect: undefined, why: undefined });
}

function unknownWord(reading: Reading, index: number, why: string): void {
  const arg = reading.argv[index];
  const text = arg === undefined ? { value: undefined, prefix: '' } : textOf(arg);
  reading.parts.push({ index, role: 'word', option: undefined, ...text, effect: 'unknown', why });
}

function restUnknown(reading: Reading, from: number): void {
  for (let index = from; index < reading.argv.length; index++) {
    const source = reading.argv[index]?.source ?? '';
    unknownWord(reading, index, `what \`${source}\` does is not known`);
  }
}
