// Reads what is given to sqlite3 and psql on their command lines: statements, and the commands of
// these programs themselves, which run programs and write files. Texts are not told from code:
// a word that could have an effect has it.

import type { Found, ScriptRead } from './script.ts';

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
    if (!/^(d[A-Za-z]*[+S]*|l\+?|x|timing|pset|q|conninfo|z|sf\+?|sv\+?|a|t|\?|h|n)$/.test(name)) {
      found.push({ effect: 'exec', why: `\`\\${name}\` of psql can run programs or write files` });
    }
  }
}

const EXEC = wordsPattern(`attach detach copy do call execute prepare listen load load_extension
  load_file pg_read_file pg_read_binary_file pg_ls_dir pg_execute_server_program
  lo_import lo_export fts3_tokenizer outfile dumpfile dblink dblink_connect dblink_exec
  dblink_send_query`);
const WRITE = wordsPattern(`insert update delete drop alter create replace vacuum truncate into
  writefile edit readfile grant revoke reindex merge analyze set lock cluster comment refresh import
  rename nextval setval begin commit savepoint release rollback`);

function wordsPattern(words: string): RegExp {
  return new RegExp(`\\b(${words.split(/\s+/).join('|')})\\b`, 'i');
}

function readStatements(sql: string, found: Found[]): void {
  const exec = EXEC.exec(sql);
  if (exec !== null)
    found.push({ effect: 'exec', why: `\`${exec[0]}\` reaches other files or code` });
  const write = WRITE.exec(sql);
  if (write !== null) found.push({ effect: 'write', why: `\`${write[0]}\` changes data` });
  // `pragma table_info(t)` asks, `pragma x = y` and `pragma x(y)` set.
  for (const [, name = '', behind = ''] of sql.matchAll(/\bpragma\s+([\w.]+)\s*([=(])?/gi)) {
    const asks = /(^|\.)(\w+_(info|list|xinfo|check)|user_version|page_count)$/i.test(name);
    if (behind === '=' || (behind === '(' && !asks)) {
      found.push({ effect: 'write', why: `\`pragma ${name}\` sets something` });
    }
  }
}
