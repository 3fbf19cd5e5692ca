// What the catalog is asked, in SQL. The answers are those of scanSearch and scanStats.
import { rollupSince } from './catalog-days.ts';
import { chooseGrams } from './catalog-grams.ts';
import { entryAt } from './catalog-look.ts';
import { firstIdAt, timeAbove, UNLIKE, WHOLE_STDERR, WHOLE_STDOUT } from './catalog-schema.ts';
import {
  type Candidate,
  excerptOrNull,
  type Field,
  hitOf,
  type Matchers,
  Newest,
  type SearchHit,
  type SearchQuery,
} from './search.ts';
import { excerptOf, storable } from './search-text.ts';
import type { Database, Row, Value } from './sqlite.ts';
import { type Stats, type StatsQuery, statsFrom } from './stats.ts';

const FIRST_PAGE = 32;
const PAGE_MAX = 512; // a row can have twenty kilobytes of text

export function catalogStats(database: Database, { since }: StatsQuery): Stats {
  const sql = 'SELECT count(*) AS count FROM sessions WHERE last_at >= ?';
  const [row] = database.all(sql, since ?? Number.MIN_SAFE_INTEGER);
  return statsFrom(rollupSince(database, since), Number(row?.count));
}

/** From the newest down, until there are enough and no older one can be newer. */
export function catalogSearch(
  database: Database,
  directory: string,
  query: SearchQuery,
  matchers: Matchers,
): SearchHit[] {
  const newest = new Newest(query.limit);
  const { sql, values } = pageQuery(database, query, matchers);
  let below = Number.MAX_SAFE_INTEGER;
  for (let size = FIRST_PAGE; ; size = Math.min(size * 4, PAGE_MAX)) {
    const rows = database.all(sql, ...values, below, size);
    for (const row of rows) {
      const candidate = candidateOf(directory, row);
      const hit = newest.wants(candidate) ? hitOf(candidate, matchers) : undefined;
      if (hit !== undefined) newest.add(candidate, hit);
    }
    below = Number(rows.at(-1)?.id);
    if (rows.length < size || newest.isFullBefore(timeAbove(below - 1))) return newest.hits();
  }
}

/** Its last two values are the id below which, and the number of rows. */
function pageQuery(
  database: Database,
  { since, exit, agent }: SearchQuery,
  { text, process }: Matchers,
): { readonly sql: string; readonly values: readonly Value[] } {
  const conditions: string[] = [];
  const values: Value[] = [];
  const only = (condition: string, ...its: readonly Value[]) => {
    conditions.push(condition);
    values.push(...its);
  };
  // Both joins in this order: the index of words gives its rows by falling id, as they are wanted.
  const literals = [text?.literal, process?.literal].filter((one) => one !== undefined);
  const grams = literals.flatMap((literal) => chooseGrams(database, literal));
  const found = grams.length > 0;
  const from = found ? 'words CROSS JOIN entries AS e ON e.id = words.rowid' : 'entries AS e';
  const id = found ? 'words.rowid' : 'e.id';
  if (found) only('words MATCH ?', grams.map(quoted).join(' '));
  if (since !== undefined) only(`${id} >= ? AND e.at >= ?`, firstIdAt(since), since);
  if (exit === 'nonzero') only('e.exit_code IS NOT 0');
  else if (exit !== undefined) only('e.exit_code = ?', exit);
  if (agent !== undefined) only('e.agent = ?', storable(agent));
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

function candidateOf(directory: string, row: Row): Candidate {
  const text = (key: string) => (typeof row[key] === 'string' ? row[key] : null);
  const [command, description] = [text('command') ?? '', text('description')];
  const [stdout, stderr] = [text('stdout'), text('stderr')];
  const key = {
    at: Number(row.at),
    sessionId: text('name') ?? '',
    offset: Number(row.offset),
    sequence: Number(row.sequence),
    entryId: text('entry_id') ?? '',
  };
  const flags = Number(row.flags);
  const field = (name: Field): string | null | undefined => {
    if (name === 'command') return command;
    if (name === 'description') return description;
    if (name === 'stdout' && (flags & WHOLE_STDOUT) !== 0) return stdout;
    if (name === 'stderr' && (flags & WHOLE_STDERR) !== 0) return stderr;
    // Where in a field a place of its excerpt is can only be told from the whole field.
    return entryAt(directory, key.sessionId, key.offset, key.entryId)?.[name];
  };
  return {
    ...key,
    exitCode: row.exit_code === null ? null : Number(row.exit_code),
    agentId: text('agent'),
    command,
    excerpts: {
      command: excerptOf(command),
      description: excerptOrNull(description),
      stdout,
      stderr,
    },
    processes: text('processes'),
    field,
  };
}
