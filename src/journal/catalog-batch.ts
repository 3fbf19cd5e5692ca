// What one transaction takes into the catalog and out of it: rows of entries, their words, and the
// rollups of their days, which change together or not at all.
import type { Entry } from '../types.ts';
import { addToDay, dayOf, takeFromDay } from './catalog-days.ts';
import { GramSample } from './catalog-grams.ts';
import { CUT, firstIdAt, LONG, UNLIKE, WHOLE_STDERR, WHOLE_STDOUT } from './catalog-schema.ts';
import { forgetSignature, signatureOf, storeSignature } from './catalog-signature.ts';
import { addEntry, type CountedEntry, newRollup, type Rollup } from './rollup.ts';
import { processesOf } from './search.ts';
import { folded, searchedOrNull, searchedText, storable } from './search-text.ts';
import type { Database, Row } from './sqlite.ts';

/** How much one transaction may take. */
export type Portion = {
  readonly entries: number;
  readonly characters: number;
  /** Of the index of words, put together at a time. */
  readonly pages: number;
};

/** A few milliseconds. */
export const SMALL: Portion = { entries: 12, characters: 65_536, pages: 16 };
/** As much as makes the transaction itself cheap. */
export const LARGE: Portion = { entries: 16_000, characters: 33_554_432, pages: 4_000 };

/** Between the texts of an entry. No searched text has it, so nothing is found in two of them. */
const SEPARATOR = '\x1f';

/** An entry with more characters than this is a long one. */
const LENGTH_MAX = 16_384;

type Texts = {
  readonly command: string;
  readonly description: string | null;
  /** What is searched of them. */
  readonly stdout: string | null;
  readonly stderr: string | null;
  readonly processes: string | null;
};

type Pending = {
  readonly session: number;
  readonly entry: Entry;
  readonly offset: number;
  readonly at: number;
};

export class Batch {
  readonly #database: Database;
  #entriesLeft: number;
  #charactersLeft: number;
  readonly #pending: Pending[] = [];
  readonly #sample = new GramSample();

  constructor(database: Database, portion: Portion) {
    this.#database = database;
    this.#entriesLeft = portion.entries;
    this.#charactersLeft = portion.characters;
  }

  get hasRoom(): boolean {
    return this.#entriesLeft > 0 && this.#charactersLeft > 0;
  }

  takeIn(session: number, entry: Entry, offset: number): void {
    this.#pending.push({ session, entry, offset, at: Date.parse(entry.timestamp) });
    this.#entriesLeft -= 1;
    this.#charactersLeft -=
      entry.command.length + (entry.stdout?.length ?? 0) + (entry.stderr?.length ?? 0);
  }

  /** What was taken in is only in the catalog after this. */
  store(): void {
    // In the order of their ids: the index of words is written out whenever one is lower.
    this.#pending.sort((a, b) => a.at - b.at);
    const ids = new FreeIds(this.#database);
    const days = new Map<number, Rollup>();
    const newest = new Map<number, number>();
    for (const one of this.#pending) {
      if (!this.#insert(ids.next(firstIdAt(one.at)), one)) continue;
      const { session, entry, at } = one;
      addEntry(rollupOf(days, dayOf(at)), { ...entry, command: storable(entry.command) });
      newest.set(session, at);
    }
    for (const [day, rollup] of days) addToDay(this.#database, day, rollup);
    this.#sample.store(this.#database);
    const sql = 'UPDATE sessions SET last_at = max(coalesce(last_at, ?1), ?1) WHERE id = ?2';
    for (const [session, at] of newest) this.#database.run(sql, at, session);
  }

  /** False when the session has this entry already. */
  #insert(id: number, { session, entry, offset, at }: Pending): boolean {
    const texts: Texts = {
      command: storable(entry.command),
      description: entry.description === null ? null : storable(entry.description),
      stdout: searchedOrNull(entry.stdout),
      stderr: searchedOrNull(entry.stderr),
      processes: processesOf(entry),
    };
    const long = lengthOf(texts) > LENGTH_MAX;
    const kept = long ? { ...texts, stdout: null, stderr: null, processes: null } : texts;
    const inserted = this.#database.run(
      'INSERT OR IGNORE INTO entries VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)',
      ...[id, session, storable(entry.entry_id), entry.sequence_number, offset, at],
      ...[entry.duration_ms, entry.exit_code, entry.agent_id && storable(entry.agent_id)],
      flagsOf(entry, texts) | (long ? LONG : 0),
      ...[kept.command, kept.description, kept.stdout, kept.stderr, kept.processes],
    );
    if (inserted === 0) return false;
    if (long) storeSignature(this.#database, id, signatureOf(searchedTexts(texts)));
    else this.#index(id, at, wordsOf(texts));
    return true;
  }

  #index(id: number, at: number, words: string): void {
    this.#database.run('INSERT INTO words (rowid, text) VALUES (?, ?)', id, words);
    this.#sample.add(at, words);
  }

  /** Takes out entries of a session as long as there is room; true when none is left. */
  takeOut(session: number): boolean {
    const sql = `SELECT id, at, duration_ms, exit_code, flags, command, description, stdout, stderr,
      processes FROM entries WHERE session = ? LIMIT ?`;
    const limit = Math.max(1, this.#entriesLeft);
    const rows = this.#database.all(sql, session, limit);
    const days = new Map<number, Rollup>();
    for (const row of rows) {
      const texts = textsOf(row);
      this.#forget(Number(row.id), Number(row.flags), texts);
      addEntry(rollupOf(days, dayOf(Number(row.at))), countedOf(row, texts));
    }
    for (const [day, rollup] of days) takeFromDay(this.#database, day, rollup);
    this.#entriesLeft -= rows.length;
    return rows.length < limit;
  }

  #forget(id: number, flags: number, texts: Texts): void {
    if ((flags & LONG) !== 0) forgetSignature(this.#database, id);
    else {
      const remove = "INSERT INTO words (words, rowid, text) VALUES ('delete', ?, ?)";
      this.#database.run(remove, id, wordsOf(texts));
    }
    this.#database.run('DELETE FROM entries WHERE id = ?', id);
  }
}

function lengthOf({ command, description, stdout, stderr, processes }: Texts): number {
  return [command, description, stdout, stderr, processes].reduce(
    (sum, text) => sum + (text?.length ?? 0),
    0,
  );
}

function rollupOf(days: Map<number, Rollup>, day: number): Rollup {
  const rollup = days.get(day) ?? newRollup();
  days.set(day, rollup);
  return rollup;
}

function textsOf(row: Row): Texts {
  const text = (key: string) => (typeof row[key] === 'string' ? row[key] : null);
  const command = text('command') ?? '';
  const [stdout, stderr, processes] = [text('stdout'), text('stderr'), text('processes')];
  return { command, description: text('description'), stdout, stderr, processes };
}

function countedOf(row: Row, { command }: Texts): CountedEntry {
  const exit_code = row.exit_code === null ? null : Number(row.exit_code);
  return { command, duration_ms: Number(row.duration_ms), exit_code };
}

function flagsOf(entry: Entry, texts: Texts): number {
  const { command, description, stdout, stderr, processes } = texts;
  const strange = searchedText(command) !== command || searchedOrNull(description) !== description;
  // The two letters that match one of A to Z, which SQL does not know.
  const foreign = [command, description, stdout, stderr, processes].some((text) =>
    /[ſ\u212a]/.test(text ?? ''),
  );
  return (
    (stdout === entry.stdout ? WHOLE_STDOUT : 0) |
    (stderr === entry.stderr ? WHOLE_STDERR : 0) |
    (strange || foreign ? UNLIKE : 0) |
    (entry.output_truncated ? CUT : 0)
  );
}

/** What the index of words has of an entry. To take it out again it must be known to the letter. */
function wordsOf(texts: Texts): string {
  return folded(searchedTexts(texts).join(SEPARATOR));
}

function searchedTexts({ command, description, stdout, stderr, processes }: Texts): string[] {
  const all = [searchedText(command), searchedOrNull(description), stdout, stderr, processes];
  return all.filter((one) => one !== null);
}

/** Ids for entries that come in order of time. */
class FreeIds {
  readonly #database: Database;
  #last = -1;
  /** No entry has an id from the last one given up to here. */
  #freeUntil = -1;

  constructor(database: Database) {
    this.#database = database;
  }

  next(from: number): number {
    let id = Math.max(from, this.#last + 1);
    if (id >= this.#freeUntil) {
      id = this.#firstFree(id);
      const sql = 'SELECT id FROM entries WHERE id > ? ORDER BY id LIMIT 1';
      this.#freeUntil = Number(this.#database.all(sql, id)[0]?.id ?? Number.POSITIVE_INFINITY);
    }
    this.#last = id;
    return id;
  }

  #firstFree(id: number): number {
    const taken = this.#database.all('SELECT 1 FROM entries WHERE id = ?', id).length > 0;
    if (!taken) return id;
    const sql = `SELECT one.id + 1 AS free FROM entries AS one WHERE one.id >= ? AND NOT EXISTS
      (SELECT 1 FROM entries AS next WHERE next.id = one.id + 1) ORDER BY one.id LIMIT 1`;
    return Number(this.#database.all(sql, id)[0]?.free);
  }
}
