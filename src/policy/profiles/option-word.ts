// Reads one word that is an option, or several in a cluster, with the word behind it when that is
// its value. Shortened, joined and clustered forms end up at the same option.

import type { Effect, Part } from '../profile.ts';
import type { Arg } from '../unit.ts';
import { type Compiled, EFFECTS, type Option } from './options.ts';
import { judgeWord } from './roles.ts';
import { isMany, textOf } from './word.ts';
import { DOES, shown, type Text } from './word-parts.ts';

/** `maybe`: it is unknown only because the word could become an option that has an effect. */
type OptionPart = Part & { readonly maybe: boolean };

export type OptionRead = {
  readonly parts: OptionPart[];
  /** Of the options that are there, by their longest name. */
  readonly names: string[];
  /** The last word that it took. */
  last: number;
  /** Where a command line of its own begins: `python -m` has it behind itself. */
  inner: number | undefined;
};

type Place = { readonly compiled: Compiled; readonly argv: readonly Arg[]; readonly index: number };

/** Undefined when the word is no option. */
export function optionAt(
  compiled: Compiled,
  argv: readonly Arg[],
  index: number,
): OptionRead | undefined {
  const arg = argv[index];
  if (arg === undefined) return undefined;
  const text = textOf(arg);
  const seen = text.prefix;
  const plus = seen.startsWith('+') && compiled.options.has('+');
  if (!plus && (!seen.startsWith('-') || text.value === '-')) return undefined;
  const read: OptionRead = { parts: [], names: [], last: index, inner: undefined };
  const place = { compiled, argv, index };
  if (plus) addOption(read, place, compiled.options.get('+'), behind(text, 1));
  else if (isNumber(compiled, text)) addFlag(read, index, seen, text, undefined);
  else if (compiled.profile.style === 'go') readLong(read, place, text, goOption);
  else if (seen.startsWith('--')) readLong(read, place, text, longOption);
  else readCluster(read, place, text);
  if (text.value === undefined && isMany(arg) && arg.kind === 'unknown') {
    addUnknown(read, index, text, true, `${shown(text)} could become several words`);
  }
  return read;
}

/** `head -20`, `git log -5`. */
function isNumber(compiled: Compiled, text: Text): boolean {
  if (text.value === undefined || !/^-\d+$/.test(text.value)) return false;
  if (compiled.options.has('-NUM')) return true;
  return (
    compiled.options.get('-n')?.word === 'int' && !compiled.options.has(text.value.slice(0, 2))
  );
}

type Found = readonly Option[];

function longOption({ options, longs, profile }: Compiled, name: string): Found {
  const exact = options.get(name);
  if (exact !== undefined) return [exact];
  if ((profile.style ?? 'gnu') !== 'gnu' || name === '--') return [];
  const found = longs.filter((long) => long.startsWith(name)).map((long) => options.get(long));
  return [...new Set(found)].filter((option) => option !== undefined);
}

function goOption({ options }: Compiled, name: string): Found {
  const bare = name.replace(/^--?/, '');
  const option = options.get(`-${bare}`) ?? options.get(`--${bare}`);
  return option === undefined ? [] : [option];
}

function readLong(
  read: OptionRead,
  place: Place,
  text: Text,
  find: (compiled: Compiled, name: string) => Found,
): void {
  const equals = text.prefix.indexOf('=');
  if (equals === -1 && text.value === undefined) {
    addUnknown(read, place.index, text, true, `${shown(text)} could become any option`);
    return;
  }
  const name = equals === -1 ? text.prefix : text.prefix.slice(0, equals);
  const found = find(place.compiled, name);
  // Of several the program refuses it, unless its list is not ours: the worst that it could be.
  const option = found.find(hasEffect) ?? found[0];
  addOption(read, place, option, equals === -1 ? undefined : behind(text, equals + 1), text);
  if (found.length > 1) {
    addUnknown(read, place.index, text, false, `${shown(text)} could be several options`);
  }
}

function hasEffect({ effect, value, word }: Option): boolean {
  return effect !== undefined || (value !== 'none' && Object.hasOwn(DOES, word));
}

/** Whether a word would have an effect if it were an option. */
function looksEffective(compiled: Compiled, word: string): boolean {
  if (word.startsWith('--')) {
    return longOption(compiled, word.split('=', 1)[0] ?? '').some(hasEffect);
  }
  const option = /^-[^-]/.test(word) ? compiled.options.get(word.slice(0, 2)) : undefined;
  return option !== undefined && hasEffect(option);
}

const CLUSTER_MAX = 32; // options in one word

function readCluster(read: OptionRead, place: Place, text: Text): void {
  const { options, joined } = place.compiled;
  const word = text.prefix;
  const equals = word.indexOf('=');
  const named = options.get(equals === -1 ? word : word.slice(0, equals));
  if (named !== undefined && (equals !== -1 || text.value !== undefined) && word.length > 2) {
    addOption(read, place, named, equals === -1 ? undefined : behind(text, equals + 1), text);
    return;
  }
  const long = joined.find((name) => word.startsWith(name));
  if (long !== undefined && word.length > long.length) {
    addOption(read, place, options.get(long), behind(text, long.length), text);
    return;
  }
  for (let at = 1; at < word.length; at++) {
    const option = at > CLUSTER_MAX ? undefined : options.get(`-${word[at]}`);
    if (option === undefined) {
      const rest = at === 1 ? text : { value: `-${word.slice(at)}`, prefix: `-${word.slice(at)}` };
      addOption(read, place, undefined, undefined, rest);
      return;
    }
    if (option.value === 'none') {
      addOption(read, place, option, undefined, text);
      continue;
    }
    const rest = behind(text, word[at + 1] === '=' ? at + 2 : at + 1);
    const open = rest.prefix === '' && (option.value === 'must' || rest.value !== undefined);
    if (open && text.value === undefined) break;
    addOption(read, place, option, open ? undefined : rest, text);
    return;
  }
  if (text.value === undefined) {
    addUnknown(read, place.index, text, true, `${shown(text)} could become any option`);
  }
}

/** With the value that is joined to it, or else with the next word, when it has one. */
function addOption(
  read: OptionRead,
  place: Place,
  option: Option | undefined,
  joined: Text | undefined,
  text: Text = { value: '', prefix: '' },
): void {
  const { compiled, index } = place;
  if (option === undefined) {
    addUnknown(read, index, text, false, `${shown(text)} is not an option that is known`);
    return;
  }
  read.names.push(option.name);
  const effect = option.effect ?? (joined === undefined ? valueEffect(option) : undefined);
  addFlag(read, index, option.name, { value: option.name, prefix: option.name }, effect);
  if (joined === undefined) {
    if (option.value === 'must') addNext(read, place, option);
    return;
  }
  if (option.value !== 'none') {
    addValue(read, index, option, joined);
  } else if ((compiled.profile.style ?? 'gnu') === 'gnu' || !/^\w*$/.test(joined.value ?? '-')) {
    addUnknown(read, index, joined, false, `\`${option.name}\` is not known to have a value`);
  }
}

function addNext(read: OptionRead, place: Place, option: Option): void {
  const { compiled, argv } = place;
  const index = place.index + 1;
  const next = argv[index];
  if (next === undefined) return;
  read.last = index;
  const text = textOf(next);
  if (option.word === 'module') {
    read.inner = index;
    return;
  }
  addValue(read, index, option, text);
  if (isMany(next)) {
    addUnknown(read, index, text, true, `${shown(text)} could become several words, or none`);
  }
  // Many parsers do not take what looks like an option for a value; those that do are believed,
  // unless too much would depend on it.
  const gnu = (compiled.profile.style ?? 'gnu') === 'gnu';
  if (gnu ? looksEffective(compiled, text.prefix) : /^-[^\d]/.test(text.prefix)) {
    addUnknown(read, index, text, false, `${shown(text)} could be an option of its own`);
  } else if (!gnu && text.value === undefined && text.prefix === '') {
    addUnknown(read, index, text, true, `${shown(text)} could become an option`);
  }
}

function addValue(read: OptionRead, index: number, option: Option, text: Text): void {
  for (const judged of judgeWord(option.word, text)) {
    read.parts.push({ index, option: option.name, ...judged, maybe: false });
  }
}

function addFlag(
  read: OptionRead,
  index: number,
  name: string,
  text: Text,
  effect: Effect | undefined,
): void {
  const why = effect === undefined ? undefined : `\`${name}\` ${DOES[effect]}`;
  read.parts.push({ index, role: 'option', option: name, ...text, effect, why, maybe: false });
}

/** What its value will do, it does: a rule may cover the two words in different ways. */
function valueEffect(option: Option): Effect | undefined {
  if (option.value !== 'must') return undefined;
  return EFFECTS.find((effect) => effect === option.word);
}

function addUnknown(
  read: OptionRead,
  index: number,
  text: Text,
  maybe: boolean,
  why: string,
): void {
  const option = undefined;
  read.parts.push({ index, role: 'option', option, ...text, effect: 'unknown', why, maybe });
}

function behind(text: Text, at: number): Text {
  const prefix = text.prefix.slice(at);
  // What is in front is the name of an option, in which nothing is escaped.
  if (text.pattern !== undefined) {
    return { value: undefined, prefix, pattern: text.pattern.slice(at) };
  }
  return { value: text.value === undefined ? undefined : prefix, prefix };
}
