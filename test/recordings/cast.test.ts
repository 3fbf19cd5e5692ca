import { appendFileSync, existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { createShell } from '../../src/shell/shell.ts';
import type { CaptureMeta } from '../../src/types.ts';
import { build, testStore } from '../capture/helper.ts';
import { until } from '../cli/helper.ts';
import { Journal } from './helper.ts';

let journal: Journal;
const ID = '20260118_143052_a7b3c9d2-e4f5';

beforeEach(() => {
  const made = new Journal();
  onTestFinished(() => made.close());
  journal = made;
});

function cast(text: string): unknown[] {
  return text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));
}

async function run(id: string, command: string, transport: 'pipe' | 'pty'): Promise<void> {
  const shell = createShell({ stateRoot: journal.cli.root });
  await shell.start(command, { id, transport }).closed;
  shell.close();
}

describe('cuff record export --format asciicast', () => {
  it('shows a session as if it had been typed', async () => {
    journal.add(ID, {
      entries: [
        { command: 'ls', stdout: 'a\nb\n', stderr: 'c', duration_ms: 500 },
        { command: 'echo \\\nx', stdout: 'x\r\n', timestamp: '2026-01-18T14:31:52.250000Z' },
        { command: 'true', stdout: null, timestamp: '2026-01-18T14:31:00.000000Z' },
      ],
    });
    const { code, out, err } = await journal.run('export', '143052', '--format', 'asciicast');
    expect([code, err]).toEqual([0, '']);
    expect(cast(out)).toEqual([
      { version: 2, width: 80, height: 24, timestamp: 1768746652, idle_time_limit: 2, title: ID },
      [0, 'm', 'ls'],
      [0, 'o', '$ ls\r\n'],
      [0.5, 'o', 'a\r\nb\r\n'],
      [0.5, 'o', 'c'],
      [60.25, 'm', 'echo \\\nx'],
      [60.25, 'o', '$ echo \\\r\nx\r\n'],
      [60.26, 'o', 'x\r\n'],
      [60.26, 'm', 'true'],
      [60.26, 'o', '$ true\r\n'],
    ]);
    const third = await journal.run(
      ...['export', '143052', '--format', 'asciicast', '--cast-version', '3'],
    );
    expect(cast(third.out).slice(0, 4)).toEqual([
      {
        version: 3,
        term: { cols: 80, rows: 24 },
        timestamp: 1768746652,
        idle_time_limit: 2,
        title: ID,
      },
      [0, 'm', 'ls'],
      [0, 'o', '$ ls\r\n'],
      [0.5, 'o', 'a\r\nb\r\n'],
    ]);
  });

  it('takes the bytes of a run from its capture while that is kept', async () => {
    const command = 'printf "one\\n"; printf "tw\\303"; sleep 0.05; printf "\\251\\n"';
    await run('some-run', command, 'pipe');
    const timestamp = new Date().toISOString().replace('Z', '000Z');
    journal.add(ID, {
      entries: [
        { command: 'kept', run_id: 'some-run', stdout: 'copy', timestamp },
        { command: 'swept', run_id: 'gone-run', stdout: 'copy', timestamp },
        { command: 'odd', run_id: '../../etc', stdout: 'copy', timestamp },
      ],
    });
    const { out } = await journal.run('export', ID, '--format', 'asciicast');
    const output = cast(out)
      .slice(1)
      .filter((event) => Array.isArray(event) && event[1] === 'o')
      .map((event) => (event as string[])[2]);
    expect(output.join('')).toBe('$ kept\r\none\r\ntwé\r\n$ swept\r\ncopy$ odd\r\ncopy');
  });

  it('does not bring back what was taken out of the journal', async () => {
    await run('secret-run', 'echo s3cret', 'pipe');
    const entry = { command: 'echo', run_id: 'secret-run' };
    journal.add(ID, { entries: [{ ...entry, stdout: '[REDACTED:TOKEN]\n' }] });
    const marked = await journal.run('export', ID, '--format', 'asciicast');
    expect([marked.out.includes('REDACTED'), marked.out.includes('s3cret')]).toEqual([true, false]);
    journal.add(ID, { entries: [{ ...entry, stdout: 'cut off' }] });
    const config = { recording: { redact: true } };
    const settings = JSON.stringify({ plugins: { bash_recorder: { config } } });
    journal.settings(settings);
    const told = await journal.run('export', ID, '--format', 'asciicast');
    expect([told.out.includes('cut off'), told.out.includes('s3cret')]).toEqual([true, false]);
    // A change puts the settings out of force; what they took out stays out.
    appendFileSync(journal.path('settings.yml'), '\n');
    const waiting = await journal.run('export', ID, '--format', 'asciicast');
    expect(waiting.err).toContain('it has changed since it was trusted');
    expect([waiting.out.includes('cut off'), waiting.out.includes('s3cret')]).toEqual([
      true,
      false,
    ]);
  });

  it('shows one run with the times its bytes came at', async () => {
    // The second word comes 200 ms after the first one was there, not after it was printed: whoever
    // reads both may be late.
    const go = journal.path('go');
    const command = `echo first; until test -e ${go}; do sleep 0.02; done; echo second; exit 3`;
    const began = Date.now();
    const ended = run('timed-run', command, 'pipe');
    const index = join(journal.cli.dir('timed-run'), 'index.jsonl');
    await until(() => existsSync(index) && statSync(index).size > 0, 'the first is there');
    await new Promise((resolve) => setTimeout(resolve, 200));
    writeFileSync(go, '');
    await ended;
    const seconds = (Date.now() - began) / 1000;
    const { code, out } = await journal.run(
      ...['export', 'timed-run', '--format', 'asciicast', '--cast-version', '3'],
    );
    const [header, ...events] = cast(out) as [object, ...[number, string, string][]];
    expect([code, header]).toMatchObject([0, { version: 3, title: 'timed-run', command }]);
    expect(events.map(([, kind, data]) => [kind, data])).toEqual([
      ['o', 'first\r\n'],
      ['o', 'second\r\n'],
      ['x', '3'],
    ]);
    expect(events[1]?.[0]).toBeGreaterThanOrEqual(0.19);
    expect(events[1]?.[0]).toBeLessThan(seconds + 0.1);
  });

  it('keeps its times and the order of sizes when the clock jumps', async () => {
    const at = Date.UTC(2026, 0, 18, 14, 30);
    const store = { ...testStore(journal.cli.root) };
    const meta = { startedAt: at, createdAt: at, transport: 'pty', transportMode: 'posix-pty' };
    build(
      store,
      [
        { bytes: 'before', channel: 'pty', at: at + 100, t: 100 },
        { bytes: 'after', channel: 'pty', at: at - 3_600_000, t: 400 },
        { bytes: 'last', channel: 'pty', at: at + 7_200_000, t: 900 },
      ],
      {
        id: 'jumped',
        meta: meta as Partial<CaptureMeta>,
        events: [
          { type: 'resize', at, offset: 0, cols: 80, rows: 24 },
          { type: 'resize', at: at + 7_200_000, offset: 6, cols: 100, rows: 30 },
        ],
      },
    );
    const { out } = await journal.run('export', 'jumped', '--format', 'asciicast');
    expect(cast(out).slice(1)).toEqual([
      [0.1, 'o', 'before'],
      [0.4, 'r', '100x30'],
      [0.4, 'o', 'after'],
      [0.9, 'o', 'last'],
    ]);
  });

  it('is one session or one run, that is there', async () => {
    journal.add(ID, { entries: [] });
    const all = await journal.run('export', 'all', '--format', 'asciicast');
    expect([all.code, all.err.split('\n')[0]]).toEqual([
      2,
      'Error: An asciicast is one session or one run',
    ]);
    const none = await journal.run('export', 'nope', '--format', 'asciicast');
    expect([none.code, none.err.split('\n')[0]]).toEqual([1, "Error: Session 'nope' not found"]);
    const empty = await journal.run('export', ID, '--format', 'asciicast');
    expect(cast(empty.out)).toEqual([expect.objectContaining({ timestamp: 1768746652 })]);
  });
});

describe('cuff record import, of an asciicast', () => {
  const V2 = [
    '{"version":2,"width":100,"height":30,"timestamp":1768746652,"command":"htop"}',
    '[0.25,"o","\\u001b[1mhi\\u001b[0m\\r\\n"]',
    '[0.5,"i","q"]',
    '[1.5,"r","120x40"]',
    '[2,"o","é\\r\\n"]',
  ].join('\n');

  it('makes a capture with the bytes and times of the file', async () => {
    writeFileSync(journal.path('demo.cast'), V2);
    const { code, out, err } = await journal.run('import', 'demo.cast');
    const id = /cast-[0-9a-f]{16}/.exec(out)?.[0] ?? '';
    expect([code, out]).toEqual([0, `Imported 4 events as capture ${id}\n`]);
    expect(err).toBe(`It is pinned. Read it with: cuff cat ${id}\n`);
    expect((await journal.cli.cuff('cat', id)).out).toBe('\x1b[1mhi\x1b[0m\r\né\r\n');
    const { sessions } = await journal.cli.json<{ sessions: unknown[] }>('ls');
    expect(sessions).toEqual([
      expect.objectContaining({
        session_id: id,
        state: 'exited',
        exit_code: 0,
        created_at: '2026-01-18T14:30:52.000Z',
        ended_at: '2026-01-18T14:30:54.000Z',
        shell_text: 'htop',
        transport_mode: 'posix-pty',
        pinned: true,
      }),
    ]);
    const index = readFileSync(join(journal.cli.dir(id), 'index.jsonl'), 'utf8');
    expect(index.match(/"timestamp":"[^"]*"/g)).toEqual([
      '"timestamp":"2026-01-18T14:30:52.250Z"',
      '"timestamp":"2026-01-18T14:30:54.000Z"',
    ]);
  });

  it('says so when it was imported before', async () => {
    writeFileSync(journal.path('demo.cast'), V2);
    const first = await journal.json<{ run_id: string }>('import', 'demo.cast', '--json');
    expect(first).toMatchObject({ kind: 'asciicast', already_imported: false, events: 4 });
    const again = await journal.run('import', 'demo.cast');
    expect([again.code, again.out]).toEqual([
      0,
      `This file was imported before, as capture ${first.run_id}\n`,
    ]);
  });

  it('comes out again as it went in, in either version', async () => {
    writeFileSync(journal.path('demo.cast'), V2);
    const { run_id } = await journal.json<{ run_id: string }>('import', 'demo.cast', '--json');
    const out = await journal.run('export', run_id, '--format', 'asciicast');
    expect(cast(out.out)).toEqual([
      { version: 2, width: 100, height: 30, timestamp: 1768746652, command: 'htop', title: run_id },
      [0.25, 'o', '\x1b[1mhi\x1b[0m\r\n'],
      [1.5, 'r', '120x40'],
      [2, 'o', 'é\r\n'],
    ]);
    const options = ['--format', 'asciicast', '--cast-version', '3', '--output', 'v3.cast'];
    await journal.run('export', run_id, ...options);
    const back = await journal.json<{ run_id: string }>('import', 'v3.cast', '--json');
    expect((await journal.cli.cuff('cat', back.run_id)).out).toBe('\x1b[1mhi\x1b[0m\r\né\r\n');
  });

  it('keeps how it ended, passes comments over, and reports what not an event', async () => {
    const lines = [
      '{"version":3,"term":{"cols":80,"rows":24},"timestamp":1768746652}',
      '# a comment',
      '[0.1,"o","a"]',
      'rubbish',
      '',
      '[0.2,"o","b"]',
      '[0.1,"x","3"]',
    ];
    writeFileSync(journal.path('v3.cast'), lines.join('\n'));
    const { code, out, err } = await journal.run('import', 'v3.cast', '--json');
    expect([code, err]).toEqual([1, '']);
    const done = JSON.parse(out);
    expect(done).toMatchObject({
      version: 3,
      events: 3,
      rejected: [{ line: 4, problem: 'not an event' }],
      rejected_count: 1,
    });
    const { sessions } = await journal.cli.json<{ sessions: { exit_code: number }[] }>('ls');
    expect(sessions.map(({ exit_code }) => exit_code)).toEqual([3]);
    expect((await journal.cli.cuff('cat', done.run_id)).out).toBe('ab');
  });
});
