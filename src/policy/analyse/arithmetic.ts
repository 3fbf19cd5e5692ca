// Arithmetic evaluates what variables say: `a[$(rm x)]` in one of them is executed. So only plain
// numbers may be in it: literals, counters, and what the shell itself counts. Read from the text
// of the expression, whatever the parser made of it.

import type { SyntaxNode } from '../../text/shell-tree.ts';
import { forEachChild } from '../../text/shell-tree.ts';
import type { Run } from './run.ts';
import { isInteger, type State } from './state.ts';

/** Numbers, unless the text assigns to them. */
const COUNTED = /^(?:RANDOM|SRANDOM|SECONDS|LINENO|E?UID|PPID|COLUMNS|LINES|EPOCHSECONDS|BASHPID)$/;

const TOKEN = new RegExp(
  [
    /(?<blank>(?:\s|\\\n)+)/,
    /(?<number>0[xX][\da-fA-F]+|\d+#[\w@]+|\d+)(?![\w#@])/,
    /(?<name>[A-Za-z_]\w*)/,
    /(?<value>\$(?:\{#?\w+\}|\{#[@*]\}|\{#\w+\[[@*]\]\}|[A-Za-z_]\w*|[#?$!]|\d))/,
    /(?<operator>[-+*/%<>=!&|^~?:(),"])/,
  ]
    .map(({ source }) => source)
    .join('|'),
  'y',
);

export type Counted =
  /** The names that get a number. */
  { readonly plain: true; readonly names: readonly string[] } | { readonly plain: false };

const NOT_PLAIN: Counted = { plain: false };

/** `let x=` and `let x=5+` are errors, which assign nothing. */
const UNFINISHED = /(?:[*/%<>=!&|^~?:(,]|(?:^|[^+])\+|(?:^|[^-])-)[\s"]*$/;

/** `skip`: the ends of the substitutions in it that print a number, by where they begin. */
export function arithmetic(
  text: string,
  state: State,
  run: Run,
  skip: ReadonlyMap<number, number> = new Map(),
): Counted {
  if (UNFINISHED.test(text)) return NOT_PLAIN;
  const names: string[] = [];
  for (let at = 0; at < text.length; ) {
    const behind = skip.get(at);
    if (behind !== undefined) {
      at = behind;
      continue;
    }
    if (text.startsWith('$((', at)) {
      at += 1; // the parentheses are operators
      continue;
    }
    TOKEN.lastIndex = at;
    const match = TOKEN.exec(text);
    const groups = match?.groups;
    if (match === null || groups === undefined) return NOT_PLAIN;
    at = TOKEN.lastIndex;
    if (groups.name !== undefined) {
      const rest = text.slice(at);
      if (/^\s*(?:=(?!=)|(?:[-+*/%&|^]|<<|>>)=)/.test(rest)) names.push(groups.name);
      if (/^\s*=(?!=)/.test(rest)) continue; // what it was is not looked at
      if (!isNumber(groups.name, state, run)) return NOT_PLAIN;
      if (
        /^\s*(?:\+\+|--)/.test(rest) ||
        /(?:\+\+|--)$/.test(text.slice(0, match.index).trimEnd().slice(-2))
      ) {
        names.push(groups.name);
      }
    } else if (groups.value !== undefined && !valueIsNumber(groups.value, state, run)) {
      return NOT_PLAIN;
    }
  }
  return { plain: true, names };
}

function valueIsNumber(value: string, state: State, run: Run): boolean {
  const inside = value.replace(/^\$\{?|\}$/g, '');
  if (/^[#?$!]/.test(inside)) return true; // `$#`, `${#x}` and so on
  if (/^\d+$/.test(inside)) {
    const arg = state.positional?.[Number(inside)];
    return arg?.kind === 'literal' && isInteger(arg.value);
  }
  // With nothing in it, `$x` leaves an operator alone, and `x` is zero.
  if (state.hint(inside) === 'count') run.discards = true;
  return isNumber(inside, state, run);
}

function isNumber(name: string, state: State, run: Run): boolean {
  run.evaluates ??= { span: undefined };
  if (COUNTED.test(name)) {
    run.countedOn.add(name);
    return true;
  }
  if (run.volatile) return false;
  if (state.hint(name) === 'count') return true;
  const value = state.value(name);
  return value === 'number' || value?.every(isInteger) === true;
}

/** The substitutions of an expression that print nothing but a number, seen from `from`. */
export function countingIn(
  nodes: readonly SyntaxNode[],
  from: number,
  run: Run,
): ReadonlyMap<number, number> {
  const found = new Map<number, number>();
  const look = (node: SyntaxNode): void => {
    if (node.type === 'CommandExpansion' || node.type === 'ArithmeticCommandExpansion') {
      if (counts(node.text, run)) found.set(node.pos - from, node.end - from);
      return;
    }
    forEachChild(node, look);
  };
  for (const node of nodes) look(node);
  return found;
}

const COUNTING = new RegExp(
  [
    /^(?:\$\(|`)\s*/,
    /(?:date \+%s(?:%N)?|nproc|(?:[\w ./*-]+\|)* *wc -[lcw](?: *< *(?:[\w./-]+|"\$\w+"))?)/,
    /\s*[)`]$/,
  ]
    .map(({ source }) => source)
    .join(''),
);

/** Programs that agents count with. A function of that name could print anything. */
export function counts(text: string, run: Run): boolean {
  const match = COUNTING.exec(text);
  if (match === null || run.functions.size > 0) return false;
  return !/wc/.test(text) || /\|[^|]*wc -[lcw]\s*\W$|< *(?:[\w./-]+|"\$\w+")\s*\W$/.test(text);
}
