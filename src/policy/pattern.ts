// The pattern of a rule: words as in a shell, with holes. `*` at the end is any number of inert
// arguments, elsewhere one; inside a word it is any text. `<int>` and its like are typed holes,
// `{a,b}` alternatives, `[--flag]` words that may be missing. Quotes make anything literal.

import { literalRegex } from '../text/regex.ts';
import { once } from './paths.ts';

export type HoleType = 'path' | 'int' | 'rev' | 'range' | 'word' | 'url';

type Segment =
  | { readonly kind: 'text'; readonly value: string }
  | { readonly kind: 'any' }
  | { readonly kind: 'hole'; readonly type: HoleType; readonly host: string | undefined };

export type WordPattern =
  | { readonly kind: 'literal'; readonly value: string }
  /** Text with holes in it; `lead` is what stands in front of the first. */
  | {
      readonly kind: 'partial';
      readonly lead: string;
      readonly regex: RegExp;
      readonly segments: readonly Segment[];
    }
  | { readonly kind: 'one' }
  | { readonly kind: 'rest' };

export type Pattern = { readonly source: string; readonly words: readonly WordPattern[] };

export class PatternError extends Error {}

/** `{a,b}` and `[x]` multiply: a person cannot review a pattern with more variants. */
const VARIANTS_MAX = 64;

/** In one word: matching takes time to the power of it. */
const HOLES_MAX = 3;

/** Every variant of the pattern. Throws `PatternError` with one sentence. */
export function compilePattern(source: string): readonly Pattern[] {
  const plain = plainWords(source);
  if (plain !== undefined) return [{ source, words: plain.map(restAtEnd) }];
  const tokens = tokensOf(source);
  if (tokens.length === 0) throw new PatternError('the pattern is empty');
  const variants = allChoices(tokens);
  return variants.map((words) => ({ source, words: words.map(wordPattern).map(restAtEnd) }));
}

/**
 * The words of a pattern with nothing but stars in it, as most are: a hook compiles all rules
 * before every command, and looking at each character takes seven times as long.
 */
function plainWords(source: string): readonly WordPattern[] | undefined {
  if (/["'\\{[<]|\*[^*\s]|[^*\s]\*/.test(source)) return undefined;
  const words = source.match(/\S+/g);
  return words?.map((word) =>
    word.startsWith('*') ? { kind: 'one' } : { kind: 'literal', value: word },
  );
}

/** A character and whether it was quoted. */
type Char = { readonly text: string; readonly quoted: boolean };

type Token =
  | { readonly kind: 'word'; readonly chars: readonly Char[] }
  | { readonly kind: 'optional'; readonly words: readonly Token[] };

function tokensOf(source: string): Token[] {
  const words = wordsOf(source);
  const tokens: Token[] = [];
  let optional: Token[] | undefined;
  for (const chars of words) {
    let word = chars;
    // `[` alone is the program, `[x` opens; both are literal when quoted.
    if (optional === undefined && isBare(word[0], '[') && word.length > 1) {
      optional = [];
      word = word.slice(1);
    }
    if (optional === undefined) {
      tokens.push({ kind: 'word', chars: word });
    } else if (isBare(word.at(-1), ']')) {
      optional.push({ kind: 'word', chars: word.slice(0, -1) });
      tokens.push({ kind: 'optional', words: optional });
      optional = undefined;
    } else optional.push({ kind: 'word', chars: word });
  }
  if (optional !== undefined) throw new PatternError('the [ of an optional word is never closed');
  return tokens;
}

function isBare(char: Char | undefined, text: string): boolean {
  return char !== undefined && !char.quoted && char.text === text;
}

function wordsOf(source: string): Char[][] {
  const words: Char[][] = [];
  let word: Char[] | undefined;
  let quote: string | undefined;
  for (let at = 0; at < source.length; at += 1) {
    const text = source.charAt(at);
    if (quote === undefined && /\s/.test(text)) {
      if (word !== undefined) words.push(word);
      word = undefined;
      continue;
    }
    word ??= [];
    if (quote === undefined && (text === "'" || text === '"')) quote = text;
    else if (text === quote) quote = undefined;
    else if (text === '\\' && quote !== "'" && at + 1 < source.length) {
      at += 1;
      const next = source.charAt(at);
      if (quote === '"' && !'"\\$`'.includes(next)) word.push({ text: '\\', quoted: true });
      word.push({ text: next, quoted: true });
    } else word.push({ text, quoted: quote !== undefined });
  }
  if (quote !== undefined) throw new PatternError(`the quote ${quote} is never closed`);
  if (word !== undefined) words.push(word);
  return words;
}

/** Every way to choose for each of the tokens what stands in its place. */
function allChoices(tokens: readonly Token[]): readonly Token[][] {
  let variants: readonly Token[][] = [[]];
  for (const token of tokens) {
    const choices = choicesOf(token);
    variants = variants.flatMap((before) => choices.map((choice) => [...before, ...choice]));
    if (variants.length > VARIANTS_MAX) throw tooMany();
  }
  return variants;
}

function tooMany(): PatternError {
  return new PatternError(`it has more than ${VARIANTS_MAX} variants`);
}

function choicesOf(token: Token): readonly Token[][] {
  if (token.kind === 'optional') return [[], ...allChoices(token.words)];
  return alternatives(token.chars).map((chars) => [{ kind: 'word', chars }]);
}

function alternatives(chars: readonly Char[]): readonly (readonly Char[])[] {
  const open = chars.findIndex((char) => isBare(char, '{'));
  if (open < 0) return [chars];
  const close = chars.findIndex((char, at) => at > open && isBare(char, '}'));
  const comma = chars.findIndex((char, at) => at > open && at < close && isBare(char, ','));
  if (close < 0 || comma < 0) return [chars];
  const [before, behind] = [chars.slice(0, open), chars.slice(close + 1)];
  const parts: Char[][] = [[]];
  for (const char of chars.slice(open + 1, close)) {
    if (isBare(char, ',')) parts.push([]);
    else parts.at(-1)?.push(char);
  }
  if (parts.length > VARIANTS_MAX) throw tooMany();
  return parts.flatMap((part) => alternatives([...before, ...part, ...behind]));
}

const HOLE = /^<(path|int|rev|range|word|url)(?::([^<>\s]+))?>/;
const HOLE_LIKE = /^<[A-Za-z][^<>\s\0]*>?/;
const KNOWN = '<path>, <int>, <rev>, <range>, <word>, <url> and <url:host>';
const HOST = /^(?:[A-Za-z0-9.-]+|\[[0-9A-Fa-f:.]+\])$/;

const OPERATORS = new Set(['&&', '||', '|', '|&', ';', '&', '>', '>>', '<', '2>&1', '2>', '&>']);

/** A word that stands between commands or in front of a file: no command has it as a word. */
export function operatorOf(source: string): string | undefined {
  const bare = wordsOf(source).flatMap((word) =>
    word.some(({ quoted }) => quoted) ? [] : [word.map(({ text }) => text).join('')],
  );
  return bare.find((word) => OPERATORS.has(word) || /^\d?(?:>|<(?![A-Za-z]))/.test(word));
}

function wordPattern(token: Token): WordPattern {
  const segments = segmentsOf(token.kind === 'word' ? token.chars : []);
  if (segments.every(({ kind }) => kind === 'text')) {
    return { kind: 'literal', value: segments.map(textOf).join('') };
  }
  if (segments.length === 1 && segments[0]?.kind === 'any') return { kind: 'one' };
  if (segments.filter(({ kind }) => kind !== 'text').length > HOLES_MAX) {
    throw new PatternError(`a word has more than ${HOLES_MAX} holes`);
  }
  const [first] = segments;
  const lead = first?.kind === 'text' ? first.value : '';
  return { kind: 'partial', lead, regex: regexOf(segments), segments };
}

function textOf(segment: Segment): string {
  return segment.kind === 'text' ? segment.value : '';
}

function segmentsOf(chars: readonly Char[]): Segment[] {
  const segments: Segment[] = [];
  const text = (value: string): void => {
    const last = segments.at(-1);
    if (last?.kind === 'text')
      segments[segments.length - 1] = { ...last, value: last.value + value };
    else segments.push({ kind: 'text', value });
  };
  for (let at = 0; at < chars.length; at += 1) {
    const char = chars[at];
    if (char === undefined) break;
    if (isBare(char, '*')) {
      if (segments.at(-1)?.kind !== 'any') segments.push({ kind: 'any' });
      continue;
    }
    const hole = isBare(char, '<') ? holeAt(chars, at) : undefined;
    if (hole === undefined) text(char.text);
    else {
      segments.push(hole.segment);
      at += hole.length - 1;
    }
  }
  return segments;
}

function holeAt(chars: readonly Char[], at: number) {
  const bare = chars.slice(at).map(({ text, quoted }) => (quoted ? '\0' : text));
  const match = HOLE.exec(bare.join(''));
  if (match === null) {
    const [like] = HOLE_LIKE.exec(bare.join('')) ?? [];
    if (like === undefined) return undefined; // an operator, which is a linter's business
    throw new PatternError(`${like} is no hole; known are ${KNOWN}, and quotes make it a word`);
  }
  const [whole, type, host] = match;
  if (host !== undefined && type !== 'url') {
    throw new PatternError(`<${type}> takes no host; only <url:host> does`);
  }
  if (host !== undefined && !HOST.test(host)) {
    throw new PatternError(`${whole} has to have a host alone, as in <url:example.org>`);
  }
  return {
    segment: { kind: 'hole', type: type as HoleType, host } satisfies Segment,
    length: whole.length,
  };
}

const REV = '[A-Za-z0-9_@][A-Za-z0-9._/@^~{}+-]*';

/** None of them begins with a dash: a hole is never an option. */
const HOLES: Readonly<Record<HoleType, string>> = {
  path: '[^-\\0][^\\0]*',
  int: '\\d{1,18}',
  rev: REV,
  range: `(?:\\d+(?:,\\d+)?|${REV}\\.\\.\\.?(?:${REV})?)`,
  word: '[^-\\s][^\\s]*',
  url: 'https?://[^\\s]+',
};

function regexOf(segments: readonly Segment[]): RegExp {
  const parts = segments.map((segment, at) => {
    if (segment.kind === 'text') return literalRegex(segment.value);
    // At the start of a word, a star is no option either.
    if (segment.kind === 'any') return at === 0 ? '(?!-)[\\s\\S]*' : '[\\s\\S]*';
    return HOLES[segment.type];
  });
  // Of `*a*` the first `a` is as good as any; long words are not looked through again and again.
  segments.forEach(({ kind }, at) => {
    if (kind !== 'text' || segments[at - 1]?.kind !== 'any' || segments[at + 1]?.kind !== 'any') {
      return;
    }
    parts[at] = `${at === 1 ? '(?!-)' : ''}${once(`[\\s\\S]*?${parts[at]}`)}`;
    parts[at - 1] = '';
  });
  return new RegExp(`^${parts.join('')}$`);
}

/** With several holes, a long word would be looked through again and again. */
export function isTooLong({ segments }: WordPattern & { kind: 'partial' }, word: string): boolean {
  const holes = segments.filter(({ kind }) => kind !== 'text');
  return holes.length > 1 && word.length > LONG_MIN;
}

const LONG_MIN = 4_096;

function restAtEnd(word: WordPattern, at: number, all: readonly WordPattern[]): WordPattern {
  return word.kind === 'one' && at === all.length - 1 && at > 0 ? { kind: 'rest' } : word;
}

/** The word itself, if nothing in it is left open; else nothing. */
export function literalText(word: WordPattern | undefined): string {
  return word?.kind === 'literal' ? word.value : '';
}

/** What a word says apart from its holes. */
export function fixedText(word: WordPattern): string {
  return word.kind === 'partial' ? word.segments.map(textOf).join('') : literalText(word);
}

/** A word so that a pattern takes it literally. */
export function quotedWord(word: string): string {
  if (/^[A-Za-z0-9_@%+:.,/=~^-]+$/.test(word)) return word;
  return `'${word.replaceAll("'", "'\\''")}'`;
}
