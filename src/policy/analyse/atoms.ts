// A word taken apart as bash reads it: what is quoted, what is not, and what is replaced when it
// runs. The quoting is read from the text, not from the tree: where the text begins a replacement,
// the tree must have one, otherwise the word is not understood.

import { forEachChild, type SyntaxNode, type Word, type WordPart } from '../../text/shell-tree.ts';

export type Expansion = Extract<
  WordPart,
  {
    type:
      | 'SimpleExpansion'
      | 'ParameterExpansion'
      | 'CommandExpansion'
      | 'ArithmeticExpansion'
      | 'ProcessSubstitution';
  }
>;

export type Atom =
  | { readonly kind: 'text'; readonly value: string; readonly quoted: boolean }
  | { readonly kind: 'node'; readonly node: Expansion; readonly quoted: boolean }
  /** Known only at run time: `~user`. `one`: it is part of one argument. */
  | { readonly kind: 'lost'; readonly one: boolean };

type AnsiC = Extract<WordPart, { type: 'AnsiCQuoted' }>;
type Nodes = ReadonlyMap<number, Expansion | AnsiC>;

/** Words that are what they say, and most are. */
const PLAIN = /^[\w./:@%+,=-]+$/;

/** `undefined`: text and tree do not agree. */
export function atomsOf(source: string, word: Word): readonly Atom[] | undefined {
  return atomsBetween(source, word, word.parts ?? []);
}

export function atomsBetween(
  source: string,
  at: { readonly pos: number; readonly end: number },
  parts: readonly SyntaxNode[],
): readonly Atom[] | undefined {
  const text = source.slice(at.pos, at.end);
  if (PLAIN.test(text)) return [{ kind: 'text', value: text, quoted: false }];
  const reader = new Reader(source, at.end, nodesOf(parts));
  return reader.unquoted(at.pos) ? reader.atoms : undefined;
}

/** The body of a here-document that is not quoted, or the like: as in double quotes. */
export function atomsOfBody(
  source: string,
  at: { readonly pos: number; readonly end: number },
  parts: readonly SyntaxNode[],
): readonly Atom[] | undefined {
  const reader = new Reader(source, at.end, nodesOf(parts));
  return reader.quoted(at.pos, '') === undefined ? undefined : reader.atoms;
}

/** Those that stand in the word itself, not in one another. */
function nodesOf(parts: readonly SyntaxNode[]): Nodes {
  const nodes = new Map<number, Expansion | AnsiC>();
  const look = (node: SyntaxNode): void => {
    switch (node.type) {
      case 'SimpleExpansion':
      case 'ParameterExpansion':
      case 'CommandExpansion':
      case 'ArithmeticExpansion':
      case 'ProcessSubstitution':
      case 'AnsiCQuoted':
        nodes.set(node.pos, node);
        break;
      default:
        forEachChild(node, look);
    }
  };
  for (const part of parts) look(part);
  return nodes;
}

const BEGINS_EXPANSION = /[\w@*#?$!({[-]/;

class Reader {
  readonly atoms: Atom[] = [];
  readonly #source: string;
  readonly #end: number;
  readonly #nodes: Nodes;

  constructor(source: string, end: number, nodes: Nodes) {
    this.#source = source;
    this.#end = end;
    this.#nodes = nodes;
  }

  #text(value: string, quoted: boolean): void {
    const last = this.atoms.at(-1);
    if (last?.kind === 'text' && last.quoted === quoted) {
      this.atoms[this.atoms.length - 1] = { kind: 'text', value: last.value + value, quoted };
    } else if (value !== '' || quoted) this.atoms.push({ kind: 'text', value, quoted });
  }

  /** Where the next character is that is not a joined line. */
  #next(at: number): number {
    let to = at;
    while (this.#source.startsWith('\\\n', to) && to < this.#end) to += 2;
    return to;
  }

  unquoted(from: number): boolean {
    const source = this.#source;
    let at = from;
    while (at < this.#end) {
      const next = this.#unquotedStep(source, at);
      if (next === undefined || next > this.#end) return false;
      at = next;
    }
    return true;
  }

  #unquotedStep(source: string, at: number): number | undefined {
    const char = source[at];
    switch (char) {
      case '\\':
        if (at + 1 >= this.#end) this.#text('\\', true);
        else if (source[at + 1] !== '\n') this.#text(this.#character(at + 1), true);
        return at + 1 >= this.#end ? at + 1 : at + 1 + this.#character(at + 1).length;
      case "'": {
        const end = source.indexOf("'", at + 1);
        if (end === -1) return undefined;
        this.#text(source.slice(at + 1, end), true);
        return end + 1;
      }
      case '"':
        this.#text('', true);
        return this.quoted(at + 1, '"');
      case '$':
        return this.#dollar(at, false);
      case '`':
        return this.#node(at, false);
      case '<':
      case '>':
        if (source[this.#next(at + 1)] === '(') return this.#node(at, false);
        break;
    }
    let to = at;
    while (to < this.#end && !/[\\'"$` \t\n;&|<>()]/.test(source[to] ?? '')) to += 1;
    // A word ends at these: here the parser has read on, and bash would not.
    if (to === at) return undefined;
    this.#text(source.slice(at, to), false);
    return to;
  }

  /** What a backslash takes: a whole character, also beyond U+FFFF. */
  #character(at: number): string {
    return String.fromCodePoint(this.#source.codePointAt(at) ?? 0);
  }

  #dollar(at: number, inQuotes: boolean): number | undefined {
    const behind = this.#next(at + 1);
    const char = behind < this.#end ? (this.#source[behind] ?? '') : '';
    if (!inQuotes && char === "'") {
      const node = this.#nodes.get(at);
      // There bash keeps both characters of a joined line, the parser keeps none.
      if (node?.type !== 'AnsiCQuoted' || node.text.includes('\\\n')) return undefined;
      if (/[\u0001\u007f]/.test(node.value) || node.text.includes('\\x{')) return undefined;
      this.#text(node.value, true);
      return node.end;
    }
    if (!inQuotes && char === '"') {
      this.#text('', true);
      return this.quoted(behind + 1, '"');
    }
    if (char !== '' && BEGINS_EXPANSION.test(char)) return this.#node(at, inQuotes);
    this.#text('$', inQuotes);
    return at + 1;
  }

  #node(at: number, quoted: boolean): number | undefined {
    const node = this.#nodes.get(at);
    if (node === undefined || node.type === 'AnsiCQuoted') return undefined;
    this.atoms.push({ kind: 'node', node, quoted });
    return node.end > at ? node.end : undefined;
  }

  /** Up to the quote that ends it, or to the end when that is ''. Returns where it goes on. */
  quoted(from: number, quote: '"' | ''): number | undefined {
    const source = this.#source;
    let at = from;
    while (at < this.#end) {
      const char = source[at] ?? '';
      let next: number | undefined = at + 1;
      if (char === quote) return at + 1;
      if (char === '\\' && at + 1 < this.#end) {
        const escaped = source[at + 1] ?? '';
        if (escaped === '\n') next = at + 2;
        else if ('$`\\'.includes(escaped) || escaped === quote) {
          this.#text(escaped, true);
          next = at + 2;
        } else this.#text('\\', true);
      } else if (char === '$') next = this.#dollar(at, true);
      else if (char === '`') next = this.#node(at, true);
      else {
        while (next < this.#end && !/[\\"$`]/.test(source[next] ?? '')) next += 1;
        this.#text(source.slice(at, next), true);
      }
      if (next === undefined) return undefined;
      at = next;
    }
    return quote === '' ? at : undefined;
  }
}
