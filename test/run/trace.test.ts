// What the runner itself says in trace.bin: the header, the command, and whoever it waits for.
import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { until } from '../cli/helper.ts';
import {
  bash,
  endsIn,
  framesOf,
  type Live,
  leftIn,
  newDir,
  root,
  run,
  shimDir,
  start,
  traces,
} from '../native/runner-helper.ts';
import { lacking } from '../requirements.ts';

const noTracing = lacking(!traces, 'a traced run needs the runner and a C compiler');
const STAT = "stat -L -c '%d %i' /proc/self/fd/1 /proc/self/fd/2";

/** Somebody who reads it waits for us. */
function newFifo(): string {
  const path = join(newDir(), 'go');
  execFileSync('mkfifo', [path]);
  return path;
}

/** Once the runner has told of the command itself. */
const told = (live: Live): Promise<void> =>
  until(() => framesOf(live.left(), 'start').length > 0, 'the start of the command is told');

describe.skipIf(noTracing)('the header of trace.bin', () => {
  test('is one page that says what is told about, and what may be kept', async () => {
    const before = BigInt(Date.now()) * 1_000_000n;
    const envNames = ['HOME', 'API_TOKEN', 'My_Password', 'LANG'];
    const live = start(bash(STAT), { trace: { shimDir, envNames } });
    await live.over;
    const { header, damagedBytes } = live.left();
    expect(header).toEqual({
      captureId: expect.stringMatching(/^t-\d+$/),
      mode: 'socket',
      runnerPid: expect.any(Number),
      offsetNs: expect.any(BigInt),
      startedNs: expect.any(BigInt),
      follows: expect.any(Boolean),
      merged: false,
      pidNamespace: statSync('/proc/self/ns/pid').ino,
      envNames: ['HOME', 'LANG'],
    });
    expect(damagedBytes).toBe(0);
    const { startedNs = 0n } = header ?? {};
    expect(startedNs > before - 10_000_000n && startedNs - before < 60_000_000_000n).toBe(true);
    expect(statSync(join(live.dir, 'trace.bin')).mode & 0o7777).toBe(0o600);
  });

  test.each([
    ['pipe', 'pipe', false],
    ['socket', 'socket', false],
    ['merged', 'socket', true],
    ['pty', 'pty', true],
  ] as const)('over %s has mode %s and the streams as the command sees them', async (...row) => {
    const [transport, mode, merged] = row;
    const live = start(bash(STAT), { transport });
    await live.over;
    const { header, text } = live.left();
    expect(header).toMatchObject({ mode, merged });
    const raw = readFileSync(join(live.dir, 'trace.bin'));
    const stream = (at: number): string =>
      `${raw.readBigUInt64LE(at)} ${raw.readBigUInt64LE(at + 8)}`;
    expect(text.split(/\r?\n/).slice(0, 2)).toEqual([stream(56), stream(72)]);
  });
});

describe.skipIf(noTracing)('what the runner tells', () => {
  test('is the command, from its start to its end', async () => {
    const env = { PATH: '/usr/bin:/bin', HOME: '/somewhere', LANG: 'C' };
    const trace = { shimDir, envNames: ['HOME', 'NOT_THERE'] };
    const fifo = newFifo();
    const text = `read < ${fifo}; exit 3`;
    const live = start(bash(text), { env, trace });
    await told(live); // its program can be looked up only while it runs
    writeFileSync(fifo, '\n');
    await live.over;
    const left = live.left();
    const { runnerPid = 0 } = left.header ?? {};
    const [command] = framesOf(left, 'start').filter(({ source }) => source === 'runner');
    expect(command).toEqual({
      type: 'start',
      source: 'runner',
      atNs: expect.any(BigInt),
      who: { pid: expect.any(Number), space: 0 },
      parent: runnerPid,
      uid: process.getuid?.(),
      startTicks: expect.any(Number),
      inner: undefined,
      exe: expect.stringMatching(/\/bash$/),
      cwd: root,
      argv: bash(text),
      args: 5,
      cut: false,
      redacted: false,
      envCount: 3,
      env: { HOME: '/somewhere' },
      isStatic: false,
      peakBefore: expect.any(Number),
    });
    const ends = framesOf(left, 'reap');
    expect(ends).toMatchObject([
      { source: 'runner', who: { pid: runnerPid }, child: command?.who.pid, status: 3 << 8 },
    ]);
    expect((ends[0]?.atNs ?? 0n) > (command?.atNs ?? 0n)).toBe(true);
  });

  test('has the signal that killed it', async () => {
    const statuses = await Promise.all(
      ['KILL', 'SEGV', 'TERM', 'ABRT'].map(async (name) => {
        const left = await run(bash(`ulimit -c 0; kill -${name} $$; sleep 100`));
        return framesOf(left, 'reap').map(({ status }) => status & 0x7f);
      }),
    );
    expect(statuses).toEqual([[9], [11], [15], [6]]);
  });

  test('has the ends of those that lost their parents', async () => {
    // Forked twice and in a session of its own: nobody but the runner can wait for it.
    const [first, second] = [newFifo(), newFifo()];
    const daemon = `(setsid bash -c "echo \\$\\$; read < ${first}; exit 9" &)`;
    const killed = `(setsid bash -c "echo \\$\\$; read < ${second}; kill -KILL \\$\\$" &)`;
    const live = start(bash(`${daemon}; ${killed}; exit 0`));
    await live.done; // whoever forked them is gone
    writeFileSync(first, '\n');
    writeFileSync(second, '\n');
    await live.over;
    const left = live.left();
    const ends = endsIn(left);
    const statuses = left.text
      .trim()
      .split('\n')
      .map((pid) => ends.get(Number(pid)));
    expect(statuses.sort((a, b) => (b?.status ?? 0) - (a?.status ?? 0))).toEqual([
      { status: 9 << 8, source: 'runner' },
      { status: 9, source: 'runner' },
    ]);
  });

  test('has no value of a secret variable, neither as a variable nor as an argument', async () => {
    const env = { PATH: '/usr/bin:/bin', MY_TOKEN: 'hunter-22', OF_KEY: 'short', X_SECRET: 'äöüß' };
    const trace = { shimDir, envNames: ['MY_TOKEN', 'PATH'] };
    const script = 'f() { :; }; f hunter-22 --t=hunter-22hunter-22 short äöüß';
    const live = start(bash(script), { env, trace });
    await live.over;
    const [command] = framesOf(live.left(), 'start');
    const shown = 'f() { :; }; f [MY_TOKEN] --t=[MY_TOKEN][MY_TOKEN] short [X_SECRET]';
    expect(command).toMatchObject({ redacted: true, argv: bash(shown) });
    expect(command?.env).toEqual({ PATH: '/usr/bin:/bin' });
    for (const file of readdirSync(live.dir)) {
      expect(readFileSync(join(live.dir, file), 'latin1')).not.toContain('hunter-22');
    }
    const assigned = await run(['env', 'NEW_KEY=hunter-23', 'echo', 'hunter-23x', 'hunter-2']);
    const [own] = framesOf(assigned, 'start');
    expect(own?.argv).toEqual(['env', 'NEW_KEY=[NEW_KEY]', 'echo', '[NEW_KEY]x', 'hunter-2']);
  });

  test('has no secret in the place of the program, in where it runs and in variables', async () => {
    const secret = 'hunter-25-hunter';
    const cwd = join(root, `in-${secret}`);
    mkdirSync(cwd);
    const program = join(cwd, 'program');
    copyFileSync('/bin/cat', program);
    const fifo = newFifo();
    const env = { PATH: `/usr/bin:/bin:${cwd}`, HOME: cwd, LANG: 'A_KEY=xyz', MY_TOKEN: secret };
    const trace = { shimDir, envNames: ['PATH', 'HOME', 'LANG'] };
    const live = start([program, fifo], { env, trace, cwd });
    await told(live);
    writeFileSync(fifo, '\n');
    await live.over;
    const clean = join(root, 'in-[MY_TOKEN]');
    expect(framesOf(live.left(), 'start')).toMatchObject([
      {
        redacted: true,
        exe: join(clean, 'program'),
        cwd: clean,
        argv: [join(clean, 'program'), fifo],
        env: { PATH: `/usr/bin:/bin:${clean}`, HOME: clean, LANG: 'A_KEY=[A_KEY]' },
      },
    ]);
    expect(readFileSync(join(live.dir, 'trace.bin'), 'latin1')).not.toContain(secret);
  });

  test.each([
    ['X=1; API_TOKEN=hunter-26 /bin/true', 'X=1; API_TOKEN=[API_TOKEN] /bin/true'],
    ['A_KEY="hunter-26 x" :;b_secret=hunter-26;:', 'A_KEY=[A_KEY] :;b_secret=[b_secret];:'],
    ["A_PASSWORD='hunter-26 x", 'A_PASSWORD=[A_PASSWORD]'],
    [': --my_key=hunter-26|cat', ': --my_key=[my_key]|cat'],
    ['X_KEYS=kept; : a==b', 'X_KEYS=kept; : a==b'],
  ])('has nothing that a shell assigns to a secret name: %s', async (script, shown) => {
    const live = start(bash(script));
    await live.over;
    const [command] = framesOf(live.left(), 'start');
    expect(command).toMatchObject({ redacted: script !== shown, argv: bash(shown) });
    expect(readFileSync(join(live.dir, 'trace.bin'), 'latin1')).not.toContain('hunter-26');
  });

  test('keeps of a long command as much as the header says', async () => {
    const words = [...bash('exit 0'), ...Array.from({ length: 3000 }, (_, i) => `word-${i}`)];
    const many = framesOf(await run(words), 'start')[0];
    expect(many).toMatchObject({ args: words.length, cut: true });
    expect(many?.argv).toEqual(words.slice(0, 1024));
    const long = framesOf(await run([...bash('exit 0'), 'x'.repeat(100_000), 'y']), 'start')[0];
    expect(long).toMatchObject({ args: 7, cut: true });
    expect(long?.argv.at(-1)).toMatch(/^x{16000,}$/);
    expect(Buffer.byteLength(long?.argv.join('\0') ?? '')).toBeLessThan(16_384);
  });
});

describe.skipIf(noTracing)('what a traced command gets', () => {
  const preload = `${shimDir}/$LIB/libcuff-shim.so`;
  const variables = 'echo "$LD_PRELOAD|$CUFF_TRACE|$ASAN_OPTIONS"';

  test('is the shim, where it is to report, and its own variables', async () => {
    const live = start(bash(variables));
    await live.over;
    const path = join(live.dir, 'trace.bin');
    expect(live.left().text).toBe(`${preload}|${path}|verify_asan_link_order=0\n`);
  });

  test('keeps what it had, but for the shim of a capture around it', async () => {
    const outer = '/outer/$LIB/libcuff-shim.so';
    const env = { PATH: '/usr/bin:/bin', ASAN_OPTIONS: 'a=1', CUFF_TRACE: '/outer/trace.bin' };
    const own = `${shimDir}/lib64/libcuff-shim.so`;
    const live = start(bash(variables), { env: { ...env, LD_PRELOAD: `${outer}:${own}` } });
    await live.over;
    const { text } = live.left();
    const path = join(live.dir, 'trace.bin');
    expect(text).toBe(`${preload}:${own}|${path}|a=1:verify_asan_link_order=0\n`);
    const alone = await run(bash(variables), { env: { ...env, LD_PRELOAD: outer } });
    expect(alone.text).toContain(`${preload}|`);
  });

  test('is not more than exec takes: then it is started without', async () => {
    // One string may have 128 KiB: with the shim in front of it, this one has more.
    const env = { PATH: '/usr/bin:/bin', LD_PRELOAD: ':'.repeat(131_050) };
    const live = start(bash('echo -n "$LD_PRELOAD" | wc -c; echo "$CUFF_TRACE"; exit 3'), { env });
    expect(await live.done).toMatchObject({ outcome: { kind: 'exited', code: 3 } });
    await live.over;
    expect(live.left().text).toBe('131050\n\n');
  });

  test('are no open files of ours', async () => {
    const live = await run(bash('for i in {0..60}; do test -e /proc/$$/fd/$i && echo $i; done'));
    expect(live.text).toBe('0\n1\n2\n');
  });
});

describe.skipIf(noTracing)('a run that cannot be traced', () => {
  const untraced = (reason: string) =>
    expect.objectContaining({ type: 'trace', enabled: false, reason });
  const command = bash('echo "[$LD_PRELOAD]"; echo x > /dev/stdout; exit 4');

  test.each([
    ['/no/such/shim', 'the shim cannot be preloaded: ENOENT'],
    ['/tmp/a:b', 'the shim cannot be preloaded: EINVAL'],
    ['relative', 'the shim cannot be preloaded: EINVAL'],
  ])('with its shim at %s goes on over pipes and says why', async (dir, reason) => {
    const live = start(command, { trace: { shimDir: dir, envNames: [] } });
    expect(await live.done).toMatchObject({ outcome: { kind: 'exited', code: 4 } });
    await live.over;
    const left = live.left();
    expect(left.text).toBe('[]\nx\n');
    expect(left.events).toContainEqual(untraced(reason));
    expect(existsSync(join(live.dir, 'trace.bin'))).toBe(false);
    expect(existsSync(join(live.dir, 'control'))).toBe(false);
  });

  test('because somebody has put something in its place leaves that alone', async () => {
    for (const put of [
      (path: string) => writeFileSync(path, 'mine'),
      (path: string) => mkdirSync(path),
    ]) {
      const dir = newDir();
      const path = join(dir, 'trace.bin');
      put(path);
      const left = await run(command, { dir });
      expect(left.text).toBe('[]\nx\n');
      expect(left.events).toContainEqual(untraced('trace.bin cannot be made: EEXIST'));
      if (statSync(path).isFile()) expect(readFileSync(path, 'utf8')).toBe('mine');
    }
  });

  test('because it leaves no bytes behind says so', async () => {
    const left = await run(command, { outputBytesMax: 0 });
    expect(left.events).toContainEqual(untraced('this run leaves no bytes behind'));
    expect(left.header).toBeUndefined();
  });

  test('because its directory is gone runs all the same', async () => {
    const dir = join(root, 'nowhere');
    const live = start(bash('test -z "$CUFF_TRACE" && exit 5'), { dir });
    expect(await live.done).toMatchObject({ outcome: { kind: 'exited', code: 5 } });
    await live.over;
  });

  test('and one whose capture somebody else writes leaves no way to give it orders', async () => {
    const dir = newDir();
    writeFileSync(join(dir, 'output.bin'), 'of another run');
    const live = start(bash('exit 6'), { dir });
    expect(await live.done).toMatchObject({ outcome: { kind: 'exited', code: 6 } });
    await live.over;
    expect(existsSync(join(dir, 'control'))).toBe(false);
    expect(readFileSync(join(dir, 'output.bin'), 'utf8')).toBe('of another run');
  });

  test('has a trace with only a header when its command does not start', async () => {
    const live = start(['/no/such/program']);
    expect(await live.done).toMatchObject({ kind: 'failed', error: 'ENOENT' });
    const left = leftIn(live.dir);
    expect(left.header?.mode).toBe('socket');
    expect(left.frames).toEqual([]);
    expect(existsSync(join(live.dir, 'control'))).toBe(false);
    chmodSync(live.dir, 0o700);
  });
});
