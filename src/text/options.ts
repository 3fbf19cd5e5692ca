// Options on a command line, read by the list of a program: words apart by white space, each
// `NAMES[VALUE][!EFFECT]`.
//   NAMES   `-n` or `--lines` or both with a comma: `-n,--lines`; `-NUM` is `-20`
//   VALUE   `:` it has a value (`-n5`, `-n 5`, `--lines=5`, `--lines 5`)
//           `?` it may have one, joined (`-i.bak`, `--color=auto`)
//           `>` it has one, which is always the next word: `bash -oe pipefail`
//           each with the role of the value behind it, when that matters
//   EFFECT  what the option does besides
// Nothing is guessed: what is not in the list is told as such.

/** A word: all of it, or its known beginning. */
export type WordText = {
  readonly value: string | undefined;
  readonly prefix: string;
  /** Of a word that is a glob to the shell, too. */
  readonly pattern?: string;
};

export type Option = {
  /** The longest of its names. */
  readonly name: string;
  readonly value: 'none' | 'must' | 'may' | 'next';
  readonly effect: string | undefined;
};

/**
 * `gnu`: clusters, long options may be shortened. `exact`: the same, never shortened. `getopt`: as
 * `gnu`, and an `=` behind a letter is part of its value. `shell`: as `exact`, a letter that is not
 * known is one of its own, and `+e` turns `-e` off. `go`: `-name`, `--name`, `-name=v`, no
 * clusters.
 */
export type OptionStyle = 'gnu' | 'exact' | 'getopt' | 'shell' | 'go';

export type OptionTable<O extends Option = Option> = {
  readonly style: OptionStyle;
  readonly options: ReadonlyMap<string, O>;
  /** Names of `--long` options, and of `-long` ones that have a value, the longest first. */
  readonly longs: readonly string[];
  readonly joined: readonly string[];
};

const ITEM = /^(-\?|[-+][^:?>!]*)(?:([:?>])([a-z]*))?(?:!([a-z]+))?$/;
const VALUES: Readonly<Record<string, Option['value']>> = { ':': 'must', '?': 'may', '>': 'next' };

/** The options of a list; `make` gives each what its role and its effect mean. */
export function parseOptions<O extends Option>(
  list: string,
  make: (option: Option, role: string) => O,
): ReadonlyMap<string, O> {
  const options = new Map<string, O>();
  for (const item of list.split(/\s+/)) {
    if (item === '') continue;
    const found = ITEM.exec(item);
    if (found === null) throw new Error(`not an option of a profile: ${item}`);
    const [, names = '', mark = '', role, effect] = found;
    const all = names.split(',');
    const name = all.reduce((longest, one) => (one.length > longest.length ? one : longest));
    const option = make({ name, value: VALUES[mark] ?? 'none', effect }, role || 'word');
    for (const one of all) {
      if (!/^(-[^-]|--.|\+)/.test(one)) throw new Error(`not the name of an option: ${item}`);
      // An option that is listed twice is the first of them: shared lists stand behind own ones.
      if (!options.has(one)) options.set(one, option);
    }
  }
  return options;
}

export function tableOf<O extends Option>(
  options: ReadonlyMap<string, O>,
  style: OptionStyle,
): OptionTable<O> {
  return {
    style,
    options,
    longs: [...options.keys()].filter((name) => name.startsWith('--')),
    joined: [...options.entries()]
      .filter(([name, { value }]) => /^-[^-]./.test(name) && value !== 'none')
      .map(([name]) => name)
      .sort((a, b) => b.length - a.length),
  };
}

const tables = new Map<string, OptionTable>();

/** The table of a list without roles; made when it is asked for, once. */
export function optionTable(list: string, style: OptionStyle = 'getopt'): OptionTable {
  const key = `${style} ${list}`;
  const table = tables.get(key) ?? tableOf(parseOptions(list, same), style);
  tables.set(key, table);
  return table;
}

function same(option: Option): Option {
  return option;
}

/** One option in a word. */
export type Found<O extends Option = Option> =
  /** Several: the word is short for all of them. None: it is not known. */
  | {
      readonly kind: 'options';
      readonly options: readonly O[];
      readonly joined: WordText | undefined;
      /** What is left of the word, from this option on, when it is not known. */
      readonly text: WordText;
    }
  /** `head -20`. */
  | { readonly kind: 'number'; readonly text: WordText }
  /** The rest of the word is only known at run time, and could be any option. */
  | { readonly kind: 'open'; readonly text: WordText };

/** Undefined: the word is no option. */
export function optionsIn<O extends Option>(
  table: OptionTable<O>,
  text: WordText,
): readonly Found<O>[] | undefined {
  const { options, style } = table;
  const word = text.prefix;
  const plus = word.startsWith('+') ? options.get('+') : undefined;
  if (plus !== undefined) return [known(plus, behind(text, 1), text)];
  if (!word.startsWith('-') || text.value === '-') return undefined;
  const lead = text.value === undefined ? undefined : /^(-[-+]?)\d+$/.exec(word)?.[1];
  if (lead !== undefined && options.has(`${lead}NUM`)) return [{ kind: 'number', text }];
  if (style === 'go' || word.startsWith('--')) return [long(table, text)];
  return cluster(table, text);
}

function known<O extends Option>(
  option: O,
  joined: WordText | undefined,
  text: WordText,
): Found<O> {
  return { kind: 'options', options: [option], joined, text };
}

function long<O extends Option>(table: OptionTable<O>, text: WordText): Found<O> {
  const equals = text.prefix.indexOf('=');
  if (equals === -1 && text.value === undefined) return { kind: 'open', text };
  const name = equals === -1 ? text.prefix : text.prefix.slice(0, equals);
  const joined = equals === -1 ? undefined : behind(text, equals + 1);
  return { kind: 'options', options: named(table, name), joined, text };
}

/** The options that a long name may stand for. */
export function named<O extends Option>(
  { options, longs, style }: OptionTable<O>,
  name: string,
): readonly O[] {
  if (style === 'go') {
    const bare = name.replace(/^--?/, '');
    return [options.get(`-${bare}`) ?? options.get(`--${bare}`)].filter(isThere);
  }
  const exact = options.get(name);
  if (exact !== undefined) return [exact];
  if (style === 'exact' || style === 'shell' || name === '--') return [];
  const begun = longs.filter((one) => one.startsWith(name)).map((one) => options.get(one));
  return [...new Set(begun)].filter(isThere);
}

function isThere<T>(value: T | undefined): value is T {
  return value !== undefined;
}

const CLUSTER_MAX = 32; // options in one word

function cluster<O extends Option>(table: OptionTable<O>, text: WordText): readonly Found<O>[] {
  const { options, joined, style } = table;
  const word = text.prefix;
  const equals = style === 'getopt' || style === 'shell' ? -1 : word.indexOf('=');
  const whole = options.get(equals === -1 ? word : word.slice(0, equals));
  if (whole !== undefined && (equals !== -1 || text.value !== undefined) && word.length > 2) {
    return [known(whole, equals === -1 ? undefined : behind(text, equals + 1), text)];
  }
  const begun = joined.find((name) => word.startsWith(name)) ?? word;
  const long = word.length > begun.length ? options.get(begun) : undefined;
  if (long !== undefined) return [known(long, behind(text, begun.length), text)];
  const found: Found<O>[] = [];
  for (let at = 1; at < word.length; at++) {
    const option = at > CLUSTER_MAX ? undefined : options.get(`-${word[at]}`);
    if (option === undefined) {
      const rest = `-${word.slice(at)}`;
      const unknown = at === 1 ? text : { value: rest, prefix: rest };
      found.push({ kind: 'options', options: [], joined: undefined, text: unknown });
      if (style === 'shell' && at <= CLUSTER_MAX) continue;
      return found;
    }
    if (option.value === 'none' || option.value === 'next') {
      found.push(known(option, undefined, text));
      continue;
    }
    const rest = behind(text, style !== 'getopt' && word[at + 1] === '=' ? at + 2 : at + 1);
    const open = rest.prefix === '' && (option.value === 'must' || rest.value !== undefined);
    if (open && text.value === undefined) break;
    return [...found, known(option, open ? undefined : rest, text)];
  }
  return text.value === undefined ? [...found, { kind: 'open', text }] : found;
}

function behind(text: WordText, at: number): WordText {
  const prefix = text.prefix.slice(at);
  // What is in front is the name of an option, in which nothing is escaped.
  if (text.pattern !== undefined) {
    return { value: undefined, prefix, pattern: text.pattern.slice(at) };
  }
  return { value: text.value === undefined ? undefined : prefix, prefix };
}

/** One option of a command line. */
type Use = {
  /** Undefined: it is not known, could be several, or has a value where it takes none. */
  readonly option: Option | undefined;
  /** The word that it is in. */
  readonly at: number;
  readonly joined: WordText | undefined;
  /** The word that is its value. */
  readonly next: number | undefined;
  /** `+e`. */
  readonly off: boolean;
};

export type OptionsRead = {
  readonly uses: readonly Use[];
  /** Where the operands begin. */
  readonly at: number;
};

/**
 * The options from word `from` on; `anywhere`: also behind operands. A word that is only known at
 * run time, all of it, is taken for an operand.
 */
export function readOptions<W>(
  words: readonly W[],
  table: OptionTable,
  seen: (word: W) => WordText,
  { from = 0, anywhere = false }: { readonly from?: number; readonly anywhere?: boolean } = {},
): OptionsRead {
  const uses: Use[] = [];
  let at = from;
  let operands: number | undefined;
  for (; at < words.length; at += 1) {
    const word = words[at];
    if (word === undefined) break;
    const written = seen(word);
    if (written.value === '--') {
      at += 1;
      break;
    }
    // Options that are turned off, none of them: `bash + -c 'ls'`.
    if (table.style === 'shell' && written.value === '+') continue;
    const off = table.style === 'shell' && /^\+./s.test(written.prefix);
    const found = optionsIn(table, off ? turned(written) : written);
    if (found === undefined) {
      if (!anywhere) break;
      operands ??= at;
      continue;
    }
    const own = at;
    for (const one of found) {
      if (one.kind === 'number') continue;
      const sure = one.kind === 'options' && one.options.length === 1 ? one : undefined;
      const [first, joined] = [sure?.options[0], sure?.joined];
      const option = first?.value === 'none' && joined !== undefined ? undefined : first;
      const takes = option?.value === 'next' || (option?.value === 'must' && joined === undefined);
      if (takes) at += 1;
      uses.push({ option, at: own, joined, next: takes ? at : undefined, off });
    }
  }
  return { uses, at: operands ?? Math.min(at, words.length) };
}

function turned({ value, prefix }: WordText): WordText {
  const sign = (text: string): string => `-${text.slice(1)}`;
  return { value: value === undefined ? undefined : sign(value), prefix: sign(prefix) };
}
