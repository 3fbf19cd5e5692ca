// The runner and the real shim together: what one of them does not know, the other says, once.
import { spawnSync } from 'node:child_process';
import { cpSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { findShim } from '../../src/run/shim.ts';
import type { Frame } from '../../src/trace/decode/format.ts';
import { buildProcesses } from '../../src/trace/processes/processes.ts';
import { alive, until } from '../cli/helper.ts';
import { lacking } from '../requirements.ts';
import {
  bash,
  endsIn,
  follows,
  framesOf,
  type Left,
  leftIn,
  misjudged,
  newDir,
  plain,
  root,
  run,
  runnerPath,
  start,
  traces,
} from './runner-helper.ts';

const shim = findShim();
const shimDir = shim.kind === 'shim' ? shim.dir : '';
const noShim = lacking(!traces || shim.kind === 'none', 'there is no shim here');
const noFollowing = lacking(noShim || !follows, 'no shim, or nobody may be followed here');
const trace = { shimDir, envNames: [] };
const ENV = { PATH: process.env.PATH ?? '/usr/bin:/bin', HOME: process.env.HOME ?? '/' };

const traced = (text: string, transport: 'socket' | 'merged' | 'pipe' | 'pty' = 'merged') =>
  run(bash(text), { trace, transport, env: ENV });

/** Who began a program that was said to be static. */
function staticStarts(left: Left): { pid: number; argv: readonly string[] }[] {
  return framesOf(left, 'start')
    .filter(({ isStatic }) => isStatic)
    .map(({ who, argv }) => ({ pid: who.pid, argv }));
}

describe.skipIf(noShim)('with the shim', () => {
  test('who reported itself is not looked up as well', async () => {
    const text = 'for i in {1..20}; do sh -c "echo \\$\\$"; done; (echo fork); seq 1000 | cat';
    const left = await traced(text, 'socket');
    const writers = new Set(left.chunks.map(({ pid }) => pid));
    const reported = new Set(
      [...framesOf(left, 'start'), ...framesOf(left, 'fork')].map(({ who }) => who.pid),
    );
    expect([...writers].filter((pid) => !reported.has(pid ?? 0))).toEqual([]);
    expect(framesOf(left, 'start').filter(({ source }) => source === 'proc')).toEqual([]);
  });

  test.each(['socket', 'merged', 'pipe'] as const)(
    'over %s /dev/stdout and its like can be opened',
    async (transport) => {
      const program = join(root, `${transport}.py`);
      writeFileSync(program, "open('/dev/stdout', 'w').write('python\\n')\n");
      const lines = [
        'echo one > /dev/stdout',
        'echo two | tee /dev/stderr',
        'cat > /dev/fd/1 <<< three',
        'echo four > /proc/self/fd/1',
        `python3 ${program}`,
        'dd if=/dev/stdin of=/dev/stdout status=none <<< five',
        'awk \'BEGIN { print "six" > "/dev/stderr" }\'',
      ];
      const left = await traced(lines.join('; '), transport);
      const shown = left.text.split('\n').filter(Boolean).sort();
      const expected = ['one', 'two', 'two', 'three', 'four', 'python', 'five', 'six'];
      expect(shown).toEqual(expected.sort());
    },
  );

  test('150 writers at once, half of them short-lived programs, are told apart', async () => {
    const own = 'for i in {1..40}; do echo $BASHPID line; done';
    const short = 'for i in {1..5}; do sh -c "echo \\$\\$ short"; done';
    const left = await traced(`for w in {1..75}; do (${own}) & (${short}) & done; wait`, 'socket');
    expect(misjudged(left)).toEqual([]);
    expect(left.text.split('\n')).toHaveLength(75 * 45 + 1);
    const known = new Set(left.frames.map(({ who }) => who.pid));
    expect(left.chunks.filter(({ pid }) => !known.has(pid ?? 0))).toEqual([]);
  });

  test('merged output without stamps is one pipe, and all of it is told about', async () => {
    const text =
      'test -p /dev/stdout && echo pipe; for i in {1..20}; do sh -c "echo \\$\\$ >&2"; done';
    const options = { transport: 'merged', env: ENV } as const;
    const left = await run(bash(text), { ...options, trace: { ...trace, stamps: false } });
    expect(left.header).toMatchObject({ mode: 'pipe', merged: true });
    expect(left.text).toMatch(/^pipe\n(\d+\n){20}$/);
    expect(left.chunks.filter(({ pid }) => pid !== undefined)).toEqual([]);
    const reported = framesOf(left, 'start').filter(({ source }) => source === 'shim');
    expect(reported).toHaveLength(21);
    const written = framesOf(left, 'write').flatMap(({ writes }) => writes);
    expect(written.reduce((sum, { length }) => sum + length, 0)).toBe(left.output.length);
    const stamped = await run(bash('test -S /dev/stdout && echo yes'), { ...options, trace });
    expect(stamped.text).toBe('yes\n');
  });

  test('the header of every mode is taken by the shim', async () => {
    for (const transport of ['socket', 'merged', 'pipe', 'pty'] as const) {
      const left = await traced('sh -c "exit 3"; exit 4', transport);
      const shells = framesOf(left, 'start').filter(({ source }) => source === 'shim');
      expect(shells.map(({ argv }) => argv[0])).toEqual(['bash', 'sh']);
      expect(left.damagedBytes).toBe(0);
    }
  });
});

// Its first process is cloned by a system call of its own, into another pid namespace.
const BWRAP = ['bwrap', '--dev-bind', '/', '/', '--unshare-pid', '--proc', '/proc', '--'];
const worksHere = spawnSync(BWRAP[0] ?? '', [...BWRAP.slice(1), 'true']).status === 0;
const noBwrap = lacking(noFollowing || !worksHere, 'nobody may be followed, or there is no bwrap');

describe.skipIf(noBwrap)('behind bwrap, which clones past its libc', () => {
  test('nobody has a pid that is somebody else’s, and all are one tree', async () => {
    const text = 'echo first; /bin/echo second; (echo third); exit 4';
    const left = await run([...BWRAP, ...bash(text)], { trace, env: ENV });
    const named = (frame: Frame): boolean => frame.source === 'shim' && frame.who.space === 0;
    const real = new Set(left.chunks.map(({ pid }) => pid));
    const outer = new Set(left.frames.filter(named).map(({ who }) => who.pid));
    expect([...outer]).toHaveLength(1); // bwrap itself
    const { processes } = buildProcesses(left.frames, left.header);
    const [bwrap, first, shell, ...inner] = processes;
    const told = [bwrap, first, shell].map((one) => [one?.parent, one?.images.at(-1)?.argv[0]]);
    expect(told).toEqual([
      [undefined, 'bwrap'],
      [0, 'bwrap'],
      [1, 'bash'],
    ]);
    expect(inner.map(({ parent, forkedFrom }) => [parent, forkedFrom])).toEqual([
      [2, undefined],
      [2, 2],
    ]);
    const writers = [shell, ...inner].map((one) => one?.pid);
    expect(writers.every((pid) => real.has(pid))).toBe(true);
    expect(processes.map(({ exit }) => exit)).toEqual(
      [4, 4, 4, 0, 0].map((code) => ({ kind: 'exited', code })),
    );
  });
});

describe.skipIf(noFollowing)('static programs, as the shim asks for them', () => {
  test('are followed, with what they fork, and what they start has its shim again', async () => {
    const left = await traced(`${plain} forks; ${plain} hello; exit 0`);
    const said = (what: string): number =>
      Number(new RegExp(`^${what} (\\d+)`, 'm').exec(left.text)?.[1]);
    const statics = staticStarts(left).map(({ argv }) => argv);
    expect(statics).toEqual([
      [plain, 'forks'],
      ['again', 'hello'],
      [plain, 'hello'],
    ]);
    const ends = endsIn(left);
    expect(ends.get(said('forked'))).toEqual({ status: 7 << 8, source: 'ptrace' });
    expect(ends.get(said('static'))).toEqual({ status: 4 << 8, source: 'ptrace' });
    expect(ends.get(said('killed'))).toEqual({ status: 9, source: 'ptrace' });
    const [dynamic] = framesOf(left, 'start', said('dynamic'));
    expect(dynamic).toMatchObject({ source: 'shim', argv: ['sh', '-c', 'exit 5'] });
    expect(framesOf(left, 'exit', said('dynamic'))).toMatchObject([{ code: 5 }]);
  });

  test('do not lose a secret to a program that gets its value without its name', async () => {
    const secret = 'hunter-26-hunter';
    const file = join(root, 'secret');
    writeFileSync(file, secret);
    const text = `A_TOKEN=$(cat ${file}) ${plain} bare "-x=$(cat ${file})+$(cat ${file})"; exit 0`;
    const live = start(bash(text), { trace, transport: 'merged', env: ENV });
    await live.over;
    const [inner] = framesOf(live.left(), 'start').filter(({ argv }) => argv[0] === 'sh');
    expect(inner).toMatchObject({ source: 'shim', redacted: true, envCount: 0 });
    expect(inner?.argv).toEqual(['sh', '-c', 'exit 5', '-x=[A_TOKEN]+[A_TOKEN]']);
    expect(readFileSync(join(live.dir, 'trace.bin'), 'latin1')).not.toContain(secret);
  });

  test('give a damaged file of the shim to nobody', async () => {
    const dir = newDir();
    const copy = join(dir, 'shim');
    cpSync(shimDir, copy, { recursive: true });
    const all = `$(find ${copy} -name '*.so')`;
    const replace = `for f in ${all}; do echo no > $f.new; mv $f.new $f; done`;
    const text = `${replace}; ${plain} bare "/bin/echo hello"; exit 0`;
    const live = start(bash(text), {
      trace: { ...trace, shimDir: copy },
      transport: 'merged',
      env: ENV,
    });
    await live.over;
    expect(live.left().text).not.toContain('ld.so');
  });

  test('that start others through Python, Perl and find are all there', async () => {
    const lines = [
      `python3 -c "import subprocess; subprocess.run(['${plain}', 'hello'])"`,
      `python3 -c "import os; os.execv('${plain}', ['x', 'hello'])"`,
      `perl -e 'system("${plain} hello")'`,
      `find ${plain} -exec {} hello \\;`,
      `env -i ${plain} hello`,
      `bash -c 'exec ${plain} hello'`,
      `xargs ${plain} <<< hello`,
    ];
    const left = await traced(lines.join('; '));
    const pids = [...left.text.matchAll(/^plain (\d+)$/gm)].map(([, pid]) => Number(pid));
    expect(pids).toHaveLength(lines.length);
    const started = new Set(staticStarts(left).map(({ pid }) => pid));
    const flagged = new Set(
      framesOf(left, 'exec')
        .filter(({ isStatic }) => isStatic)
        .map(({ spawned, who }) => spawned ?? who.pid),
    );
    // A spawned child cannot ask; then its parent says what it was and how it ended.
    expect(pids.filter((pid) => !started.has(pid) && !flagged.has(pid))).toEqual([]);
    const ends = endsIn(left);
    expect(pids.filter((pid) => ends.get(pid)?.status !== 4 << 8)).toEqual([]);
  });

  test('fifty at once neither hang nor get lost', async () => {
    // The shim asks for a tenth of a second: a runner that gets no turn so long answers nobody.
    const followed: number[][] = [];
    do {
      const left = await traced(`for i in {1..50}; do ${plain} hello & done; wait; exit 0`);
      expect(left.text.match(/^plain \d+$/gm)).toHaveLength(50);
      const ends = framesOf(left, 'reap').filter(({ source }) => source === 'ptrace');
      followed.push([staticStarts(left).length, ends.length]);
    } while (followed.at(-1)?.some((count) => count !== 50) && followed.length < 5);
    expect(followed).toContainEqual([50, 50]);
  });

  test('go on when the runner is killed, and later ones do not wait for it', async () => {
    const file = join(root, 'after');
    writeFileSync(file, '');
    const script = `${plain} ticks > /dev/null & echo $! >> ${file}
      until test -e ${root}/killed; do sleep 0.01; done
      for round in {1..5}; do
      a=$(date +%s%N); for i in {1..20}; do /bin/true; done
      b=$(date +%s%N); for i in {1..20}; do ${plain} hello > /dev/null; done
      c=$(date +%s%N); echo $((b - a)) $((c - b)) >> ${file}; done`;
    const live = start(bash(script), { trace, env: ENV });
    await until(() => staticStarts(live.left()).length === 1, 'it is followed');
    const [{ pid } = { pid: 0 }] = staticStarts(live.left());
    process.kill(live.left().header?.runnerPid ?? 0, 'SIGKILL');
    await live.over;
    writeFileSync(join(root, 'killed'), '');
    const lines = (): string[] => readFileSync(file, 'utf8').trim().split('\n');
    await until(() => lines().length === 6, 'the script has come to its end');
    // One that has a loader asks nobody. Whoever waits in vain does so for 100 ms. The machine may
    // be busy in some of the rounds.
    const rounds = lines().slice(1);
    const best = (column: number): number =>
      Math.min(...rounds.map((line) => Number(line.split(' ')[column])));
    expect(best(1)).toBeLessThan(10 * best(0));
    expect(alive(pid)).toBe(true);
    process.kill(pid, 'SIGKILL');
    await until(() => !alive(pid), 'it is gone');
  });

  test('two captures, one in the other, both know their own', async () => {
    const inner = newDir();
    const words = [runnerPath, 'run', 'inner', '--dir', inner, '--transport', 'merged'];
    const text = `${plain} hello; sh -c 'exit 2'; exit 5`;
    const command = [...words, '--trace', shimDir, '--', ...bash(text)];
    const outer = await run(command, { trace, transport: 'merged', env: ENV });
    const left = leftIn(inner);
    expect(left.text).toMatch(/^plain \d+\n$/);
    expect(staticStarts(left).map(({ argv }) => argv)).toEqual([[plain, 'hello']]);
    expect([...endsIn(left).values()].map(({ status }) => status >> 8).sort()).toEqual([2, 4, 5]);
    expect(framesOf(outer, 'start').some(({ argv }) => argv.includes('inner'))).toBe(true);
    expect(framesOf(outer, 'reap').at(-1)).toMatchObject({ source: 'runner', status: 5 << 8 });
  });
});
