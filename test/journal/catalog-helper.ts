// Journals written as files, for tests of what reads them: entries with a place in a session, and
// every SQLite this Node has.
import * as fs from 'node:fs';
import { join } from 'node:path';
import { describe } from 'vitest';
import { type Catalog, openCatalog } from '../../src/journal/catalog.ts';
import { encodeEntry, encodeMetadata, entryTimestamp } from '../../src/journal/entry.ts';
import { entryId } from '../../src/journal/ids.ts';
import { loadLibsql, loadNodeSqlite, type Sqlite } from '../../src/journal/sqlite.ts';
import type { Entry, SessionMetadata } from '../../src/types.ts';
import { lacking } from '../requirements.ts';
import { draftOf, NOW, tempDir } from './helper.ts';

const noNodeSqlite = lacking(loadNodeSqlite() === undefined, 'this Node has no node:sqlite');
const noLibsql = lacking(
  loadLibsql() === undefined,
  'the optional package libsql is not installed',
);

type Load = () => Sqlite | undefined;

/** The suite once for each SQLite there is. */
export function describeDrivers(what: string, cases: (load: Load) => void): void {
  describe.skipIf(noNodeSqlite)(`node:sqlite: ${what}`, () => cases(loadNodeSqlite));
  describe.skipIf(noLibsql)(`libsql: ${what}`, () => cases(loadLibsql));
}

/** The one a user of this Node gets. */
export function someSqlite(): Sqlite {
  const sqlite = loadNodeSqlite() ?? loadLibsql();
  if (sqlite === undefined) throw new Error('no SQLite to test with');
  return sqlite;
}

export class Journal {
  readonly directory = tempDir();

  constructor() {
    fs.mkdirSync(join(this.directory, 'sessions'));
  }

  /** An entry of a session; what is not said is that of a `git status`. */
  entry(session: string, sequence: number, change: Partial<Entry> = {}): Entry {
    const timestamp = change.timestamp ?? entryTimestamp(NOW + sequence * 1000);
    const entry_id = entryId(Date.parse(timestamp), sequence, '');
    const place = { entry_id, session_id: session, sequence_number: sequence };
    return { ...place, ...draftOf({ timestamp }), ...change };
  }

  path(session: string): string {
    return join(this.directory, 'sessions', `${session}.jsonl`);
  }

  append(session: string, ...entries: readonly Entry[]): void {
    fs.appendFileSync(this.path(session), entries.map(encodeEntry).join(''));
  }

  end(
    session: string,
    status: SessionMetadata['status'] = 'complete',
    created_at = '2026-01-18T14:30:52Z',
    change: Partial<SessionMetadata> = {},
  ): void {
    const metadata: SessionMetadata = {
      session_id: session,
      created_at,
      last_updated: '2026-01-18T14:45:00Z',
      entry_count: 0,
      total_duration_ms: 0,
      status,
      commands_succeeded: 0,
      commands_failed: 0,
      commands_timed_out: 0,
      working_directory: '/projects/demo',
      agent_id: null,
      conversation_id: null,
      end_reason: null,
      owner: null,
      ...change,
    };
    const path = join(this.directory, 'sessions', `${session}.meta.json`);
    fs.writeFileSync(`${path}.tmp`, encodeMetadata(metadata));
    fs.renameSync(`${path}.tmp`, path);
  }

  get database(): string {
    return join(this.directory, 'catalog.db');
  }

  /** A clock that is far ahead believes at once that no name in `sessions` changed. */
  open(
    sqlite: () => Sqlite | undefined = someSqlite,
    now: () => number = Date.now,
  ): Promise<Catalog> {
    return openCatalog(this.directory, { now, sqlite });
  }
}
