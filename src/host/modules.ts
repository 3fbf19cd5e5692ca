// Where the class of a plugin comes from: a built-in by name, any other from a file. A file that
// changed is imported afresh, because Node never forgets a module, nor its failure.

import { type Stats, statSync } from 'node:fs';
import { pathToFileURL } from 'node:url';
import { builtinName, type PluginSource } from '../trust/plugin-source.ts';
import { limited, type Owner, ownedBy } from './containment.ts';
import type { PluginClass } from './plugin.ts';

const IMPORT_MS = 10_000; // a module that waits for ever at its top level

export type Builtins = Readonly<Record<string, PluginClass>>;

/** Changes when another class would be got: another module, or the same file with new content. */
export function moduleVersion(source: PluginSource): string {
  const builtin = builtinName(source);
  if (builtin !== undefined || source.module === undefined) return `builtin:${builtin}`;
  const url = pathToFileURL(source.module);
  const stat = statOf(source.module);
  url.searchParams.set('v', stat === undefined ? 'none' : `${stat.mtimeMs}-${stat.size}`);
  return url.href;
}

function statOf(path: string): Stats | undefined {
  try {
    return statSync(path);
  } catch {
    return undefined; // importing it will say why
  }
}

/** The plugin that uses a module gets the errors of the module itself. */
const users = new Map<string, Owner>();

/** For code of a module that runs before, or without, a plugin of it. */
export function ownedByModule<T>(version: string, work: () => T): T {
  const trouble: Owner['trouble'] = (where, error) => users.get(version)?.trouble(where, error);
  return ownedBy({ name: version, trouble }, work);
}

const imported = new Map<string, Promise<PluginClass>>();

/** Rejects with the error of the module, or with a sentence about what it lacks. */
export async function pluginClass(
  source: PluginSource,
  builtins: Builtins,
  user?: Owner,
): Promise<PluginClass> {
  const builtin = builtinName(source);
  if (builtin !== undefined) {
    const known = Object.hasOwn(builtins, builtin) ? builtins[builtin] : undefined;
    if (known === undefined) throw new Error(`there is no built-in '${builtin}'`);
    return known;
  }
  const version = moduleVersion(source);
  if (user !== undefined) users.set(version, user);
  let loading = imported.get(version);
  if (loading === undefined) {
    const importing = ownedByModule(version, () => import(version));
    loading = limited(importing.then(exportedClass), IMPORT_MS, 'importing it');
    imported.set(version, loading);
  }
  return loading;
}

function exportedClass(namespace: { readonly default?: unknown; readonly plugin?: unknown }) {
  // CommonJS made from TypeScript hides its exports one level deeper.
  const inner = Object(namespace.default) as { default?: unknown; plugin?: unknown };
  const candidates = [namespace.default, namespace.plugin, inner.default, inner.plugin];
  const found = candidates.find((candidate) => typeof candidate === 'function');
  if (found === undefined) {
    throw new Error("it exports no class as 'default' or 'plugin'");
  }
  return found as PluginClass;
}
