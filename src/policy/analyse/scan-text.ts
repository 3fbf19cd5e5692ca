// What the scanner can be in, and pieces of text that it reads without knowing where it is.

/** What is open, and `from` where, if it is something that is replaced. */
export type Mode =
  /** Commands: the text itself, and inside of `$(` and `<(`. */
  | {
      readonly kind: 'code';
      readonly end: '' | ')';
      readonly open: ('(' | 'case')[];
      readonly from?: number;
    }
  | { readonly kind: 'quotes' }
  /** `${...}`, inside of double quotes or not. */
  | { readonly kind: 'parameter'; readonly quoted: boolean; readonly from: number }
  /** `$((...))` and `((...))`. */
  | { readonly kind: 'arithmetic'; depth: number; readonly from?: number }
  | { readonly kind: 'bracket'; depth: number; readonly from: number };

/** A here-document whose text comes behind the line. */
export type Waiting = {
  readonly delimiter: string;
  /** What is in it is replaced. */
  readonly live: boolean;
  readonly tabs: boolean;
  /** Behind the word that names the delimiter. */
  readonly end: number;
};

/** Behind joined lines. */
export function peek(text: string, from: number): number {
  let at = from;
  while (text.startsWith('\\\n', at)) at += 2;
  return at;
}

/** Behind the quote that ends `$'...'`; 0: there is none. */
export function ansiEnd(text: string, from: number): number {
  for (let at = from; at < text.length; at += 1) {
    if (text[at] === '\\') at += 1;
    else if (text[at] === "'") return at + 1;
  }
  return 0;
}

/** Whether the parenthesis that was opened here ends with two of them, as arithmetic does. */
export function endsTwice(text: string, from: number, budget: { steps: number }): boolean {
  let depth = 0;
  for (let at = from; at < text.length; at += 1) {
    budget.steps -= 1;
    if (budget.steps < 0) return false; // then the tree does not agree
    const char = text[at];
    if (char === '\\') at += 1;
    else if (char === "'" || char === '"') {
      const end = text.indexOf(char, at + 1);
      if (end === -1) return false;
      at = end;
    } else if (char === '(') depth += 1;
    else if (char === ')') {
      if (depth === 0) return text[peek(text, at + 1)] === ')';
      depth -= 1;
    }
  }
  return false;
}

/**
 * What stands in backquotes. How many backslashes bash takes away there depends on what is around
 * it; and where it replaces braces, it takes a double quote in there for the end of one outside.
 */
export function isDoubtful(inside: string, around: readonly Mode[]): boolean {
  const within = (kind: Mode['kind']): boolean => around.some((mode) => mode.kind === kind);
  if (/\\[\\$`"'\n]/.test(inside)) return true;
  if (within('parameter') && inside.includes('\\')) return true;
  return within('quotes') && inside.includes('"') && inside.includes('{');
}

/** Behind `<<`. Undefined: the delimiter is written in a form that we do not read. */
export function delimiterAt(text: string, from: number): Waiting | undefined {
  let at = peek(text, from);
  const tabs = text[at] === '-';
  if (tabs) at += 1;
  while (/[ \t]/.test(text[at] ?? '') || text.startsWith('\\\n', at)) {
    at += text[at] === '\\' ? 2 : 1;
  }
  let delimiter = '';
  let live = true;
  for (; at < text.length && !/[ \t\n;&|<>()]/.test(text[at] ?? ''); at += 1) {
    const char = text[at] ?? '';
    if (char === '$' || char === '`') return undefined;
    if (char === '\\') {
      live = false;
      at += 1;
      delimiter += text[at] ?? '';
    } else if (char === "'" || char === '"') {
      const end = text.indexOf(char, at + 1);
      if (end === -1) return undefined;
      live = false;
      delimiter += text.slice(at + 1, end);
      at = end;
    } else delimiter += char;
  }
  return /[\\\n]/.test(delimiter) ? undefined : { delimiter, live, tabs, end: at };
}

const NAME = /[#!]?(?:\w+|[@*?$!#-])(?=[}:\-=?+#%/^,@*[]|\\\n)/y;

/** Behind the name in `${#x}` or `${$}`, in which nothing is what it is elsewhere. */
export function nameEnd(text: string, from: number): number {
  NAME.lastIndex = from;
  return NAME.exec(text) === null ? from : NAME.lastIndex;
}
