// Options of programs that run other programs, as getopt reads them: in front of the operands, in
// clusters, with values joined or apart, long ones shortened. What is not known is not guessed.

import type { Arg } from '../unit.ts';

export type Spec = {
  /** Short options without a value, and those with one. */
  readonly flags?: string;
  readonly values?: string;
  /** With a value only when it is joined: `-i{}`. */
  readonly optional?: string;
  /** Long ones: names, `=` behind those with a value, `[=]` where it may be joined. */
  readonly long?: string;
  /** `-15`, as `nice` takes it. */
  readonly digits?: boolean;
  /** How many words stand between the options and the command. */
  readonly operands?: number;
};

export type Options = {
  /** By the letter or the long name; a flag has an empty one. */
  readonly found: ReadonlyMap<string, Arg>;
  /** Where the operands begin. */
  readonly at: number;
};

/** `undefined`: there is one that is not known. */
export function readOptions(argv: readonly Arg[], spec: Spec, from = 1): Options | undefined {
  const found = new Map<string, Arg>();
  let at = from;
  for (; at < argv.length; at += 1) {
    const arg = argv[at];
    if (arg === undefined || arg.kind !== 'literal') break;
    const text = arg.value;
    if (text === '--') {
      at += 1;
      break;
    }
    if (text === '-' || !text.startsWith('-')) break;
    if (spec.digits === true && /^-[-+]?\d+$/.test(text)) continue;
    const used = text.startsWith('--')
      ? longOption(text, arg, argv[at + 1], spec, found)
      : cluster(text, arg, argv[at + 1], spec, found);
    if (used === undefined) return undefined;
    at += used;
  }
  const next = argv[at];
  // It may turn out to be an option, or several words.
  if (next !== undefined && next.kind !== 'literal') {
    const sure = next.kind === 'unknown' && next.one && !/^(?:$|-)/.test(next.prefix);
    if (!sure && argv[at - 1]?.source !== '--') return undefined;
  }
  return { found, at };
}

/** How many words of value it took: none or one. */
function cluster(
  text: string,
  arg: Arg,
  next: Arg | undefined,
  spec: Spec,
  found: Map<string, Arg>,
): 0 | 1 | undefined {
  for (let at = 1; at < text.length; at += 1) {
    const letter = text[at] ?? '';
    const rest = text.slice(at + 1);
    if (spec.flags?.includes(letter) === true) found.set(letter, literal('', arg));
    else if (spec.optional?.includes(letter) === true) {
      found.set(letter, literal(rest, arg));
      return 0;
    } else if (spec.values?.includes(letter) === true) {
      const value = rest === '' ? next : literal(rest, arg);
      if (value === undefined || (value.kind !== 'literal' && !isOne(value))) return undefined;
      found.set(letter, value);
      return rest === '' ? 1 : 0;
    } else return undefined;
  }
  return 0;
}

function isOne(arg: Arg): boolean {
  return arg.kind === 'unknown' && arg.one;
}

function longOption(
  text: string,
  arg: Arg,
  next: Arg | undefined,
  spec: Spec,
  found: Map<string, Arg>,
): 0 | 1 | undefined {
  const [, name = '', joined] = /^--([^=]*)(?:=(.*))?$/s.exec(text) ?? [];
  const known = (spec.long ?? '')
    .split(' ')
    .filter((one) => one.replace(/\W+$/, '').startsWith(name));
  const exact = known.find((one) => one.replace(/\W+$/, '') === name);
  const option = exact ?? (known.length === 1 ? known[0] : undefined);
  if (option === undefined || name === '') return undefined;
  const whole = option.replace(/\W+$/, '');
  if (!option.endsWith('=') && !option.endsWith('[=]')) {
    if (joined !== undefined) return undefined;
    found.set(whole, literal('', arg));
    return 0;
  }
  if (joined !== undefined || option.endsWith('[=]')) {
    found.set(whole, literal(joined ?? '', arg));
    return 0;
  }
  if (next === undefined || (next.kind !== 'literal' && !isOne(next))) return undefined;
  found.set(whole, next);
  return 1;
}

function literal(value: string, from: Arg): Arg {
  return { kind: 'literal', value, source: from.source, span: from.span };
}
