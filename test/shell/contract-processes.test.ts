// The contract of both backends, third part: who belongs to a run, what a kill and a deadline
// reach, and that nobody waits for what a command left behind.
import { spawn } from 'node:child_process';
import { existsSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { buildSync } from 'esbuild';
import { expect, it, onTestFinished } from 'vitest';
import { readEvents } from '../../src/capture/store.ts';
import { createShell } from '../../src/shell/shell.ts';
import { FACT_MS_MAX, withTime } from '../pace.ts';
import {
  alive,
  type BackendName,
  describeBackends,
  gone,
  lacks,
  runnerPath,
  shows,
  textOf,
  type World,
  world,
} from './backends.ts';

const exited = (code: number) => ({ kind: 'exited', code });
const signaled = (signal: string) => ({ kind: 'signaled', signal });

/** The numbers a run has printed, one to a line, once there are so many. */
async function numbers(home: World, id: string, count: number): Promise<number[]> {
  const found = await shows(home, id, new RegExp(`^(\\d+\\n){${count}}`));
  return found[0].trim().split('\n').map(Number);
}

describeBackends('processes', (backend) => {
  it('every run has its own group, waited for or not', async () => {
    const home = world(backend);
    for (const waitMs of [60_000, 0]) {
      const run = home.start('ps -o pgid= -p $$; cat');
      const child = await run.started;
      await run.wait(waitMs);
      await run.closed;
      expect(Number(textOf(home, run.id))).toBe(child?.pid);
    }
  });

  it('a kill reaches a run whose capture was removed under it', async () => {
    const home = world(backend);
    const run = home.start('sleep 101 & echo $!; wait');
    const [pid = 0] = await numbers(home, run.id, 1);
    rmSync(join(home.root, 'sessions', run.id), { recursive: true });
    expect((await run.kill({ signal: 'KILL' })).outcome).toEqual(signaled('SIGKILL'));
    expect(alive(pid)).toBe(false);
  });

  it('a deadline kills the whole tree and keeps what was printed', async () => {
    const home = world(backend);
    const attempt = async (killAfterMs: number) => {
      const text = 'sleep 101 & echo $!; (sleep 102 & echo $!; wait) & wait';
      const run = home.start(text, { killAfterMs });
      // Fails where they come too late for it, and so for us to see them.
      const pids = await numbers(home, run.id, 2).catch(() => []);
      return { run, pids, before: pids.filter(alive) };
    };
    const { run, pids } = await withTime(3_000, attempt, ({ before }) => before.length === 2);
    expect(await run.done).toMatchObject({ outcome: signaled('SIGTERM'), endedBy: 'timeout' });
    await run.closed;
    expect(pids.map(alive)).toEqual([false, false]);
    expect(textOf(home, run.id)).toBe(`${pids.join('\n')}\n`);
    const { final, dir } = home.shell.open(run.id);
    expect(final).toMatchObject({ state: 'signaled', endedBy: 'timeout', outputClosed: true });
    const kill = readEvents({ dir }).find(({ type }) => type === 'kill');
    expect(kill).toMatchObject({ signal: 'SIGTERM', by: 'timeout', alive: [] });
  });

  it('a deadline that is not reached changes nothing', async () => {
    const run = world(backend).start('echo hi', { killAfterMs: 60_000 });
    expect(await run.done).toMatchObject({ outcome: exited(0), endedBy: 'itself' });
  });

  it('a kill reaches the children of the shell', async () => {
    const home = world(backend);
    const run = home.start('sleep 101 & echo $!; sleep 102 & echo $!; wait');
    const pids = await numbers(home, run.id, 2);
    expect(await run.kill()).toMatchObject({ outcome: signaled('SIGTERM'), endedBy: 'kill' });
    expect(pids.map(alive)).toEqual([false, false]);
  });

  it('a kill right after the start is not lost', async () => {
    const home = world(backend);
    for (let i = 0; i < 10; i++) {
      const run = home.start('sleep 100');
      run.kill();
      expect(await run.wait(50_000)).toMatchObject({
        outcome: signaled('SIGTERM'),
        endedBy: 'kill',
      });
    }
  });

  it('who ignores TERM dies after the grace', async () => {
    const home = world(backend);
    const ignore = 'trap "" TERM';
    const run = home.start(`${ignore}; (${ignore}; echo $BASHPID; sleep 100) & echo $!; wait`);
    const pids = await numbers(home, run.id, 2);
    expect(await run.kill({ graceMs: 100 })).toMatchObject({
      outcome: signaled('SIGKILL'),
      endedBy: 'kill',
    });
    expect(pids.map(alive)).toEqual([false, false]);
  });

  it('a command that handles TERM ends as it likes', async () => {
    const home = world(backend);
    const run = home.start('trap "echo bye; exit 3" TERM; echo up; while :; do sleep 0.01; done');
    await shows(home, run.id, /up/);
    expect(await run.kill({ graceMs: 50_000 })).toMatchObject({
      outcome: exited(3),
      endedBy: 'kill',
    });
    expect(textOf(home, run.id, 'stdout')).toBe('up\nbye\n');
  });

  it('a kill with SIGKILL gives no grace', async () => {
    const home = world(backend);
    const run = home.start('trap "echo no" TERM; sleep 100 & echo $!; wait');
    const [pid = 0] = await numbers(home, run.id, 1);
    expect(await run.kill({ signal: 'KILL' })).toMatchObject({ outcome: signaled('SIGKILL') });
    expect(alive(pid)).toBe(false);
    expect(textOf(home, run.id)).toBe(`${pid}\n`);
  });

  it('one signal goes to the command alone and kills nobody else', async () => {
    const home = world(backend);
    const run = home.start('trap "echo got; exit 5" USR1; sleep 100 & echo $!; wait');
    const [pid = 0] = await numbers(home, run.id, 1);
    run.signal('USR1');
    expect((await run.done).outcome).toEqual(exited(5));
    expect(alive(pid)).toBe(true);
    await run.kill();
    expect(alive(pid)).toBe(false);
  });

  it('waiting gives up, and the run goes on', async () => {
    const home = world(backend);
    const run = home.start('read x; echo "got $x"; exit 6', { stdin: 'orders' });
    await run.started;
    expect(await run.wait(0)).toBeUndefined();
    expect(await run.wait(20)).toBeUndefined();
    expect(home.shell.open(run.id).state).toBe('running');
    run.write('it\n');
    expect((await run.wait(60_000))?.outcome).toEqual(exited(6));
    expect(textOf(home, run.id)).toBe('got it\n');
  });

  it('50 runs at once keep to themselves', async () => {
    const home = world(backend);
    const numbers = Array.from({ length: 50 }, (_, i) => i);
    const runs = numbers.map((i) =>
      home.start(`for n in {1..20}; do echo "$N $n"; echo "$N" >&2; done; exit ${i}`, {
        env: { N: `run-${i}` },
      }),
    );
    expect(new Set(runs.map(({ id }) => id)).size).toBe(50);
    const ended = await Promise.all(runs.map((run) => run.done));
    expect(ended.map(({ outcome }) => outcome)).toEqual(numbers.map(exited));
    for (const [i, { id }] of runs.entries()) {
      const lines = Array.from({ length: 20 }, (_, n) => `run-${i} ${n + 1}\n`);
      expect(textOf(home, id, 'stdout')).toBe(lines.join(''));
      expect(textOf(home, id, 'stderr')).toBe(`run-${i}\n`.repeat(20));
    }
  });
});

describeBackends('survivors', (backend) => {
  it('are not waited for, live on, are listed, and end with a kill', async () => {
    const home = world(backend);
    const run = home.start('sleep 100 & echo $!; echo hi');
    expect((await run.done).outcome).toEqual(exited(0));
    const [pid = 0] = await numbers(home, run.id, 1);
    expect(alive(pid)).toBe(true);
    const { final, dir, outputOpen } = home.shell.open(run.id);
    expect(final).toMatchObject({ state: 'exited', outputClosed: false });
    expect(outputOpen).toBe(true);
    expect(readEvents({ dir }).find(({ type }) => type === 'survivors')).toMatchObject({
      // Or still the bash that is about to become it.
      processes: [{ pid, command: expect.stringContaining('sleep 100'), holdsOutput: true }],
    });
    await run.kill();
    expect(alive(pid)).toBe(false);
    const closed = home.shell.open(run.id);
    expect(closed.final).toMatchObject({ outcome: exited(0), endedBy: 'itself' });
    expect(closed.final).toMatchObject({ outputClosed: true, survivors: [] });
  });

  it('are captured to their last byte', async () => {
    const home = world(backend);
    const text = '(trap "echo later; exit" USR1; echo $BASHPID; while :; do sleep 0.01; done) &';
    const run = home.start(text);
    await run.done;
    const [pid = 0] = await numbers(home, run.id, 1);
    // It prints its pid once its trap is set.
    process.kill(pid, 'SIGUSR1');
    await run.closed;
    expect(textOf(home, run.id, 'stdout')).toBe(`${pid}\nlater\n`);
  });

  it('end with kill -9 of the negative pid', async () => {
    const home = world(backend);
    const run = home.start('sleep 101 & sleep 102 > /dev/null 2>&1 & echo $!');
    const child = await run.started;
    await run.done;
    const [pid = 0] = await numbers(home, run.id, 1);
    process.kill(-(child?.pid ?? 0), 'SIGKILL');
    await run.closed;
    expect(alive(pid)).toBe(false);
  });

  it.each([
    ['with its output elsewhere', 'sleep 100 > /dev/null 2>&1 & echo $!'],
    ['in a subshell', '(sleep 100 & echo $!)'],
    ['with nohup', 'nohup sleep 100 & echo $!'],
    ['as a coprocess', 'coproc sleep 100; echo $COPROC_PID'],
    ['with job control', 'set -m; sleep 100 & echo $!'],
  ])('are seen and killed %s', async (_, text) => {
    const home = world(backend);
    const run = home.start(text);
    expect((await run.done).outcome).toEqual(exited(0));
    const [pid = 0] = await numbers(home, run.id, 1);
    expect(alive(pid)).toBe(true);
    await run.kill();
    expect(alive(pid)).toBe(false);
  });

  it('are found after setsid', async () => {
    const home = world(backend);
    const escaped = 'until [ "$(ps -o sid= -p $!)" -eq $! ]; do :; done';
    const run = home.start(`setsid sleep 100 & ${escaped}; echo $!`);
    await run.done;
    const [pid = 0] = await numbers(home, run.id, 1);
    expect(alive(pid)).toBe(true);
    await run.kill();
    if (lacks(backend, 'a kill finds setsid orphans')) {
      expect(alive(pid)).toBe(true);
      process.kill(pid, 'SIGKILL');
      await gone(pid);
      return;
    }
    expect(alive(pid)).toBe(false);
  });

  it('are found in a group of their own with their output elsewhere', async () => {
    const home = world(backend);
    // The shell ends once the other has let go of its output.
    const away = 'until [ /proc/$!/fd/1 -ef /dev/null -a /proc/$!/fd/2 -ef /dev/null ]; do :; done';
    const run = home.start(`set -m; sleep 100 > /dev/null 2>&1 & ${away}; echo $!`);
    await run.done;
    const [pid = 0] = await numbers(home, run.id, 1);
    const listed = readEvents(home.shell.open(run.id)).some(({ type }) => type === 'survivors');
    await run.kill();
    if (lacks(backend, 'a survivor is seen wherever it went')) {
      expect({ listed, alive: alive(pid) }).toEqual({ listed: false, alive: true });
      process.kill(pid, 'SIGKILL');
      await gone(pid);
      return;
    }
    expect({ listed, alive: alive(pid) }).toEqual({ listed: true, alive: false });
  });

  it('do not lose the output of a process substitution', async () => {
    const home = world(backend);
    const answered: string[] = [];
    for (let i = 0; i < 5; i++) {
      const run = home.start('exec > >(tee copy) 2>&1; echo hi');
      await run.done;
      answered.push(textOf(home, run.id));
      await run.closed;
      expect(textOf(home, run.id)).toBe('hi\n');
    }
    // Nobody waits long for it: a busy machine may keep one of them from being in time.
    expect(answered).toContain('hi\n');
  });
});

describeBackends('other processes', (backend) => {
  it('can kill a run they did not start', async () => {
    const home = world(backend);
    const run = home.start('sleep 100 & echo $!; wait');
    const [pid = 0] = await numbers(home, run.id, 1);
    const other = createShell({ stateRoot: home.root, runner: 'portable' });
    await other.kill(run.id);
    const { outcome, endedBy } = await run.done;
    await run.closed;
    expect(alive(pid)).toBe(false);
    expect(outcome).toEqual(signaled('SIGTERM'));
    // Without orders it is done by signals, which do not say who sent them.
    const known = !lacks(backend, 'another process can give orders');
    expect(endedBy).toBe(known ? 'kill' : 'itself');
  });

  it('find a run alive after its starter was killed', async () => {
    const home = world(backend);
    const { id, pid } = await startAndDie(home, backend);
    writeFileSync(join(home.dir, 'go'), '');
    if (lacks(backend, 'a run outlives its starter')) {
      await gone(pid);
      expect(existsSync(join(home.dir, 'finished'))).toBe(false);
      const { state, reason } = home.shell.open(id);
      expect({ state, reason }).toEqual({ state: 'failed', reason: 'interrupted' });
      expect(textOf(home, id)).toBe('up\n');
      return;
    }
    await shows(home, id, /^up\nafter\nagain\n$/);
    await gone(pid);
    const final = () => home.shell.open(id).final;
    await expect.poll(final, { timeout: FACT_MS_MAX }).toMatchObject({ outcome: exited(0) });
  });
});

/** A run whose starter, a process of its own, is killed once the run is under way. */
async function startAndDie(
  home: World,
  backend: BackendName,
): Promise<{ id: string; pid: number }> {
  const bundle = join(home.dir, 'shell.mjs');
  const entry = join(import.meta.dirname, '..', '..', 'src', 'shell', 'shell.ts');
  buildSync({
    entryPoints: [entry],
    outfile: bundle,
    bundle: true,
    platform: 'node',
    format: 'esm',
    external: ['@lydell/node-pty'],
  });
  const text =
    'echo up; while [ ! -e go ]; do sleep 0.01; done; echo after; echo again; > finished';
  const options = { stateRoot: home.root, runner: backend, cwd: home.dir };
  const script = `import { createShell } from ${JSON.stringify(bundle)};
    const run = createShell(${JSON.stringify(options)}).start(${JSON.stringify(text)});
    console.log(JSON.stringify({ id: run.id, pid: (await run.started).pid }));`;
  const starter = spawn(process.execPath, ['--input-type=module', '-e', script], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { ...process.env, CUFF_RUNNER: runnerPath },
  });
  const [line = '{}'] = await new Promise<string[]>((resolve) => {
    createInterface(starter.stdout).once('line', (first) => resolve([first]));
  });
  const { id, pid } = JSON.parse(line);
  onTestFinished(async () => {
    if (alive(pid)) process.kill(-pid, 'SIGKILL');
    await gone(pid);
  });
  await shows(home, id, /up/);
  starter.kill('SIGKILL');
  await new Promise((resolve) => starter.once('exit', resolve));
  return { id, pid };
}
