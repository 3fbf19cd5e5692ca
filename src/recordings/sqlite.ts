// Sessions as a database file.

import { chmodSync, closeSync, openSync } from 'node:fs';
import { AppError } from '../errors.ts';
import { exportSqlite } from '../journal/export-sqlite.ts';
import { loadSqlite } from '../journal/sqlite.ts';
import { type Selection, selectedSessions } from './sessions.ts';

/** Writes a new database to `path`. Throws `catalog_unavailable` where there is no SQLite. */
export function writeDatabase(path: string, selection: Selection, step: () => void): void {
  const sqlite = loadSqlite();
  if (sqlite === undefined) {
    throw new AppError('catalog_unavailable', 'There is no SQLite to write with', {
      hint: 'Hint: Use Node 22.16 or newer, or install the optional package libsql',
    });
  }
  // Ours from its first byte, whatever the umask is.
  closeSync(openSync(path, 'wx', 0o600));
  chmodSync(path, 0o600);
  const database = sqlite.open(path);
  try {
    exportSqlite(database, selectedSessions(selection), step);
  } finally {
    database.close();
  }
}
