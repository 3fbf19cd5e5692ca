// The two SQLites behave alike.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { troubleOf } from '../../src/journal/sqlite.ts';
import { describeDrivers } from './catalog-helper.ts';
import { tempDir } from './helper.ts';

describeDrivers('a database', (load) => {
  const open = (path: string) => {
    const database = load()?.open(path);
    if (database === undefined) throw new Error('not there');
    return database;
  };

  it('gives rows as plain values and counts changes', () => {
    const database = open(join(tempDir(), 'a.db'));
    database.exec('CREATE TABLE t (n, r, s, z)');
    const values = [2 ** 47, 0.5, 'ü\u{1f600}', null] as const;
    expect(database.run('INSERT INTO t VALUES (?, ?, ?, ?)', ...values)).toBe(1);
    expect(database.run('INSERT INTO t VALUES (?, ?, ?, ?)', 1, 2, '', null)).toBe(1);
    expect(database.all('SELECT * FROM t ORDER BY n').map((row) => ({ ...row }))).toEqual([
      { n: 1, r: 2, s: '', z: null },
      { n: 2 ** 47, r: 0.5, s: 'ü\u{1f600}', z: null },
    ]);
    expect(database.run('DELETE FROM t')).toBe(2);
    expect(database.all('SELECT * FROM t WHERE n = ?', 1)).toEqual([]);
    database.close();
  });

  it('commits after statements that were stepped to their end', () => {
    const database = open(join(tempDir(), 'a.db'));
    database.exec('CREATE TABLE t (n)');
    database.exec('BEGIN IMMEDIATE');
    for (let n = 0; n < 250; n += 1) database.run('INSERT INTO t VALUES (?)', n);
    expect(database.all('SELECT n FROM t')).toHaveLength(250);
    expect(database.all('SELECT n FROM t WHERE n = ?', 7)).toHaveLength(1);
    database.exec('COMMIT');
    database.close();
  });

  it('finds parts of words of three letters and more', () => {
    const database = open(join(tempDir(), 'a.db'));
    database.exec(
      "CREATE VIRTUAL TABLE w USING fts5 (t, content = '', detail = none, tokenize = 'trigram')",
    );
    database.run('INSERT INTO w (rowid, t) VALUES (?, ?)', 3, 'ECONNREFUSED 127.0.0.1');
    const found = (gram: string) => database.all('SELECT rowid AS id FROM w WHERE w MATCH ?', gram);
    expect(found('"ref" "0.0"').map(({ id }) => id)).toEqual([3]);
    database.run(
      "INSERT INTO w (w, rowid, t) VALUES ('delete', ?, ?)",
      3,
      'ECONNREFUSED 127.0.0.1',
    );
    expect(found('"ref"')).toEqual([]);
    database.close();
  });

  it('tells a lock from a damaged file from anything else', () => {
    const dir = tempDir();
    const [one, two] = [open(join(dir, 'a.db')), open(join(dir, 'a.db'))];
    one.exec('CREATE TABLE t (n)');
    one.exec('BEGIN IMMEDIATE');
    expect(troubleIn(() => two.exec('BEGIN IMMEDIATE'))).toBe('busy');
    one.exec('ROLLBACK');
    expect(troubleIn(() => one.all('SELECT * FROM gone'))).toBe('damaged');
    writeFileSync(join(dir, 'b.db'), 'no database'.repeat(500));
    expect(troubleIn(() => open(join(dir, 'b.db')).all('PRAGMA user_version'))).toBe('damaged');
    expect(troubleIn(() => open(join(dir, 'no', 'c.db')))).toBe('other');
    one.close();
    two.close();
  });
});

function troubleIn(action: () => unknown): string {
  try {
    action();
    return 'none';
  } catch (error) {
    return troubleOf(error);
  }
}
