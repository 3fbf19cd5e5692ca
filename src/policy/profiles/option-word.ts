// Reads one word that is an option, or several in a cluster, with the word behind it when that is
// its value. Shortened, joined and clustered forms end up at the same option.

import { named, optionsIn } from '../../text/options.ts';
import { isMany, textOf } from '../analyse/args.ts';
import type { Effect, Part } from '../profile.ts';
import type { Arg } from '../unit.ts';
import { DOES, shown, type Text } from './judged.ts';
import { type Compiled, EFFECTS, type Option } from './options.ts';
import { judgeWord } from './roles.ts';

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
  const found = isNumber(compiled, text) ? [{ kind: 'number', text } as const] : undefined;
  const all = found ?? optionsIn(compiled.table, text);
  if (all === undefined) return undefined;
  const read: OptionRead = { parts: [], names: [], last: index, inner: undefined };
  const place = { compiled, argv, index };
  for (const one of all) {
    if (one.kind === 'number') addFlag(read, index, text.prefix, text, undefined);
    else if (one.kind === 'open') {
      addUnknown(read, index, text, true, `${shown(text)} could become any option`);
    } else {
      // Of several the program refuses it, unless its list is not ours: the worst it could be.
      const option = one.options.find(hasEffect) ?? one.options[0];
      addOption(read, place, option, one.joined, one.text);
      if (one.options.length > 1) {
        addUnknown(read, index, text, false, `${shown(text)} could be several options`);
      }
    }
  }
  if (text.value === undefined && isMany(arg) && arg.kind === 'unknown') {
    addUnknown(read, index, text, true, `${shown(text)} could become several words`);
  }
  return read;
}

/** `-20` where `-n 20` is a number, too. */
function isNumber({ table: { options } }: Compiled, text: Text): boolean {
  if (text.value === undefined || !/^-\d+$/.test(text.value)) return false;
  return options.get('-n')?.word === 'int' && !options.has(text.value.slice(0, 2));
}

function hasEffect({ effect, value, word }: Option): boolean {
  return effect !== undefined || (value !== 'none' && Object.hasOwn(DOES, word));
}

/** Whether a word would have an effect if it were an option. */
function looksEffective({ table }: Compiled, word: string): boolean {
  if (word.startsWith('--')) return named(table, word.split('=', 1)[0] ?? '').some(hasEffect);
  const option = /^-[^-]/.test(word) ? table.options.get(word.slice(0, 2)) : undefined;
  return option !== undefined && hasEffect(option);
}

/** With the value that is joined to it, or else with the next word, when it has one. */
function addOption(
  read: OptionRead,
  place: Place,
  option: Option | undefined,
  joined: Text | undefined,
  text: Text,
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
  } else if (compiled.table.style === 'gnu' || !/^\w*$/.test(joined.value ?? '-')) {
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
  const gnu = compiled.table.style === 'gnu';
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
