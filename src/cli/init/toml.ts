// Edits one table of a TOML file as text and leaves every other byte alone. It reads the file into
// statements: enough to know where each begins and ends and what it is called, strings and comments
// included. What it cannot read, or could only change by rewriting it, is an error with its place.

import { ConfigSyntaxError, eolOf } from './jsonc.ts';

type TomlValue = string | number | boolean | readonly string[];
export type TomlEntry = Readonly<Record<string, TomlValue>>;

type Statement = {
  readonly kind: 'table' | 'array' | 'pair';
  /** From the root of the file, with the table it stands in. */
  readonly path: readonly string[];
  /** The bounds of all its lines. */
  readonly start: number;
  readonly end: number;
  readonly value?: { readonly start: number; readonly end: number };
};

/** The table has these values, too; others of its own stay. */
export function mergeToml(text: string, table: readonly string[], entry: TomlEntry): string {
  const statements = read(text);
  const header = headerOf(statements, table);
  if (header === undefined) {
    assertFree(statements, table);
    return appended(text, table, entry);
  }
  return Object.entries(entry).reduce((edited, [key, value]) => {
    const now = read(edited);
    const known = now.find(({ path }) => same(path, [...table, key]))?.value;
    if (known === undefined) return inserted(edited, now, table, `${key} = ${formatted(value)}`);
    if (sameValue(edited.slice(known.start, known.end), value)) return edited;
    return edited.slice(0, known.start) + formatted(value) + edited.slice(known.end);
  }, text);
}

/** Without the table, its values and its own tables. */
export function removeToml(text: string, table: readonly string[]): string {
  const statements = read(text);
  const regions: { readonly start: number; end: number; index: number }[] = [];
  for (const [index, { path, start, end }] of statements.entries()) {
    if (!startsWith(path, table)) continue;
    const last = regions.at(-1);
    // Comments between two of its lines are about it.
    if (last?.index === index - 1) Object.assign(last, { end, index });
    else regions.push({ start, end, index });
  }
  if (regions.length === 0) assertFree(statements, table);
  return regions.reduceRight(without, text);
}

export function hasToml(text: string, table: readonly string[]): boolean {
  return read(text).some(({ path }) => startsWith(path, table));
}

/** The list `key` of the table has this item, too. */
export function addTomlItem(
  text: string,
  table: readonly string[],
  key: string,
  item: string,
): string {
  const statement = pairOf(read(text), table, key);
  if (statement === undefined) return mergeToml(text, table, { [key]: [item] });
  const { value, items } = listOf(text, statement);
  if (items.some(({ source }) => stringOf(source) === item)) return text;
  const at = value.start + (items.at(-1)?.end ?? 1);
  const lead = items.length === 0 ? '' : ', ';
  return text.slice(0, at) + lead + formatted(item) + text.slice(at);
}

/** The list without the item; without the list and its table if nothing else is in them. */
export function removeTomlItem(
  text: string,
  table: readonly string[],
  key: string,
  item: string,
  prunes = true,
): string {
  const statement = pairOf(read(text), table, key);
  if (statement === undefined) return text;
  const { value, items } = listOf(text, statement);
  const index = items.findIndex(({ source }) => stringOf(source) === item);
  const found = items[index];
  if (found === undefined) return text;
  if (items.length === 1) return removeTomlValue(text, table, key, prunes);
  const from = items[index - 1]?.end ?? found.start;
  const to = index === 0 ? (items[1]?.start ?? found.end) : found.end;
  return text.slice(0, value.start + from) + text.slice(value.start + to);
}

/** Without one value, and without its table if nothing else is in that. */
export function removeTomlValue(
  text: string,
  table: readonly string[],
  key: string,
  prunes = true,
): string {
  const statements = read(text);
  const statement = pairOf(statements, table, key);
  if (statement === undefined) return text;
  const own = statements.filter(({ path }) => startsWith(path, table));
  const alone = own.every(({ path, kind }) => kind === 'table' || same(path, statement.path));
  return alone && prunes ? removeToml(text, table) : without(text, statement);
}

/** The source of a value of the table, as its author wrote it. */
export function readTomlValue(
  text: string,
  table: readonly string[],
  key: string,
): string | undefined {
  const value = pairOf(read(text), table, key)?.value;
  if (value === undefined) return undefined;
  const source = text.slice(value.start, value.end);
  return stringOf(source) ?? source;
}

/** Whether the list `key` of the table has this item. */
export function hasTomlItem(
  text: string,
  table: readonly string[],
  key: string,
  item: string,
): boolean {
  const statement = pairOf(read(text), table, key);
  if (statement === undefined) return false;
  return listOf(text, statement).items.some(({ source }) => stringOf(source) === item);
}

function pairOf(
  statements: readonly Statement[],
  table: readonly string[],
  key: string,
): Statement | undefined {
  return statements.find(({ kind, path }) => kind === 'pair' && same(path, [...table, key]));
}

type Item = { readonly start: number; readonly end: number; readonly source: string };

function listOf(text: string, { value, path, start }: Statement) {
  const source = value === undefined ? '' : text.slice(value.start, value.end);
  if (value === undefined || !source.startsWith('[')) {
    throw new ConfigSyntaxError(`${path.join('.')} is not a list`, start);
  }
  return { value, items: new Scanner(source).items() };
}

/** The blank line that was put before the table goes with it, and what ended the file stays so. */
function without(
  text: string,
  { start, end }: { readonly start: number; readonly end: number },
): string {
  const [head, tail] = [text.slice(0, start), text.slice(end)];
  if (tail === '' && !text.endsWith('\n')) return head.replace(/(\r?\n){1,2}$/, '');
  return head.replace(/(^|\n)\r?\n$/, '$1') + tail;
}

function appended(text: string, table: readonly string[], entry: TomlEntry): string {
  const eol = eolOf(text);
  const pairs = Object.entries(entry).map(([key, value]) => `${key} = ${formatted(value)}`);
  const block = [`[${table.join('.')}]`, ...pairs].join(eol);
  if (text === '' || text === '\uFEFF') return `${text}${block}${eol}`;
  return text.endsWith('\n') ? `${text}${eol}${block}${eol}` : `${text}${eol}${eol}${block}`;
}

/** Behind the last line of the table itself. */
function inserted(
  text: string,
  statements: readonly Statement[],
  table: readonly string[],
  line: string,
): string {
  const header = headerOf(statements, table);
  const own = statements.slice(header === undefined ? 0 : statements.indexOf(header) + 1);
  const next = own.findIndex(({ kind }) => kind !== 'pair');
  const last = (next === -1 ? own : own.slice(0, next)).at(-1) ?? header;
  const at = last?.end ?? text.length;
  const eol = eolOf(text);
  const ended = text.slice(0, at).endsWith('\n');
  return text.slice(0, at) + (ended ? `${line}${eol}` : `${eol}${line}`) + text.slice(at);
}

function headerOf(all: readonly Statement[], table: readonly string[]): Statement | undefined {
  return all.find(({ kind, path }) => kind === 'table' && same(path, table));
}

/** The table could be added behind everything else. */
function assertFree(statements: readonly Statement[], table: readonly string[]): void {
  const taken = statements.find(
    ({ kind, path }) => startsWith(path, table) || (kind !== 'table' && startsWith(table, path)),
  );
  if (taken === undefined) return;
  const name = taken.path.join('.');
  throw new ConfigSyntaxError(
    `${name} is written in a form that has to be edited by hand`,
    taken.start,
  );
}

function same(a: readonly string[], b: readonly string[]): boolean {
  return a.length === b.length && startsWith(a, b);
}

function startsWith(path: readonly string[], start: readonly string[]): boolean {
  return start.every((part, index) => path[index] === part);
}

function formatted(value: TomlValue): string {
  if (typeof value === 'number' || typeof value === 'boolean') return String(value);
  if (typeof value === 'string') return JSON.stringify(value).replaceAll('\x7f', '\\u007f');
  return `[${value.map(formatted).join(', ')}]`;
}

/** However it is quoted or laid out. */
function sameValue(source: string, value: TomlValue): boolean {
  if (typeof value === 'number') return Number(source.replaceAll('_', '')) === value;
  if (typeof value === 'string') return stringOf(source) === value;
  if (typeof value === 'boolean') return source === String(value);
  const items = new Scanner(source).items();
  const same = items.every(({ source: item }, i) => stringOf(item) === value[i]);
  return items.length === value.length && same;
}

function stringOf(source: string): string | undefined {
  if (/^'[^']*'$/.test(source)) return source.slice(1, -1);
  try {
    const value: unknown = JSON.parse(source);
    return typeof value === 'string' ? value : undefined;
  } catch {
    return undefined; // a form that JSON does not have: it counts as another value
  }
}

function read(text: string): Statement[] {
  return new Scanner(text).statements();
}

const DEPTH_MAX = 200;

class Scanner {
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
    if (text.startsWith('\uFEFF')) this.#at = 1;
  }

  statements(): Statement[] {
    const found: Statement[] = [];
    let table: readonly string[] = [];
    for (;;) {
      this.#match(/(?:\s+|#[^\n]*)*/y);
      if (this.#at >= this.#text.length) return found;
      const start = this.#text.lastIndexOf('\n', this.#at - 1) + 1;
      if (this.#text[this.#at] === '[') {
        const kind = this.#match(/\[\[/y) !== undefined ? 'array' : 'table';
        if (kind === 'table') this.#at += 1;
        table = this.#key();
        if (this.#match(kind === 'array' ? /\]\]/y : /\]/y) === undefined) this.#fail('a ]');
        found.push({ kind, path: table, start, end: this.#lineEnd() });
      } else {
        const path = [...table, ...this.#key()];
        if (this.#match(/=[ \t]*/y) === undefined) this.#fail('a =');
        const value = this.#value(0);
        found.push({ kind: 'pair', path, start, end: this.#lineEnd(), value });
      }
    }
  }

  /** The items of an array, and where they stand; of anything else, none. */
  items(): Item[] {
    const found: Item[] = [];
    if (this.#match(/\[/y) === undefined) return found;
    this.#list(/\]/y, () => {
      const { start, end } = this.#value(1);
      found.push({ start, end, source: this.#text.slice(start, end) });
    });
    return found;
  }

  #key(): string[] {
    const parts: string[] = [];
    do {
      this.#match(/[ \t]*/y);
      const part = this.#match(/[A-Za-z0-9_-]+|"(?:[^"\\\n]|\\[^\n])*"|'[^'\n]*'/y);
      if (part === undefined) this.#fail('a key');
      else parts.push(/^["']/.test(part) ? (stringOf(part) ?? part) : part);
      this.#match(/[ \t]*/y);
    } while (this.#match(/\./y) !== undefined);
    return parts;
  }

  #value(depth: number): { readonly start: number; readonly end: number } {
    if (depth > DEPTH_MAX) this.#fail('less nesting');
    const start = this.#at;
    if (this.#match(/\[/y) !== undefined) {
      this.#list(/\]/y, () => this.#value(depth + 1));
    } else if (this.#match(/\{/y) !== undefined) {
      this.#list(/\}/y, () => {
        this.#key();
        if (this.#match(/=[ \t]*/y) === undefined) this.#fail('a =');
        this.#value(depth + 1);
      });
    } else {
      const long = /"""(?:[^\\]|\\[\s\S])*?"{3,5}(?!")|'''[\s\S]*?'{3,5}(?!')/y;
      const short = /"(?:[^"\\\n]|\\[^\n])*"|'[^'\n]*'|[\w+-][^\s,#\]}"']*(?: \d[\d:.]*)?/y;
      const token = /^("""|''')/.test(this.#text.slice(start, start + 3)) ? long : short;
      if (this.#match(token) === undefined) this.#fail('a value');
    }
    return { start, end: this.#at };
  }

  #list(close: RegExp, item: () => void): void {
    const blank = /(?:\s+|#[^\n]*)*/y;
    for (;;) {
      this.#match(blank);
      if (this.#match(close) !== undefined) return;
      item();
      this.#match(blank);
      if (this.#match(/,/y) !== undefined) continue;
      if (this.#match(close) !== undefined) return;
      this.#fail('a comma or the end of a list');
    }
  }

  #lineEnd(): number {
    this.#match(/[ \t]*(?:#[^\n]*)?/y);
    if (this.#at < this.#text.length && this.#match(/\r?\n/y) === undefined) {
      this.#fail('the end of the line');
    }
    return this.#at;
  }

  #match(pattern: RegExp): string | undefined {
    pattern.lastIndex = this.#at;
    const match = pattern.exec(this.#text)?.[0];
    if (match !== undefined) this.#at += match.length;
    return match;
  }

  #fail(what: string): never {
    throw new ConfigSyntaxError(`${what} is missing here`, this.#at);
  }
}
