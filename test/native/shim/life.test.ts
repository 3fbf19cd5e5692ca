// Beginnings and ends: what START tells about a program, that a fork is told by the child, that an
// exit is told once whatever way it takes, and that who waits tells how a child ended.
import { mkdirSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { buildProcesses } from '../../../src/trace/processes/processes.ts';
import { lacking } from '../../requirements.ts';
import { bare, ENV, framesOf, program, traced, work } from './helper.ts';

const ender = program('ender');
const starter = program('starter');
const waiter = program('waiter');

describe('START', () => {
  it('comes first, from the image itself, with everything about it', () => {
    const cwd = join(work, 'some where');
    mkdirSync(cwd, { recursive: true });
    const run = traced(['/bin/sh', '-c', 'true', 'a b', ''], {
      cwd,
      env: { LANG: 'C', SECRET_KEY: 'sesame-open' },
      header: { envNames: ['HOME', 'LANG', 'SECRET_KEY', 'NOT_SET'] },
    });
    expect(run.damagedBytes).toBe(0);
    expect(run.frames[0]).toMatchObject({
      type: 'start',
      source: 'shim',
      who: { pid: run.pid, space: 0 },
      parent: process.pid,
      uid: process.getuid?.(),
      exe: expect.stringMatching(/^\/usr\/bin\/\w+$/),
      cwd,
      argv: ['/bin/sh', '-c', 'true', 'a b', ''],
      args: 5,
      cut: false,
      envCount: 5,
      env: { HOME: ENV.HOME, LANG: 'C' },
      inner: undefined,
    });
    expect(framesOf(run, 'start')[0]?.startTicks).toBeGreaterThan(0);
  });

  it.each([
    ['a path', '/bin/true'],
    ['a chain of links', '$W/link-2'],
    ['a link to a directory', '$W/dir/true'],
    ['a relative path', '../$(basename $W)/./link-1'],
    ['dots', '/usr/../usr/./bin/../bin/true'],
    ['a name', 'true'],
    ['a script', '$W/script'],
  ])('has the path of the program without links: %s', (_, words) => {
    const links = { 'link-1': '/bin/true', 'link-2': 'link-1', dir: '/bin' };
    for (const [name, target] of Object.entries(links)) {
      rmSync(join(work, name), { force: true });
      symlinkSync(target, join(work, name));
    }
    writeFileSync(join(work, 'script'), '#!/bin/true\n', { mode: 0o755 });
    const exe = realpathSync('/bin/true');
    for (const way of ['execvp', 'fork', 'vfork', 'posix_spawnp']) {
      const text = `exec ${starter} ${way} ${words}`;
      const run = traced(['sh', '-c', text], { env: { W: work } });
      const own = way === 'fork' || way === 'vfork';
      const status = words === 'true' && own ? 99 : 0; // no search along PATH
      expect([way, run.status]).toEqual([way, status]);
      if (status === 0) expect(framesOf(run, 'start').at(-1)).toMatchObject({ exe });
    }
  });

  it('finds its way without the hint about /proc', () => {
    const run = traced(['/bin/true'], { header: { procDevice: 0 } });
    expect(run.frames[0]).toMatchObject({ who: { pid: run.pid, space: 0 }, inner: undefined });
  });

  it('another pid namespace is named by its inode', () => {
    const header = { procDevice: 0, pidNamespace: 17 };
    const [start] = framesOf(traced(['/bin/true'], { header }), 'start');
    expect(start?.who.space).toBeGreaterThan(17);
  });

  const nobody = lacking(process.getuid?.() !== 0, 'only root can make a pid namespace');
  it.skipIf(nobody)('in a pid namespace the outer number counts, and both are told', () => {
    const run = traced(['unshare', '--pid', '--fork', 'sh', '-c', '/bin/true; exit 3']);
    expect(run).toMatchObject({ status: 3, stdout: '', stderr: '' });
    const inside = framesOf(run, 'start').filter((frame) => frame.inner !== undefined);
    expect(inside.map((frame) => [frame.argv[0], frame.inner?.pid])).toEqual([
      ['sh', 1],
      ['/bin/true', 2],
    ]);
    expect(inside.every((frame) => frame.who.space === 0 && frame.who.pid > 2)).toBe(true);
    expect(new Set(run.frames.map((frame) => frame.who.space))).toEqual(new Set([0]));
  });

  it.skipIf(nobody)('with a /proc of its own it is the namespace that counts', () => {
    const words = ['--pid', '--fork', '--mount-proc', 'sh', '-c', '/bin/true; exit 3'];
    const run = traced(['unshare', ...words]);
    expect(run).toMatchObject({ status: 3, stdout: '', stderr: '' });
    const inside = framesOf(run, 'start').slice(1);
    expect(inside.map((frame) => [frame.argv[0], frame.who.pid])).toEqual([
      ['sh', 1],
      ['/bin/true', 2],
    ]);
    expect(new Set(inside.map((frame) => frame.who.space)).size).toBe(1);
    expect(inside[0]?.who.space).toBeGreaterThan(0);
  });
});

describe('FORK', () => {
  it('is told by the child, and by nobody else', () => {
    const run = traced([ender, 'fork', '6']);
    expect(run).toMatchObject({ status: 0, stdout: 'buffered\nhandler\nhandler\n' });
    const [fork, ...others] = framesOf(run, 'fork');
    expect(others).toEqual([]);
    expect(fork).toMatchObject({ parent: run.pid, who: { space: 0 } });
    expect(framesOf(run, 'exit').map((frame) => [frame.who.pid, frame.code])).toEqual([
      [fork?.who.pid, 6],
      [run.pid, 0],
    ]);
    expect(framesOf(run, 'reap')).toMatchObject([{ child: fork?.who.pid, status: 6 << 8 }]);
  });

  it.each(['daemon', 'forkpty'])('%s forks inside the libc and is seen too', (way) => {
    const forker = program('forker', 'cc -O1 -lutil');
    const run = traced([forker, way]);
    expect(run).toMatchObject({ status: 0, stderr: '' });
    expect(framesOf(run, 'fork')).toMatchObject([{ parent: run.pid }]);
  });
});

describe('EXIT', () => {
  it.each([
    ['return', 0],
    ['return', 7],
    ['exit', 8],
    ['_exit', 9],
    ['_Exit', 10],
    ['quick_exit', 11],
    ['pthread_exit', 0],
    ['thread', 12],
    ['exit', 300],
  ])('%s with %i is told once', (way, code) => {
    const argv = [ender, way, `${code}`];
    const run = traced(argv);
    expect(run).toMatchObject(bare(argv));
    expect(framesOf(run, 'exit').map((frame) => frame.code)).toEqual([code & 255]);
  });

  it.each(['abort', 'kill', 'raw'])('%s is nothing a process can tell', (way) => {
    const argv = [ender, way, '5'];
    const run = traced(argv);
    expect(run).toMatchObject(bare(argv));
    expect(framesOf(run, 'exit')).toEqual([]);
  });

  it('a vfork child that cannot exec tells its own, and its parent still tells its own', () => {
    const run = traced([starter, 'vfork', '/nonexistent']);
    const child = framesOf(run, 'reap')[0]?.child;
    expect(framesOf(run, 'exit').map((frame) => [frame.who.pid, frame.code])).toEqual([
      [child, 99],
      [run.pid, 99],
    ]);
    expect(framesOf(run, 'execfail')).toMatchObject([{ who: { pid: child }, errno: 2 }]);
  });
});

describe('REAP', () => {
  const ended = [3 << 8, 15];
  it.each([
    ['wait', ended],
    ['wait-null', ended],
    ['waitpid', [...ended, 9]],
    ['wait3', [...ended, 9]],
    ['wait4', [...ended, 9]],
    ['waitid', [...ended, 9]],
    ['waitid-twice', ended],
  ])('%s tells exits and signals, no stops, and each child once', (way, statuses) => {
    const run = traced([waiter, way]);
    expect(run).toMatchObject(bare([waiter, way]));
    expect(framesOf(run, 'reap').map((frame) => frame.status)).toEqual(statuses);
    const children = framesOf(run, 'fork').map((frame) => frame.who.pid);
    expect(framesOf(run, 'reap').map((frame) => frame.child)).toEqual(children);
  });
});

describe('REAP by the libc itself', () => {
  it('tells the signal of a shell that system() waited for', () => {
    const text = 'import os; os.system("kill -9 $$"); os.system("exit 3"); print(1)';
    const argv = ['python3', '-c', text];
    const run = traced(argv);
    expect(run).toMatchObject(bare(argv));
    const [reap, ...others] = framesOf(run, 'reap');
    expect(others).toEqual([]);
    expect(reap).toMatchObject({ who: { pid: run.pid }, child: 0, status: 9 });
    const shells = framesOf(run, 'start').filter(({ argv: [word] }) => word === 'sh');
    const [since = 0n, until = 0n] = [reap?.sinceNs, reap?.atNs];
    const meant = shells.map(({ atNs }) => since <= atNs && atNs <= until);
    expect(meant).toEqual([true, false]);
    const { processes } = buildProcesses(run.frames, undefined);
    expect(processes.slice(1).map(({ exit }) => exit)).toEqual([
      { kind: 'signaled', signal: 'SIGKILL', core: false },
      { kind: 'exited', code: 3 },
    ]);
  });
});

describe.each(['system', 'popen'])('a shell that %s started', (way) => {
  it('and a signal ended is known by that', () => {
    const argv = [starter, way, 'kill -15 $$'];
    const run = traced(argv);
    expect(run).toMatchObject(bare(argv));
    expect(framesOf(run, 'reap')).toMatchObject([{ child: 0, status: 15 }]);
    const [, shell] = buildProcesses(run.frames, undefined).processes;
    expect(shell?.exit).toEqual({ kind: 'signaled', signal: 'SIGTERM', core: false });
  });
});

describe('pipelines and interpreters', () => {
  it('every process of a shell pipeline is there, with its exit', () => {
    const argv = ['bash', '-c', 'false | cat | (exit 4); ls /nonexistent; python3 -c "print(1)"'];
    const run = traced(argv);
    expect(run).toMatchObject(bare(argv));
    const names = framesOf(run, 'start').map((frame) => frame.argv[0]);
    expect(names).toEqual(expect.arrayContaining(['bash', 'cat', 'ls', 'python3']));
    for (const { who } of framesOf(run, 'fork')) {
      const exits = framesOf(run, 'exit').filter((frame) => frame.who.pid === who.pid);
      const reaps = framesOf(run, 'reap').filter((frame) => frame.child === who.pid);
      expect([exits.length, reaps.length]).toEqual([1, 1]);
    }
  });
});
