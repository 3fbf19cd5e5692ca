// Reads YAML 1.2 into values with their positions, or into problems with theirs. Only values that
// JSON can express get through: keys are strings and unique, the number of aliases is limited, and
// a number that two readers of YAML would read differently is refused.

import {
  Composer,
  type CST,
  type Document,
  isAlias,
  isMap,
  isScalar,
  isSeq,
  LineCounter,
  type Node,
  type Pair,
  Parser,
  type Scalar,
  type YAMLError,
} from 'yaml';
import type { Env } from '../types.ts';
import { type Position, type Problem, pathText, quoted, type Step } from './problems.ts';
import { syntaxMessage } from './yaml-errors.ts';

const DEPTH_MAX = 100; // the composer recurses, and V8 aborts instead of throwing at some depths
const NODES_MAX = 20_000; // aliases of aliases grow without end

export type LocatedValue = LocatedScalar | LocatedList | LocatedMap;

type LocatedScalar = {
  readonly kind: 'scalar';
  readonly at: Position;
  readonly value: string | number | boolean | null;
  /** As it stands in the file, before variables went in. */
  readonly source: string;
};

type LocatedList = {
  readonly kind: 'list';
  readonly at: Position;
  readonly items: readonly LocatedValue[];
};

export type LocatedMap = {
  readonly kind: 'map';
  readonly at: Position;
  readonly entries: readonly LocatedEntry[];
};

export type LocatedEntry = {
  readonly key: string;
  readonly at: Position;
  readonly value: LocatedValue;
};

export type YamlResult = {
  /** Undefined for a file without content. */
  readonly root: LocatedValue | undefined;
  readonly problems: readonly Problem[];
  /** Names of the variables that were expanded. */
  readonly used: readonly string[];
};

/** Without `env`, `${NAME}` is text like any other. */
export function readYaml(text: string, env: Env | undefined, nodesMax = NODES_MAX): YamlResult {
  const lines = new LineCounter();
  const tokens = [...new Parser(lines.addNewLine).parse(text)];
  const tooDeep = tokens.map(deepToken).find((offset) => offset !== undefined);
  if (tooDeep !== undefined) {
    const message = `nested more than ${DEPTH_MAX} levels deep`;
    return { root: undefined, problems: [{ at: positionAt(lines, tooDeep), message }], used: [] };
  }
  const composer = new Composer({ schema: 'core', version: '1.2', uniqueKeys: false });
  const documents = [...composer.compose(tokens, true, text.length)];
  const faults = documents.flatMap(({ errors, warnings }) => [...errors, ...warnings]);
  const problems = [...syntaxProblems(faults, text, lines)];
  const second = documents[1];
  if (second !== undefined) {
    const at = positionAt(lines, second.range[0]);
    problems.push({ at, message: 'a second document starts here; this file is one document' });
  }
  const [first] = documents;
  if (problems.length > 0 || first === undefined) return { root: undefined, problems, used: [] };
  return new Reader(lines, env, nodesMax).read(first);
}

/** The value as JavaScript has it. */
export function plain(located: LocatedValue): unknown {
  if (located.kind === 'scalar') return located.value;
  if (located.kind === 'list') return located.items.map(plain);
  return Object.fromEntries(located.entries.map(({ key, value }) => [key, plain(value)]));
}

/** Where a path leads: to its last key, or to the nearest thing above that is there. */
export function positionOf(located: LocatedValue, path: readonly Step[]): Position {
  let [value, at] = [located, located.at];
  for (const step of path) {
    const next = childOf(value, step);
    if (next === undefined) break;
    [value, at] = [next.value, next.at];
  }
  return at;
}

function childOf(value: LocatedValue, step: Step): Omit<LocatedEntry, 'key'> | undefined {
  if (value.kind === 'map') return value.entries.find(({ key }) => key === String(step));
  const item = value.kind === 'list' ? value.items[Number(step)] : undefined;
  return item === undefined ? undefined : { value: item, at: item.at };
}

function positionAt(lines: LineCounter, offset: number): Position {
  const { line, col } = lines.linePos(offset);
  // An empty file has no line the counter knows.
  return { line: Math.max(1, line), column: Math.max(1, col) };
}

/** One for each line: further faults there follow from the first. */
function syntaxProblems(
  faults: readonly YAMLError[],
  text: string,
  lines: LineCounter,
): readonly Problem[] {
  const byLine = new Map<number, Problem>();
  for (const { code, pos } of faults) {
    const at = positionAt(lines, pos[0]);
    if (byLine.has(at.line)) continue;
    byLine.set(at.line, { at, message: syntaxMessage(code, text, pos[0]) });
  }
  return [...byLine.values()];
}

/** Where it gets too deep, without recursing to find out. */
function deepToken(top: CST.Token): number | undefined {
  const open: { readonly token: CST.Token; readonly depth: number }[] = [{ token: top, depth: 0 }];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const { token, depth } = next;
    if (depth > DEPTH_MAX) return token.offset;
    for (const child of childTokens(token)) open.push({ token: child, depth: depth + 1 });
  }
  return undefined;
}

function childTokens(token: CST.Token): CST.Token[] {
  if (token.type === 'document') return token.value === undefined ? [] : [token.value];
  if (!('items' in token)) return [];
  return token.items.flatMap((item) =>
    [item.key, item.value].filter((child) => child !== undefined && child !== null),
  );
}

class Reader {
  readonly #lines: LineCounter;
  readonly #env: Env | undefined;
  readonly #nodesMax: number;
  readonly #problems: Problem[] = [];
  readonly #used = new Set<string>();
  readonly #anchors = new Map<string, Node>();
  /** The nodes being read right now: an alias to one of these would never end. */
  readonly #open = new Set<Node>();
  #nodes = 0;

  constructor(lines: LineCounter, env: Env | undefined, nodesMax: number) {
    this.#lines = lines;
    this.#env = env;
    this.#nodesMax = nodesMax;
  }

  read({ contents }: Document.Parsed): YamlResult {
    const root = contents === null ? undefined : this.#value(contents, []);
    if (this.#nodes > this.#nodesMax) {
      const message = `more than ${this.#nodesMax} values, aliases included`;
      return { root: undefined, problems: [{ at: { line: 1, column: 1 }, message }], used: [] };
    }
    const empty = root?.kind === 'scalar' && root.value === null && root.source === '';
    return {
      root: empty ? undefined : root,
      problems: this.#problems,
      used: [...this.#used],
    };
  }

  #value(node: Node, path: readonly Step[]): LocatedValue {
    this.#nodes += 1;
    const at = this.#at(node);
    if (this.#nodes > this.#nodesMax) return nothing(at);
    if (isAlias(node)) return this.#alias(node.source, at, path);
    if (node.anchor !== undefined) this.#anchors.set(node.anchor, node);
    if (isScalar(node)) return this.#scalar(node, at, path);
    this.#open.add(node);
    try {
      if (isMap(node)) return this.#map(node.items as Pair<Node, Node | null>[], at, path);
      if (!isSeq(node)) return nothing(at);
      const items = node.items as Node[];
      return {
        kind: 'list',
        at,
        items: items.map((item, index) => this.#value(item, [...path, index])),
      };
    } finally {
      this.#open.delete(node);
    }
  }

  #alias(name: string, at: Position, path: readonly Step[]): LocatedValue {
    const target = this.#anchors.get(name);
    if (target !== undefined && !this.#open.has(target)) return this.#value(target, path);
    const why = target === undefined ? 'has no anchor before it' : 'contains itself';
    this.#problem(at, `the alias *${quoted(name).slice(1, -1)} ${why}`);
    return nothing(at);
  }

  #map(
    items: readonly Pair<Node, Node | null>[],
    at: Position,
    path: readonly Step[],
  ): LocatedValue {
    const first = new Map<string, Position>();
    const entries: LocatedEntry[] = [];
    for (const { key: node, value } of items) {
      const keyAt = node === null ? at : this.#at(node);
      const key = this.#key(node, keyAt, path);
      if (key === undefined) continue;
      const earlier = first.get(key);
      if (earlier !== undefined) {
        const where = path.length === 0 ? '' : ` in ${pathText(path)}`;
        const words = `duplicate key ${quoted(key)}${where}; it is already on line ${earlier.line}`;
        this.#problem(keyAt, words);
        continue;
      }
      first.set(key, keyAt);
      const located = value === null ? nothing(keyAt) : this.#value(value, [...path, key]);
      entries.push({ key, at: keyAt, value: located });
    }
    return { kind: 'map', at, entries };
  }

  #key(node: Node | null, at: Position, path: readonly Step[]): string | undefined {
    if (isScalar(node) && typeof node.value === 'string') return node.value;
    const source = isScalar(node) && node.source ? ` ${quoted(node.source)}` : '';
    const where = path.length === 0 ? '' : ` in ${pathText(path)}`;
    this.#problem(at, `the key${source}${where} is not a string; write it in quotes`);
    return undefined;
  }

  #scalar(node: Scalar, at: Position, path: readonly Step[]): LocatedValue {
    const { value } = node;
    const source = node.source ?? '';
    if (typeof value === 'string') return this.#string(value, at, path);
    if (typeof value === 'number' && /^[-+]?0\d/.test(source)) {
      const words = `${pathText(path)}: ${source} is octal to some readers of YAML and decimal to`;
      this.#problem(at, `${words} others; write it without the leading 0, or as 0o...`);
    }
    if (value === null || typeof value === 'number' || typeof value === 'boolean') {
      return { kind: 'scalar', at, value, source };
    }
    this.#problem(at, `${pathText(path)}: only text, numbers, true, false and null are values`);
    return nothing(at);
  }

  #string(source: string, at: Position, path: readonly Step[]): LocatedValue {
    if (this.#env === undefined) return { kind: 'scalar', at, value: source, source };
    const { text, problems, used } = expand(source, this.#env);
    for (const problem of problems) this.#problem(at, `${pathText(path)}: ${problem}`);
    for (const name of used) this.#used.add(name);
    return { kind: 'scalar', at, value: text, source };
  }

  #at(node: Node): Position {
    return positionAt(this.#lines, node.range?.[0] ?? 0);
  }

  #problem(at: Position, message: string): void {
    this.#problems.push({ at, message });
  }
}

function nothing(at: Position): LocatedScalar {
  return { kind: 'scalar', at, value: null, source: '' };
}

/**
 * `${NAME}` in a string of the settings is the value of that variable; `$${` is a literal `${`. A
 * variable that is not set is a problem, never an empty string.
 */
type Expansion = {
  readonly text: string;
  readonly problems: readonly string[];
  /** The variables that went in, so that no message needs to show what is in them. */
  readonly used: readonly string[];
};

const VARIABLE = /\$\$\{|\$\{([^}]*)(\}?)/g;
const VARIABLE_NAME = /^[A-Za-z_][A-Za-z0-9_]*$/;

function expand(source: string, env: Env): Expansion {
  const problems: string[] = [];
  const used: string[] = [];
  const text = source.replace(VARIABLE, (match: string, name = '', closed = '') => {
    if (match === '$${') return '${';
    if (closed === '') {
      problems.push('the brace of ${ is never closed; write $${ for a literal ${');
      return match;
    }
    const value = VARIABLE_NAME.test(name) ? env[name] : undefined;
    if (value !== undefined) {
      used.push(name);
      return value;
    }
    problems.push(
      VARIABLE_NAME.test(name)
        ? `the variable ${name} is not set; set it, or write $\${${name}} for the text itself`
        : '${ is not followed by the name of a variable; write $${ for a literal ${',
    );
    return match;
  });
  return { text, problems, used };
}
