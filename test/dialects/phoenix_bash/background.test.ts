// `phoenix_bash` with background=true: what is told, what is in the file and when, and that the
// reminder is true.
import * as fs from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { PhoenixBashPlugin } from '../../../src/dialects/phoenix_bash/dialect.ts';
import { lastWords } from '../../../src/dialects/phoenix_bash/words.ts';
import { findRunner } from '../../../src/run/binary.ts';
import { alive, until } from '../../cli/helper.ts';
import { lacking } from '../../requirements.ts';
import { background, bash, newWorld, phoenix, text } from './helper.ts';

const noRunner = lacking(findRunner().kind === 'none', 'there is no native runner here');

const COMPLETED = '\n\n[background process completed]\n';

describe('a background process of phoenix_bash', () => {
  it('is told at once, by its pid and its file', async () => {
    const world = newWorld();
    const plugin = await phoenix(world);
    const { pid, path, text: answer } = await background(plugin, 'ps -o pgid= $$; cat; sleep 100');
    expect(answer).toBe(
      `<pid>${pid}</pid>\n<output_file>${path}</output_file>\n` +
        `<reminder>To stop: kill -9 -${pid}</reminder>`,
    );
    expect(alive(pid)).toBe(true);
    expect(world.entries()).toEqual([]);
    expect(path.endsWith('/output')).toBe(true);
    expect(fs.statSync(path).mode & 0o777).toBe(0o600);
    expect(fs.statSync(dirname(path)).mode & 0o777).toBe(0o700);
    // Its own group, as the reminder needs.
    await until(() => fs.readFileSync(path, 'utf8').trim() === `${pid}`, 'its group');
  });

  it('has both streams in the file while it runs, and its end behind them', async () => {
    const world = newWorld();
    const plugin = await phoenix(world);
    const command = 'echo out; echo err >&2; until test -e go; do sleep 0.01; done; printf end';
    const run = await background(plugin, command);
    expect(await run.has('err\n')).toBe('out\nerr\n');
    fs.writeFileSync(join(world.project, 'go'), '');
    expect(await run.has('[background')).toBe(`out\nerr\nend${COMPLETED}`);
    await until(() => world.entries().length === 1, 'its entry');
    expect(world.entry()).toMatchObject({ command, exit_code: 0, end_reason: 'itself' });
  });

  it('has everything it printed in the file before its end, however much', async () => {
    const plugin = await phoenix(newWorld());
    const run = await background(plugin, 'yes hello | head -n 500000; printf marker');
    const all = await run.has('[background');
    expect(all.length).toBe(6 * 500_000 + 'marker'.length + COMPLETED.length);
    expect(all.endsWith(`hello\nmarker${COMPLETED}`)).toBe(true);
  });

  it('says how it failed', async () => {
    const plugin = await phoenix(newWorld());
    const failed = await background(plugin, 'echo x; exit 3');
    expect(await failed.has('[background')).toBe(
      'x\n\n\n[background process failed: exit status: 3]\n',
    );
    const killed = await background(plugin, 'kill -TERM $$; sleep 100');
    expect(await killed.has('[background')).toBe(
      '\n\n[background process failed: signal: 15 (SIGTERM)]\n',
    );
  });

  it('says that nobody saw its end', () => {
    const lost = {
      kind: 'failed',
      error: 'runner_lost',
      message: 'the runner was killed',
    } as const;
    expect(lastWords(lost)).toBe('\n\n[background process error: the runner was killed]\n');
  });

  it.skipIf(noRunner)('says so when its runner is killed', async () => {
    const world = newWorld();
    const plugin = await phoenix(world);
    const run = await background(plugin, 'echo up; sleep 100');
    await run.has('up');
    const runner = world.shell.list()[0]?.meta?.runner;
    if (runner === undefined || runner.pid === process.pid) throw new Error('no runner');
    process.kill(runner.pid, 'SIGKILL');
    expect(await run.has('[background')).toBe(
      'up\n\n[Up to 64 KiB may be missing at the end: its runner was killed]\n\n' +
        '[background process error: the runner was killed]\n',
    );
    await until(() => world.entries().length === 1, 'its entry');
    // Nobody looks after it any more.
    process.kill(-run.pid, 'SIGKILL');
  });

  it('is ended by the command of the reminder, run with the tool itself', async () => {
    const plugin = await phoenix(newWorld());
    const run = await background(plugin, 'sleep 1000 & echo $!; sleep 1001; :');
    const child = Number(await run.has('\n'));
    const [, reminder = ''] = /<reminder>To stop: (.*)<\/reminder>/.exec(run.text) ?? [];
    expect(await bash(plugin, reminder)).toEqual({ success: true, text: '' });
    expect(await run.has('[background')).toBe(
      `${child}\n\n\n[background process failed: signal: 9 (SIGKILL)]\n`,
    );
    await until(() => ![run.pid, child].some(alive), 'all of it is gone');
  });

  it('is followed for as long as something of it prints', async () => {
    const world = newWorld();
    const plugin = await phoenix(world);
    const run = await background(
      plugin,
      '(until test -e go; do sleep 0.01; done; echo late) & echo early',
    );
    expect(await run.has('[background')).toBe(`early\n${COMPLETED}`);
    fs.writeFileSync(join(world.project, 'go'), '');
    expect(await run.has('late')).toBe(`early\n${COMPLETED}late\n`);
  });

  it('is taken for what it is, whatever it prints', async () => {
    const plugin = await phoenix(newWorld());
    const run = await background(plugin, `printf '${COMPLETED.replaceAll('\n', '\\n')}'; exit 4`);
    expect(await run.has('status: 4')).toBe(
      `${COMPLETED}\n\n[background process failed: exit status: 4]\n`,
    );
  });

  it('is ended with the server, and the file says so', async () => {
    const world = newWorld();
    const plugin = await phoenix(world);
    const run = await background(plugin, 'echo up; exec sleep 100');
    await run.has('up');
    await world.stop(plugin);
    expect(run.printed()).toBe('up\n\n\n[background process failed: signal: 15 (SIGTERM)]\n');
  });

  it('outlives the server if the settings say so', async () => {
    const world = newWorld();
    const plugin = await phoenix(world, { on_shutdown: 'leave' });
    const run = await background(plugin, 'echo up; exec sleep 100');
    await run.has('up');
    await world.stop(plugin);
    expect(run.printed()).toBe('up\n');
    expect(alive(run.pid)).toBe(true);
    process.kill(-run.pid, 'SIGKILL');
  });

  it('is stopped as the reminder says, also when nothing else may run', async () => {
    const plugin = await phoenix(newWorld(), { max_live_runs: 1 });
    const run = await background(plugin, 'sleep 100');
    const refused = await bash(plugin, { command: `kill -9 -${run.pid}; echo done` });
    expect(refused.text).toContain(`\n  pid ${run.pid}: sleep 100`);
    expect(alive(run.pid)).toBe(true);
    const stop = /To stop: (.*)</.exec(run.text)?.[1] ?? '';
    expect(await bash(plugin, { command: stop })).toEqual({ success: true, text: '' });
    await run.has('[background process failed: signal: 9 (SIGKILL)]');
    expect((await bash(plugin, { command: 'echo free' })).text).toBe('free\n');
  });

  it('leaves no directory when it is refused', async () => {
    const world = newWorld();
    const plugin = await phoenix(world, { max_live_runs: 1 });
    await background(plugin, 'sleep 100');
    const refused = await bash(plugin, { command: 'true', background: true });
    expect(refused.text).toContain('1 commands are running, and 1 may');
    expect(fs.readdirSync(join(world.dir, 'tmp'))).toHaveLength(1);
  });

  it('is not started when there is no place for its file', async () => {
    const world = newWorld();
    const plugin = await phoenix(world);
    fs.rmdirSync(join(world.dir, 'tmp'));
    const { success, text } = await bash(plugin, { command: 'true', background: true });
    expect(success).toBe(false);
    expect(text).toContain('There is no place for the output file: ENOENT');
    expect(world.entries()).toEqual([]);
  });

  it('runs on when the disk is full, and the log says so', async () => {
    class Full extends PhoenixBashPlugin {
      protected override readonly copying = {
        disk: {
          ...fs,
          writeSync(): number {
            throw new Error('ENOSPC: no space left on device, write');
          },
        },
      };
    }
    const world = newWorld();
    const plugin = await world.open(Full);
    const run = await background(plugin, 'echo x');
    await until(() => world.log('Output file is incomplete').length === 1, 'a warning');
    expect(run.printed()).toBe('');
    await until(() => world.entries().length === 1, 'its entry');
    expect(world.entry()).toMatchObject({ stdout: 'x\n', exit_code: 0 });
  });

  it('goes to the raw output when there can be no file at all', async () => {
    class Broken extends PhoenixBashPlugin {
      protected override readonly copying = {
        disk: {
          ...fs,
          openSync: (): number => {
            throw new Error('EACCES: permission denied, open');
          },
        },
      };
    }
    const plugin = await newWorld().open(Broken);
    const answer = await text(bash(plugin, { command: 'echo x; sleep 100', background: true }));
    expect(answer).toMatch(/<output_file>.*\/output\.bin<\/output_file>/);
  });
});
