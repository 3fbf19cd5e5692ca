// The newest sessions without reading the others.
import * as fs from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { entryTimestamp } from '../../src/journal/entry.ts';
import { journalIdTime } from '../../src/journal/ids.ts';
import { type ListQuery, listSessions } from '../../src/journal/list.ts';
import { Journal } from './catalog-helper.ts';
import { faultyDisk, mode, textOf } from './helper.ts';

const [FIRST, SECOND, THIRD] = [
  '20260118_143052_a7b3c9d2-e4f5',
  '20260118_160315_b8c4d0e3-f6a7',
  '20260118_171522_c9d5e1f4-e8b9',
] as const;

// So far ahead that the names count as settled, or at the very moment of the change.
const AHEAD = { now: () => Date.now() + 1_000_000 };
const AT_ONCE = { now: Date.now };

function journalOf(...ids: readonly string[]): Journal {
  const journal = new Journal();
  for (const id of ids) {
    const timestamp = entryTimestamp(journalIdTime(id) ?? 0);
    journal.append(id, journal.entry(id, 1, { timestamp }));
    journal.end(id);
  }
  return journal;
}

function list(journal: Journal, query: Partial<ListQuery> = {}, env = AHEAD): [string[], number] {
  const { sessions, more } = listSessions(journal.directory, { limit: 20, ...query }, env);
  return [sessions.map(({ session_id }) => session_id), more];
}

describe('the list of sessions', () => {
  it('has the newest first, as many as are asked for, and says how many more there are', () => {
    const journal = journalOf(SECOND, THIRD, FIRST);
    for (const env of [AT_ONCE, AHEAD, AHEAD]) {
      expect(list(journal, {}, env)).toEqual([[THIRD, SECOND, FIRST], 0]);
      expect(list(journal, { limit: 2 }, env)).toEqual([[THIRD, SECOND], 1]);
      expect(list(journal, { limit: 0 }, env)).toEqual([[], 3]);
    }
  });

  it('says of each what its metadata says, or its lines when somebody still writes it', () => {
    const journal = journalOf(FIRST);
    journal.append(SECOND, journal.entry(SECOND, 1), journal.entry(SECOND, 2));
    journal.end(SECOND, 'active');
    const { sessions } = listSessions(journal.directory, { limit: 20 }, AHEAD);
    expect(sessions).toMatchObject([
      { session_id: SECOND, status: 'active', entry_count: 2, total_duration_ms: 3046 },
      { session_id: FIRST, status: 'complete', entry_count: 0 },
    ]);
  });

  it('can begin at a time', () => {
    const journal = journalOf(FIRST, SECOND, THIRD);
    const since = Date.parse('2026-01-18T16:03:15Z');
    expect(list(journal, { since })).toEqual([[THIRD, SECOND], 0]);
    expect(list(journal, { since: since + 1000, limit: 0 })).toEqual([[], 1]);
    expect(list(journal, { since: since + 86_400_000 })).toEqual([[], 0]);
  });

  it('puts a session whose id has no time where its metadata says it was made', () => {
    const journal = journalOf(FIRST, SECOND);
    journal.append('nightly', journal.entry('nightly', 1));
    journal.end('nightly', 'complete', '2026-01-18T15:00:00Z');
    for (let i = 0; i < 2; i += 1) {
      expect(list(journal)).toEqual([[SECOND, 'nightly', FIRST], 0]);
      const since = Date.parse('2026-01-18T14:59:00Z');
      expect(list(journal, { since })).toEqual([[SECOND, 'nightly'], 0]);
    }
  });

  it('has sessions of the older layout, and one that is in both only once', () => {
    const journal = journalOf(FIRST, SECOND);
    fs.copyFileSync(journal.path(FIRST), join(journal.directory, `${FIRST}.jsonl`));
    fs.renameSync(journal.path(SECOND), join(journal.directory, `${SECOND}.jsonl`));
    expect(list(journal)).toEqual([[SECOND, FIRST], 0]);
  });

  it('is empty where there is no journal, and leaves nothing there', () => {
    const journal = new Journal();
    fs.rmdirSync(join(journal.directory, 'sessions'));
    expect(list(journal)).toEqual([[], 0]);
    expect(fs.readdirSync(journal.directory)).toEqual([]);
  });
});

describe('sessions.list', () => {
  it('is a private file with the names as they were, newest first', () => {
    const journal = journalOf(FIRST, SECOND);
    list(journal);
    const { ino, ctimeNs } = fs.statSync(join(journal.directory, 'sessions'), { bigint: true });
    expect(textOf(journal.directory, 'sessions.list')).toBe(
      `cuff-sessions 1 ${ino} ${ctimeNs} 2\n${SECOND}\n${FIRST}\n`,
    );
    expect(mode(join(journal.directory, 'sessions.list'))).toBe('600');
  });

  it('is read instead of the folder as long as that has not changed', () => {
    const journal = journalOf(FIRST, SECOND);
    list(journal);
    const path = join(journal.directory, 'sessions.list');
    fs.writeFileSync(path, fs.readFileSync(path, 'utf8').replace(` 2\n${SECOND}`, ' 1'));
    expect(list(journal)).toEqual([[FIRST], 0]);
    expect(list(journal, { since: 0 })).toEqual([[FIRST], 0]);
  });

  it('is enough in part, for however many sessions there are', () => {
    const ids = Array.from(
      { length: 300 },
      (_, i) => `20260118_143052_${String(i).padStart(8, '0')}`,
    );
    const journal = journalOf(...ids, ...ids.map((id) => `${id}-${'f'.repeat(40)}`));
    const all = list(journal, { limit: 1000 })[0];
    for (const limit of [0, 1, 7, 299, 600, 5000]) {
      expect(list(journal, { limit })).toEqual([all.slice(0, limit), Math.max(0, 600 - limit)]);
    }
  });

  it('leaves out what is no session, and has others in its place', () => {
    const journal = journalOf(FIRST, SECOND);
    fs.mkdirSync(journal.path(THIRD));
    for (let i = 0; i < 2; i += 1) {
      expect(list(journal, { limit: 1 })).toEqual([[SECOND], 1]);
      expect(list(journal, { limit: 5 })).toEqual([[SECOND, FIRST], 0]);
    }
  });

  it('is made again when a session came or went', () => {
    const journal = journalOf(FIRST, SECOND);
    list(journal);
    const before = folderTime(journal);
    do journal.end(FIRST);
    while (folderTime(journal) === before);
    fs.rmSync(journal.path(SECOND));
    journal.append(THIRD, journal.entry(THIRD, 1));
    expect(list(journal)).toEqual([[THIRD, FIRST], 0]);
    expect(textOf(journal.directory, 'sessions.list')).toContain(THIRD);
  });

  it('is not written while the folder may still change unseen', () => {
    const journal = journalOf(FIRST);
    list(journal, {}, AT_ONCE);
    expect(fs.existsSync(join(journal.directory, 'sessions.list'))).toBe(false);
  });

  it.each(['', 'rubbish', 'cuff-sessions 1 1 1 1\nx\n', 'HEAD 2\nx\n', 'HEAD'])(
    'is not believed when it is %j',
    (like) => {
      const journal = journalOf(FIRST);
      const { ino, ctimeNs } = fs.statSync(join(journal.directory, 'sessions'), { bigint: true });
      const text = like.replace('HEAD', `cuff-sessions 1 ${ino} ${ctimeNs}`);
      fs.writeFileSync(join(journal.directory, 'sessions.list'), text);
      expect(list(journal)).toEqual([[FIRST], 0]);
    },
  );

  it('does not matter when it cannot be written', () => {
    const journal = journalOf(FIRST);
    for (const name of ['openSync', 'writeSync', 'renameSync']) {
      const fs = faultyDisk((_, call) => (call === name ? 'EROFS' : undefined));
      expect(list(journal, {}, { ...AHEAD, fs } as typeof AHEAD)).toEqual([[FIRST], 0]);
    }
    expect(fs.readdirSync(journal.directory)).toEqual(['sessions']);
  });
});

function folderTime(journal: Journal): bigint {
  return fs.statSync(join(journal.directory, 'sessions'), { bigint: true }).ctimeNs;
}
