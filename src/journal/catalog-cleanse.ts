// Nothing of an entry that was taken out of a journal stays in its catalog: what changed is read
// again, the file is written anew without free pages, and its log is emptied. Where that cannot be
// done, because another process reads it at the moment, the file goes; it is made again when it is
// asked for.

import { existsSync } from 'node:fs';
import { LARGE } from './catalog-batch.ts';
import { catchUp } from './catalog-fill.ts';
import { catalogPath, discardCatalog, discardHiddenCatalog } from './catalog-place.ts';
import { openCatalogFile } from './catalog-schema.ts';
import { loadSqlite, type Sqlite } from './sqlite.ts';

const BUSY_MS = 2_000;

/** Throws the error of the system call when the file cannot even be removed. */
export function cleanseCatalog(
  directory: string,
  now: () => number,
  sqlite: Sqlite | undefined = loadSqlite(),
): 'none' | 'cleansed' | 'discarded' {
  discardHiddenCatalog(directory);
  const path = catalogPath(directory);
  if (!existsSync(path)) return 'none';
  if (sqlite !== undefined && written(sqlite, directory, path, now)) return 'cleansed';
  discardCatalog(directory);
  return 'discarded';
}

function written(sqlite: Sqlite, directory: string, path: string, now: () => number): boolean {
  const file = openCatalogFile(sqlite, path, BUSY_MS);
  if (file === undefined) return false;
  const { database } = file;
  try {
    for (const _ of catchUp(database, directory, now, LARGE));
    database.exec('VACUUM');
    const [row] = database.all('PRAGMA wal_checkpoint(TRUNCATE)');
    return row?.busy === 0 && file.isCurrent();
  } catch {
    return false; // busy, damaged, or a full disk: it goes
  } finally {
    file.close();
  }
}
