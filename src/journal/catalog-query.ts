// What the catalog is asked, in SQL. The answers are those of scanSearch and scanStats.
import { rollupSince } from './catalog-days.ts';
import { longGrams, rareGrams, shortGrams } from './catalog-grams.ts';
import { entryAt } from './catalog-look.ts';
import {
  CUT,
  firstIdAt,
  LONG,
  timeAbove,
  UNLIKE,
  WHOLE_STDERR,
  WHOLE_STDOUT,
} from './catalog-schema.ts';
import { longEntries } from './catalog-signature.ts';
import {
  type Candidate,
  candidateOf,
  type Field,
  type HitKey,
  hitOf,
  type Matchers,
  Newest,
  type SearchGaps,
  type SearchHit,
  type SearchQuery,
} from './search.ts';
import { searchedOrNull, storable } from './search-text.ts';
import type { Database, Row, Value } from './sqlite.ts';
import { type Stats, type StatsQuery, statsFrom } from './stats.ts';

const FIRST_PAGE = 32;
const PAGE_MAX = 512; // a row can have sixteen kilobytes of text

/** What `rowIdOf` of join.ts gives. */
const ROW_ID = 'iif(part_of IN (SELECT name FROM sessions), part_of, name)';

export function catalogStats(database: Database, { since }: StatsQuery): Stats {
  const used = 'last_at IS NOT NULL';
  const sql = `SELECT count(DISTINCT iif(${used}, ${ROW_ID}, NULL)) AS count,
    sum(skipped) AS skipped, sum(repeated) AS repeated, sum(backward) AS backward,
    sum(missing) AS missing FROM sessions WHERE ?1 IS NULL OR last_at >= ?1`;
  const [row] = database.all(sql, since ?? null);
  const number = (key: string) => Number(row?.[key] ?? 0);
  const faults = {
    skipped: number('skipped'),
    repeated: number('repeated'),
    backward: number('backward'),
    missing: number('missing'),
  };
  return statsFrom(rollupSince(database, since), number('count'), faults);
}

export function catalogUnsearched(database: Database, query: SearchQuery): SearchGaps {
  const { sql, values } = filterOf(query, 'e.id');
  const where = [...sql, `e.flags & ${CUT}`].join(' AND ');
  const [cut] = database.all(
    `SELECT count(*) AS count FROM entries AS e WHERE ${where}`,
    ...values,
  );
  const [damaged] = database.all('SELECT sum(damaged) AS count FROM sessions');
  return { damagedLines: Number(damaged?.count ?? 0), cutOutputs: Number(cut?.count) };
}

/** From the newest down, until there are enough and no older one can be newer. */
export function catalogSearch(
  database: Database,
  directory: string,
  query: SearchQuery,
  matchers: Matchers,
): SearchHit[] {
  const newest = new Newest(query.limit);
  const consider = (candidate: Candidate | undefined): void => {
    if (candidate === undefined) return;
    const hit = hitOf(candidate, matchers);
    if (hit !== undefined) newest.add(candidate, hit);
  };
  const grams = [matchers.text?.literal, matchers.process?.literal].map((literal) =>
    literal === undefined ? [] : rareGrams(database, literal),
  );
  const short = shortQuery(query, matchers, grams.flatMap(shortGrams));
  for (const row of shortRows(database, short, newest)) {
    if (newest.wants(keyOf(row))) consider(shortCandidate(directory, row));
  }
  for (const row of longRows(database, query, grams.flatMap(longGrams), newest)) {
    if (newest.wants(keyOf(row))) consider(longCandidate(directory, row));
  }
  return newest.hits();
}

type Filter = { readonly sql: readonly string[]; readonly values: readonly Value[] };

/** The last two values of its text are the id below which, and the number of rows. */
type PageQuery = { readonly sql: string; readonly values: readonly Value[] };

function* shortRows(
  database: Database,
  { sql, values }: PageQuery,
  newest: Newest,
): Generator<Row, void, undefined> {
  let below = Number.MAX_SAFE_INTEGER;
  for (let size = FIRST_PAGE; ; size = Math.min(size * 4, PAGE_MAX)) {
    const rows = database.all(sql, ...values, below, size);
    yield* rows;
    below = Number(rows.at(-1)?.id);
    if (rows.length < size || newest.isFullBefore(timeAbove(below - 1))) return;
  }
}

/** What is asked of an entry beside its text. */
function filterOf({ since, exit, agent }: SearchQuery, id: string): Filter {
  const sql: string[] = [];
  const values: Value[] = [];
  const only = (condition: string, ...its: readonly Value[]) => {
    sql.push(condition);
    values.push(...its);
  };
  if (since !== undefined) only(`${id} >= ? AND e.at >= ?`, firstIdAt(since), since);
  if (exit === 'nonzero') only('e.exit_code IS NOT 0');
  else if (exit !== undefined) only('e.exit_code = ?', exit);
  if (agent !== undefined) only('e.agent = ?', storable(agent));
  return { sql, values };
}

function* longRows(
  database: Database,
  query: SearchQuery,
  grams: readonly string[],
  newest: Newest,
): Generator<Row, void, undefined> {
  const filter = filterOf(query, 'e.id');
  const sql = `SELECT e.*, s.name FROM entries AS e CROSS JOIN sessions AS s ON s.id = e.session
    WHERE ${['e.id = ?', ...filter.sql].join(' AND ')}`;
  const from = firstIdAt(Math.max(newest.oldestWanted, query.since ?? 0));
  for (const id of longEntries(database, grams, from)) {
    if (newest.isFullBefore(timeAbove(id))) return;
    yield* database.all(sql, id, ...filter.values);
  }
}

function shortQuery(
  query: SearchQuery,
  { text, process }: Matchers,
  grams: readonly string[],
): PageQuery {
  const conditions: string[] = [];
  const values: Value[] = [];
  const only = (condition: string, ...its: readonly Value[]) => {
    conditions.push(condition);
    values.push(...its);
  };
  // Both joins in this order: the index of words gives its rows by falling id, as they are wanted.
  const found = grams.length > 0;
  const from = found ? 'words CROSS JOIN entries AS e ON e.id = words.rowid' : 'entries AS e';
  const id = found ? 'words.rowid' : 'e.id';
  if (found) only('words MATCH ?', grams.map(quoted).join(' '));
  else only(`NOT e.flags & ${LONG}`);
  const filter = filterOf(query, id);
  only(filter.sql.join(' AND ') || 'TRUE', ...filter.values);
  const literal = text?.literal;
  if (literal !== undefined && LIKE_ABLE.test(literal))
    only(LIKE, ...new Array(4).fill(like(literal)));
  if (process !== undefined) only('e.processes IS NOT NULL');
  if (process?.literal !== undefined && LIKE_ABLE.test(process.literal))
    only(LIKE_PROCESS, like(process.literal));
  conditions.push(`${id} < ?`);
  const sql = `SELECT e.*, s.name FROM ${from} CROSS JOIN sessions AS s ON s.id = e.session
    WHERE ${conditions.join(' AND ')} ORDER BY ${id} DESC LIMIT ?`;
  return { sql, values };
}

// Most of what is not a hit is left out by SQL, which compares A to Z in either case and nothing
// else; what it cannot tell passes.
const LIKE_ABLE = /^[ -~\n\t]{1,1000}$/;
const LIKE_PROCESS = `(e.processes LIKE ? ESCAPE '\\' OR e.flags & ${UNLIKE})`;
const LIKE = `(${['command', 'description', 'stdout', 'stderr']
  .map((field) => `e.${field} LIKE ? ESCAPE '\\'`)
  .join(' OR ')} OR e.flags & ${UNLIKE})`;

function like(literal: string): string {
  return `%${literal.replace(/[\\%_]/g, '\\$&')}%`;
}

function quoted(gram: string): string {
  return `"${gram.replaceAll('"', '""')}"`;
}

function textOf(row: Row, key: string): string | null {
  const value = row[key];
  return typeof value === 'string' ? value : null;
}

function keyOf(row: Row): HitKey {
  return {
    at: Number(row.at),
    sessionId: textOf(row, 'name') ?? '',
    offset: Number(row.offset),
    sequence: Number(row.sequence),
    entryId: textOf(row, 'entry_id') ?? '',
  };
}

/** Undefined when the entry is no longer where it was. */
function longCandidate(directory: string, row: Row): Candidate | undefined {
  const key = keyOf(row);
  const entry = entryAt(directory, key.sessionId, key.offset, key.entryId);
  return entry && candidateOf(entry, key);
}

function shortCandidate(directory: string, row: Row): Candidate {
  const key = keyOf(row);
  const text = {
    command: textOf(row, 'command') ?? '',
    description: textOf(row, 'description'),
    stdout: textOf(row, 'stdout'),
    stderr: textOf(row, 'stderr'),
  };
  const flags = Number(row.flags);
  const field = (name: Field): string | null | undefined => {
    if (name === 'command' || name === 'description') return text[name];
    if ((flags & (name === 'stdout' ? WHOLE_STDOUT : WHOLE_STDERR)) !== 0) return text[name];
    // Where in a field a place of its searched text is can only be told from the whole field.
    return entryAt(directory, key.sessionId, key.offset, key.entryId)?.[name];
  };
  const plain = (name: Field): boolean => name === 'stdout' || name === 'stderr';
  return {
    ...key,
    exitCode: row.exit_code === null ? null : Number(row.exit_code),
    agentId: textOf(row, 'agent'),
    command: text.command,
    searched: (name) => (plain(name) ? text[name] : searchedOrNull(text[name])),
    processes: textOf(row, 'processes'),
    field,
  };
}
