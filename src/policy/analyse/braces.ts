// `{a,b}` and `{1..9}` in the parts of a word, by the rules of bash (braces.c): what is quoted or
// replaced is never a brace, a comma or a number. Bounded, as every pair multiplies.

import type { Atom } from './atoms.ts';

const WORDS_MAX = 512;
const STEPS_MAX = 20_000;

/** A character that is not quoted, or something that is not looked into. */
type Token = string | Atom;

/** All words that braces made in one analysis. */
type Braced = { braced: number };

const BRACED_MAX = 4_096;

/** `undefined`: too many, or something whose order of characters is not obvious (`{a..Z}`). */
export function expandAtoms(
  atoms: readonly Atom[],
  all: Braced,
): readonly (readonly Atom[])[] | undefined {
  if (atoms.some(hidesBraces)) return undefined;
  // `"${x-"'"}'{a,b}"`: what stands in quotes may be outside of them to it.
  if (atoms.some(hasOwnQuotes) && atoms.some(isBraceText)) return undefined;
  if (!hasBraces(atoms)) return [atoms];
  if (all.braced > BRACED_MAX || atoms.some(hasOwnBraces)) return undefined;
  const tokens: Token[] = atoms.flatMap((atom): Token[] =>
    atom.kind === 'text' && !atom.quoted ? [...atom.value] : [atom],
  );
  const budget = { steps: 0 };
  const words = expand(tokens, budget);
  all.braced += words?.length ?? 0;
  // Braces come first, in the text: `{$,x}HOME` has `$HOME` in it, and bash takes the second `$` of
  // `$${a,b}` for the start of an expansion, but only here.
  const odd = atoms.some((atom) =>
    atom.kind === 'node'
      ? isPid(atom)
      : atom.kind === 'text' && !atom.quoted && atom.value.includes('$'),
  );
  return odd ? undefined : words?.map((word) => joined(word).map(renamed));
}

/**
 * Bash looks for braces before it looks into `"${x-"..."}"`, where it takes the second quote for
 * the end of the first one. It does see `"$(...)"` as a whole.
 */
function hidesBraces(atom: Atom): boolean {
  if (atom.kind !== 'node' || !/(?<!(?<!\\)\$)\{/.test(atom.node.text)) return false;
  const { text } = atom.node;
  // The parentheses of `case` mislead it as well.
  if (/\besac\b/.test(text)) return true;
  return hasOwnQuotes(atom);
}

/** They are counted with the others: `{a,${x/{}}`. */
function hasOwnBraces(atom: Atom): boolean {
  if (atom.kind !== 'node' || !atom.node.text.startsWith('${')) return false;
  return /[{}]/.test(atom.node.text.slice(2, -1));
}

/** What is behind it is taken for quoted, too: `"${x+"'"}"{a,b}`. */
function hasOwnQuotes(atom: Atom): boolean {
  if (atom.kind !== 'node' || !atom.quoted) return false;
  return atom.node.text.includes('"') && !atom.node.text.startsWith('$(');
}

function isBraceText(atom: Atom): boolean {
  return atom.kind === 'text' && atom.value.includes('{');
}

/** Whether braces would be replaced in it, if it were a word of a command. */
export function hasBraces(atoms: readonly Atom[]): boolean {
  return atoms.some((atom) => atom.kind === 'text' && !atom.quoted && atom.value.includes('{'));
}

/** `$x{1,2}` is `$x1` and `$x2`. */
function renamed(atom: Atom, at: number, atoms: readonly Atom[]): Atom {
  if (atom.kind !== 'node' || atom.quoted || atom.node.type !== 'SimpleExpansion') return atom;
  const next = atoms[at + 1];
  const longer = next?.kind === 'text' && !next.quoted && /^\w/.test(next.value);
  return longer && /^\$[A-Za-z_\\]/.test(atom.node.text) ? { kind: 'lost', one: false } : atom;
}

function isPid(atom: Extract<Atom, { kind: 'node' }>): boolean {
  return atom.node.type === 'SimpleExpansion' && atom.node.text.endsWith('$');
}

function joined(tokens: readonly Token[]): readonly Atom[] {
  const atoms: Atom[] = [];
  let text = '';
  for (const token of tokens) {
    if (typeof token === 'string') text += token;
    else {
      if (text !== '') atoms.push({ kind: 'text', value: text, quoted: false });
      text = '';
      atoms.push(token);
    }
  }
  if (text !== '') atoms.push({ kind: 'text', value: text, quoted: false });
  return atoms;
}

type Words = readonly (readonly Token[])[];
type Budget = { steps: number };

function expand(tokens: readonly Token[], budget: Budget): Words | undefined {
  const found = firstGroup(tokens, budget);
  if (budget.steps > STEPS_MAX) return undefined;
  if (found === undefined) return [tokens];
  const [open, close] = found;
  const inside = tokens.slice(open + 1, close);
  const rest = tokens.slice(close + 1);
  let middle: Words | undefined;
  if (inside.includes(',')) middle = expandChoices(inside, budget);
  else if (inside.some(hasComma))
    return undefined; // bash sees quoted ones, but only here
  else {
    const sequence = sequenceOf(inside);
    if (sequence === 'unclear') return undefined;
    middle = sequence?.map((text) => [...text]) ?? [['{', ...inside, '}']];
  }
  const behind = rest.length === 0 ? [[]] : expand(rest, budget);
  if (middle === undefined || behind === undefined) return undefined;
  if (middle.length * behind.length > WORDS_MAX) return undefined;
  const before = tokens.slice(0, open);
  return middle.flatMap((one) => behind.map((end) => [...before, ...one, ...end]));
}

function hasComma(token: Token): boolean {
  if (typeof token === 'string' || token.kind === 'lost') return false;
  return (token.kind === 'text' ? token.value : token.node.text).includes(',');
}

/** The first `{` that a `}` with a comma or `..` in front of it belongs to. */
function firstGroup(tokens: readonly Token[], budget: Budget): [number, number] | undefined {
  for (let from = 0; ; ) {
    const open = gobble(tokens, from, '{', budget);
    if (open === undefined || budget.steps > STEPS_MAX) return undefined;
    const close = gobble(tokens, open + 1, '}', budget);
    if (close !== undefined) return [open, close];
    from = open + 1;
  }
}

function gobble(
  tokens: readonly Token[],
  from: number,
  wanted: '{' | '}' | ',',
  budget: Budget,
): number | undefined {
  let level = 0;
  let commas = wanted === '}' ? 0 : 1;
  for (let at = from; at < tokens.length; at += 1) {
    budget.steps += 1;
    const token = tokens[at];
    if (token === wanted && level === 0 && commas > 0) {
      const alone = wanted === '{' && at === 0 && tokens[1] === '}';
      if (!alone) return at;
    } else if (token === '{') level += 1;
    else if (token === '}' && level > 0) level -= 1;
    else if (wanted === '}' && level === 0) {
      if (token === ',') commas += 1;
      else if (token === '.' && tokens[at + 1] === '.' && tokens[at + 2] !== '}') commas += 1;
    }
  }
  return undefined;
}

function expandChoices(inside: readonly Token[], budget: Budget): Words | undefined {
  const words: (readonly Token[])[] = [];
  for (let from = 0; ; ) {
    const comma = gobble(inside, from, ',', budget);
    const some = expand(inside.slice(from, comma ?? inside.length), budget);
    if (some === undefined) return undefined;
    words.push(...some);
    if (words.length > WORDS_MAX) return undefined;
    if (comma === undefined) return words;
    from = comma + 1;
  }
}

const SEQUENCE =
  /^(?:([+-]?\d{1,9})\.\.([+-]?\d{1,9})|([A-Za-z])\.\.([A-Za-z]))(?:\.\.([+-]?\d{1,9}))?$/;

/** `undefined`: it is not one. */
function sequenceOf(inside: readonly Token[]): readonly string[] | undefined | 'unclear' {
  if (inside.some((token) => typeof token !== 'string')) return undefined;
  const text = inside.join('');
  const match = SEQUENCE.exec(text);
  if (match === null) return /^[\s\w+-]+\.\.[\s\w+-]+/.test(text) ? 'unclear' : undefined;
  const [, first = '', last = '', firstLetter, lastLetter, by = '1'] = match;
  if (firstLetter !== undefined && lastLetter !== undefined) {
    if (/[a-z]/.test(firstLetter) !== /[a-z]/.test(lastLetter)) return 'unclear';
    const codes = range(firstLetter.charCodeAt(0), lastLetter.charCodeAt(0), Number(by));
    return codes?.map((code) => String.fromCharCode(code)) ?? 'unclear';
  }
  const numbers = range(Number(first), Number(last), Number(by));
  if (numbers === undefined) return 'unclear';
  const padded = [first, last].some((bound) => /^[+-]?0\d/.test(bound));
  if (!padded) return numbers.map((number) => String(number));
  if (/\+/.test(text)) return 'unclear';
  const width = Math.max(first.length, last.length);
  return numbers.map((number) => {
    const digits = String(Math.abs(number));
    return number < 0 ? `-${digits.padStart(width - 1, '0')}` : digits.padStart(width, '0');
  });
}

function range(from: number, to: number, by: number): readonly number[] | undefined {
  const step = Math.max(1, Math.abs(by));
  const count = Math.floor(Math.abs(to - from) / step) + 1;
  if (count > WORDS_MAX) return undefined;
  const sign = to < from ? -step : step;
  return Array.from({ length: count }, (_, at) => from + at * sign + 0);
}
