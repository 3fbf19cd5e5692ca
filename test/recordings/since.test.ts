// What `--since` means, and what is said about sessions that are empty or out of order.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { Journal } from './helper.ts';

const LONG = '20260118_143052_a7b3c9d2-e4f5';
const NEW = '20260201_100000_b8c4d0e3-f6a7';
const OLD = '20260101_100000_c9d5e1f4-e8b9';

function fresh(): Journal {
  const made = new Journal();
  onTestFinished(() => made.close());
  return made;
}

describe('--since', () => {
  let journal: Journal;

  beforeEach(() => {
    journal = fresh();
    const at = (timestamp: string, command: string) => ({ timestamp, command });
    journal.add(OLD, { entries: [at('2026-01-01T10:00:00.000000Z', 'echo old')] });
    journal.add(LONG, {
      entries: [
        at('2026-01-18T14:30:52.000000Z', 'echo before'),
        at('2026-01-20T09:00:00.000000Z', 'echo after'),
      ],
    });
    journal.add(NEW, { entries: [at('2026-02-01T10:00:00.000000Z', 'echo new')] });
  });

  it('lists and exports sessions with a command since then, whole', async () => {
    type List = { sessions: { session_id: string; entry_count: number }[]; more: number };
    const list = await journal.json<List>('list', '--json', '--since', '2026-01-19');
    expect(list.sessions.map((one) => [one.session_id, one.entry_count])).toEqual([
      [LONG, 2],
      [NEW, 1],
    ]);
    const one = await journal.json<List>('list', '--json', '--since', '2026-01-19', '--limit', '1');
    expect([one.sessions.length, one.more]).toEqual([1, 1]);
    const args = ['export', 'all', '--format', 'jsonl', '--since', '2026-01-19'];
    const { out } = await journal.run(...args);
    const commands = out.split('\n').filter(Boolean);
    expect(commands.map((line) => JSON.parse(line).command)).toEqual([
      'echo before',
      'echo after',
      'echo new',
    ]);
  });

  it('counts, finds and learns from commands since then', async () => {
    const since = ['--since', '2026-01-19'];
    expect(await journal.json('stats', '--json', ...since)).toMatchObject({
      sessions: 2,
      commands: 2,
    });
    const { hits } = await journal.json<{ hits: { command: string }[] }>(
      ...['search', 'echo', '--json', ...since],
    );
    expect(hits.map(({ command }) => command)).toEqual(['echo new', 'echo after']);
    const exact = ['generate', '--strategy', 'exact', '--min-frequency', '1'];
    expect((await journal.run(...exact)).out).toContain('echo before');
    const { out } = await journal.run(...exact, ...since);
    expect([out.includes('echo before'), out.includes('echo after')]).toEqual([false, true]);
    writeFileSync(journal.path('policy.yml'), 'policies: []\n');
    const test = async (...args: readonly string[]) => {
      const where = ['--directory', journal.directory];
      const words = ['policy', 'test', journal.path('policy.yml'), '--json', ...where, ...args];
      return JSON.parse((await journal.cli.cuff(...words)).out);
    };
    expect([(await test()).commands, (await test(...since)).commands]).toEqual([4, 2]);
  });
});

describe('a session without entries', () => {
  it('is not listed, counted or exported', async () => {
    const journal = fresh();
    journal.add(LONG, { entries: [{ command: 'make' }] });
    journal.add(NEW, { entries: [] });
    journal.add(OLD, { entries: [], metadata: { status: 'active' } });
    expect(await journal.json('list', '--json')).toMatchObject({
      sessions: [{ session_id: LONG }],
      more: 0,
    });
    expect(await journal.json('stats', '--json')).toMatchObject({ sessions: 1 });
    const { sessions } = await journal.json<{ sessions: unknown[] }>('export', 'all');
    expect(sessions).toHaveLength(1);
  });
});

describe('entry numbers that are not in order', () => {
  const journal = new Journal();
  const faults = { skipped: 1, repeated: 1, backward: 1, missing: 0 };
  const said = (where: string) =>
    `Entry numbers of ${where} are not in order: 1 skipped, 1 repeated, 1 going back.\n`;

  beforeAll(() => {
    journal.add(NEW, { entries: [{ command: 'a' }, { command: 'b' }] });
    journal.add(LONG, {
      entries: ['a', 'b', 'c', 'd', 'e'].map((command) => ({ command })),
    });
    const path = join(journal.sessions, `${LONG}.jsonl`);
    const [a, , c, d, e] = readFileSync(path, 'utf8').split('\n');
    writeFileSync(path, `${[a, c, c, e, d].join('\n')}\n`.replace(`${e}\n${d}`, `${d}\n${a}`));
    return () => journal.close();
  });

  it('are reported by list, show, stats and export', async () => {
    const short = '20260118_143052_a7b3c9d2';
    const list = await journal.run('list', '--json');
    expect(list.err).toBe(said(short));
    expect(JSON.parse(list.out).sequence_faults).toEqual([{ session_id: LONG, ...faults }]);
    const show = await journal.run('show', LONG, '--json');
    expect(show.err).toBe(said(short));
    expect(JSON.parse(show.out).sequence_faults).toEqual(faults);
    const stats = await journal.run('stats', '--json');
    expect(stats.err).toBe(said('this journal'));
    expect(JSON.parse(stats.out).sequence_faults).toEqual(faults);
    for (const format of ['json', 'jsonl', 'csv', 'html']) {
      expect((await journal.run('export', 'all', '--format', format)).err).toBe(said(short));
    }
  });

  it('are not reported of sessions that are in order', async () => {
    expect((await journal.run('show', NEW, '--json')).err).toBe('');
  });
});
