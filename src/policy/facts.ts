// What is known of a program besides the meaning of its words (`Facts` of profile.ts), and lists of
// names and files that are about several.

import type { Facts, Trait } from './profile.ts';
import { unpackFacts } from './profiles/pack.ts';
import { TABLE } from './profiles/table.ts';

let find: ((name: string) => Facts | undefined) | undefined;

/** By its plain name. */
export function factsOf(name: string): Facts | undefined {
  find ??= unpackFacts(TABLE.facts());
  return find(name);
}

export function hasTrait(name: string, trait: Trait): boolean {
  return factsOf(name)?.traits?.includes(trait) === true;
}

/** Lists of globs, names or words that stand in the records under `lists`. */
export const LISTS = [
  ...(['secrets', 'controls', 'control-directories', 'steering', 'installed'] as const),
  ...(['secret-names', 'secret-folders', 'control-names', 'control-folders'] as const),
  'telling-names',
  ...(['startup-names', 'harmless-variables', 'plain-variables', 'plain-flags'] as const),
  ...(['manager-commands', 'usual-scripts', 'maven-phases', 'kubectl-things'] as const),
  ...(['quiet', 'text-readers', 'listers', 'anywhere'] as const),
] as const;
type ListName = (typeof LISTS)[number];

const lists = new Map<ListName, readonly string[]>();

export function listOf(name: ListName): readonly string[] {
  const known = lists.get(name);
  if (known !== undefined) return known;
  const list = TABLE.lists[name]?.().split(' ') ?? [];
  lists.set(name, list);
  return list;
}

const sets = new Map<ListName, ReadonlySet<string>>();

export function isListed(list: ListName, word: string): boolean {
  const set = sets.get(list) ?? new Set(listOf(list));
  sets.set(list, set);
  return set.has(word);
}
