// Sessions as a SQLite database of their own: a table for each kind of thing, columns named as in
// the files, booleans as 0 and 1, lists and the environment as JSON. A text cannot hold NUL or half
// a character there; an entry with such a text has U+FFFD in its place and is whole in `exact`.
import type { Entry, SessionMetadata } from '../types.ts';
import { encodeJoined } from './entry.ts';
import {
  type Cell,
  ENTRY_COLUMNS,
  entryCells,
  SESSION_COLUMNS,
  sessionCells,
} from './export-columns.ts';
import { storable } from './search-text.ts';
import type { Database, Value } from './sqlite.ts';

const BATCH_MAX = 10_000; // entries in one transaction

const INTEGERS: readonly string[] = [
  'sequence_number',
  'duration_ms',
  'timeout_seconds',
  'timed_out',
  'exit_code',
  'output_truncated',
  'output_truncated_bytes',
  'processes',
  'failed_processes',
  'entry_count',
  'total_duration_ms',
  'commands_succeeded',
  'commands_failed',
  'commands_timed_out',
];

/** One session and its entries, as the caller reads them. */
type ExportedSession = {
  readonly metadata: SessionMetadata;
  readonly entries: Iterable<Entry>;
};

/** `database` is new and empty; the caller closes it. `step` is called for every entry. */
export function exportSqlite(
  database: Database,
  sessions: Iterable<ExportedSession>,
  step: () => void,
): void {
  // It is not read before it is whole, and can be made again.
  database.exec('PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF');
  database.exec(schema());
  const intoSessions = insertion('sessions', SESSION_COLUMNS);
  const intoEntries = insertion('entries', [...ENTRY_COLUMNS, 'exact']);
  let pending = 0;
  database.exec('BEGIN');
  for (const { metadata, entries } of sessions) {
    database.run(intoSessions, ...sessionCells(metadata).map(storedValue));
    for (const entry of entries) {
      const cells = entryCells({ ...entry, session_id: metadata.session_id });
      const values = cells.map(storedValue);
      const exact = cells.some((cell, i) => typeof cell === 'string' && cell !== values[i]);
      database.run(intoEntries, ...values, exact ? encodeJoined(entry).trimEnd() : null);
      step();
      pending += 1;
      if (pending % BATCH_MAX === 0) database.exec('COMMIT; BEGIN');
    }
  }
  database.exec('COMMIT');
  database.exec('CREATE INDEX entries_by_session ON entries (session_id, sequence_number)');
  database.exec('CREATE INDEX entries_by_time ON entries (timestamp)');
}

function schema(): string {
  const columns = (names: readonly string[]): string =>
    names.map((name) => `${name} ${INTEGERS.includes(name) ? 'INTEGER' : 'TEXT'}`).join(', ');
  return `
    CREATE TABLE sessions (${columns(SESSION_COLUMNS)}, PRIMARY KEY (session_id));
    CREATE TABLE entries (${columns([...ENTRY_COLUMNS, 'exact'])},
      FOREIGN KEY (session_id) REFERENCES sessions (session_id));
  `;
}

function insertion(table: string, columns: readonly string[]): string {
  const places = columns.map(() => '?').join(', ');
  return `INSERT INTO ${table} (${columns.join(', ')}) VALUES (${places})`;
}

function storedValue(cell: Cell): Value {
  if (typeof cell === 'boolean') return Number(cell);
  return typeof cell === 'string' ? storable(cell) : cell;
}
