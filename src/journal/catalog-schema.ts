// catalog.db: what can be found out from the session files, kept so that it need not be found out
// again. Derived and disposable: a file of another version, or a damaged one, is thrown away.
//
//   about     mark: the state of sessions/ when all of it was in the catalog; later: the sessions
//             that had output behind their entries (see later.ts) when it was looked at last
//   sessions  one row per file: how far it was read (watermark, bytes) and what it looked like then
//             (state, see catalog-look.ts); live while its metadata says that it is written;
//             last_at is the newest time of its entries; damaged, the lines that are no entries;
//             last to missing, how far the numbers of its entries were followed, and what was
//             found (see sequence.ts); part_of, the session it is part of (see join.ts)
//   entries   one row per entry, with the texts that are searched (see search-text.ts), those of
//             its processes as one text; what its flags say is below. A long one has only its
//             command and description: the rest is read from its session
//   words     full-text index of the folded texts of an entry, by trigrams: only which entries have
//             one, not where, so what it finds is looked at again; not of long entries
//   signatures, pieces  the trigrams of long entries (see catalog-signature.ts)
//   grams     how many of some entries have a trigram (see catalog-grams.ts)
//   days      one rollup (see rollup.ts) per day in UTC, its normal forms in forms
//
// The id of an entry says when it was: it is at least 8 for each second of its time, and the next
// free number if that is taken. So ids go with time closely enough that the newest hits are found
// from the highest id down, and no entry with a lower id than 8 (t + 1) is newer than second t.
import * as fs from 'node:fs';
import { type Database, type Sqlite, troubleOf } from './sqlite.ts';

/** As SQLite calls a database without a file. */
export const IN_MEMORY = ':memory:';

const VERSION = 6;

/** What is searched is the whole field. */
export const WHOLE_STDOUT = 1;
export const WHOLE_STDERR = 2;
/** What is found in its texts may not be found in their columns. */
export const UNLIKE = 4;
/** It has a signature instead of words and output. */
export const LONG = 8;
/** It printed more than the journal keeps. */
export const CUT = 16;

const SCHEMA = `
CREATE TABLE about (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE sessions (
  id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, live INTEGER NOT NULL,
  state TEXT NOT NULL, watermark INTEGER NOT NULL, last_at INTEGER,
  damaged INTEGER NOT NULL, last INTEGER NOT NULL, count INTEGER NOT NULL,
  skipped INTEGER NOT NULL, repeated INTEGER NOT NULL, backward INTEGER NOT NULL,
  missing INTEGER NOT NULL, part_of TEXT);
CREATE INDEX sessions_live ON sessions (name) WHERE live = 1;
CREATE TABLE entries (
  id INTEGER PRIMARY KEY, session INTEGER NOT NULL, entry_id TEXT NOT NULL,
  sequence INTEGER NOT NULL, offset INTEGER NOT NULL, at INTEGER NOT NULL,
  duration_ms INTEGER NOT NULL, exit_code INTEGER, agent TEXT, flags INTEGER NOT NULL,
  command TEXT NOT NULL, description TEXT, stdout TEXT, stderr TEXT, processes TEXT);
CREATE UNIQUE INDEX entries_session ON entries (session, entry_id);
CREATE INDEX entries_at ON entries (at);
CREATE INDEX entries_cut ON entries (id) WHERE flags & ${CUT};
CREATE VIRTUAL TABLE words USING
  fts5 (text, content = '', columnsize = 0, detail = none, tokenize = 'trigram');
INSERT INTO words (words, rank) VALUES ('automerge', 0);
CREATE TABLE signatures (id INTEGER PRIMARY KEY, bytes INTEGER NOT NULL);
CREATE TABLE pieces (
  bytes INTEGER NOT NULL, place INTEGER NOT NULL, id INTEGER NOT NULL, bits BLOB NOT NULL,
  PRIMARY KEY (bytes, place, id)) WITHOUT ROWID;
CREATE TABLE grams (gram TEXT PRIMARY KEY, count INTEGER NOT NULL) WITHOUT ROWID;
CREATE TABLE days (
  day INTEGER PRIMARY KEY, commands INTEGER NOT NULL, duration_ms INTEGER NOT NULL,
  zero INTEGER NOT NULL, one INTEGER NOT NULL, other INTEGER NOT NULL, none INTEGER NOT NULL,
  longest_ms INTEGER NOT NULL, longest TEXT NOT NULL);
CREATE TABLE forms (
  day INTEGER NOT NULL, form TEXT NOT NULL, count INTEGER NOT NULL,
  PRIMARY KEY (day, form)) WITHOUT ROWID;
PRAGMA user_version = ${VERSION};
`;

/** Every entry of that time (epoch ms) or a later one has this id or a higher one. */
export function firstIdAt(at: number): number {
  return Math.max(0, Math.floor(at / 1000)) * 8;
}

/** Every entry with this id or a lower one began before this time (epoch ms). */
export function timeAbove(id: number): number {
  return (Math.floor(id / 8) + 1) * 1000;
}

export type CatalogFile = {
  readonly database: Database;
  /** The file that was opened is the file that is there now. */
  readonly isCurrent: () => boolean;
  /** Never throws. */
  readonly close: () => void;
};

/** Undefined when it cannot be had: a lock that stays, a full disk, a missing permission. */
export function openCatalogFile(
  sqlite: Sqlite,
  path: string,
  busyMs: number,
): CatalogFile | undefined {
  return attemptOpen(sqlite, path, busyMs) ?? attemptOpen(sqlite, path, busyMs);
}

/** Throws the file away if it is not what we made. */
function attemptOpen(sqlite: Sqlite, path: string, busyMs: number): CatalogFile | undefined {
  let database: Database | undefined;
  try {
    const ino = path === IN_MEMORY ? undefined : ensurePrivateFile(path);
    database = sqlite.open(path);
    database.exec(`PRAGMA busy_timeout = ${busyMs}`);
    database.exec('PRAGMA synchronous = NORMAL');
    // What is deleted or redacted does not stay behind in free pages.
    database.exec('PRAGMA secure_delete = ON');
    // Nor does any of it get into a temporary file.
    database.exec('PRAGMA temp_store = MEMORY');
    ensureSchema(database);
    const isCurrent = () =>
      ino === undefined || fs.statSync(path, { throwIfNoEntry: false })?.ino === ino;
    if (!isCurrent()) throw new Error(`${path} was replaced`);
    return { database, isCurrent, close: closing(database) };
  } catch (error) {
    attempt(() => database?.close());
    if (troubleOf(error) === 'damaged') attempt(() => discardCatalogFile(path));
    return undefined;
  }
}

function closing(database: Database): () => void {
  return () => {
    // What is left in the log would lie beside the file until it is opened again.
    attempt(() => database.exec('PRAGMA busy_timeout = 0'));
    attempt(() => database.exec('PRAGMA wal_checkpoint(TRUNCATE)'));
    attempt(() => database.close());
  };
}

/** The library would follow a link, and would let others read the file. */
function ensurePrivateFile(path: string): number {
  const { O_RDWR, O_CREAT, O_NOFOLLOW = 0, O_NONBLOCK = 0 } = fs.constants;
  const fd = fs.openSync(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK, 0o600);
  try {
    const stat = fs.fstatSync(fd);
    if (!stat.isFile()) throw new Error(`${path} is not a file`);
    if ((stat.mode & 0o077) !== 0) fs.fchmodSync(fd, 0o600);
    return stat.ino;
  } finally {
    fs.closeSync(fd);
  }
}

class WrongVersion extends Error {
  readonly errcode = 1;
}

function ensureSchema(database: Database): void {
  if (versionOf(database) === VERSION) return;
  // Not inside a transaction. Where it is not possible, on some network disks, nothing changes.
  database.all('PRAGMA journal_mode = WAL');
  inTransaction(database, () => {
    const version = versionOf(database); // another process may have made it by now
    if (version === VERSION) return;
    const [row] = database.all('SELECT count(*) AS count FROM sqlite_schema');
    if (version !== 0 || row?.count !== 0) throw new WrongVersion();
    database.exec(SCHEMA);
  });
}

function versionOf(database: Database): unknown {
  return database.all('PRAGMA user_version')[0]?.user_version;
}

/** Everything or nothing, and no other process writes meanwhile. */
export function inTransaction<T>(database: Database, work: () => T): T {
  database.exec('BEGIN IMMEDIATE');
  try {
    const result = work();
    database.exec('COMMIT');
    return result;
  } catch (error) {
    attempt(() => database.exec('ROLLBACK'));
    throw error;
  }
}

/** For what is tried while something else has failed already: that is the error to report. */
function attempt(action: () => void): void {
  try {
    action();
  } catch {
    // A full disk has ended the transaction, or a file cannot be closed: nothing more to do.
  }
}

/** A process that has it open goes on with a file without a name until it notices. */
export function discardCatalogFile(path: string): void {
  // The database last: what is left over beside an empty one is ignored.
  for (const suffix of ['-wal', '-shm', '']) fs.rmSync(`${path}${suffix}`, { force: true });
}
