// Questions about all sessions at once: how much was run, and where something is. The catalog
// answers them where there is a SQLite; without one every entry is looked at.

import { existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { type Catalog, discardCatalog, openCatalog } from './journal/catalog.ts';
import { indexPath } from './journal/files.ts';
import { readIndex } from './journal/index-file.ts';
import { countLater } from './journal/later.ts';
import { listSessions } from './journal/list.ts';
import type { SearchHit, SearchQuery, Unsearched } from './journal/search.ts';
import type { Stats, StatsQuery } from './journal/stats.ts';

export type { SearchHit, SearchQuery, Stats };

const ENV = { now: Date.now };

/** There is no catalog yet, so the first question takes as long as reading the journal. */
export function catalogMissing(directory: string): boolean {
  return !existsSync(join(directory, 'catalog.db'));
}

export function journalStats(directory: string, query: StatsQuery): Promise<Stats> {
  return asking(directory, (catalog) => catalog.stats(query));
}

export type SearchAnswer = {
  readonly hits: readonly SearchHit[];
  readonly unsearched: Unsearched;
  /** Commands whose left processes printed behind their entries: that is not searched. */
  readonly laterOutputs: number;
};

/** Throws `usage` for a regular expression that is none. */
export function journalSearch(directory: string, query: SearchQuery): Promise<SearchAnswer> {
  return asking(directory, (catalog) => ({
    hits: catalog.search(query),
    unsearched: catalog.unsearched(query),
    laterOutputs: countLater(directory, catalog.laterFiles()),
  }));
}

async function asking<T>(directory: string, question: (catalog: Catalog) => T): Promise<T> {
  const catalog = await openCatalog(directory, ENV);
  try {
    catalog.refresh();
    return question(catalog);
  } finally {
    catalog.close();
  }
}

export type Reindexed = {
  readonly sessions: number;
  readonly entries: number;
  /** What the catalog is made with; null when there is nothing to make one with. */
  readonly catalog: string | null;
};

/** Makes index, list and catalog anew from the session files. */
export async function reindexJournal(directory: string): Promise<Reindexed> {
  discardCatalog(directory);
  for (const path of [indexPath(directory), join(directory, 'sessions.list')]) {
    rmSync(path, { force: true });
  }
  const index = readIndex(directory, ENV);
  listSessions(directory, { limit: 0 }, ENV);
  const catalog = await openCatalog(directory, ENV);
  try {
    const made = catalog.refresh().done && catalog.kind !== 'scan';
    const { total_sessions: sessions, total_entries: entries } = index;
    return { sessions, entries, catalog: made ? catalog.kind : null };
  } finally {
    catalog.close();
  }
}
