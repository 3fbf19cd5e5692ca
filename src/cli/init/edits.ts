// The kinds of edits that `cuff init` makes in files of other programs. Each can be made twice with
// the effect of once, is recognised in any layout, and is taken out without touching the rest.

import { isDeepStrictEqual } from 'node:util';
import { asObject } from '../../text/json.ts';
import {
  addJsonItem,
  type Json,
  type JsonRecord,
  mergeJson,
  type Prunes,
  readJson,
  removeJson,
  removeJsonItems,
} from './jsonc.ts';
import {
  addTomlItem,
  hasToml,
  hasTomlItem,
  mergeToml,
  readTomlValue,
  removeToml,
  removeTomlItem,
  removeTomlValue,
  type TomlEntry,
} from './toml.ts';
import { hasYaml, mergeYaml, removeYaml } from './yaml.ts';

export type Edit = {
  /** Tells it from the others of its file. */
  readonly name: string;
  /** Users write this, too: it is ours only where init has inserted this text. */
  readonly common?: string;
  /** Throws `ValueConflict` where the user has said something else. */
  add(text: string): string;
  /**
   * Empty when nothing is left in it. What is empty then goes, too, unless init did not insert it:
   * `added` says whether some text that init inserted is like this.
   */
  remove(text: string, added?: Additions): string;
  has(text: string): boolean;
};

export type Additions = (what: RegExp) => boolean;

/** What is empty goes if a text of init opens it. */
function opened(added: Additions | undefined): Prunes | undefined {
  return added && ((key, opens) => added(openingOf(key, opens)));
}

function openingOf(key: string, opens: '{' | '['): RegExp {
  return new RegExp(`${escaped(JSON.stringify(key))}\\s*:\\s*\\${opens}`);
}

function escaped(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
}

/** The user has a value of their own there, which stays. */
export class ValueConflict extends Error {}

/** An object with these members, and perhaps more that the user added. */
export function jsonEntry(path: readonly string[], entry: JsonRecord): Edit {
  return {
    name: path.join('.'),
    add: (text) => mergeJson(text, path, entry),
    remove: (text, added) => removeJson(text, path, opened(added)),
    has: (text) => readJson(text, path) !== undefined,
  };
}

/** One value. `ours` also knows those of earlier versions. */
export function jsonValue(
  path: readonly string[],
  value: string | boolean,
  ours: (known: Json) => boolean = (known) => known === value,
  common?: string,
): Edit {
  const above = path.slice(0, -1);
  const key = path.at(-1) ?? '';
  const known = (text: string): Json | undefined => readJson(text, path);
  const has = (text: string): boolean => {
    const now = known(text);
    return now !== undefined && ours(now);
  };
  return {
    name: path.join('.'),
    ...(common === undefined ? {} : { common }),
    add: (text) => {
      if (known(text) !== undefined && !has(text)) throw conflict(path.join('.'));
      return mergeJson(text, above, { [key]: value });
    },
    remove: (text, added) => (has(text) ? removeJson(text, path, opened(added)) : text),
    has,
  };
}

/** One item of a list. `ours` also knows those of earlier versions. */
export function jsonItem(
  path: readonly string[],
  item: Json,
  ours: (known: Json) => boolean = (known) => isDeepStrictEqual(known, item),
): Edit {
  return {
    name: `${path.join('.')} ${typeof item === 'string' ? item : 'cuff'}`,
    ...(typeof item === 'string' && item !== 'mcp__cuff' && { common: JSON.stringify(item) }),
    add: (text) => addJsonItem(text, path, item, ours),
    remove: (text, added) => removeJsonItems(text, path, ours, opened(added)),
    has: (text) => {
      const items = readJson(text, path);
      return Array.isArray(items) && items.some(ours);
    },
  };
}

export function tomlTable(table: readonly string[], entry: TomlEntry): Edit {
  return {
    name: table.join('.'),
    add: (text) => mergeToml(text, table, entry),
    remove: (text) => removeToml(text, table),
    has: (text) => hasToml(text, table),
  };
}

export function tomlValue(
  table: readonly string[],
  key: string,
  value: string | boolean,
  ours: (known: string) => boolean = (known) => known === String(value),
): Edit {
  const has = (text: string): boolean => {
    const known = readTomlValue(text, table, key);
    return known !== undefined && ours(known);
  };
  return {
    name: [...table, key].join('.'),
    ...(typeof value === 'boolean' && { common: key }),
    add: (text) => {
      const known = readTomlValue(text, table, key);
      if (known !== undefined && !ours(known)) throw conflict([...table, key].join('.'));
      return mergeToml(text, table, { [key]: value });
    },
    remove: (text, added) =>
      has(text) ? removeTomlValue(text, table, key, prunesTable(table, added)) : text,
    has,
  };
}

export function tomlItem(table: readonly string[], key: string, item: string): Edit {
  return {
    name: [...table, key].join('.'),
    add: (text) => addTomlItem(text, table, key, item),
    remove: (text, added) => removeTomlItem(text, table, key, item, prunesTable(table, added)),
    has: (text) => hasTomlItem(text, table, key, item),
  };
}

export function yamlEntry(container: string, key: string, entry: JsonRecord): Edit {
  return {
    name: `${container}.${key}`,
    add: (text) => mergeYaml(text, container, key, entry),
    remove: (text) => removeYaml(text, container, key),
    has: (text) => hasYaml(text, container, key),
  };
}

/** A file that is all ours. One with other content is not, and stays. */
export function wholeFile(content: string): Edit {
  const ours = (text: string): boolean => text.includes(MARK);
  return {
    name: 'whole file',
    add: (text) => {
      if (text !== '' && !ours(text)) throw conflict('the whole file');
      return content;
    },
    // With changes of the user it is not ours alone any more.
    remove: (text) => (text === content ? '' : text),
    has: ours,
  };
}

/** The version of the format, which a file with hooks must have. It goes with the last of them. */
export function jsonVersion(): Edit {
  const path = ['version'];
  return {
    name: 'version',
    common: '"version"',
    add: (text) =>
      readJson(text, path) === undefined ? mergeJson(text, [], { version: 1 }) : text,
    remove: (text, added) => {
      const hooks = Object.keys(asObject(readJson(text, ['hooks'])) ?? {});
      // Hooks that the user added to ours need it; those that were there before did without.
      const needed = hooks.length > 0 && (added === undefined || added(openingOf('hooks', '{')));
      return needed ? text : removeJson(text, path);
    },
    has: () => false,
  };
}

function prunesTable(table: readonly string[], added: Additions | undefined): boolean {
  return added === undefined || added(new RegExp(escaped(`[${table.join('.')}]`)));
}

/** Stands in every file that is all ours. */
export const MARK = 'Written by `cuff init`; `cuff init --undo` takes it out again.';

function conflict(what: string): ValueConflict {
  return new ValueConflict(`${what} has a value of yours`);
}

/** Whether a value of a hook list starts `cuff hook`, in any of the forms that clients have. */
export function isHookEntry(known: Json): boolean {
  const entry = asObject(known);
  if (entry === undefined) return false;
  if (Array.isArray(entry.hooks)) return entry.hooks.length > 0 && entry.hooks.every(isHookEntry);
  const args = Array.isArray(entry.args) ? entry.args : [];
  const line = [entry.command ?? entry.bash, ...args].filter((word) => typeof word === 'string');
  return /(^|[\s"'/\\])cuff(\.cjs)?["']? hook( |$)/.test(line.join(' '));
}
