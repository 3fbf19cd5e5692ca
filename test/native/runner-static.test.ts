// A command that is itself static, the environment that static programs and their children get, and
// a runner inside a run, which is a static program as well.
import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { until } from '../cli/helper.ts';
import { lacking } from '../requirements.ts';
import {
  asker,
  bash,
  endsIn,
  follows,
  framesOf,
  leftIn,
  newDir,
  odd,
  plain,
  root,
  run,
  runnerPath,
  shimDir,
  start,
  startsByPtrace,
  statusOf,
} from './runner-helper.ts';

const noFollowing = lacking(!follows, 'no CAP_SYS_PTRACE or no_new_privs, or no static libc');
const dynamicRunner = spawnSync('sh', ['-c', `readelf -l '${runnerPath}' | grep -q INTERP`]);
const noStaticRunner = lacking(dynamicRunner.status === 0, 'the runner is not linked statically');

describe.skipIf(noFollowing)('a command that is itself static', () => {
  test('is followed from its first step, with what it starts', async () => {
    const left = await run([plain, 'forks']);
    const [root] = framesOf(left, 'start').filter(({ source }) => source === 'runner');
    expect(framesOf(left, 'fork').filter(({ parent }) => parent === root?.who.pid)).toHaveLength(4);
    expect(startsByPtrace(left)).toEqual([
      [plain, 'forks'],
      ['again', 'hello'],
    ]);
    expect(endsIn(left).get(root?.who.pid ?? 0)).toEqual({ status: 0, source: 'runner' });
  });

  test('is found along PATH, and behind the first line of a script', async () => {
    const script = join(root, 'script');
    writeFileSync(script, `#!${plain} hello\n`, { mode: 0o755 });
    const env = { PATH: `/no/where:${root}:/usr/bin` };
    for (const argv of [['plain', 'hello'], ['./script'], ['script', 'x']]) {
      const left = await run(argv, { env });
      expect(startsByPtrace(left)).toHaveLength(1);
      expect(framesOf(left, 'reap')).toMatchObject([{ source: 'runner', status: 4 << 8 }]);
    }
  });

  test('that cannot be started fails as any other', async () => {
    const copy = join(root, 'copy');
    writeFileSync(copy, readFileSync(plain).subarray(0, 4096), { mode: 0o755 });
    const live = start([copy]);
    // The kernel either refuses it, or starts it and finds that there is nothing to run.
    const done = await live.done;
    const failed = { kind: 'failed', stage: 'exec' };
    const killed = { kind: 'done', outcome: { kind: 'signaled' } };
    expect([failed, killed].some(({ kind }) => kind === done.kind)).toBe(true);
    await live.over;
  });

  test('stops and goes on in a terminal', async () => {
    const live = start([plain, 'ticks'], { transport: 'pty', stdin: 'orders' });
    await live.shows(/tick 3\r\n/);
    live.handle.write(Buffer.from('\x1a')); // Ctrl-Z
    const [command] = framesOf(live.left(), 'start');
    const pid = command?.who.pid ?? 0;
    await until(() => /^[tT]/.test(statusOf(pid, 'State')), 'it has stopped');
    process.kill(pid, 'SIGCONT');
    const { length } = live.left().text;
    await until(() => live.left().text.length > length + 30, 'it ticks again');
    live.handle.write(Buffer.from('\x03')); // Ctrl-C
    expect(await live.done).toMatchObject({ outcome: { kind: 'signaled', signal: 'SIGINT' } });
    await live.over;
  });

  test('is not followed where that is not wanted', () => {
    const dir = newDir();
    const words = ['run', 'x', '--dir', dir, '--trace', shimDir, '--trace-follow', 'no', '--'];
    const { status } = spawnSync(runnerPath, [...words, plain, 'hello']);
    expect(status).toBe(4);
    const raw = readFileSync(join(dir, 'trace.bin'));
    expect(raw.readUInt32LE(88)).toBe(0);
  });
});

describe.skipIf(noFollowing)('the environment of a followed program', () => {
  const env = { PATH: '/usr/bin:/bin', LD_PRELOAD: '/no/where:', ASAN_OPTIONS: 'a=1', Z: '26' };
  const given = Object.entries(env).map(([name, value]) => `${name}=${value}`);
  const shim = `${shimDir}/$LIB/libcuff-shim.so`;

  test('is what it was given', async () => {
    expect((await run([odd, 'env'], { env })).text.trim().split('\n')).toEqual(given);
  });

  test('has the shim again for what has a loader, at the places of the user’s own', async () => {
    const dir = newDir();
    const left = await run([odd, 'start', 'env'], { dir, env: { ...env, LD_PRELOAD: '' } });
    expect(left.text.trim().split('\n')).toEqual([
      'PATH=/usr/bin:/bin',
      `LD_PRELOAD=${shim}:`,
      'ASAN_OPTIONS=a=1:verify_asan_link_order=0',
      'Z=26',
      `CUFF_TRACE=${join(dir, 'trace.bin')}`,
    ]);
    expect(left.damagedBytes).toBe(0);
  });

  test.each([0, 1, 2, 3, 500, 20_000])('of %d variables is whole', async (count) => {
    const dir = newDir();
    const left = await run([odd, 'many', String(count), '/usr/bin/env'], { dir });
    expect(left.text.trim().split('\n')).toEqual([
      ...Array.from({ length: count }, (_, i) => `VARIABLE_${i}=${i}`),
      `LD_PRELOAD=${shim}`,
      'ASAN_OPTIONS=verify_asan_link_order=0',
      `CUFF_TRACE=${join(dir, 'trace.bin')}`,
    ]);
  });

  test('of another capture is left as it is', async () => {
    const own = { PATH: '/usr/bin:/bin', CUFF_TRACE: '/of/another' };
    const left = await run([odd, 'start', odd, 'start', 'env'], { env: own });
    expect(left.text).toBe('PATH=/usr/bin:/bin\nCUFF_TRACE=/of/another\n');
  });

  test('does not change the arguments, nor what the program says of itself', async () => {
    const words = Array.from({ length: 3000 }, (_, i) => `w${i}`);
    const text = 'echo "$#:$*"; tr "\\0" " " < /proc/$$/cmdline; exit 7';
    const command = ['bash', '-c', text, 'name', ...words];
    const live = start([odd, 'start', ...command]);
    expect(await live.done).toMatchObject({ outcome: { kind: 'exited', code: 7 } });
    await live.over;
    expect(live.left().text).toBe(`3000:${words.join(' ')}\n${command.join(' ')} `);
  });
});

describe.skipIf(noFollowing)('nested captures', () => {
  test.skipIf(noStaticRunner)(
    'each tell of their own, and a static program belongs to the inner one',
    async () => {
      const inner = newDir();
      const words = [runnerPath, 'run', 'inner', '--dir', inner, '--transport', 'merged'];
      const text = `${asker} ${plain} hello; exit 5`;
      const outer = await run([asker, ...words, '--trace', shimDir, '--', ...bash(text)]);
      const left = leftIn(inner);
      expect(left.text).toMatch(/^answer 1\nplain \d+\n$/);
      expect(startsByPtrace(left)).toEqual([[plain, 'hello']]);
      expect(framesOf(left, 'reap').map(({ status }) => status)).toEqual([4 << 8, 5 << 8]);
      // The inner runner is a static program itself; what it starts has a loader.
      expect(startsByPtrace(outer).map(([program]) => program)).toEqual([runnerPath]);
      expect(framesOf(outer, 'reap')).toMatchObject([{ source: 'runner', status: 5 << 8 }]);
    },
  );
});
