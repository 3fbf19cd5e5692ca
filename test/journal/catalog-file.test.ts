// catalog.db as a file: who may read it, what happens when it is locked, damaged, old or replaced,
// and how it is filled a little at a time and by several processes at once.
import { spawn } from 'node:child_process';
import * as fs from 'node:fs';
import { join } from 'node:path';
import { build } from 'esbuild';
import { describe, expect, it, onTestFinished } from 'vitest';
import { openCatalog } from '../../src/journal/catalog.ts';
import { discardCatalog } from '../../src/journal/catalog-place.ts';
import { entryTimestamp } from '../../src/journal/entry.ts';
import { readLater, sessionsWithLater } from '../../src/journal/later.ts';
import { scanSearch } from '../../src/journal/search.ts';
import { scanStats } from '../../src/journal/stats.ts';
import type { Entry } from '../../src/types.ts';
import { Journal, someSqlite } from './catalog-helper.ts';
import { NOW, tempDir } from './helper.ts';

const SESSION = '20260118_143052_a7b3c9d2-e4f5';
const OTHER = '20260118_160315_b8c4d0e3-f6a7';
const ALL = { text: '', limit: 10_000 };
const ENOUGH_MS = 30_000; // a budget that nobody uses up, on a busy machine neither

function journalOf(count: number, session = SESSION): Journal {
  const journal = new Journal();
  journal.append(session, ...entries(journal, session, 1, count));
  journal.end(session);
  return journal;
}

function entries(journal: Journal, session: string, from: number, to: number): Entry[] {
  return Array.from({ length: to - from + 1 }, (_, i) => journal.entry(session, from + i));
}

/** What it says without looking at the session files: they are somewhere else meanwhile. */
function answerAlone<T>(journal: Journal, question: () => T): T {
  const [here, away] = [join(journal.directory, 'sessions'), join(journal.directory, 'away')];
  fs.renameSync(here, away);
  try {
    return question();
  } finally {
    fs.renameSync(away, here);
  }
}

describe('catalog.db', () => {
  it('is closed to others, also when it was not, and so are the files beside it', async () => {
    const journal = journalOf(3);
    fs.writeFileSync(journal.database, '', { mode: 0o644 });
    const catalog = await journal.open();
    catalog.refresh();
    const modes = fs
      .readdirSync(journal.directory)
      .filter((name) => name.startsWith('catalog.db'))
      .map((name) => fs.statSync(join(journal.directory, name)).mode & 0o777);
    catalog.close();
    expect(modes.length).toBeGreaterThan(0);
    expect(new Set(modes)).toEqual(new Set([0o600]));
  });

  it('answers from itself, not from the session files', async () => {
    const journal = journalOf(30);
    const catalog = await journal.open();
    expect(catalog.refresh()).toEqual({ done: true });
    const [hits, stats] = answerAlone(
      journal,
      () => [catalog.search(ALL), catalog.stats()] as const,
    );
    expect(hits).toEqual(scanSearch(journal.directory, ALL));
    expect(stats).toEqual(scanStats(journal.directory, {}));
    expect(hits).toHaveLength(30);
    catalog.close();
  });

  it.each([
    ['is rubbish', (path: string) => fs.writeFileSync(path, 'rubbish'.repeat(1000))],
    ['is cut short', (path: string) => fs.truncateSync(path, 10_000)],
    ['is overwritten in the middle', overwriteMiddle],
    ['is of another version', (path: string) => withDatabase(path, 'PRAGMA user_version = 99')],
    ['has lost a table', (path: string) => withDatabase(path, 'DROP TABLE days')],
    ['belongs to somebody else', belongsToSomebodyElse],
  ])('is made again when it %s', async (_, damage) => {
    const journal = journalOf(2000);
    const first = await journal.open();
    first.refresh();
    first.close();
    damage(journal.database);
    journal.append(OTHER, journal.entry(OTHER, 1, { command: 'make new' }));
    const catalog = await journal.open();
    expect(catalog.refresh()).toEqual({ done: true });
    const [hits, stats] = answerAlone(
      journal,
      () => [catalog.search(ALL), catalog.stats()] as const,
    );
    expect(hits).toEqual(scanSearch(journal.directory, ALL));
    expect(stats).toEqual(scanStats(journal.directory, {}));
    catalog.close();
  });

  it.each([
    ['is a directory', (path: string) => fs.mkdirSync(path)],
    ['is a link', (path: string) => fs.symlinkSync(join(tempDir(), 'elsewhere.db'), path)],
    ['is locked for good', (path: string) => void lock(path)],
  ])('does not matter when it %s', async (_, spoil) => {
    const journal = journalOf(3);
    spoil(journal.database);
    const catalog = await journal.open();
    expect(catalog.refresh()).toEqual({ done: false });
    expect(catalog.search(ALL)).toEqual(scanSearch(journal.directory, ALL));
    expect(catalog.stats()).toEqual(scanStats(journal.directory, {}));
    catalog.close();
  });

  it('is noticed to be another file, and filled, by whoever has the old one open', async () => {
    const journal = journalOf(5);
    const catalog = await journal.open();
    catalog.refresh();
    discardCatalog(journal.directory);
    expect(catalog.refresh()).toEqual({ done: true });
    catalog.close();
    const other = await journal.open();
    other.refresh();
    expect(answerAlone(journal, () => other.stats().commands)).toBe(5);
    other.close();
  });

  it('is not put into a directory that is no journal', async () => {
    const directory = tempDir();
    const catalog = await openCatalog(directory, { now: Date.now });
    expect(catalog.refresh()).toEqual({ done: false });
    expect([catalog.search(ALL), catalog.stats().commands]).toEqual([[], 0]);
    catalog.close();
    expect(fs.readdirSync(directory)).toEqual([]);
  });

  it('is not needed: without a SQLite the session files are read', async () => {
    const journal = journalOf(5);
    const catalog = await journal.open(() => undefined);
    expect([catalog.kind, catalog.refresh()]).toEqual(['scan', { done: true }]);
    expect(catalog.search(ALL)).toEqual(scanSearch(journal.directory, ALL));
    expect(catalog.stats()).toEqual(scanStats(journal.directory, {}));
    expect(fs.existsSync(journal.database)).toBe(false);
  });
});

describe('a refresh', () => {
  it('with a budget takes in a little at a time and answers by scan until it is done', async () => {
    const journal = journalOf(500);
    const catalog = await journal.open();
    let calls = 1;
    while (!catalog.refresh({ budgetMs: 0 }).done) {
      calls += 1;
      if (calls % 10 === 0) expect(catalog.stats().commands).toBe(500);
    }
    expect(calls).toBeGreaterThan(500 / 12);
    expect(answerAlone(journal, () => catalog.stats().commands)).toBe(500);
    catalog.close();
  });

  it('with a budget sees new entries of the sessions it is told of at once', async () => {
    const journal = journalOf(5);
    const catalog = await journal.open();
    catalog.refresh();
    journal.append(SESSION, ...entries(journal, SESSION, 6, 9));
    journal.append(OTHER, ...entries(journal, OTHER, 1, 2));
    expect(catalog.refresh({ budgetMs: ENOUGH_MS, first: [SESSION] })).toEqual({ done: true });
    expect(catalog.stats().commands).toBe(9);
    expect(catalog.refresh({ budgetMs: ENOUGH_MS, first: [OTHER, 'gone'] })).toEqual({
      done: true,
    });
    expect(catalog.stats().commands).toBe(11);
    catalog.close();
  });

  it('with a budget looks at the other sessions once a minute', async () => {
    const journal = journalOf(5);
    let now = Date.now();
    const catalog = await journal.open(someSqlite, () => now);
    catalog.refresh();
    journal.append(OTHER, ...entries(journal, OTHER, 1, 2));
    expect(catalog.refresh({ budgetMs: ENOUGH_MS })).toEqual({ done: true });
    expect(catalog.stats().commands).toBe(5);
    now += 60_000;
    expect(catalog.refresh({ budgetMs: ENOUGH_MS })).toEqual({ done: true });
    expect(catalog.stats().commands).toBe(7);
    catalog.close();
  });

  it('with a budget does not wait for a lock', async () => {
    const journal = journalOf(5);
    const catalog = await journal.open();
    catalog.refresh();
    const unlock = lock(journal.database);
    journal.append(SESSION, journal.entry(SESSION, 6));
    expect(catalog.refresh({ budgetMs: 5, first: [SESSION] })).toEqual({ done: false });
    expect(catalog.stats().commands).toBe(5);
    unlock();
    expect(catalog.refresh({ budgetMs: ENOUGH_MS, first: [SESSION] })).toEqual({ done: true });
    expect(catalog.stats().commands).toBe(6);
    catalog.close();
  });

  it('sees what happens to a session that has ended, though no name has changed', async () => {
    const journal = journalOf(5);
    journal.append(OTHER, ...entries(journal, OTHER, 1, 2));
    // Far ahead, so that the state of the folder counts as settled.
    const catalog = await journal.open(someSqlite, () => Date.now() + 1_000_000);
    catalog.refresh();
    const commands = () => {
      catalog.refresh();
      return catalog.stats().commands;
    };
    // As a late recovery appends to it.
    journal.append(SESSION, journal.entry(SESSION, 6));
    journal.append(OTHER, journal.entry(OTHER, 3));
    expect(commands()).toBe(9);
    fs.renameSync(journal.path(OTHER), `${journal.path(OTHER)}.tmp`);
    expect(commands()).toBe(6);
    const { atime, mtime } = fs.statSync(journal.path(SESSION));
    const before = fs.readFileSync(journal.path(SESSION), 'utf8');
    fs.writeFileSync(journal.path(SESSION), before.replaceAll('git status', 'git stasis'));
    fs.utimesSync(journal.path(SESSION), atime, mtime);
    catalog.refresh();
    expect(catalog.search({ text: 'git stasis', limit: 20 })).toHaveLength(6);
    fs.truncateSync(journal.path(SESSION));
    expect(commands()).toBe(0);
    catalog.close();
  });

  it('knows which sessions have output behind their entries, and counts it anew', async () => {
    const journal = journalOf(5);
    const catalog = await journal.open(someSqlite, () => Date.now() + 1_000_000);
    const sessions = join(journal.directory, 'sessions');
    const add = (session: string, entry_id: string): void => {
      const output = { stdout: 'more', stderr: '', truncated: false };
      const line = JSON.stringify({ entry_id, survivors: [], output });
      fs.appendFileSync(join(sessions, `${session}.later.jsonl`), `${line}\n`);
    };
    const found = (): readonly [readonly string[] | undefined, number] => {
      catalog.refresh();
      const files = catalog.laterFiles();
      const ids = sessionsWithLater(journal.directory, files);
      const counts = ids.map((id) => readLater(join(sessions, `${id}.later.jsonl`)).found.size);
      return [files, counts.reduce((sum, count) => sum + count, 0)];
    };
    expect(found()).toEqual([[], 0]);
    const before = fs.statSync(sessions).ctimeMs;
    add(SESSION, 'e_1');
    // A folder that changes twice in one tick of the clock looks the same.
    for (let i = 0; fs.statSync(sessions).ctimeMs === before; i += 1) {
      fs.writeFileSync(join(sessions, `${i}.tmp`), '');
    }
    expect(found()).toEqual([[`${SESSION}.later.jsonl`], 1]);
    add(SESSION, 'e_2');
    expect(found()).toEqual([[`${SESSION}.later.jsonl`], 2]);
    catalog.close();
  });

  it('sees sessions of the older layout come and go', async () => {
    const journal = journalOf(5);
    journal.append(OTHER, ...entries(journal, OTHER, 1, 2));
    const beside = join(journal.directory, `${OTHER}.jsonl`);
    fs.renameSync(journal.path(OTHER), join(journal.directory, 'kept'));
    const catalog = await journal.open(someSqlite, () => Date.now() + 1_000_000);
    const commands = () => {
      catalog.refresh();
      return catalog.stats().commands;
    };
    expect(commands()).toBe(5);
    fs.renameSync(join(journal.directory, 'kept'), beside);
    expect(commands()).toBe(7);
    fs.rmSync(beside);
    expect(commands()).toBe(5);
    catalog.close();
  });

  it('gives many entries of one second a place each, and the newest come first', async () => {
    const journal = new Journal();
    const at = (ms: number) => ({ timestamp: entryTimestamp(NOW + ms) });
    const newest = journal.entry(OTHER, 1, at(5000));
    journal.append(OTHER, newest);
    const catalog = await journal.open();
    catalog.refresh();
    // More than fit before the other one, so some get a higher id than it has.
    const burst = Array.from({ length: 300 }, (_, i) => journal.entry(SESSION, i + 1, at(0)));
    journal.append(SESSION, ...burst);
    catalog.refresh();
    journal.append(SESSION, journal.entry(SESSION, 301, at(0)));
    catalog.refresh();
    for (const limit of [1, 2, 10, 1000]) {
      const query = { text: '', limit };
      expect(catalog.search(query)).toEqual(scanSearch(journal.directory, query));
    }
    expect(catalog.search({ text: '', limit: 1 })[0]?.entryId).toBe(newest.entry_id);
    catalog.close();
  });

  it('sees that a session was rewritten in place, to the same length', async () => {
    const journal = journalOf(3);
    const catalog = await journal.open();
    catalog.refresh();
    const text = fs.readFileSync(journal.path(SESSION), 'utf8');
    const { mtimeMs } = fs.statSync(journal.path(SESSION));
    do fs.writeFileSync(journal.path(SESSION), text.replaceAll('"exit_code":0', '"exit_code":7'));
    while (fs.statSync(journal.path(SESSION)).mtimeMs === mtimeMs);
    catalog.refresh();
    expect(catalog.stats().exitCodes).toEqual({ zero: 0, one: 0, other: 3, none: 0 });
    catalog.close();
  });

  it('by eight processes at once, while another appends, loses and doubles nothing', async () => {
    const journal = journalOf(300);
    const script = await bundledRefresh();
    const ended = Array.from({ length: 8 }, () => finished(script, journal.directory));
    for (let i = 1; i <= 200; i += 1) {
      journal.append(OTHER, journal.entry(OTHER, i));
      await new Promise((resolve) => setImmediate(resolve));
    }
    journal.end(OTHER);
    // Nor does it say anything, such as that a SQLite is experimental.
    expect(await Promise.all(ended)).toEqual(new Array(8).fill({ code: 0, stderr: '' }));
    const catalog = await journal.open();
    expect(catalog.refresh()).toEqual({ done: true });
    expect(answerAlone(journal, () => catalog.search(ALL)).length).toBe(500);
    expect(catalog.search(ALL)).toEqual(scanSearch(journal.directory, ALL));
    expect(catalog.stats()).toEqual(scanStats(journal.directory, {}));
    catalog.close();
  });
});

function withDatabase(path: string, sql: string): void {
  const database = someSqlite().open(path);
  database.exec(sql);
  database.close();
}

function belongsToSomebodyElse(path: string): void {
  fs.rmSync(path);
  withDatabase(path, 'CREATE TABLE theirs (x)');
}

function overwriteMiddle(path: string): void {
  const fd = fs.openSync(path, 'r+');
  const { size } = fs.fstatSync(fd);
  fs.writeSync(fd, Buffer.alloc(size / 2, 'x'), 0, size / 2, 8192);
  fs.closeSync(fd);
}

/** Holds the lock until the function it gives is called. */
function lock(path: string): () => void {
  const database = someSqlite().open(path);
  database.exec('BEGIN IMMEDIATE');
  return () => database.exec('ROLLBACK');
}

/** A program that opens a catalog and refreshes it twenty times. */
async function bundledRefresh(): Promise<string> {
  const outfile = join(tempDir(), 'refresh.mjs');
  const contents = `
    import { openCatalog } from './src/journal/catalog.ts';
    const catalog = await openCatalog(process.argv[2], { now: Date.now });
    for (let i = 0; i < 20; i += 1) catalog.refresh(i % 2 ? { budgetMs: 2 } : {});
    catalog.close();`;
  const resolveDir = join(import.meta.dirname, '../..');
  await build({
    stdin: { contents, resolveDir },
    outfile,
    bundle: true,
    platform: 'node',
    format: 'esm',
  });
  return outfile;
}

/** Ends with the test at the latest. */
async function finished(script: string, directory: string) {
  const env = { ...process.env, NODE_PATH: join(import.meta.dirname, '../../node_modules') };
  const child = spawn(process.execPath, [script, directory], {
    env,
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  onTestFinished(() => void child.kill());
  const pieces: Buffer[] = [];
  child.stderr.on('data', (piece: Buffer) => pieces.push(piece));
  const code = await new Promise((resolve) => child.on('close', resolve));
  return { code, stderr: Buffer.concat(pieces).toString() };
}
