// Sessions in other formats: as a database file, or as text, piece by piece. Whatever the size of a
// journal, one entry of it is in memory at a time. The pieces of a format make one document, also
// when they are none.

import { chmodSync, closeSync, openSync } from 'node:fs';
import { AppError } from '../errors.ts';
import { encodeJoined } from '../journal/entry.ts';
import { ENTRY_COLUMNS, entryCells } from '../journal/export-columns.ts';
import { exportSqlite } from '../journal/export-sqlite.ts';
import { loadSqlite } from '../journal/sqlite.ts';
import { csvRow } from '../text/csv.ts';
import { htmlEntry, htmlHead, htmlSession, htmlSessionEnd, htmlTail } from '../text/html-log.ts';
import { type Selection, selectedSessions } from './sessions.ts';

export type TextFormat = 'json' | 'jsonl' | 'csv' | 'html';

/** How a session is sealed, in one word; undefined where it is not. */
type SealOf = (session: string) => string | undefined;

type Writer = (selection: Selection, options: TextOptions) => Generator<string>;

export type TextOptions = {
  /** Cells of a CSV as they are, also where a spreadsheet would take them for formulas. */
  readonly raw: boolean;
  readonly sealOf: SealOf;
};

const FORMATS: Readonly<Record<TextFormat, Writer>> = {
  json,
  jsonl,
  csv,
  html,
};

export function exportText(
  selection: Selection,
  format: TextFormat,
  options: Partial<TextOptions> = {},
): Iterable<string> {
  return FORMATS[format](selection, { raw: false, sealOf: () => undefined, ...options });
}

/** `{"version","sessions":[{"metadata","seal","entries"}]}`, an entry on a line of its own. */
function* json(selection: Selection, { sealOf }: TextOptions): Generator<string> {
  yield '{"version":"1.0","sessions":[';
  let session = '\n';
  for (const { metadata, entries } of selectedSessions(selection)) {
    const seal = sealOf(metadata.session_id);
    const sealed = seal === undefined ? '' : `"seal":${JSON.stringify(seal)},`;
    yield `${session}{"metadata":${JSON.stringify(metadata)},${sealed}"entries":[`;
    session = ',\n';
    let before = '\n';
    for (const entry of entries) {
      yield before + encodeJoined(entry).trimEnd();
      before = ',\n';
    }
    yield ']}';
  }
  yield '\n]}\n';
}

/**
 * The entries as the journal itself has them, with what came behind them as `later`; `cuff record
 * import` takes them back.
 */
function* jsonl(selection: Selection): Generator<string> {
  for (const { entries } of selectedSessions(selection)) {
    for (const entry of entries) yield encodeJoined(entry);
  }
}

function* csv(selection: Selection, { raw }: TextOptions): Generator<string> {
  yield csvRow(ENTRY_COLUMNS);
  for (const { entries } of selectedSessions(selection)) {
    for (const entry of entries) yield csvRow(entryCells(entry), { raw });
  }
}

function* html(selection: Selection, { sealOf }: TextOptions): Generator<string> {
  const [only = ''] = selection.ids;
  yield htmlHead(selection.ids.length === 1 ? only : `${selection.ids.length} sessions`);
  for (const { metadata, entries } of selectedSessions(selection)) {
    yield htmlSession(metadata, sealOf(metadata.session_id));
    for (const entry of entries) yield htmlEntry(entry);
    yield htmlSessionEnd();
  }
  yield htmlTail();
}

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
