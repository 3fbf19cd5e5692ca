import { chmodSync, mkdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { binary } from '../cli/helper.ts';
import { addSamples, Journal } from './helper.ts';

const journal = new Journal();
beforeAll(() => addSamples(journal));
afterAll(() => journal.close());

const SAMPLE = `\
Session ID                    Started              Commands  Duration   Status
───────────────────────────────────────────────────────────────────────────────
20260118_143052_a7b3c9d2     2026-01-18 14:30:52       15    2m 34s    complete
20260118_160315_b8c4d0e3     2026-01-18 16:03:15        8    1m 12s    complete
20260118_171522_c9d5e1f4     2026-01-18 17:15:22        3      45s    active
`;

const NOTHING = `\
No recordings found.

Recordings are created when the BashRecorder plugin executes commands.
Configure the plugin in settings.yml to start recording.
`;

function fresh(): Journal {
  const made = new Journal();
  onTestFinished(() => made.close());
  return made;
}

describe('cuff record list', () => {
  it('prints the sample of the seed, byte for byte', async () => {
    const { code, out, err } = await journal.run('list');
    expect([code, err]).toEqual([0, '']);
    expect(out).toBe(SAMPLE);
  });

  it('says that there is nothing, and how there will be something', async () => {
    const empty = fresh();
    const { code, out, err } = await empty.run('list');
    expect([code, out, err]).toEqual([0, NOTHING, '']);
    expect(await empty.json('list', '--format', 'json')).toEqual({ sessions: [], more: 0 });
    const csv = await empty.run('list', '--format', 'csv');
    expect(csv.out.split('\r\n')).toHaveLength(2);
  });

  it('shows the newest, as many as asked for, and says how many more there are', async () => {
    const { code, out, err } = await journal.run('list', '--limit', '2');
    const lines = SAMPLE.split('\n');
    expect([code, out]).toEqual([0, [lines[0], lines[1], ...lines.slice(3)].join('\n')]);
    expect(err).toBe('1 more: use --limit 3\n');
  });

  it('shows twenty unless told otherwise', async () => {
    const many = fresh();
    for (let i = 10; i < 35; i += 1) {
      many.add(`20260118_1430${i}_aaaaaaaa-bbbb`, { entries: [{ command: 'true' }] });
    }
    const { out, err } = await many.run('list');
    expect([out.split('\n').length, err]).toEqual([23, '5 more: use --limit 25\n']);
    expect(out).toContain('20260118_143034_aaaaaaaa');
    expect(out).not.toContain('20260118_143014_aaaaaaaa');
  });

  it('shows sessions since a date or for a time', async () => {
    const mixed = fresh();
    const today = new Date().toISOString().slice(0, 19).replace(/[-:]/g, '').replace('T', '_');
    mixed.add('20260118_143052_a7b3c9d2-e4f5', { entries: [{ command: 'true' }] });
    mixed.add(`${today}_b8c4d0e3-f6a7`, { entries: [{ command: 'true' }] });
    const week = await mixed.run('list', '--since', '7d', '--limit', '50');
    expect([week.code, week.out.split('\n').length]).toEqual([0, 4]);
    const day = await mixed.json<{ sessions: unknown[] }>('list', '--since=2026-01-18', '--json');
    expect(day.sessions).toHaveLength(2);
    const after = await mixed.json<{ sessions: unknown[] }>('list', '--since=2026-01-19', '--json');
    expect(after.sessions).toHaveLength(1);
    const none = await journal.run('list', '--since', '1d');
    expect([none.code, none.out]).toEqual([0, 'No recordings found (last day).\n']);
  });

  it('refuses what is no date', async () => {
    const { code, out, err } = await journal.run('list', '--since', 'invalid');
    expect([code, out]).toEqual([2, '']);
    expect(err).toBe(
      "Error: Invalid date format 'invalid'\n\n" +
        "Expected: YYYY-MM-DD or relative format (e.g., '7d', '2w', '1m')\n",
    );
  });

  it('gives the metadata of every session as JSON', async () => {
    const { sessions, more } = await journal.json<{ sessions: unknown[]; more: number }>(
      'list',
      '--format',
      'json',
    );
    expect([sessions.length, more]).toEqual([3, 0]);
    expect(sessions[0]).toEqual({
      session_id: '20260118_143052_a7b3c9d2-e4f5',
      created_at: '2026-01-18T14:30:52Z',
      last_updated: '2026-01-18T14:31:32Z',
      entry_count: 15,
      total_duration_ms: 154_000,
      status: 'complete',
      commands_succeeded: 14,
      commands_failed: 1,
      commands_timed_out: 0,
      working_directory: '/Users/dev/myproject',
      agent_id: 'claude-code',
      conversation_id: null,
      end_reason: null,
      owner: null,
    });
    expect((await journal.run('list', '--json')).out).toBe(
      (await journal.run('list', '--format', 'json')).out,
    );
  });

  it('gives the same as CSV', async () => {
    const { out } = await journal.run('list', '--format', 'csv', '--limit', '1');
    expect(out).toBe(
      'session_id,created_at,last_updated,entry_count,total_duration_ms,status,' +
        'commands_succeeded,commands_failed,commands_timed_out,working_directory,agent_id,' +
        'conversation_id,end_reason\r\n' +
        '20260118_171522_c9d5e1f4-e8b9,2026-01-18T17:15:22Z,2026-01-18T17:15:37Z,3,45000,active,' +
        '3,0,0,/srv/project,,,\r\n',
    );
  });

  it('shows who and where with --verbose', async () => {
    const { out } = await journal.run('list', '--verbose', '--limit', '3');
    const [head = '', , first = ''] = out.split('\n');
    expect(head).toMatch(/Status {6,}Failed {2}Timed Out {2}Agent +Directory$/);
    expect(first).toMatch(/complete +1 +0 {2}claude-code {2}\/Users\/dev\/myproject$/);
  });

  it('finds the journal of the project from below, or the one that is named', async () => {
    const below = journal.path('packages/one');
    mkdirSync(below, { recursive: true });
    const from = async (cwd: string, ...args: readonly string[]): Promise<string> => {
      const live = journal.start(['list', ...args], cwd);
      live.child.stdin?.end();
      return (await live.result).out;
    };
    expect(await from(below)).toBe(SAMPLE);
    expect(await from('/', '--directory', journal.directory)).toBe(SAMPLE);
  });

  it('finds a journal that the settings put elsewhere', async () => {
    const other = fresh();
    const config = { recording: { directory: journal.directory } };
    const text = JSON.stringify({ plugins: { bash_recorder: { config } } });
    other.settings(text, '.cuff/settings.yml');
    const { out, err } = await other.run('list');
    expect([out, err]).toEqual([SAMPLE, `Journal: ${journal.directory}\n`]);
  });

  it('is told about settings that are wrong only when it needs them', async () => {
    const other = fresh();
    other.settings('plugins: {bash_recorder: {config: {recordng: 1}}}');
    expect((await other.run('list')).out).toBe(NOTHING);
    other.settings('plugins: {bash_recorder: {directory: x}}');
    const { code, out, err } = await other.run('list');
    expect([code, out]).toEqual([2, '']);
    expect(err).toMatch(/^Error: .*settings\.yml:1/);
  });

  it('helps, and refuses what it does not know', async () => {
    const help = await journal.run('list', '--help');
    expect([help.code, help.err]).toEqual([0, '']);
    expect(help.out).toMatch(/^Usage: cuff record list \[OPTIONS\]\n\nList recording sessions\n/);
    const wrong: readonly (readonly [readonly string[], string])[] = [
      [['--sinc', '7d'], "Unknown option '--sinc'"],
      [['--limit'], "Option '--limit' needs a value"],
      [['--limit', '-1'], "Option '--limit' wants a whole number, not '-1'"],
      [['--format', 'xml'], "Option '--format' is one of table, json, csv, not 'xml'"],
      [['--verbose=1'], "Option '--verbose' takes no value"],
      [['extra'], "Unexpected argument 'extra'"],
    ];
    for (const [args, message] of wrong) {
      const { code, out, err } = await journal.run('list', ...args);
      expect([code, out]).toEqual([2, '']);
      expect(err).toBe(
        `Error: ${message}\n\nHint: Use 'cuff record list --help' to see what it takes\n`,
      );
    }
  });
});

describe('cuff record list, of a journal that is not in order', () => {
  it('lists what is left of damaged sessions', async () => {
    const damaged = fresh();
    damaged.add('20260118_143052_a7b3c9d2-e4f5', { entries: [{ command: 'true' }] });
    damaged.write('20260118_143052_a7b3c9d2-e4f5.meta.json', '{"session_id": "20');
    damaged.write('20260118_150000_aaaaaaaa-aaaa.jsonl', '\0\0\0{"entry_id":"e_1","sess');
    damaged.write('20260118_160000_bbbbbbbb-bbbb.jsonl', '');
    symlinkSync('/etc/passwd', join(damaged.sessions, '20260118_170000_cccccccc-cccc.jsonl'));
    const { code, out, err } = await damaged.run('list');
    expect([code, err]).toEqual([0, '']);
    expect(out.split('\n').slice(2)).toEqual([
      '20260118_143052_a7b3c9d2     2026-01-18 14:30:52        1     10ms    interrupted',
      '20260118_150000_aaaaaaaa     2026-01-18 15:00:00        0       0s    interrupted',
      '',
    ]);
  });

  it('lists what it cannot write to', async () => {
    const closed = fresh();
    addSamples(closed);
    chmodSync(closed.directory, 0o500);
    expect((await closed.run('list')).out).toBe(SAMPLE);
    chmodSync(closed.directory, 0o700);
  });

  it('cannot be made to say something to the terminal', async () => {
    const hostile = fresh();
    hostile.add('nightly', {
      entries: [{ command: 'true' }],
      metadata: { agent_id: 'a\x1b[2Jb', working_directory: '/tmp/\u202ex\x9b' },
    });
    const { out } = await hostile.run('list', '--verbose');
    expect(out.replaceAll('\n', '')).not.toMatch(/[\p{Cc}\p{Cf}]/u);
    expect(out).toContain('a\\x1b[2Jb  /tmp/\\u{202e}x\\x9b');
  });

  it('ends quietly when its reader has seen enough', async () => {
    const args = [journal.project, process.execPath];
    const live = journal.cli.start([
      'sh',
      '-c',
      'cd "$0" && "$1" "$2" record list | head -1',
      ...args,
      binary('cuff'),
    ]);
    const { out, err } = await live.result;
    expect([out, err]).toEqual([`${SAMPLE.split('\n')[0]}\n`, '']);
  });
});
