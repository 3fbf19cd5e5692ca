// Session files that have lost their last lines: the metadata of an ended session knows it.
import { readFileSync, truncateSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Journal, times } from './helper.ts';

const ID = '20260118_143052_a7b3c9d2-e4f5';
const PART = '20260118_160315_b8c4d0e3-f6a7';
const SHORT = '20260118_143052_a7b3c9d2';
const COMMANDS = ['list', 'show', 'stats', 'export'] as const;

const faults = (missing: number) => ({ skipped: 0, repeated: 0, backward: 0, missing });
const said = (count: string, where: string) =>
  `${count} missing from ${where}: lines were lost at the end of a file.\n`;

let journal: Journal;
beforeEach(() => {
  journal = new Journal();
});
afterEach(() => journal.close());

/** Leaves the first lines of a session. */
function keep(lines: number, id = ID): void {
  const path = join(journal.sessions, `${id}.jsonl`);
  const text = readFileSync(path, 'utf8');
  truncateSync(path, text.split('\n').slice(0, lines).join('\n').length + Math.min(lines, 1));
}

function run(name: (typeof COMMANDS)[number], ...more: readonly string[]) {
  return journal.run(name, ...(name === 'show' || name === 'export' ? [ID] : []), ...more);
}

describe('lines that a session has lost at its end', () => {
  it('are reported by list, show, stats and export', async () => {
    journal.add(ID, { entries: times(5, { command: 'make' }) });
    await run('stats'); // the catalog knows the session as it was
    keep(2);
    const list = await run('list', '--json');
    expect([list.code, list.err]).toEqual([0, said('3 entries are', SHORT)]);
    expect(JSON.parse(list.out).sequence_faults).toEqual([{ session_id: ID, ...faults(3) }]);
    const show = await run('show', '--json');
    expect([show.code, show.err]).toEqual([0, said('3 entries are', SHORT)]);
    expect(JSON.parse(show.out).sequence_faults).toEqual(faults(3));
    const stats = await run('stats', '--json');
    expect([stats.code, stats.err]).toEqual([0, said('3 entries are', 'this journal')]);
    expect(JSON.parse(stats.out)).toMatchObject({ commands: 2, sequence_faults: faults(3) });
    const all = await run('export');
    expect([all.code, all.err]).toEqual([0, said('3 entries are', SHORT)]);
    keep(0);
    expect((await run('list')).err).toBe(said('5 entries are', SHORT));
    expect((await run('stats')).err).toBe(said('5 entries are', 'this journal'));
  });

  it('are reported of a session that list joins to another', async () => {
    journal.add(ID, { entries: [{ command: 'true' }] });
    journal.add(PART, { entries: times(2, { command: 'make' }), metadata: { part_of: ID } });
    keep(1, PART);
    expect((await run('list')).err).toBe(said('1 entry is', PART.slice(0, SHORT.length)));
  });

  it('are not told twice when lines before them are lost, too', async () => {
    journal.add(ID, { entries: times(5, { command: 'make' }), metadata: { entry_count: 6 } });
    const path = join(journal.sessions, `${ID}.jsonl`);
    const [a, , ...rest] = readFileSync(path, 'utf8').split('\n');
    journal.write(`${ID}.jsonl`, [a, ...rest].join('\n'));
    const both = (where: string) =>
      `Entry numbers of ${where} are not in order: 1 skipped.\n${said('1 entry is', where)}`;
    for (const name of COMMANDS) {
      expect((await run(name)).err).toBe(both(name === 'stats' ? 'this journal' : SHORT));
    }
  });

  it('are not missed where a server still writes, or wrote after the metadata', async () => {
    for (const metadata of [{ status: 'active', entry_count: 9 }, { entry_count: 3 }] as const) {
      journal.add(ID, { entries: times(5, { command: 'make' }), metadata });
      for (const name of COMMANDS) {
        const { code, out, err } = await run(name, '--json');
        expect([code, err, out.includes('sequence_faults')]).toEqual([0, '', false]);
      }
    }
  });
});
