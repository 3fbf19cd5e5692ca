// Edits one entry of a YAML file as text and leaves every other byte alone. The parser only says
// where things stand; whatever it could not write back exactly is refused.

import { isDeepStrictEqual } from 'node:util';
import {
  type Document,
  isMap,
  isScalar,
  type Pair,
  parseDocument,
  stringify,
  type YAMLMap,
} from 'yaml';
import { ConfigSyntaxError, eolOf, type Json, type JsonRecord } from './jsonc.ts';

/** The map `container` has `key` with this value. */
export function mergeYaml(text: string, container: string, key: string, entry: JsonRecord): string {
  const document = read(text);
  const map = mapAt(document, container);
  const known = map === undefined ? undefined : pairOf(map, key);
  if (known !== undefined) {
    if (isDeepStrictEqual(toJson(known.value), entry)) return text;
    return mergeYaml(removeYaml(text, container, key), container, key, entry);
  }
  const eol = eolOf(text);
  const indent = map === undefined ? '  ' : indentOf(text, map);
  const lines = stringify({ [key]: entry })
    .trimEnd()
    .split('\n');
  const block = lines.map((line) => `${indent}${line}${eol}`).join('');
  const edited =
    map === undefined
      ? `${ended(text, eol)}${container}:${eol}${block}`
      : insertAt(text, endOf(text, map), block, eol);
  return checked(edited, document, container, key, entry);
}

/** Without the entry, and without the map if nothing else is in it. */
export function removeYaml(text: string, container: string, key: string): string {
  const document = read(text);
  const map = mapAt(document, container);
  const pair = map === undefined ? undefined : pairOf(map, key);
  if (map === undefined || pair === undefined) return text;
  const from = map.items.length === 1 ? startOf(text, rootPair(document, container)) : undefined;
  const start = from ?? startOf(text, pair);
  return checked(
    text.slice(0, start) + text.slice(endOf(text, pair.value)),
    document,
    container,
    key,
  );
}

export function hasYaml(text: string, container: string, key: string): boolean {
  const map = mapAt(read(text), container);
  return map !== undefined && pairOf(map, key) !== undefined;
}

function read(text: string): Document {
  const document = parseDocument(text, { merge: false });
  const [error] = document.errors;
  if (error !== undefined) {
    const said = error.message.split('\n')[0] ?? '';
    throw new ConfigSyntaxError(said.replace(/ at line .*$/, ''), error.pos[0]);
  }
  if (document.contents !== null && !isMap(document.contents)) {
    throw new ConfigSyntaxError('it is not a map', 0);
  }
  return document;
}

function rootPair(document: Document, key: string): Pair | undefined {
  return isMap(document.contents) ? pairOf(document.contents, key) : undefined;
}

function mapAt(document: Document, container: string): YAMLMap | undefined {
  const value = rootPair(document, container)?.value;
  if (value === undefined) return undefined;
  if (isMap(value) && !value.flow && value.items.length > 0) return value;
  throw new ConfigSyntaxError(
    `${container} is written in a form that has to be edited by hand`,
    rangeOf(value)[0],
  );
}

function pairOf(map: YAMLMap, key: string): Pair | undefined {
  return map.items.find((pair) => isScalar(pair.key) && pair.key.value === key);
}

function rangeOf(node: unknown): readonly [number, number, number] {
  const range = (node as { range?: readonly [number, number, number] | null } | null)?.range;
  return range ?? [0, 0, 0];
}

/** The start of the line on which a pair begins. */
function startOf(text: string, pair: Pair | undefined): number {
  return text.lastIndexOf('\n', rangeOf(pair?.key)[0] - 1) + 1;
}

/** The end of the last line of a node. Comments behind it belong to what follows. */
function endOf(text: string, node: unknown): number {
  const end = rangeOf(node)[1];
  if (text[end - 1] === '\n') return end;
  const line = text.indexOf('\n', end);
  return line === -1 ? text.length : line + 1;
}

function indentOf(text: string, map: YAMLMap): string {
  const [start] = rangeOf(map.items[0]?.key);
  return text.slice(text.lastIndexOf('\n', start - 1) + 1, start);
}

function insertAt(text: string, at: number, block: string, eol: string): string {
  return `${ended(text.slice(0, at), eol)}${block}${text.slice(at)}`;
}

function ended(text: string, eol: string): string {
  return text === '' || text.endsWith('\n') ? text : `${text}${eol}`;
}

function toJson(node: unknown): Json {
  return (node as { toJSON(): Json }).toJSON();
}

/** The edited text says what it said before, but for the entry. */
function checked(
  edited: string,
  before: Document,
  container: string,
  key: string,
  entry?: JsonRecord,
): string {
  const wanted = (before.toJSON() ?? {}) as Record<string, Record<string, Json>>;
  const { [key]: _, ...others } = wanted[container] ?? {};
  const inner = entry === undefined ? others : { ...others, [key]: entry };
  const { [container]: __, ...rest } = wanted;
  const expected = Object.keys(inner).length === 0 ? rest : { ...rest, [container]: inner };
  if (isDeepStrictEqual(read(edited).toJSON() ?? {}, expected)) return edited;
  throw new ConfigSyntaxError(`${container} is written in a form that has to be edited by hand`, 0);
}
