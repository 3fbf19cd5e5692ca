// The records of a transcript, whatever holds them. Files are read in place and one record at a
// time; nothing is ever written beside them. A database that its agent may be writing is copied
// first: opening it would make files beside it, and reading it would change them.

import { spawnSync } from 'node:child_process';
import {
  closeSync,
  constants,
  copyFileSync,
  lstatSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  readSync,
  rmSync,
  statSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Database, loadSqlite, type Value } from '../../journal/sqlite.ts';
import { asObject, asString, type JsonObject, parseJson, parseObject } from '../../text/json.ts';
import { LineSource } from '../file-lines.ts';
import { objectsOf, type TranscriptLine } from './call.ts';
import { partRecord } from './opencode.ts';
import type { TranscriptFile } from './places.ts';

const LINE_BYTES_MAX = 33_554_432; // a line with pictures in it; a longer one is passed over
const DOCUMENT_BYTES_MAX = 134_217_728;
const UNPACKED_BYTES_MAX = 2_147_483_648;
const UNPACK_MS_MAX = 120_000;

/** Told about records that are no JSON; a last line that is still being written is no such. */
export type Trouble = { readonly unknown: (line: number) => void };

/** Why a transcript cannot be read, as one clause. */
export class UnreadableTranscript extends Error {}

/** Throws `UnreadableTranscript`, or the error of a system call. */
export function* recordsOf(file: TranscriptFile, trouble: Trouble): Generator<TranscriptLine> {
  if (file.kind === 'lines') yield* linesOf(file.path, trouble);
  else if (file.kind === 'document') yield* documentOf(file, trouble);
  else if (file.kind === 'packed') yield* unpacked(file.path, trouble);
  else yield* rowsOf(file.path, trouble);
}

function* linesOf(path: string, trouble: Trouble): Generator<TranscriptLine> {
  const source = new LineSource(path, LINE_BYTES_MAX);
  try {
    for (const { bytes, number, offset, length } of source.lines()) {
      const text = bytes?.toString('utf8') ?? '';
      if (bytes !== undefined && text.trim() === '') continue;
      const json = bytes === undefined ? undefined : parseObject(text);
      if (json !== undefined) yield { number, json };
      else if (bytes === undefined || offset + length < source.size) trouble.unknown(number);
    }
  } finally {
    source.close();
  }
}

/** The document without its messages first, for what it says of them all. */
function* documentOf({ path, size, agent, root }: TranscriptFile, trouble: Trouble) {
  if (size > DOCUMENT_BYTES_MAX) throw new UnreadableTranscript('it is too large');
  const value = parseJson(readFileSync(path, 'utf8'));
  const json = asObject(value);
  if (json === undefined && !Array.isArray(value)) {
    trouble.unknown(1);
    return;
  }
  if (agent === 'opencode') {
    const session = asString(json?.sessionID) ?? '';
    if (json !== undefined) {
      yield { number: 1, json: partRecord(json, session, oldDirectory(root, session)) };
    }
    return;
  }
  const { messages, ...head } = json ?? { messages: value };
  yield { number: 0, json: head };
  for (const [index, message] of objectsOf(messages).entries()) {
    yield { number: index + 1, json: message };
  }
}

const directories = new Map<string, string | null>();

/** Of a session of a version that kept one file for each: `storage/session/<project>/<id>.json`. */
function oldDirectory(root: string, session: string): string | null {
  const key = join(root, session);
  const known = directories.get(key);
  if (known !== undefined || !/^[\w-]{1,100}$/.test(session)) return known ?? null;
  const found = sessionFile(join(root, 'storage', 'session'), `${session}.json`);
  const directory = asString(found?.directory) ?? null;
  directories.set(key, directory);
  return directory;
}

function sessionFile(folder: string, name: string): JsonObject | undefined {
  try {
    for (const project of readdirSync(folder)) {
      const path = join(folder, project, name);
      const file = lstatSync(path, { throwIfNoEntry: false });
      if (file?.isFile() !== true || file.size > LINE_BYTES_MAX) continue;
      return parseObject(readFileSync(path, 'utf8'));
    }
  } catch {
    // Without it the directory of the session is not known, and nothing else is lost.
  }
  return undefined;
}

function* unpacked(path: string, trouble: Trouble): Generator<TranscriptLine> {
  const folder = privateFolder();
  try {
    const copy = join(folder, 'lines');
    const fd = openSync(copy, 'wx', 0o600);
    const script = 'set -o pipefail; zstd -qdc -- "$1" | head -c "$2"';
    const args = ['-c', script, 'bash', path, String(UNPACKED_BYTES_MAX)];
    const { status } = spawnSync('bash', args, {
      stdio: ['ignore', fd, 'ignore'],
      timeout: UNPACK_MS_MAX,
    });
    closeSync(fd);
    if (status === 127) throw new UnreadableTranscript('it is packed, and zstd is not installed');
    if (status !== 0 || statSync(copy).size >= UNPACKED_BYTES_MAX) {
      throw new UnreadableTranscript('it is packed, and zstd cannot unpack it');
    }
    yield* linesOf(copy, trouble);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function privateFolder(): string {
  return mkdtempSync(join(tmpdir(), 'cuff-transcript-'));
}

const PAGE_ROWS = 200;
const COPY_TRIES_MAX = 5;

function* rowsOf(path: string, trouble: Trouble): Generator<TranscriptLine> {
  const sqlite = loadSqlite();
  if (sqlite === undefined) {
    throw new UnreadableTranscript('it is a database, and this Node has no SQLite');
  }
  const folder = privateFolder();
  let database: Database | undefined;
  try {
    const copy = join(folder, 'copy.db');
    if (!copied(path, copy)) throw new UnreadableTranscript('it is being written all the time');
    database = sqlite.open(copy);
    yield* partsOf(database, trouble);
  } finally {
    database?.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

/** As hexadecimal digits: `libsql` ends the process for text that is not UTF-8. */
const DIRECTORIES = 'SELECT hex(id) AS id, hex(directory) AS directory FROM session';

// A part that is no call of a tool is not even taken out of the database.
const PARTS = `SELECT rowid AS number, hex(session_id) AS session, hex(data) AS data FROM part
  WHERE rowid > ? AND length(data) <= ${LINE_BYTES_MAX} AND instr(data, '"tool"') > 0
  ORDER BY rowid LIMIT ${PAGE_ROWS}`;

function* partsOf(database: Database, trouble: Trouble): Generator<TranscriptLine> {
  const directoryOf = new Map<string, string>();
  for (const { id, directory } of database.all(DIRECTORIES)) {
    directoryOf.set(textOfHex(id), textOfHex(directory));
  }
  for (let last = 0; ; ) {
    const rows = database.all(PARTS, last);
    for (const { number, session: of, data } of rows) {
      // Of a damaged database they may begin again and again.
      if (Number(number) <= last) throw new UnreadableTranscript('it is damaged');
      last = Number(number);
      const json = parseObject(textOfHex(data));
      const session = textOfHex(of);
      if (json === undefined) trouble.unknown(last);
      else {
        yield { number: last, json: partRecord(json, session, directoryOf.get(session) ?? null) };
      }
    }
    if (rows.length < PAGE_ROWS) return;
  }
}

function textOfHex(digits: Value | undefined): string {
  return Buffer.from(String(digits), 'hex').toString('utf8');
}

/**
 * The database with its log. A copy is whole when no transaction was moved from the log to the
 * database meanwhile; one that was only appended to the log may be cut, and does not count then.
 */
function copied(path: string, to: string): boolean {
  for (let tries = 0; tries < COPY_TRIES_MAX; tries += 1) {
    const before = stamp(path);
    copyFileSync(path, to, constants.COPYFILE_FICLONE);
    rmSync(`${to}-wal`, { force: true });
    const log = lstatSync(`${path}-wal`, { throwIfNoEntry: false });
    if (log?.isFile() === true) copyFileSync(`${path}-wal`, `${to}-wal`);
    if (stamp(path) === before) return true;
  }
  return false;
}

const LOG_HEAD_BYTES = 32;

/** Changes with every checkpoint: the database is written, or the log begins anew. */
function stamp(path: string): string {
  const { size, mtimeNs } = statSync(path, { bigint: true });
  const log = lstatSync(`${path}-wal`, { throwIfNoEntry: false });
  if (log?.isFile() !== true) return `${size} ${mtimeNs}`;
  const head = Buffer.alloc(LOG_HEAD_BYTES);
  const fd = openSync(`${path}-wal`, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
  try {
    readSync(fd, head, 0, LOG_HEAD_BYTES, 0);
  } finally {
    closeSync(fd);
  }
  return `${size} ${mtimeNs} ${head.toString('hex')}`;
}
