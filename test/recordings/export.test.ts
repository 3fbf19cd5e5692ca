import {
  lstatSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { loadSqlite } from '../../src/journal/sqlite.ts';
import type { Entry } from '../../src/types.ts';
import { lacking } from '../requirements.ts';
import { addSamples, atTerminal, Journal, times } from './helper.ts';

const journal = new Journal();
const ODD = '20260119_100000_dddddddd-dddd';
const ODD_TEXT = 'a,"b"\r\n\tc\0\x1b[31m\u2028=1+1 \ud83d\ude00 \ufffd </script>';
const hasSqlite = loadSqlite() !== undefined;
let odd: readonly Entry[];

beforeAll(() => {
  addSamples(journal);
  odd = journal.add(ODD, {
    entries: [
      { command: 'printf', stdout: ODD_TEXT, stderr: '', environment: { PATH: '/bin', X: '"' } },
      { command: '=cmd()', exit_code: null, timed_out: true, stdout: null, stderr: null },
      { command: 'x'.repeat(10_000_000), description: 'ten megabytes' },
    ],
  });
});
afterAll(() => journal.close());

type Exported = {
  version: string;
  sessions: { metadata: { session_id: string }; entries: Entry[] }[];
};

describe('cuff record export', () => {
  it('gives a session as JSON, entry for entry', async () => {
    const { code, out, err } = await journal.run('export', '20260119_100000_dddddddd');
    expect([code, err]).toEqual([0, '']);
    const { version, sessions }: Exported = JSON.parse(out);
    expect([version, sessions.length]).toEqual(['1.0', 1]);
    expect(sessions[0]?.metadata).toMatchObject({ session_id: ODD, entry_count: 3 });
    expect(sessions[0]?.entries).toEqual(odd);
    expect((await journal.run('export', ODD, '--format', 'json')).out).toBe(out);
  });

  it('shows it at a terminal, which obeys nothing of it, and gives others every byte', async () => {
    const id = '20260120_100000_eeeeeeee-eeee';
    const stdout = 'one\x1b]0;title\x07\x1b[2Jtwo\x9b31m\u202ethree\nfour';
    const other = new Journal();
    other.add(id, { entries: [{ command: 'printf', stdout }] });
    for (const format of ['csv', 'html', 'jsonl']) {
      const text = await atTerminal(other, 'export', id, '--format', format).ended();
      expect([format, /[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u202e]/.test(text)]).toEqual([
        format,
        false,
      ]);
    }
    expect((await other.run('export', id, '--format', 'csv')).out).toContain(stdout);
    await other.close();
  });

  it('gives all sessions, or those since a date', async () => {
    const ids = async (...args: readonly string[]): Promise<string[]> => {
      const { sessions } = await journal.json<Exported>('export', 'all', ...args);
      return sessions.map(({ metadata }) => metadata.session_id);
    };
    expect(await ids()).toEqual([
      '20260118_143052_a7b3c9d2-e4f5',
      '20260118_160315_b8c4d0e3-f6a7',
      '20260118_171522_c9d5e1f4-e8b9',
      ODD,
    ]);
    expect(await ids('--since', '2026-01-19')).toEqual([ODD]);
    expect(await ids('--since', '1d')).toEqual([]);
    const wrong = await journal.run('export', ODD, '--since', '1d');
    expect([wrong.code, wrong.err.split('\n')[0]]).toEqual([
      2,
      'Error: --since is for all sessions',
    ]);
  });

  it('writes to a file that only its owner can read, whole or not at all', async () => {
    const file = journal.path('out.json');
    writeFileSync(file, 'before', { mode: 0o644 });
    const args = ['export', ODD, '--output', 'out.json'];
    const { code, out, err } = await journal.run(...args, '--force');
    expect([code, out, err]).toEqual([0, '', 'Wrote out.json\n']);
    expect(JSON.parse(readFileSync(file, 'utf8')).sessions[0].entries).toEqual(odd);
    expect(statSync(file).mode & 0o777).toBe(0o600);
    const missing = await journal.run('export', ODD, '--output', 'no/such/folder/x.json');
    expect([missing.code, missing.err]).toMatchObject([
      1,
      expect.stringMatching(/^Error: Cannot write/),
    ]);
    expect(readdirSync(journal.project).filter((name) => name.endsWith('.tmp'))).toEqual([]);
    symlinkSync('out.json', journal.path('link.json'));
    const linked = await journal.run('export', 'all', '--output', 'link.json', '--force');
    expect(linked.err).toBe(`Wrote ${file}\n`);
    expect(lstatSync(journal.path('link.json')).isSymbolicLink()).toBe(true);
    expect(JSON.parse(readFileSync(file, 'utf8')).sessions).toHaveLength(4);
    expect((await journal.run('export', ODD, '--output', '/dev/null')).code).toBe(0);
  });

  it('asks before it overwrites a file, and fails where there is no terminal', async () => {
    const file = journal.path('mine.txt');
    writeFileSync(file, 'before');
    const { code, out, err } = await journal.run('export', ODD, '--output', 'mine.txt');
    expect([code, out]).toEqual([2, '']);
    expect(err).toBe(`Error: ${file} exists\n\nHint: Use --force to overwrite it\n`);
    const no = atTerminal(journal, 'export', ODD, '--output', 'mine.txt');
    await no.seen(/Overwrite .*mine\.txt\? \[y\/N\] /);
    no.type('n\n');
    expect(await no.ended()).toContain('Nothing was written.');
    expect(readFileSync(file, 'utf8')).toBe('before');
    const yes = atTerminal(journal, 'export', ODD, '--output', 'mine.txt');
    await yes.seen(/\[y\/N\] /);
    yes.type('y\n');
    await yes.ended();
    expect(JSON.parse(readFileSync(file, 'utf8')).sessions[0].entries).toEqual(odd);
  });

  it('takes --json for --format json', async () => {
    const { out } = await journal.run('export', ODD);
    expect((await journal.run('export', ODD, '--json')).out).toBe(out);
    const small = new Journal();
    addSamples(small);
    const policy = await small.run('generate', '--json');
    await small.close();
    expect([policy.code, policy.err]).toEqual([0, '']);
    expect(Object.keys(JSON.parse(policy.out))).toEqual(['policies', 'version', 'filters']);
  });

  it('refuses two formats at once, in either order, also in other subcommands', async () => {
    const refused = (name: string, format: string) => ({
      code: 2,
      out: '',
      err:
        `Error: Options '--json' and '--format ${format}' contradict each other\n\n` +
        `Hint: Use 'cuff record ${name} --help' to see what it takes\n`,
    });
    const both = await journal.run('export', ODD, '--json', '--format', 'csv');
    expect(both).toMatchObject(refused('export', 'csv'));
    const turned = await journal.run('export', ODD, '--format=csv', '--json');
    expect(turned).toMatchObject(refused('export', 'csv'));
    expect(await journal.run('list', '--json', '--format', 'table')).toMatchObject(
      refused('list', 'table'),
    );
    const same = await journal.run('export', ODD, '--json', '--format', 'json');
    expect([same.code, same.out]).toEqual([0, (await journal.run('export', ODD)).out]);
  });

  it('names the file that cannot be written, not one of its own', async () => {
    const to = (format: string, output: string) =>
      journal.run('export', ODD, '--format', format, '--output', output);
    for (const format of ['json', 'sqlite']) {
      const nowhere = await to(format, 'none/x');
      expect([nowhere.code, nowhere.out]).toEqual([1, '']);
      const none = journal.path('none');
      expect(nowhere.err).toBe(`Error: Cannot write ${none}/x: there is no directory ${none}\n`);
      const folder = await to(format, '.');
      expect([folder.code, folder.err]).toEqual([1, 'Error: Cannot write .: it is a directory\n']);
    }
  });

  it('gives CSV that has every column and every character', async () => {
    const { out } = await journal.run('export', ODD, '--format', 'csv');
    const [head = ''] = out.split('\r\n');
    const { sessions } = await journal.json<Exported>('export', ODD);
    // The last are keys of some entries only.
    const keys = [
      ...Object.keys(sessions[0]?.entries[0] ?? {}),
      'survivors',
      'later',
      'source',
      'shell_text',
      'wrapper',
      'leaked',
    ];
    expect(head.split(',')).toEqual(keys);
    const quoted = `"${ODD_TEXT.replaceAll('"', '""')}"`;
    expect(out).toContain(`,false,0,${quoted},"",false,,"{""PATH"":""/bin"",""X"":""\\""""}",`);
    expect(out).toContain(`,10,'=cmd(),,/srv/project,/bin/bash,120,true,,,,false,,,`);
    const raw = await journal.run('export', ODD, '--format', 'csv', '--raw');
    expect(raw.out).toContain(`,10,"=cmd()",,/srv/project,/bin/bash,120,true,,,,false,,,`);
  });

  it('gives JSON lines that are those of the journal', async () => {
    const { out } = await journal.run('export', 'all', '--format', 'jsonl');
    const names = readdirSync(journal.sessions).filter((name) => name.endsWith('.jsonl'));
    const files = names.sort().map((name) => readFileSync(`${journal.sessions}/${name}`, 'utf8'));
    expect(out).toBe(files.join(''));
  });

  it.skipIf(lacking(!hasSqlite, 'this Node has no SQLite'))(
    'gives a database that can be read',
    async () => {
      const args = ['export', 'all', '--format', 'sqlite', '--output', 'recordings.db'];
      const { code, out, err } = await journal.run(...args);
      expect([code, out, err]).toEqual([0, '', 'Wrote recordings.db\n']);
      expect(statSync(journal.path('recordings.db')).mode & 0o777).toBe(0o600);
      const database = loadSqlite()?.open(journal.path('recordings.db'));
      expect(database?.all('SELECT session_id, entry_count, status FROM sessions')).toEqual([
        { session_id: '20260118_143052_a7b3c9d2-e4f5', entry_count: 15, status: 'complete' },
        { session_id: '20260118_160315_b8c4d0e3-f6a7', entry_count: 8, status: 'complete' },
        { session_id: '20260118_171522_c9d5e1f4-e8b9', entry_count: 3, status: 'active' },
        { session_id: ODD, entry_count: 3, status: 'complete' },
      ]);
      const entries = database?.all('SELECT * FROM entries WHERE session_id = ?', ODD) ?? [];
      expect(entries.map(({ timed_out, exit_code }) => [timed_out, exit_code])).toEqual([
        ...[
          [0, 0],
          [1, null],
          [0, 0],
        ],
      ]);
      expect(String(entries[2]?.command).length).toBe(10_000_000);
      expect(entries[0]?.stdout).toBe(ODD_TEXT.replace(/\0/g, '\ufffd'));
      expect(JSON.parse(String(entries[0]?.exact))).toEqual(odd[0]);
      expect(entries.slice(1).map(({ exact }) => exact)).toEqual([null, null]);
      database?.close();
      expect((await journal.run(...args, '--force')).code).toBe(0);
    },
  );

  it('wants a file for a database', async () => {
    const { code, out, err } = await journal.run('export', 'all', '--format', 'sqlite');
    expect([code, out]).toEqual([2, '']);
    expect(err).toBe('Error: A database cannot go to stdout\n\nHint: Use --output FILE\n');
  });

  it('says that a session is not there, and leaves no file', async () => {
    const { code, err } = await journal.run('export', 'nope', '--output', 'nope.json');
    expect([code, err.split('\n')[0]]).toEqual([1, "Error: Session 'nope' not found"]);
    expect(readdirSync(journal.project)).not.toContain('nope.json');
  });

  it('gives an empty document for an empty journal', async () => {
    const empty = new Journal();
    const { code, out, err } = await empty.run('export', 'all');
    expect([code, JSON.parse(out)]).toEqual([0, { version: '1.0', sessions: [] }]);
    expect(err).toMatch(/^No recordings found\.\n/);
    expect((await empty.run('export', 'all', '--format', 'jsonl')).out).toBe('');
    await empty.close();
  });

  it('says how many damaged lines it left out', async () => {
    const damaged = new Journal();
    damaged.add('20260118_143052_a7b3c9d2-e4f5', { entries: [{ command: 'true' }] });
    damaged.write('20260118_150000_aaaaaaaa-aaaa.jsonl', 'rubbish\n{"entry_id":"e_1","sess');
    const { code, out, err } = await damaged.run('export', 'all');
    expect([code, err]).toEqual([0, '2 damaged lines are left out.\n']);
    expect(
      JSON.parse(out).sessions.map((one: Exported['sessions'][0]) => one.entries.length),
    ).toEqual([1, 0]);
    await damaged.close();
  });

  it('gives one page with every session in it', async () => {
    const { code, out, err } = await journal.run('export', 'all', '--format', 'html');
    expect([code, err]).toEqual([0, '']);
    expect(out.startsWith('<!doctype html>')).toBe(true);
    expect(out.match(/<section>/g)).toHaveLength(4);
    expect(out.match(/<li class="/g)).toHaveLength(29);
    expect(out.match(/<script/g)).toHaveLength(1);
    expect(out).toContain('&lt;/script&gt;');
  });

  it('needs no more memory for a large journal than for a small one', async () => {
    const large = new Journal();
    const stdout = 'a line of output\n'.repeat(60_000);
    for (const second of [10, 11]) {
      const entries = times(60, { command: 'make', stdout });
      large.add(`20260118_1430${second}_aaaaaaaa-bbbb`, { entries });
    }
    // 120 MB of entries, and a heap that could hold a quarter of them.
    const env = { NODE_OPTIONS: '--max-old-space-size=32' };
    const where = ['--directory', large.directory, '--output', large.path('out'), '--force'];
    const named = `Journal: ${large.directory}\n`;
    for (const format of ['json', 'jsonl', 'csv', 'html', ...(hasSqlite ? ['sqlite'] : [])]) {
      const args = ['record', 'export', 'all', '--format', format, ...where];
      const { code, err } = await large.cli.with(env, ...args);
      expect([format, code, err]).toEqual([format, 0, `${named}Wrote ${large.path('out')}\n`]);
      expect(statSync(large.path('out')).size).toBeGreaterThan(120_000_000);
    }
    const cast = ['record', 'export', '143010', '--format', 'asciicast', ...where];
    expect((await large.cli.with(env, ...cast)).code).toBe(0);
    await large.close();
  });
});
