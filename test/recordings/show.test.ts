import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { addSamples, Journal } from './helper.ts';

const journal = new Journal();
const MIXED = '20260119_100000_dddddddd-dddd';

beforeAll(() => {
  addSamples(journal);
  journal.add(MIXED, {
    entries: [
      {
        command: 'ls\nfoo\x1b[31m',
        stdout: 'a\tb\r\n\x1b[31mred\x1b[0m\nlast',
        stderr: 'oops\u202e\n',
        exit_code: 2,
        duration_ms: 61_000,
      },
      { command: 'sleep 999', timed_out: true, exit_code: null, stdout: null, stderr: null },
      {
        command: 'yes',
        exit_code: null,
        signal: 'SIGKILL',
        end_reason: 'kill',
        stdout: 'y\ny\n',
        output_truncated: true,
        output_truncated_bytes: 12_345,
      },
    ],
  });
});
afterAll(() => journal.close());

const SAMPLE = `\
Session: 20260118_143052_a7b3c9d2
Started: 2026-01-18 14:30:52
Duration: 2m 34s
Working Directory: /Users/dev/myproject

Commands: 15 total
  ✓ Succeeded: 14
  ✗ Failed: 1
  ⏱ Timed out: 0

Top Commands:
  git status          - 5 calls
  npm test            - 3 calls
  cat package.json    - 2 calls
`;

describe('cuff record show', () => {
  it('prints the sample of the seed, byte for byte, for any part of the id', async () => {
    for (const part of ['20260118_143052_a7b3c9d2-e4f5', '20260118_143052_a7b3c9d2', '143052']) {
      const { code, out, err } = await journal.run('show', part);
      expect([code, out, err]).toEqual([0, SAMPLE, '']);
    }
  });

  it('says that a session is not there', async () => {
    const { code, out, err } = await journal.run('show', 'nonexistent_session');
    expect([code, out]).toEqual([1, '']);
    expect(err).toBe(
      "Error: Session 'nonexistent_session' not found\n\n" +
        "Hint: Use 'cuff record list' to see available sessions\n",
    );
  });

  it('lists the sessions that a part could mean', async () => {
    const { code, out, err } = await journal.run('show', '20260118');
    expect([code, out]).toEqual([2, '']);
    expect(err).toBe(
      "Error: '20260118' is part of 3 session IDs\n\nGive more of one of them:\n" +
        '  20260118_143052_a7b3c9d2-e4f5\n' +
        '  20260118_160315_b8c4d0e3-f6a7\n' +
        '  20260118_171522_c9d5e1f4-e8b9\n',
    );
  });

  it('shows the entries', async () => {
    const { code, out } = await journal.run('show', '143052', '--entries');
    expect([code, out.startsWith(`${SAMPLE}\nEntries:\n`)]).toEqual([0, true]);
    const lines = out.slice(SAMPLE.length).split('\n');
    expect([lines.length, lines[2], lines[16]]).toEqual([
      18,
      '    1  2026-01-18 14:30:52  ✓ exit 0         1.5s  git status',
      '   15  2026-01-18 14:30:52  ✗ exit 1        26.3s  git push',
    ]);
  });

  it('shows and finds the files that the agent wrote with its own tools', async () => {
    const id = '20260120_100000_eeeeeeee-eeee';
    const at = (second: number) => `2026-01-20T10:00:0${second}.000000Z`;
    journal.add(id, {
      entries: [
        { command: 'first', timestamp: at(1) },
        { command: 'second', timestamp: at(5) },
      ],
    });
    const edit = {
      ...{ timestamp: at(3), tool: 'Write', path: '/srv/project/a\x1b.ts' },
      ...{ lines_added: 2, lines_removed: null, hash_before: null, hash_after: 'ab' },
      ...{ failed: false, agent_id: 'claude', conversation_id: 'c', tool_call_id: 't' },
    };
    const path = join(journal.sessions, `${id}.edits.jsonl`);
    writeFileSync(path, `${JSON.stringify(edit)}\n{"torn\n`);
    const { out } = await journal.run('show', id, '--entries');
    const lines = out.slice(out.indexOf('Entries:')).trimEnd().split('\n').slice(1);
    expect(lines).toEqual([
      expect.stringMatching(/first$/),
      expect.stringMatching(/\+2 -\? {2}\/srv\/project\/a.*\.ts$/),
      expect.stringMatching(/second$/),
    ]);
    expect(out).not.toContain('\x1b');
    const whole = await journal.run('show', id, '--entries', '--format', 'json');
    expect(JSON.parse(whole.out).edits).toEqual([edit]);
    const found = await journal.run('search', 'PROJECT/a', '--json');
    expect(JSON.parse(found.out).edits).toEqual([edit]);
    expect((await journal.run('search', 'project/a')).out).toContain('✎ Write');
  });

  it('shows what they printed, as a terminal may show it', async () => {
    const { out } = await journal.run('show', 'dddd', '--entries', '--output');
    expect(out.slice(out.indexOf('Entries:'))).toBe(
      [
        'Entries:',
        '    1  2026-01-19 10:00:00  ✗ exit 2        1m 1s  ls\\nfoo\\x1b[31m',
        '       a\tb',
        '       \\x1b[31mred\\x1b[0m',
        '       last',
        '     ! oops\\u{202e}',
        '    2  2026-01-19 10:00:00  ⏱ timed out      10ms  sleep 999',
        '       (output was not kept)',
        '    3  2026-01-19 10:00:00  ✗ SIGKILL        10ms  yes',
        '       y',
        '       y',
        '       (only the start of 12345 bytes was kept)',
        '',
      ].join('\n'),
    );
  });

  it('wants --entries for --output', async () => {
    const { code, out, err } = await journal.run('show', '143052', '--output');
    expect([code, out]).toEqual([2, '']);
    expect(err).toMatch(/^Error: --output needs --entries\n\nHint: /);
  });

  it('gives the same as JSON and as YAML', async () => {
    const plain = await journal.json('show', 'dddd', '--format', 'json');
    expect(plain).toEqual({
      session: expect.objectContaining({ session_id: MIXED, commands_failed: 2 }),
      top_commands: [
        { command: 'ls\nfoo\x1b[31m', count: 1 },
        { command: 'sleep 999', count: 1 },
        { command: 'yes', count: 1 },
      ],
    });
    for (const more of [[], ['--entries'], ['--entries', '--output']]) {
      const json = await journal.run('show', 'dddd', '--json', ...more);
      const yaml = await journal.run('show', 'dddd', '--format', 'yaml', ...more);
      expect(parse(yaml.out)).toEqual(JSON.parse(json.out));
      expect(yaml.out.replace(/[\n\t]/g, '')).not.toMatch(/[\p{Cc}\p{Cf}]/u);
      expect(json.out.trimEnd()).not.toMatch(/[\p{Cc}\p{Cf}]/u);
    }
  });

  it('leaves output out of JSON unless it is asked for', async () => {
    type Shown = { entries: Record<string, unknown>[] };
    const facts = await journal.json<Shown>('show', 'dddd', '--json', '--entries');
    expect(facts.entries.map((entry) => 'stdout' in entry)).toEqual([false, false, false]);
    const whole = await journal.json<Shown>('show', 'dddd', '--json', '--entries', '--output');
    expect(whole.entries.map(({ stdout }) => stdout)).toEqual([
      'a\tb\r\n\x1b[31mred\x1b[0m\nlast',
      null,
      'y\ny\n',
    ]);
  });

  it('shows what is left of a damaged session, and says what is missing', async () => {
    const damaged = new Journal();
    const [first] = damaged.add('20260118_143052_a7b3c9d2-e4f5', {
      entries: [{ command: 'true' }],
    });
    const line = JSON.stringify(first);
    const second = line
      .replaceAll('_001', '_002')
      .replace('"sequence_number":1', '"sequence_number":2');
    damaged.write('20260118_143052_a7b3c9d2-e4f5.jsonl', `${line}\n\0\0rubbish\n${second}\n{"ent`);
    const { code, out, err } = await damaged.run('show', '143052', '--entries');
    expect([code, err]).toEqual([0, '2 damaged lines are left out.\n']);
    expect(out).toContain('Commands: 2 total');
    await damaged.close();
  });

  it('shows a session without a command', async () => {
    const empty = new Journal();
    empty.add('20260118_143052_a7b3c9d2-e4f5', { entries: [] });
    const { code, out } = await empty.run('show', '143052', '--entries');
    expect([code, out.includes('Top Commands')]).toEqual([0, false]);
    expect(out).toContain('Commands: 0 total\n');
    const yaml = await empty.run('show', '143052', '--entries', '--format', 'yaml');
    expect(parse(yaml.out)).toMatchObject({ top_commands: [], entries: [] });
    await empty.close();
  });
});
