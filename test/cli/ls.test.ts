import { symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { binary, Cli, steady } from './helper.ts';

const cli = new Cli();
const HOSTILE = 'a\x1b]0;owned\x07\x1b[2J\r\nb\u202ec\u009b31md';

beforeAll(async () => {
  await cli.run('first', 'sh', '-c', 'echo out; exit 4');
  await cli.run('second', 'sh', '-c', 'kill -USR1 $$');
  await cli.run('third', 'no-such-program-here');
});
afterAll(() => cli.close());

describe('cuff ls', () => {
  it('has nothing to show in an empty state root, and says how to begin', async () => {
    const empty = new Cli();
    const { code, out, err } = await empty.cuff('ls');
    expect([code, out, err]).toEqual([0, '', 'No captures. Make one: cuff run -- CMD\n']);
    expect(await empty.json('ls')).toEqual({ sessions: [], more: 0 });
    await empty.close();
  });

  it('lists captures, newest first', async () => {
    const { code, out, err } = await cli.cuff('ls');
    expect([code, err]).toEqual([0, '']);
    expect(steady(out)).toBe(
      [
        'ID      STATE     EXIT     AGE  SIZE  COMMAND',
        'third   failed    -         0s   0 B  no-such-program-here',
        "second  signaled  SIGUSR1   0s   0 B  sh -c 'kill -USR1 $$'",
        "first   exited    4         0s   4 B  sh -c 'echo out; exit 4'",
        '',
      ].join('\n'),
    );
  });

  it('shows as many as asked for, and says how many more there are', async () => {
    const { code, out, err } = await cli.cuff('ls', '--limit', '1');
    expect([code, out.split('\n').length, err]).toEqual([0, 3, '2 more: cuff ls --limit 3\n']);
    expect(out).toContain('third');
  });

  it('explains a state root that it cannot look at', async () => {
    const closed = new Cli();
    const loop = join(closed.root, 'loop');
    symlinkSync(loop, loop);
    for (const command of ['ls', 'ps', 'sweep']) {
      const { code, out, err } = await closed.with({ CUFF_STATE_ROOT: loop }, command);
      expect([command, code, out]).toEqual([command, 1, '']);
      expect(err).toMatch(/^cuff: ELOOP: .*\nSee what is wrong with `cuff doctor`, or set .*\n$/);
    }
    await closed.close();
  });

  it('shows those in one state', async () => {
    const { out, err } = await cli.cuff('ls', '--state', 'signaled');
    expect([out.split('\n').length, out.includes('second'), err]).toEqual([3, true, '']);
    const none = await cli.cuff('ls', '--state', 'running');
    expect([none.code, none.out, none.err]).toEqual([
      0,
      '',
      'No captures in state running. Make one: cuff run -- CMD\n',
    ]);
  });

  it('gives the same as one JSON document', async () => {
    const time = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
    expect(await cli.json('ls', '--state', 'exited')).toEqual({
      sessions: [
        {
          session_id: 'first',
          state: 'exited',
          reason: null,
          exit_code: 4,
          signal: null,
          ended_by: 'itself',
          created_at: time,
          ended_at: time,
          command: ['sh', '-c', 'echo out; exit 4'],
          shell_text: null,
          working_directory: process.cwd(),
          transport_mode: 'pipe',
          retention_seconds: 86400,
          output_bytes: 4,
          lost_bytes: 0,
          output_open: false,
          pinned: false,
          trace: null,
          path: cli.dir('first'),
        },
      ],
      more: 0,
    });
  });

  it('says which runs are over but have survivors that may still print', async () => {
    const open = new Cli();
    await open.leaving('left', 'sh', '-c', 'sleep 1000 & echo done');
    const { out } = await open.cuff('ls');
    expect(out).toContain('left  exited, open  0 ');
    await open.close();
  });

  it('cannot be made to say something to the terminal', async () => {
    const hostile = new Cli();
    await hostile.run('hostile', 'printf', '%s', HOSTILE);
    const shown = "printf %s 'a\\x1b]0;owned\\x07\\x1b[2J\\r\\nb\\u{202e}c\\x9b31md'";
    const { out } = await hostile.cuff('ls');
    expect(out.split('\n')[1]).toMatch(
      new RegExp(`${shown.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&')}$`),
    );
    const json = await hostile.cuff('ls', '--json');
    expect(json.out.trimEnd()).not.toMatch(/[\p{Cc}\p{Cf}]/u);
    expect(JSON.parse(json.out).sessions[0].command).toEqual(['printf', '%s', HOSTILE]);
    await hostile.close();
  });

  it('uses colour, and cuts a long command, only at a terminal', async () => {
    const terminal = new Cli();
    const long = `echo ${'x'.repeat(200)}`;
    await terminal.run('long', 'sh', '-c', `${long}; exit 1`);
    const inside = [process.execPath, binary('cuff'), 'ls', '--state', 'exited'];
    const plain = await terminal.cuff('ls', '--state', 'exited');
    expect(plain.out).toContain(long);
    expect(plain.out).not.toContain('\x1b');
    const failed = await terminal.run('fails', 'no-such-program-here');
    expect(failed.code).toBe(127);
    const at = ['run', '--tty', '--', ...inside];
    const shown = await terminal.cuff(...at);
    expect(shown.out).toContain('\x1b[2m');
    const lines = shown.out
      .replace(/\x1b\[\d+m/g, '')
      .split('\r\n')
      .filter(Boolean);
    expect(lines.map((line) => line.length <= 80)).toEqual(lines.map(() => true));
    expect(lines.find((line) => line.startsWith('long'))).toMatch(/x…$/);
    const quiet = await terminal.with({ NO_COLOR: '1' }, ...at);
    expect(quiet.out).not.toContain('\x1b');
    await terminal.close();
  });
});
