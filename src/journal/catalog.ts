// The catalog of a journal: search and statistics that do not read the journal again. It never
// stands in the way: where there is no SQLite, or while the file is locked, damaged or behind, the
// session files are read instead, with the same result.
import { existsSync } from 'node:fs';
import { isAppError } from '../errors.ts';
import { LARGE, SMALL } from './catalog-batch.ts';
import { catchUp, takeIn } from './catalog-fill.ts';
import { laterNames } from './catalog-look.ts';
import {
  catalogPath,
  discardCatalog,
  discardHiddenCatalog,
  hasPackedLines,
  makeHiddenPlace,
} from './catalog-place.ts';
import { catalogSearch, catalogStats, catalogUnsearched } from './catalog-query.ts';
import { type CatalogFile, openCatalogFile } from './catalog-schema.ts';
import { sessionsDir } from './files.ts';
import { placeTrouble } from './place.ts';
import { journalSessionIds } from './reader.ts';
import {
  matchersOf,
  type SearchGaps,
  type SearchHit,
  type SearchQuery,
  scanSearch,
  scanUnsearched,
} from './search.ts';
import { type Database, loadSqlite, type Sqlite, troubleOf } from './sqlite.ts';
import { type Stats, type StatsQuery, scanStats } from './stats.ts';

/** How often a refresh with a budget looks at all sessions, not only at those it is told of. */
const LOOK_AGAIN_MS = 60_000;

// A transaction of another process takes a fraction of this.
const BUSY_MS = 2_000;

export type Catalog = {
  /** What it works with; `scan` when there is no SQLite. */
  readonly kind: Sqlite['name'] | 'scan';
  /**
   * Takes in what is new in the session files. With a budget it stops after about so many
   * milliseconds and goes on the next time; it looks at the sessions of `first` every time and at
   * all others once a minute. `done` is false while there is more to take in.
   */
  refresh(options?: RefreshOptions): { readonly done: boolean };
  /** Throws `usage` for a regular expression that is none. */
  search(query: SearchQuery): SearchHit[];
  /** What the search did not look at. */
  unsearched(query: SearchQuery): SearchGaps;
  /** The files of output behind entries (see later.ts), where they need not be looked for. */
  laterFiles(): readonly string[] | undefined;
  stats(query?: StatsQuery): Stats;
  close(): void;
};

type RefreshOptions = {
  readonly budgetMs?: number;
  readonly first?: readonly string[];
};

export type CatalogOptions = {
  readonly now: () => number;
  /** Undefined when there is none; the default is the best this Node has. */
  readonly sqlite?: () => Sqlite | undefined;
  /** The journal is encrypted, so that no word of it may lie on a disk. May throw. */
  readonly hidden?: () => boolean;
};

export async function openCatalog(directory: string, options: CatalogOptions): Promise<Catalog> {
  return new JournalCatalog(directory, (options.sqlite ?? loadSqlite)(), options);
}

/** Nothing is put into a directory that is none, or that is not safe. */
function isJournal(directory: string): boolean {
  if (placeTrouble(directory) !== undefined) return false;
  return existsSync(sessionsDir(directory)) || journalSessionIds(directory).length > 0;
}

class JournalCatalog implements Catalog {
  readonly #directory: string;
  readonly #sqlite: Sqlite | undefined;
  readonly #now: () => number;
  readonly #hidden: () => boolean;
  #file: CatalogFile | undefined;
  /** Looking at all sessions, as far as it has come. */
  #work: Generator<void, void, undefined> | undefined;
  /** When all sessions were looked at last, and found to be in the catalog. */
  #completeAt: number | undefined;

  constructor(directory: string, sqlite: Sqlite | undefined, options: CatalogOptions) {
    this.#directory = directory;
    this.#sqlite = sqlite;
    this.#now = options.now;
    this.#hidden = () => options.hidden?.() === true || hasPackedLines(directory);
  }

  get kind(): Catalog['kind'] {
    return this.#sqlite?.name ?? 'scan';
  }

  refresh({ budgetMs, first = [] }: RefreshOptions = {}): { done: boolean } {
    if (this.#sqlite === undefined) return { done: true };
    const advance = () =>
      budgetMs === undefined ? this.#finish() : this.#advance(this.#now() + budgetMs, first);
    try {
      return { done: advance() };
    } catch (error) {
      if (isAppError(error)) {
        this.#drop({ keep: false });
        if (budgetMs === undefined) throw error;
        return { done: true }; // encrypted for others: it never will be
      }
      const trouble = troubleOf(error);
      this.#drop({ keep: trouble === 'busy' });
      if (trouble === 'busy' && budgetMs !== undefined) return { done: false };
      this.#completeAt = undefined;
      if (trouble !== 'damaged') return { done: false };
    }
    return this.#startAgain(advance);
  }

  /** The file is not what we made: the second and last try is with a new one. */
  #startAgain(advance: () => boolean): { done: boolean } {
    try {
      discardCatalog(this.#directory);
      discardHiddenCatalog(this.#directory);
      return { done: advance() };
    } catch {
      this.#drop({ keep: false });
      return { done: false }; // the scan answers
    }
  }

  #finish(): boolean {
    const database = this.#open({ busyMs: BUSY_MS, logPages: 1_000 });
    if (database === undefined) return false;
    this.#stop();
    for (const _ of catchUp(database, this.#directory, this.#now, LARGE));
    this.#completeAt = this.#now();
    return true;
  }

  #advance(until: number, first: readonly string[]): boolean {
    // A caller with a budget can wait neither for a lock nor for much to be written at once.
    const database = this.#open({ busyMs: 0, logPages: 200 });
    if (database === undefined) return false;
    const told = takeIn(database, this.#directory, first, SMALL);
    if (!this.#run(told, until)) return false;
    const seen = this.#completeAt;
    const due = seen === undefined || this.#now() - seen >= LOOK_AGAIN_MS;
    if (this.#work === undefined && !due) return true;
    this.#work ??= catchUp(database, this.#directory, this.#now, SMALL);
    if (!this.#run(this.#work, until)) return false;
    this.#work = undefined;
    this.#completeAt = this.#now();
    return true;
  }

  /** True when the work is done, false when the time is over. At least one step is made. */
  #run(work: Generator<void, void, undefined>, until: number): boolean {
    do {
      if (work.next().done) return true;
    } while (this.#now() < until);
    return false;
  }

  /** The file that has the name now; another one than before knows nothing yet. */
  #open(waits: { readonly busyMs: number; readonly logPages: number }): Database | undefined {
    if (this.#file !== undefined && !this.#file.isCurrent()) this.#drop({ keep: false });
    if (this.#sqlite && this.#file === undefined && isJournal(this.#directory)) {
      this.#file = openCatalogFile(this.#sqlite, this.#path(), waits.busyMs);
    }
    this.#file?.database.exec(`PRAGMA busy_timeout = ${waits.busyMs}`);
    this.#file?.database.exec(`PRAGMA wal_autocheckpoint = ${waits.logPages}`);
    return this.#file?.database;
  }

  /** What an unencrypted journal had on the disk goes when it is encrypted. */
  #path(): string {
    if (!this.#hidden()) return catalogPath(this.#directory);
    discardCatalog(this.#directory);
    return makeHiddenPlace(this.#directory);
  }

  search(query: SearchQuery): SearchHit[] {
    const matchers = matchersOf(query);
    const answer = this.#ask((database) =>
      catalogSearch(database, this.#directory, query, matchers),
    );
    return answer ?? scanSearch(this.#directory, query);
  }

  unsearched(query: SearchQuery): SearchGaps {
    const answer = this.#ask((database) => catalogUnsearched(database, query));
    return answer ?? scanUnsearched(this.#directory, query);
  }

  laterFiles(): readonly string[] | undefined {
    return this.#ask(laterNames);
  }

  stats(query: StatsQuery = {}): Stats {
    const answer = this.#ask((database) => catalogStats(database, query));
    return answer ?? scanStats(this.#directory, query);
  }

  /** Undefined when it does not know everything, or cannot be asked. */
  #ask<T>(question: (database: Database) => T): T | undefined {
    if (this.#file === undefined || this.#completeAt === undefined) return undefined;
    try {
      return question(this.#file.database);
    } catch {
      this.#completeAt = undefined; // the next refresh finds out what is the matter
      return undefined;
    }
  }

  close(): void {
    this.#drop({ keep: false });
  }

  /** Forgets the work; and the file too, unless it is to be kept. */
  #drop({ keep }: { readonly keep: boolean }): void {
    this.#stop();
    if (keep) return;
    this.#file?.close();
    this.#file = undefined;
    this.#completeAt = undefined;
  }

  #stop(): void {
    this.#work?.return();
    this.#work = undefined;
  }
}
