// Reads what is given to sqlite3 and psql on their command lines: statements, and the commands of
// these programs themselves, which run programs and write files. Texts are not told from code:
// a word that could have an effect has it.

import type { Found, ScriptRead } from './judged.ts';

const DOT_COMMANDS = new Set(
  `tables schema headers header mode width indexes indices databases quit exit echo nullvalue timer
  help stats show explain eqp changes separator print fullschema`.split(/\s+/),
);

export function sqlParts(text: string): ScriptRead {
  const found: Found[] = [];
  for (const line of text.split(/[\n\r]/)) readLine(line, found);
  // A comment or a quote may divide a word from its sign: both readings are looked at.
  for (const sql of new Set([text, text.replace(/\/\*[\s\S]*?(?:\*\/|$)|--[^\n]*/g, ' ')])) {
    readStatements(sql, found);
  }
  return { found, files: [] };
}

function readLine(line: string, found: Found[]): void {
  for (const dot of line.matchAll(/(?:^|;)\s*\.\s*([A-Za-z]*)/g)) {
    const name = (dot[1] ?? '').toLowerCase();
    if (!DOT_COMMANDS.has(name) || /[|>]/.test(line)) {
      found.push({
        effect: 'exec',
        why: `\`.${name}\` of sqlite3 can run programs or write files`,
      });
    }
  }
  if (line.includes('\\') && line.includes('`')) {
    found.push({ effect: 'exec', why: 'psql runs what is between backticks' });
  }
  for (const [, name = ''] of line.matchAll(/\\(\S*)/g)) {
    if (
      name.length > 32 ||
      !/^(d[A-Za-z]*[+S]*|l\+?|x|timing|pset|q|conninfo|z|sf\+?|sv\+?|a|t|\?|h|n)$/.test(name)
    ) {
      found.push({ effect: 'exec', why: `\`\\${name}\` of psql can run programs or write files` });
    }
  }
}

const EXEC = wordsPattern(`attach detach copy do call execute prepare listen load load_extension
  load_file pg_execute_server_program fts3_tokenizer outfile dumpfile dblink\\w* lo_\\w+ fsdir
  zipfile (?:query|cursor|table|schema|database)_to_xml\\w*`);
const WRITE = wordsPattern(`insert update delete drop alter create replace vacuum truncate into
  writefile edit readfile grant revoke reindex merge analyze set lock cluster comment refresh import
  rename nextval setval begin commit savepoint release rollback set_config notify checkpoint discard
  reset reassign security optimize`);

/** Of PostgreSQL's own functions only these just look; others signal, write or read files. */
const PG_LOOKS = new RegExp(
  [
    '^(?:pg_(?:get_\\w+|stat_get_\\w+|\\w+_size|size_pretty|size_bytes|typeof|sleep|backend_pid',
    'is_in_recovery|postmaster_start_time|conf_load_time|encoding_to_char|\\w+_is_visible',
    'blocking_pids|current_wal_lsn|last_\\w+|has_role|char_to_encoding|collation_for',
    'input_is_valid',
    'show_all_settings|lock_status|timezone_names|my_temp_schema|jit_available|indexam_\\w+))$',
  ].join('|'),
  'i',
);

function wordsPattern(words: string): RegExp {
  return new RegExp(`\\b(${words.split(/\s+/).join('|')})\\b`, 'i');
}

function readStatements(sql: string, found: Found[]): void {
  const exec = EXEC.exec(sql);
  if (exec !== null)
    found.push({ effect: 'exec', why: `\`${exec[0]}\` reaches other files or code` });
  for (const [, name = ''] of sql.matchAll(/\b(pg_\w+)"?\s*\(/gi)) {
    if (!PG_LOOKS.test(name)) {
      found.push({ effect: 'exec', why: `\`${name}\` does more than look at the data` });
    }
  }
  // `U&"\0070g_x"` is a name in escaped letters, which a pattern misses.
  if (/\bU&["']/i.test(sql)) found.push({ effect: 'unknown', why: 'a name is in escapes' });
  const write = WRITE.exec(sql);
  if (write !== null) found.push({ effect: 'write', why: `\`${write[0]}\` changes data` });
  // `pragma table_info(t)` asks, `pragma x = y` and `pragma x(y)` set.
  for (const [, name = '', behind = ''] of sql.matchAll(/\bpragma\s+([^\s=(;]+)\s*([=(])?/gi)) {
    const asks = /(^|\.)(\w+_(info|list|xinfo|check)|user_version|page_count)$/i.test(name);
    if (behind === '=' || (behind === '(' && !asks)) {
      found.push({ effect: 'write', why: `\`pragma ${name}\` sets something` });
    }
  }
}

const TEXT_LENGTH_MAX = 65_536; // a longer one is a dump

/** How much data the statements delete, from 0 to 3. */
export function sqlLoss(text: string): number {
  return Math.max(0, ...statementsOf(text).map(statementLoss));
}

/** Whether all of the statements only look, however they are called. */
export function sqlAsks(text: string): boolean {
  const lines = text.split('\n').filter((line) => line.trim() !== '');
  if (lines.length > 0 && lines.every(isLookingCommand)) return true;
  const statements = statementsOf(text).filter((statement) => statement.trim() !== '');
  return statements.length > 0 && statements.every(isLooking);
}

function isLookingCommand(line: string): boolean {
  const name = /^\s*\.([a-z]+)\b/.exec(line)?.[1];
  return name !== undefined && DOT_COMMANDS.has(name) && !/[|>]/.test(line);
}

function isLooking(statement: string): boolean {
  const text = statement.trim();
  if (/^pragma\b/i.test(text)) return !text.includes('=');
  if (!/^(?:select|explain|values|with)\b/i.test(text)) return false;
  return !/\b(?:insert|update|delete|outfile|dumpfile|writefile|load_extension)\b/i.test(text);
}

/** Here, unlike above, texts and comments are told from code. */
function statementsOf(text: string): readonly string[] {
  const quoted = /--[^\n]*|\/\*[\s\S]*?\*\/|'(?:[^']|'')*'/g;
  const code = text
    .slice(0, TEXT_LENGTH_MAX)
    .replace(quoted, (found) => (found.startsWith("'") ? "''" : ' '));
  return code.split(';');
}

function statementLoss(statement: string): number {
  const text = statement.replace(/^[\s"'(]+/, '');
  if (/^drop\s+(?:table|database|schema|keyspace|collection|role|user|owned)\b/i.test(text))
    return 3;
  if (/^truncate\b/i.test(text)) return 3;
  if (/^(?:with\b[\s\S]*\)\s*)?delete\s+from\b/i.test(text)) {
    return /\bwhere\b/i.test(text) ? 2 : 3;
  }
  if (/^alter\s+table\b[\s\S]*\bdrop\s+(?:column|partition)\b/i.test(text)) return 2;
  return /^drop\s+\w+/i.test(text) ? 1 : 0;
}
