// Static programs, into which nothing can be preloaded: the runner follows them by ptrace, from
// their start to their end, and nobody notices.
import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { alive, until } from '../cli/helper.ts';
import { withTime } from '../pace.ts';
import { lacking } from '../requirements.ts';
import {
  asker,
  bash,
  debugging,
  endsIn,
  follows,
  framesOf,
  type Left,
  plain,
  root,
  run,
  shimDir,
  start,
  startsByPtrace,
  statusOf,
} from './runner-helper.ts';

const has = (program: string): boolean =>
  spawnSync('sh', ['-c', `command -v ${program}`]).status === 0;
const noFollowing = lacking(!follows, 'no CAP_SYS_PTRACE or no_new_privs, or no static libc');
const noStrace = lacking(!has('strace'), 'strace is not installed');
const noSpaces = lacking(
  spawnSync('unshare', ['--pid', '--fork', '--mount-proc', 'true']).status !== 0,
  'a new pid namespace needs root',
);
const noGo = lacking(!has('go'), 'go is not installed');

/** Both streams in one, so that the answer to the order is in its place. */
const shell = (text: string): Promise<Left> => run(bash(text), { transport: 'merged' });

const byPtrace = (source: string): boolean => source === 'ptrace';

describe.skipIf(noFollowing)('a static program that was asked to be followed', () => {
  test('is told about from its start to its end', async () => {
    const live = start(bash(`${asker} ${plain} hello; echo $?`), {
      trace: { shimDir, envNames: ['PATH'] },
      transport: 'merged',
    });
    await live.over;
    const left = live.left();
    const pid = Number(/plain (\d+)/.exec(left.text)?.[1]);
    expect(left.text).toBe(`answer 1\nplain ${pid}\n4\n`);
    expect(framesOf(left, 'start', pid).filter(({ source }) => byPtrace(source))).toEqual([
      {
        type: 'start',
        source: 'ptrace',
        atNs: expect.any(BigInt),
        who: { pid, space: 0 },
        parent: expect.any(Number),
        uid: process.getuid?.(),
        startTicks: expect.any(Number),
        inner: undefined,
        exe: plain,
        cwd: root,
        argv: [plain, 'hello'],
        args: 2,
        cut: false,
        redacted: false,
        envCount: expect.any(Number),
        env: { PATH: '/usr/bin:/bin' },
        isStatic: true,
      },
    ]);
    expect(endsIn(left).get(pid)).toEqual({ status: 4 << 8, source: 'ptrace' });
  });

  test('is told about without the secrets of whoever started it', async () => {
    const secret = 'hunter-24-hunter';
    const file = join(root, 'secret');
    writeFileSync(file, secret);
    const text = `A_TOKEN=$(cat ${file}) ${asker} -bare ${plain} hello "-x=$(cat ${file})"; exit 0`;
    const live = start(bash(text), { transport: 'merged' });
    await live.over;
    expect(startsByPtrace(live.left())).toEqual([[plain, 'hello', '-x=[A_TOKEN]']]);
    expect(readFileSync(join(live.dir, 'trace.bin'), 'latin1')).not.toContain(secret);
  });

  test('is told about without what its own words call a secret', async () => {
    const value = 'hunter-27-hunter';
    const words = `--password ${value} --api-key=${value} x://me:${value}@example.org -p 80:80`;
    const live = start(bash(`${asker} -bare ${plain} hello ${words}; exit 0`), {
      transport: 'merged',
    });
    await live.over;
    const kept = '--password [password] --api-key=[api-key] x://me:[password]@example.org -p 80:80';
    expect(startsByPtrace(live.left())).toEqual([[plain, 'hello', ...kept.split(' ')]]);
    expect(readFileSync(join(live.dir, 'trace.bin'), 'latin1')).not.toContain(value);
  });

  test('takes along what it forks, and lets go of what has a loader', async () => {
    const left = await shell(`${asker} ${plain} forks`);
    const pids = Object.fromEntries(
      [...left.text.matchAll(/^(\w+) (\d+) (\d+)$/gm)].map(([, what = '', pid, status]) => [
        what,
        { pid: Number(pid), status: Number(status) },
      ]),
    );
    expect(Object.keys(pids)).toEqual(['forked', 'dynamic', 'static', 'killed']);
    const ends = endsIn(left);
    for (const what of ['forked', 'static', 'killed']) {
      const { pid = 0, status = -1 } = pids[what] ?? {};
      expect(framesOf(left, 'fork', pid)).toMatchObject([{ source: 'ptrace' }]);
      expect(ends.get(pid)).toEqual({ status, source: 'ptrace' });
    }
    expect(framesOf(left, 'fork', pids.dynamic?.pid)).toMatchObject([{ source: 'ptrace' }]);
    expect(ends.has(pids.dynamic?.pid ?? 0)).toBe(false);
    expect(startsByPtrace(left)).toEqual([
      [plain, 'forks'],
      ['again', 'hello'],
    ]);
    const [parent] = framesOf(left, 'fork', pids.forked?.pid);
    expect(parent?.parent).toBe(framesOf(left, 'start').at(-1)?.parent);
  });

  test('may have threads, which are nobody, but whose children count', async () => {
    const left = await shell(`${asker} ${plain} threads; exit 0`);
    expect(left.text).toBe(`answer 1\n${'from a thread\n'.repeat(4)}`);
    expect(framesOf(left, 'fork').filter(({ source }) => byPtrace(source))).toHaveLength(4);
    // The shell by the runner, the program by ptrace; its threads and the let-go echos by nobody.
    expect(framesOf(left, 'reap').map(({ source }) => source)).toEqual(['ptrace', 'runner']);
  });

  test('may start a program from a second thread, under the pid of the first', async () => {
    const left = await shell(`${asker} ${plain} exec; echo $?`);
    const [, pid] = /shell (\d+)/.exec(left.text) ?? [];
    expect(left.text).toBe(`answer 1\nshell ${pid}\n6\n`);
    expect(startsByPtrace(left)).toEqual([[plain, 'exec']]);
    expect([...endsIn(left).keys()]).not.toContain(Number(pid));
  });

  test('is no slower for being one of fifty', async () => {
    const live = start(bash(`for i in {1..50}; do ${asker} ${plain} hello 2>&1 & done; wait`));
    await live.over;
    const left = live.left();
    expect(left.text.match(/answer 1/g)).toHaveLength(50);
    const pids = [...left.text.matchAll(/plain (\d+)/g)].map(([, pid]) => Number(pid));
    expect(new Set(pids).size).toBe(50);
    const ends = endsIn(left);
    expect(pids.filter((pid) => ends.get(pid)?.status !== 4 << 8)).toEqual([]);
    expect(startsByPtrace(left)).toHaveLength(50);
  });

  test.skipIf(noGo)('may be one of Go, with its own way of starting others', async () => {
    const source = join(root, 'starts.go');
    writeFileSync(
      source,
      `package main
import ("fmt"; "os"; "os/exec")
func main() {
  out, err := exec.Command("/bin/sh", "-c", "echo $$; exit 3").Output()
  fmt.Print(os.Getpid(), " ", string(out), err, "\\n")
  os.Exit(9)
}
`,
    );
    const program = join(root, 'starts');
    const env = { ...process.env, CGO_ENABLED: '0', GOFLAGS: '-mod=mod' };
    const built = spawnSync('go', ['build', '-o', program, source], { env, encoding: 'utf8' });
    expect(built.stderr).toBe('');
    const left = await shell(`${asker} ${program}; echo $?`);
    const [, pid = '', child = ''] = /^(\d+) (\d+)$/m.exec(left.text) ?? [];
    expect(left.text).toBe(`answer 1\n${pid} ${child}\nexit status 3\n9\n`);
    expect(endsIn(left).get(Number(pid))).toEqual({ status: 9 << 8, source: 'ptrace' });
    expect(framesOf(left, 'fork', Number(child))).toMatchObject([
      { source: 'ptrace', parent: Number(pid) },
    ]);
  });
});

describe.skipIf(noFollowing)('a followed program', () => {
  test('stops and goes on with its signals', async () => {
    const live = start(bash(`${asker} ${plain} ticks; exit 0`));
    await live.shows(/tick 3\n/);
    const frame = framesOf(live.left(), 'start').find(({ source }) => byPtrace(source));
    const pid = frame?.who.pid ?? 0;
    expect(Number(statusOf(pid, 'TracerPid'))).toBe(live.left().header?.runnerPid);
    process.kill(pid, 'SIGSTOP');
    await until(() => /^[tT]/.test(statusOf(pid, 'State')), 'it has stopped');
    // What it wrote before may still be on its way; but it comes to an end.
    for (let before = -1; before !== live.left().output.length; ) {
      before = live.left().output.length;
      await new Promise((resolve) => setTimeout(resolve, 60)); // six ticks, if it went on
    }
    expect(statusOf(pid, 'State')).toMatch(/^[tT]/);
    process.kill(pid, 'SIGCONT');
    const { length } = live.left().text;
    await until(() => live.left().text.length > length + 20, 'it ticks again');
    process.kill(pid, 'SIGUSR1');
    await live.over;
    expect(endsIn(live.left()).get(pid)).toEqual({ status: 10, source: 'ptrace' });
  });

  test('is seen by its shell to stop and to go on', async () => {
    const script = `
      set -m
      ${asker} ${plain} wait & job=$!
      until grep -q 'plain' /proc/$job/comm && grep -q '^State:.S' /proc/$job/status; do :; done
      kill -STOP $job; wait $job; echo "stopped $?"; jobs | grep -c Stopped
      kill -CONT $job; until jobs -r | grep -q .; do :; done; echo running
      kill -TERM $job; wait $job; echo "ended $?"
    `;
    const { text } = await shell(script);
    const told = text.split('\n').filter((line) => /^(stopped|running|ended|\d)/.test(line));
    expect(told).toEqual(['stopped 147', '1', 'running', 'ended 143']);
  });

  test('does not outlive a deadline', async () => {
    const attempt = async (killAfterMs: number) => {
      const text = `${asker} ${plain} ticks & ${asker} ${plain} wait & wait`;
      const live = start(bash(text), { killAfterMs, graceMs: 30_000 });
      expect(await live.done).toMatchObject({ endedBy: 'timeout' });
      await live.over;
      return live;
    };
    const both = (live: Awaited<ReturnType<typeof attempt>>): boolean =>
      startsByPtrace(live.left()).length === 2;
    const live = await withTime(3_000, attempt, both);
    const [kill] = live.left().events.filter(({ type }) => type === 'kill');
    expect(kill).toMatchObject({ by: 'timeout', alive: [] });
    const ends = framesOf(live.left(), 'reap').filter(({ source }) => byPtrace(source));
    expect(ends.map(({ status }) => status)).toEqual([15, 15]);
  });

  test('can be killed by whoever kills the run, stopped or not', async () => {
    const live = start(bash(`${asker} ${plain} ticks & (setsid ${asker} ${plain} wait &) ; wait`));
    await live.shows(/tick 3\n/);
    await live.shows(/plain \d+\n/);
    const [one = 0, two = 0] = framesOf(live.left(), 'start')
      .filter(({ source }) => byPtrace(source))
      .map(({ who }) => who.pid);
    process.kill(one, 'SIGSTOP');
    live.handle.kill({ signal: 'TERM', graceMs: 50_000, cause: 'kill' });
    await live.over;
    expect([one, two].filter(alive)).toEqual([]);
    expect(endsIn(live.left()).get(two)?.status).toBe(15);
  });

  test('goes on when the runner is killed', async () => {
    const live = start(bash(`${asker} ${plain} ticks > ticks; exit 0`));
    const ticks = (): string => readFileSync(join(root, 'ticks'), 'utf8');
    await until(() => startsByPtrace(live.left()).length === 1, 'it is followed');
    const frame = framesOf(live.left(), 'start').find(({ source }) => byPtrace(source));
    const pid = frame?.who.pid ?? 0;
    await until(() => ticks().length > 0, 'it ticks');
    process.kill(live.left().header?.runnerPid ?? 0, 'SIGKILL');
    await live.over;
    const { length } = ticks();
    await until(() => ticks().length > length + 50, 'it still ticks');
    expect(statusOf(pid, 'TracerPid')).toBe('0');
    process.kill(pid, 'SIGKILL');
    await until(() => !alive(pid), 'it is gone');
  });

  test('that debugs its own children is known, and left to do so', async () => {
    const left = await shell(`${asker} ${debugging} debugger; exit 3`);
    expect(left.text).toBe('answer 1\nstopped 1\nexit 9\n');
    expect(startsByPtrace(left)).toEqual([[debugging, 'debugger']]);
    expect(framesOf(left, 'reap').map(({ source }) => source)).toEqual(['runner']);
  });

  test.skipIf(noStrace)('that debugs others is left to do so', async () => {
    const left = await shell(`${asker} strace -o /dev/null ${plain} hello; echo $?`);
    expect(left.text).toMatch(/^answer 1\nplain \d+\n4\n$/);
  });
});

describe.skipIf(noFollowing)('an order to follow', () => {
  test.skipIf(noStrace)('somebody who is traced already is refused at once', async () => {
    const left = await shell(`strace -o /dev/null ${asker} ${plain} hello; echo $?`);
    expect(left.text).toMatch(/^answer 2\nplain \d+\n4\n$/);
    expect(startsByPtrace(left)).toEqual([]);
  });

  test.skipIf(noSpaces)('finds who asks in a pid namespace of its own', async () => {
    const left = await shell(`unshare -pf --mount-proc ${asker} ${plain} hello; echo $?`);
    expect(left.text).toBe('answer 1\nplain 1\n4\n');
    const starts = framesOf(left, 'start').filter(({ source }) => byPtrace(source));
    expect(starts).toMatchObject([
      { inner: { pid: 1, space: expect.any(Number) }, argv: [plain, 'hello'] },
    ]);
    const [{ who } = { who: { pid: 0 } }] = starts;
    expect(endsIn(left).get(who.pid)).toEqual({ status: 4 << 8, source: 'ptrace' });
  });

  test('that comes too late changes nothing in the new program', async () => {
    const left = await run(
      bash(`for i in {1..20}; do ${asker} -late ${plain} hello; done; echo $?`),
    );
    expect(left.text).toMatch(/^(plain \d+\n){20}4\n$/);
    // Whoever was still there when the order was read is followed from there.
    expect(startsByPtrace(left).every(([program]) => program === plain)).toBe(true);
    const dynamic = await shell(`for i in {1..20}; do ${asker} -late sh -c :; done; exit 3`);
    expect(startsByPtrace(dynamic)).toEqual([]);
    const ends = framesOf(dynamic, 'reap').map(({ status }) => status);
    expect(new Set(ends)).toEqual(new Set([...ends.slice(0, -1).map(() => 0), 3 << 8]));
  });

  test('a stranger is not carried out', async () => {
    const live = start(bash(`${asker} -other ${process.pid} sh -c 'echo $?'`));
    await live.over;
    expect(live.left().text).toContain('answer 0\n');
    expect(statusOf(process.pid, 'TracerPid')).toBe('0');
  });

  test('is taken back when there was nothing to start', async () => {
    const tracer = "grep TracerPid /proc/self/status; sh -c 'exit 3'";
    const left = await shell(`${asker} -fail sh -c "${tracer}"; echo $?`);
    expect(left.text).toBe('answer 1\nTracerPid:\t0\n3\n');
    expect(framesOf(left, 'reap').map(({ source }) => source)).toEqual(['runner']);
  });
});
