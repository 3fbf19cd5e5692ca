// Edits JSON with comments as text, so that everything else in a file stays as it was written:
// comments, order, indentation, line ends, trailing commas. Reading is as lenient as editors are;
// text that no editor could read is an error with its place.

import { isDeepStrictEqual } from 'node:util';

export type Json = null | boolean | number | string | readonly Json[] | JsonRecord;
export type JsonRecord = { readonly [key: string]: Json };

type Value = {
  readonly start: number;
  readonly end: number;
  readonly json: Json;
  /** Only of an object. */
  readonly members?: readonly Member[];
  /** Only of an array. */
  readonly items?: readonly Value[];
};

type Member = { readonly key: string; readonly start: number; readonly value: Value };

/** The file cannot be understood; `offset` is where. */
export class ConfigSyntaxError extends Error {
  readonly offset: number;

  constructor(message: string, offset: number) {
    super(message);
    this.offset = offset;
  }
}

/** The object at `path` has these members, too; others of its own stay. */
export function mergeJson(text: string, path: readonly string[], entry: JsonRecord): string {
  if (text.trim() === '') return `${JSON.stringify(nested(path, entry), null, 2)}\n`;
  const { members } = find(text, path);
  if (members === undefined) return setJson(text, path, entry);
  return Object.entries(entry).reduce((edited, [key, value]) => {
    const known = find(edited, [...path, key]);
    return isDeepStrictEqual(known.json, value) ? edited : setJson(edited, [...path, key], value);
  }, text);
}

/** Whether an object (`{`) or list (`[`) of this name goes when it is empty. */
export type Prunes = (key: string, opens: '{' | '[') => boolean;

/** Without the member at `path`, and without the objects that were only there for it. */
export function removeJson(
  text: string,
  path: readonly string[],
  prunes: Prunes = () => true,
): string {
  if (text.trim() === '') return text;
  const { members } = find(text, path.slice(0, -1));
  if (members?.some(({ key }) => key === path.at(-1)) !== true) return text;
  const edited = withoutMember(text, path);
  const above = path.slice(0, -1);
  const rest = find(edited, above);
  const empty = /^\{\s*\}$/.test(edited.slice(rest.start, rest.end));
  if (!empty) return edited;
  const key = above.at(-1);
  if (key !== undefined) return prunes(key, '{') ? removeJson(edited, above, prunes) : edited;
  return edited.trim() === '{}' ? '' : edited;
}

/** The array at `path` has this item, too, unless it has one like it. */
export function addJsonItem(
  text: string,
  path: readonly string[],
  item: Json,
  like: (json: Json) => boolean,
): string {
  if (text.trim() === '') return `${JSON.stringify(nested(path, [item]), null, 2)}\n`;
  const list = find(text, path);
  if (list.json === undefined) return setJson(text, path, [item]);
  const at = itemsOf(list, path).find(({ json }) => like(json));
  if (at === undefined) {
    const show: Show = (indent, inline) => formatted(item, text, indent, inline);
    return insertChild(text, list, itemsOf(list, path), show);
  }
  if (isDeepStrictEqual(at.json, item)) return text;
  const inline = isInline(text, at.start, at.end);
  const shown = formatted(item, text, indentAt(text, at.start), inline);
  return splice(text, at.start, at.end, shown);
}

/** Without the items of the array at `path` that are like it, nor what was only there for them. */
export function removeJsonItems(
  text: string,
  path: readonly string[],
  like: (json: Json) => boolean,
  prunes: Prunes = () => true,
): string {
  const list = text.trim() === '' ? undefined : find(text, path);
  if (list?.json === undefined) return text;
  const items = itemsOf(list, path);
  const index = items.findIndex(({ json }) => like(json));
  if (index === -1) return text;
  const edited = withoutChild(text, list, items, index);
  const rest = find(edited, path);
  const empty = /^\[\s*\]$/.test(edited.slice(rest.start, rest.end));
  if (!empty) return removeJsonItems(edited, path, like, prunes);
  return prunes(path.at(-1) ?? '', '[') ? removeJson(edited, path, prunes) : edited;
}

function itemsOf(list: Lookup, path: readonly string[]): readonly Value[] {
  if (list.items !== undefined) return list.items;
  throw new ConfigSyntaxError(`"${path.join('.')}" is not a list`, list.start);
}

/** The value at `path`, or undefined. Throws if a part of the path is no object. */
export function readJson(text: string, path: readonly string[]): Json | undefined {
  return text.trim() === '' ? undefined : find(text, path).json;
}

type Lookup = { readonly start: number; readonly end: number } & {
  readonly json: Json | undefined;
  readonly members?: readonly Member[] | undefined;
  readonly items?: readonly Value[] | undefined;
};

function find(text: string, path: readonly string[]): Lookup {
  let found: Lookup = new Parser(text).document();
  for (const [index, key] of path.entries()) {
    if (found.members === undefined) {
      const name = index === 0 ? 'it' : `"${path.slice(0, index).join('.')}"`;
      throw new ConfigSyntaxError(`${name} is not an object`, found.start);
    }
    const [member, second] = found.members.filter((one) => one.key === key);
    if (second !== undefined) throw new ConfigSyntaxError(`"${key}" is there twice`, second.start);
    if (member === undefined) return { start: found.start, end: found.end, json: undefined };
    found = member.value;
  }
  return found;
}

function setJson(text: string, path: readonly string[], value: Json): string {
  const depth = path.findIndex(
    (_, index) => find(text, path.slice(0, index + 1)).json === undefined,
  );
  if (depth === -1) {
    const { start, end } = find(text, path);
    const shown = formatted(value, text, indentAt(text, start), isInline(text, start, end));
    return splice(text, start, end, shown);
  }
  const parent = find(text, path.slice(0, depth));
  return insertMember(text, parent, path[depth] ?? '', nested(path.slice(depth + 1), value));
}

function insertMember(text: string, parent: Lookup, key: string, value: Json): string {
  const members = parent.members ?? [];
  return insertChild(text, parent, members.map(extentOf), (indent, inline) => {
    return `${JSON.stringify(key)}: ${formatted(value, text, indent, inline)}`;
  });
}

/** A member of an object or an item of an array, as text: from its first to its last character. */
type Extent = { readonly start: number; readonly end: number };

type Show = (indent: string, inline: boolean) => string;

function extentOf({ start, value }: Member): Extent {
  return { start, end: value.end };
}

/** Behind the last child of an object or an array. */
function insertChild(
  text: string,
  parent: Lookup,
  children: readonly Extent[],
  show: Show,
): string {
  const last = children.at(-1);
  const eol = eolOf(text);
  const outer = indentAt(text, parent.start);
  if (last === undefined) {
    const inner = outer + unitOf(text);
    const body = `${inner}${show(inner, false)}`;
    const remarks = text.slice(parent.start + 1, parent.end - 1).trimEnd();
    return splice(text, parent.start + 1, parent.end - 1, `${remarks}${eol}${body}${eol}${outer}`);
  }
  const first = children[0]?.start ?? last.start;
  const comma = commaAfter(text, last.end);
  // A remark at the end of a line belongs to the line.
  const after = comma ?? last.end;
  const at = endOfRemarks(text, after);
  const inline = !/[\r\n]/.test(text.slice(parent.start, first));
  const inner = inline ? outer : indentAt(text, first);
  const child = show(inner, inline);
  const gap = inline && !text.slice(after, at).includes('//') ? ' ' : `${eol}${inner}`;
  if (comma !== undefined) return splice(text, at, at, `${gap}${child},`);
  return splice(splice(text, at, at, gap + child), last.end, last.end, ',');
}

function withoutMember(text: string, path: readonly string[]): string {
  const parent = find(text, path.slice(0, -1));
  const members = parent.members ?? [];
  const index = members.findIndex(({ key }) => key === path.at(-1));
  return index === -1 ? text : withoutChild(text, parent, members.map(extentOf), index);
}

function withoutChild(
  text: string,
  { start, end }: Lookup,
  children: readonly Extent[],
  index: number,
): string {
  const child = children[index];
  if (child === undefined) return text;
  const before = children[index - 1]?.end;
  const earlier = before === undefined ? start + 1 : (commaAfter(text, before) ?? before);
  const comma = commaAfter(text, child.end);
  let from = text.slice(0, child.start).trimEnd().length;
  let to = comma ?? child.end;
  if (text.slice(earlier, from).includes('//')) {
    // That comment must not swallow what follows on the line of the member.
    if (!/^[ \t]*(\r?\n|$)/.test(text.slice(to))) from = child.start;
  } else if (children.length === 1 && text.slice(to, end - 1).trim() === '') {
    to = end - 1; // the only one takes the space behind it along
  }
  const edited = splice(text, from, to, '');
  return comma !== undefined || before === undefined
    ? edited
    : splice(edited, earlier - 1, earlier, '');
}

/** The position behind the comma that follows, over blanks and comments. */
function commaAfter(text: string, offset: number): number | undefined {
  const at = new Parser(text).skip(offset);
  return text[at] === ',' ? at + 1 : undefined;
}

/** The end of the comments that begin on this line. */
function endOfRemarks(text: string, offset: number): number {
  const remark = /^[ \t]*(?:\/\*(?:(?!\*\/).)*\*\/|\/\/[^\r\n]*)/;
  let at = offset;
  for (let match = remark.exec(text.slice(at)); match; match = remark.exec(text.slice(at))) {
    at += match[0].length;
  }
  return at;
}

function splice(text: string, from: number, to: number, by: string): string {
  return text.slice(0, from) + by + text.slice(to);
}

function nested(path: readonly string[], value: Json): Json {
  return path.reduceRight<Json>((inner, key) => ({ [key]: inner }), value);
}

function formatted(value: Json, text: string, indent: string, inline: boolean): string {
  if (inline) return JSON.stringify(value);
  const lines = JSON.stringify(value, null, unitOf(text)).split('\n');
  return lines.join(`${eolOf(text)}${indent}`);
}

function isInline(text: string, start: number, end: number): boolean {
  return text[start] === '{' && !/[\r\n]/.test(text.slice(start, end));
}

export function eolOf(text: string): string {
  return text.includes('\r\n') ? '\r\n' : '\n';
}

/** One level of indentation in this file. */
function unitOf(text: string): string {
  return /[{[][ \t]*\r?\n([ \t]+)\S/.exec(text)?.[1] ?? '  ';
}

function indentAt(text: string, offset: number): string {
  const line = text.slice(0, offset).split('\n').at(-1) ?? '';
  return /^[ \t]*/.exec(line)?.[0] ?? '';
}

const DEPTH_MAX = 200; // settings of an editor have ten

class Parser {
  readonly #text: string;

  constructor(text: string) {
    this.#text = text;
  }

  document(): Value {
    const start = this.skip(this.#text.startsWith('\uFEFF') ? 1 : 0);
    const value = this.#value(start, 0);
    const end = this.skip(value.end);
    if (end < this.#text.length) throw this.#error('something follows the end of the data', end);
    return value;
  }

  /** The next position that is neither blank nor comment. */
  skip(offset: number): number {
    const pattern = /(?:\s+|\/\/[^\r\n]*|\/\*[\s\S]*?\*\/)*/y;
    pattern.lastIndex = offset;
    pattern.exec(this.#text);
    return pattern.lastIndex;
  }

  #value(start: number, depth: number): Value {
    if (depth > DEPTH_MAX) throw this.#error('it is nested too deep', start);
    const character = this.#text[start];
    if (character === '{') return this.#object(start, depth);
    if (character === '[') return this.#array(start, depth);
    const pattern = /"(?:[^"\\\r\n]|\\.)*"|-?\d[\d.eE+-]*|true\b|false\b|null\b/y;
    pattern.lastIndex = start;
    const token = pattern.exec(this.#text)?.[0];
    if (token === undefined) throw this.#error('a value is missing here', start);
    try {
      return { start, end: start + token.length, json: JSON.parse(token) };
    } catch {
      throw this.#error(`${token.slice(0, 40)} is no value`, start);
    }
  }

  #object(start: number, depth: number): Value {
    const members: Member[] = [];
    const end = this.#list(start, '}', (at) => {
      const key = this.#value(at, depth + 1);
      if (typeof key.json !== 'string') throw this.#error('a key in quotes is missing here', at);
      const colon = this.skip(key.end);
      if (this.#text[colon] !== ':') throw this.#error('a colon is missing here', colon);
      const value = this.#value(this.skip(colon + 1), depth + 1);
      members.push({ key: key.json, start: at, value });
      return value.end;
    });
    const json = Object.fromEntries(members.map(({ key, value }) => [key, value.json]));
    return { start, end, json, members };
  }

  #array(start: number, depth: number): Value {
    const items: Value[] = [];
    const end = this.#list(start, ']', (at) => {
      const value = this.#value(at, depth + 1);
      items.push(value);
      return value.end;
    });
    return { start, end, json: items.map(({ json }) => json), items };
  }

  /** Items with commas between them, and perhaps one more comma at the end. */
  #list(start: number, close: string, item: (at: number) => number): number {
    for (let at = this.skip(start + 1); ; ) {
      if (this.#text[at] === close) return at + 1;
      if (at >= this.#text.length) throw this.#error(`what opens here is never closed`, start);
      at = this.skip(item(at));
      if (this.#text[at] === ',') at = this.skip(at + 1);
      else if (this.#text[at] !== close) {
        throw this.#error(`a comma or ${close} is missing here`, at);
      }
    }
  }

  #error(message: string, offset: number): ConfigSyntaxError {
    return new ConfigSyntaxError(message, offset);
  }
}
