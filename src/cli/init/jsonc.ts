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

/** Without the member at `path`, and without the objects that were only there for it. */
export function removeJson(text: string, path: readonly string[]): string {
  if (text.trim() === '') return text;
  const { members } = find(text, path.slice(0, -1));
  if (members?.some(({ key }) => key === path.at(-1)) !== true) return text;
  const edited = withoutMember(text, path);
  const above = path.slice(0, -1);
  const rest = find(edited, above);
  const empty = /^\{\s*\}$/.test(edited.slice(rest.start, rest.end));
  if (!empty) return edited;
  if (above.length > 0) return removeJson(edited, above);
  return edited.trim() === '{}' ? '' : edited;
}

/** The value at `path`, or undefined. Throws if a part of the path is no object. */
export function readJson(text: string, path: readonly string[]): Json | undefined {
  return text.trim() === '' ? undefined : find(text, path).json;
}

type Lookup = { readonly start: number; readonly end: number } & {
  readonly json: Json | undefined;
  readonly members?: readonly Member[] | undefined;
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
  const last = parent.members?.at(-1);
  const eol = eolOf(text);
  const outer = indentAt(text, parent.start);
  if (last === undefined) {
    const inner = outer + unitOf(text);
    const body = `${inner}${JSON.stringify(key)}: ${formatted(value, text, inner, false)}`;
    const remarks = text.slice(parent.start + 1, parent.end - 1).trimEnd();
    return splice(text, parent.start + 1, parent.end - 1, `${remarks}${eol}${body}${eol}${outer}`);
  }
  const first = parent.members?.[0]?.start ?? last.start;
  const comma = commaAfter(text, last.value.end);
  // A remark at the end of a line belongs to the line.
  const after = comma ?? last.value.end;
  const at = endOfRemarks(text, after);
  const inline = !/[\r\n]/.test(text.slice(parent.start, first));
  const inner = inline ? outer : indentAt(text, first);
  const member = `${JSON.stringify(key)}: ${formatted(value, text, inner, inline)}`;
  const gap = inline && !text.slice(after, at).includes('//') ? ' ' : `${eol}${inner}`;
  if (comma !== undefined) return splice(text, at, at, `${gap}${member},`);
  return splice(splice(text, at, at, gap + member), last.value.end, last.value.end, ',');
}

function withoutMember(text: string, path: readonly string[]): string {
  const { members = [], start, end } = find(text, path.slice(0, -1));
  const index = members.findIndex(({ key }) => key === path.at(-1));
  const member = members[index];
  if (member === undefined) return text;
  const before = members[index - 1]?.value.end;
  const earlier = before === undefined ? start + 1 : (commaAfter(text, before) ?? before);
  const comma = commaAfter(text, member.value.end);
  let from = text.slice(0, member.start).trimEnd().length;
  let to = comma ?? member.value.end;
  if (text.slice(earlier, from).includes('//')) {
    // That comment must not swallow what follows on the line of the member.
    if (!/^[ \t]*(\r?\n|$)/.test(text.slice(to))) from = member.start;
  } else if (members.length === 1 && text.slice(to, end - 1).trim() === '') {
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
    const json: Json[] = [];
    const end = this.#list(start, ']', (at) => {
      const value = this.#value(at, depth + 1);
      json.push(value.json);
      return value.end;
    });
    return { start, end, json };
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
