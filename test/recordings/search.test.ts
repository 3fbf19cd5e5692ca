import { existsSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { atTerminal, Journal } from './helper.ts';

const journal = new Journal();

beforeAll(() => {
  journal.add('20260118_143052_a7b3c9d2-e4f5', {
    entries: [
      { command: 'npm test', stdout: 'ok 1\nnot ok 2 - permission denied\n', exit_code: 1 },
      { command: 'git status', stdout: 'nothing to commit\n', agent_id: 'claude-code' },
    ],
  });
  journal.add('20260119_100000_dddddddd-dddd', {
    entries: [
      { command: 'ls /root', stderr: 'ls: \x1b[1mPermission denied\x1b[0m\n', exit_code: 2 },
      { command: 'echo a\x1b]0;x\x07b', description: 'say permission granted' },
    ],
  });
});
afterAll(() => journal.close());

describe('cuff record search', () => {
  it('finds commands and what they printed, the newest first', async () => {
    const { code, out, err } = await journal.run('search', 'permission denied');
    expect([code, err]).toEqual([0, '']);
    expect(out).toBe(
      [
        '20260119_100000_dddddddd #1  2026-01-19 10:00:00  exit 2  ls /root',
        '    stderr+8: ls: Permission denied',
        '20260118_143052_a7b3c9d2 #1  2026-01-18 14:30:52  exit 1  npm test',
        '    stdout+16: not ok 2 - permission denied',
        '',
      ].join('\n'),
    );
  });

  it('gives where and what as JSON', async () => {
    expect(await journal.json('search', 'commit', '--json')).toEqual({
      hits: [
        {
          session_id: '20260118_143052_a7b3c9d2-e4f5',
          entry_id: 'e_20260118_143052_002',
          sequence_number: 2,
          timestamp: '2026-01-18T14:30:52.000000Z',
          command: 'git status',
          exit_code: 0,
          agent_id: 'claude-code',
          field: 'stdout',
          offset: 11,
          snippet: 'nothing to commit',
          match: [11, 17],
        },
      ],
      limited: false,
      not_searched: { damaged_lines: 0, cut_outputs: 0 },
    });
  });

  it('narrows by date, exit code, agent, number, and regular expression', async () => {
    const found = async (...args: readonly string[]): Promise<string[]> => {
      const { out } = await journal.run('search', '--json', ...args);
      const { hits } = JSON.parse(out) as { hits: { command: string }[] };
      return hits.map(({ command }) => command.slice(0, 8));
    };
    expect(await found('permission')).toEqual(['echo a\x1b]', 'ls /root', 'npm test']);
    expect(await found('permission', '--since', '2026-01-19')).toEqual(['echo a\x1b]', 'ls /root']);
    expect(await found('permission', '--exit', '1')).toEqual(['npm test']);
    expect(await found('permission', '--exit', 'nonzero')).toEqual(['ls /root', 'npm test']);
    expect(await found('t', '--agent', 'claude-code')).toEqual(['git stat']);
    expect(await found('permission', '--limit', '1')).toEqual(['echo a\x1b]']);
    expect(await found('--regex', '^(not )?ok \\d')).toEqual(['npm test']);
    expect(await found('--', '--no-such-flag')).toEqual([]);
  });

  it('finds what ran inside of a command, with or without a text', async () => {
    const inside = new Journal();
    inside.add('20260118_143052_a7b3c9d2-e4f5', {
      entries: [
        { command: 'make', stdout: 'ok\n', process_list: ["sh -c 'cc x.c'", 'cc x.c'] },
        { command: 'make', stdout: 'no\n', process_list: ['cc y.c'], exit_code: 2 },
        { command: 'echo cc x.c' },
      ],
    });
    const one = await inside.run('search', '--process', 'cc x.c');
    expect([one.code, one.out, one.err]).toEqual([
      0,
      '20260118_143052_a7b3c9d2 #1  2026-01-18 14:30:52  exit 0  make\n' +
        "    process+7: sh -c 'cc x.c'\n",
      '',
    ]);
    const both = await inside.json<{ hits: unknown[] }>(
      'search',
      'no',
      '--process',
      'cc',
      '--json',
    );
    expect(both.hits).toMatchObject([{ sequence_number: 2, field: 'stdout' }]);
    const regex = await inside.run('search', '--regex', '--process', '^cc [xy]\\.c$');
    expect(regex.out.match(/process\+0: cc/g)).toHaveLength(2);
    expect((await inside.run('search', '--process', 'ld')).code).toBe(1);
    expect((await inside.run('search')).err).toMatch(/^Error: Missing argument TEXT\n/);
    await inside.close();
  });

  it('finds nothing with exit 1', async () => {
    const { code, out, err } = await journal.run('search', 'no such thing');
    expect([code, out, err]).toEqual([1, '', 'Nothing found.\n']);
    const empty = new Journal();
    const none = await empty.run('search', 'x');
    expect([none.code, none.out.split('\n')[0]]).toEqual([0, 'No recordings found.']);
    await empty.close();
  });

  it('refuses what it cannot look for', async () => {
    const wrong = await journal.run('search', '--regex', '(');
    expect([wrong.code, wrong.err]).toMatchObject([
      2,
      expect.stringMatching(/^Error: Invalid reg/),
    ]);
    const exit = await journal.run('search', 'x', '--exit', 'bad');
    expect([exit.code, exit.err]).toEqual([
      2,
      "Error: --exit wants a code or nonzero, not 'bad'\n",
    ]);
  });

  it('shows nothing that a terminal would obey', async () => {
    const { out } = await journal.run('search', 'granted');
    expect(out.replaceAll('\n', '')).not.toMatch(/\p{Cc}/u);
  });
});

describe('cuff record reindex', () => {
  it('makes everything anew that is derived from the sessions', async () => {
    const derived = ['index.json', 'catalog.db', 'sessions.list'].map((name) =>
      join(journal.directory, name),
    );
    for (const path of derived) writeFileSync(path, 'rubbish');
    const { code, out, err } = await journal.run('reindex');
    expect([code, err]).toEqual([0, '']);
    expect(out).toMatch(/^Indexed 4 commands in 2 sessions/);
    expect(await journal.json('reindex', '--json')).toMatchObject({ sessions: 2, entries: 4 });
    expect((await journal.run('search', 'commit')).code).toBe(0);
    rmSync(join(journal.directory, 'index.json'));
    await journal.run('reindex');
    expect(existsSync(join(journal.directory, 'index.json'))).toBe(true);
  });

  it('has nothing to do where there is no journal, and makes none', async () => {
    const empty = new Journal();
    const { code, out } = await empty.run('reindex');
    expect([code, out.split('\n')[0]]).toEqual([0, 'No recordings found.']);
    expect(existsSync(empty.directory)).toBe(false);
    await empty.close();
  });

  it('says what it does while it does it, at a terminal only', async () => {
    const shown = await atTerminal(journal, 'reindex').ended();
    expect(shown).toMatch(/^Reading every session\.\.\.\r\x1b\[KIndexed 4 commands in 2 sessions/);
  });
});
