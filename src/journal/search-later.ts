// Searching what came behind entries: the files beside sessions are few and small, so they are read
// whole. An entry is looked up only when something of it was found there.

import type { Entry } from '../types.ts';
import { entriesOf } from './entry-lines.ts';
import { findSessionFiles } from './files.ts';
import { readLater, sessionsWithLater } from './later.ts';
import {
  candidateOf,
  type Field,
  hitOf,
  keyOf,
  type Matchers,
  matchersOf,
  passes,
  type SearchGaps,
  type SearchHit,
  type SearchQuery,
} from './search.ts';
import { searchedText } from './search-text.ts';

type Later = NonNullable<Entry['later']>;

export type LaterAnswer = { readonly hits: readonly SearchHit[]; readonly unsearched: SearchGaps };

/**
 * Over a whole journal; `known` are the names of its files with such output. An entry is found
 * here also if its own fields have it.
 */
export function searchLater(
  directory: string,
  query: SearchQuery,
  known?: readonly string[],
): LaterAnswer {
  const matchers = matchersOf(query);
  const hits: SearchHit[] = [];
  let damagedLines = 0;
  let cutOutputs = 0;
  for (const id of sessionsWithLater(directory, known)) {
    const files = findSessionFiles(directory, id);
    if (files === undefined) continue; // what is left of a session that was removed
    const later = readLater(files.later);
    damagedLines += later.damagedLines;
    const wanted = new Map(
      [...later.found].filter(([, one]) => one.truncated || has(one, matchers)),
    );
    if (wanted.size === 0) continue;
    for (const { entry, offset } of entriesOf(files.entries, 0, { lines: 0 })) {
      const output = wanted.get(entry.entry_id);
      if (output === undefined || !passes(entry, Date.parse(entry.timestamp), query)) continue;
      cutOutputs += Number(output.truncated);
      const hit = laterHit(entry, output, keyOf(entry, id, offset), matchers);
      if (hit !== undefined) hits.push(hit);
    }
  }
  return { hits, unsearched: { damagedLines, cutOutputs } };
}

function has({ stdout, stderr }: Later, { text }: Matchers): boolean {
  return [stdout, stderr].some((one) => text?.find(searchedText(one)) !== undefined);
}

function laterHit(
  entry: Entry,
  { stdout, stderr }: Later,
  key: ReturnType<typeof keyOf>,
  matchers: Matchers,
): SearchHit | undefined {
  const candidate = candidateOf({ ...entry, description: null, stdout, stderr }, key);
  const searched = (name: Field) => (name === 'command' ? null : candidate.searched(name));
  const hit = matchers.text && hitOf({ ...candidate, searched }, matchers);
  if (hit === undefined) return undefined;
  return { ...hit, found: hit.found === 'stderr' ? 'later.stderr' : 'later.stdout' };
}
