// Questions about all sessions at once: how much was run, and where something is. The catalog
// answers them where there is a SQLite; without one every entry is looked at.

import { existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { type Catalog, openCatalog } from '../journal/catalog.ts';
import {
  catalogPath,
  discardCatalog,
  discardHiddenCatalog,
  hiddenCatalogPath,
} from '../journal/catalog-place.ts';
import { indexPath } from '../journal/files.ts';
import { readIndex } from '../journal/index-file.ts';
import { listSessions } from '../journal/list.ts';
import type { SearchGaps, SearchHit, SearchQuery } from '../journal/search.ts';
import { type LaterAnswer, searchLater } from '../journal/search-later.ts';
import type { Stats, StatsQuery } from '../journal/stats.ts';
import { ownRecipients } from '../packing/recipients.ts';

const hidden = (): boolean => ownRecipients(process.cwd(), process.env).length > 0;

const ENV = { now: Date.now, hidden };

/** There is no catalog yet, so the first question takes as long as reading the journal. */
export function catalogMissing(directory: string): boolean {
  return ![catalogPath(directory), hiddenCatalogPath(directory)].some(existsSync);
}

export function journalStats(directory: string, query: StatsQuery): Promise<Stats> {
  return asking(directory, (catalog) => catalog.stats(query));
}

export type SearchAnswer = {
  readonly hits: readonly SearchHit[];
  readonly unsearched: SearchGaps;
};

/** Throws `usage` for a regular expression that is none. */
export function journalSearch(directory: string, query: SearchQuery): Promise<SearchAnswer> {
  return asking(directory, (catalog) => {
    const answer = { hits: catalog.search(query), unsearched: catalog.unsearched(query) };
    const later = searchLater(directory, query, catalog.laterFiles());
    return withLater(answer, later, query.limit);
  });
}

/** An entry is one hit: that in its own fields comes before that in what came later. */
function withLater(own: SearchAnswer, later: LaterAnswer, limit: number): SearchAnswer {
  const known = new Set(own.hits.map(placeOf));
  const more = later.hits.filter((hit) => !known.has(placeOf(hit)));
  const { damagedLines, cutOutputs } = own.unsearched;
  return {
    hits: more.length === 0 ? own.hits : newestFirst([...own.hits, ...more]).slice(0, limit),
    unsearched: {
      damagedLines: damagedLines + later.unsearched.damagedLines,
      cutOutputs: cutOutputs + later.unsearched.cutOutputs,
    },
  };
}

function placeOf({ sessionId, entryId, sequence }: SearchHit): string {
  return `${sessionId} ${entryId} ${sequence}`;
}

/** Hits of one time stay in the order they have. */
function newestFirst(hits: readonly SearchHit[]): SearchHit[] {
  return [...hits].sort((a, b) => Date.parse(b.timestamp) - Date.parse(a.timestamp));
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

export type ReindexResult = {
  readonly sessions: number;
  readonly entries: number;
  /** What the catalog is made with; null when there is nothing to make one with. */
  readonly catalog: string | null;
};

/** Makes index, list and catalog anew from the session files. */
export async function reindexJournal(directory: string): Promise<ReindexResult> {
  discardCatalog(directory);
  discardHiddenCatalog(directory);
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
