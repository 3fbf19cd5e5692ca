// The rollups of the catalog: one for each day, kept in step with the entries by the code that
// changes those, inside the same transaction.
import { DAY_MS } from '../text/dates.ts';
import {
  addEntry,
  addForm,
  addRollup,
  ENDS,
  type Longest,
  newRollup,
  type Rollup,
} from './rollup.ts';
import type { Database, Row } from './sqlite.ts';

export function dayOf(at: number): number {
  return Math.floor(at / DAY_MS);
}

/** Adds what was put into the entries of a day. */
export function addToDay(database: Database, day: number, added: Rollup): void {
  const rollup = newRollup();
  const [before] = database.all('SELECT * FROM days WHERE day = ?', day);
  if (before !== undefined) addRollup(rollup, rollupOf(before));
  addRollup(rollup, added);
  store(database, day, rollup);
  for (const [form, count] of added.forms) {
    database.run(
      `INSERT INTO forms VALUES (?, ?, ?)
         ON CONFLICT DO UPDATE SET count = count + excluded.count`,
      ...[day, form, count],
    );
  }
}

/** Takes away what was taken out of the entries of a day before. */
export function takeFromDay(database: Database, day: number, removed: Rollup): void {
  const [before] = database.all('SELECT * FROM days WHERE day = ?', day);
  if (before === undefined) return;
  const rollup = rollupOf(before);
  rollup.commands -= removed.commands;
  rollup.durationMs -= removed.durationMs;
  for (const end of ENDS) rollup.exitCodes[end] -= removed.exitCodes[end];
  for (const [form, count] of removed.forms) {
    database.run('UPDATE forms SET count = count - ? WHERE day = ? AND form = ?', count, day, form);
    database.run('DELETE FROM forms WHERE day = ? AND form = ? AND count <= 0', day, form);
  }
  if ((removed.longest?.durationMs ?? 0) >= (rollup.longest?.durationMs ?? 0)) {
    rollup.longest = longestOfDay(database, day);
  }
  if (rollup.commands > 0) store(database, day, rollup);
  else database.run('DELETE FROM days WHERE day = ?', day);
}

function longestOfDay(database: Database, day: number): Longest | undefined {
  const sql = `SELECT command, duration_ms FROM entries WHERE at >= ?1 AND at < ?2 AND duration_ms =
    (SELECT max(duration_ms) FROM entries WHERE at >= ?1 AND at < ?2)`;
  const rollup = newRollup();
  for (const { command, duration_ms } of database.all(sql, day * DAY_MS, (day + 1) * DAY_MS)) {
    const entry = { command: String(command), duration_ms: Number(duration_ms), exit_code: null };
    addEntry(rollup, entry);
  }
  return rollup.longest;
}

function store(database: Database, day: number, rollup: Rollup): void {
  const { commands, durationMs, exitCodes, longest } = rollup;
  database.run(
    'INSERT OR REPLACE INTO days VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)',
    ...[day, commands, durationMs, ...ENDS.map((end) => exitCodes[end])],
    ...[longest?.durationMs ?? 0, longest?.command ?? ''],
  );
}

/** Everything that began at or after `since`: whole days from their rollups, the rest counted. */
export function rollupSince(database: Database, since: number | undefined): Rollup {
  const firstWhole = since === undefined ? Number.MIN_SAFE_INTEGER : Math.ceil(since / DAY_MS);
  const rollup =
    since === undefined ? newRollup() : rollupOfPeriod(database, since, firstWhole * DAY_MS);
  for (const row of database.all('SELECT * FROM days WHERE day >= ?', firstWhole)) {
    addRollup(rollup, rollupOf(row));
  }
  const forms = 'SELECT form, sum(count) AS count FROM forms WHERE day >= ? GROUP BY form';
  for (const { form, count } of database.all(forms, firstWhole)) {
    addForm(rollup, String(form), Number(count));
  }
  return rollup;
}

function rollupOfPeriod(database: Database, from: number, to: number): Rollup {
  const rollup = newRollup();
  const sql = 'SELECT command, duration_ms, exit_code FROM entries WHERE at >= ? AND at < ?';
  for (const { command, duration_ms, exit_code } of database.all(sql, from, to)) {
    addEntry(rollup, {
      command: String(command),
      duration_ms: Number(duration_ms),
      exit_code: exit_code === null ? null : Number(exit_code),
    });
  }
  return rollup;
}

/** Of a row of `days`; its forms are in another table. */
function rollupOf(row: Row): Rollup {
  const number = (key: string) => Number(row[key]);
  return {
    commands: number('commands'),
    durationMs: number('duration_ms'),
    exitCodes: {
      zero: number('zero'),
      one: number('one'),
      other: number('other'),
      none: number('none'),
    },
    longest: { command: String(row.longest), durationMs: number('longest_ms') },
    forms: new Map(),
  };
}
