// Frames to processes: identity, images, ends, parents, and that no order of frames changes them.
import { describe, expect, it } from 'vitest';
import type { Frame } from '../../../src/trace/decode/format.ts';
import { buildProcesses } from '../../../src/trace/processes/processes.ts';
import { HEADER } from '../encode.ts';
import { at, exec, execFail, exit, exited, fork, reap, start } from '../frames.ts';
import { summary } from '../summary.ts';

describe('a process', () => {
  it('that started, ran and was waited for has all of it', () => {
    const frames = [
      start(0, 10, ['bash'], { source: 'runner', exe: 'bash', uid: 0 }),
      start(5, 10, ['bash'], { parent: HEADER.runnerPid, startTicks: 7, env: { HOME: '/h' } }),
      exit(100, 10, 3),
      reap(150, 'runner', 10, exited(3)),
    ];
    expect(buildProcesses(frames, HEADER).processes).toEqual([
      {
        id: 0,
        pid: 10,
        space: 0,
        ppid: HEADER.runnerPid,
        parent: undefined,
        depth: 0,
        startNs: at(0),
        endNs: at(100),
        images: [
          {
            exe: '/bin/bash',
            argv: ['bash'],
            args: 1,
            cwd: '/project',
            startNs: at(0),
            uid: 1000,
            env: { HOME: '/h' },
            isStatic: false,
            cut: false,
            redacted: false,
            argvFrom: 'child',
            inherited: false,
          },
        ],
        forkedFrom: undefined,
        exit: { kind: 'exited', code: 3 },
        failedExecs: [],
        sources: ['runner', 'shim'],
      },
    ]);
  });

  it('that reports itself twice, or through others too, is one', () => {
    const one = start(5, 10, ['make', 'all'], { parent: 9, startTicks: 7 });
    const again = { ...one, atNs: at(6) };
    const seen = start(9, 10, ['make', 'all'], { source: 'proc', startTicks: 7 });
    const given = start(1, 10, ['make', 'all'], { source: 'runner', exe: 'make' });
    expect(summary([seen, one, again, one, given])).toEqual([
      [10, 9, 0, 'make all', '?', 'proc,runner,shim'],
    ]);
  });

  it('that becomes another program has another image, also when that has the same name', () => {
    const frames = [
      start(0, 10, ['sh', 'x']),
      exec(5, 10, ['env', 'y']),
      start(6, 10, ['env', 'y']),
      exec(8, 10, ['env', 'y']),
      start(9, 10, ['env', 'y']),
    ];
    expect(summary(frames)).toEqual([[10, 0, 0, 'sh x -> env y -> env y', '?', 'shim']]);
  });

  it('that becomes another program past the shim has another image, too', () => {
    const frames = [start(0, 10, ['launcher']), start(9, 10, ['python3', 'x.py'])];
    expect(summary(frames)).toEqual([[10, 0, 0, 'launcher -> python3 x.py', '?', 'shim']]);
  });

  it('is not made by a word about lost frames', () => {
    const head = {
      source: 'runner',
      atNs: at(3),
      who: { pid: HEADER.runnerPid, space: 0 },
    } as const;
    expect(summary([{ type: 'drop', ...head, frames: 3, errno: 28 }])).toEqual([]);
  });

  it('that changed its title is the same', () => {
    const frames = [
      start(0, 10, ['node', 'x.js']),
      start(5, 10, ['worker: 1'], { source: 'proc', exe: '/bin/node' }),
    ];
    expect(summary(frames)).toEqual([[10, 0, 0, 'node x.js', '?', 'proc,shim']]);
  });

  it('started as a script is its interpreter, and one image', () => {
    const frames = [
      start(0, 10, ['./build.sh', 'a b'], { source: 'runner', exe: './build.sh' }),
      start(1, 10, ['/bin/bash', '-e', './build.sh', 'a b'], { exe: '/usr/bin/bash' }),
    ];
    expect(summary(frames)).toEqual([
      [10, 0, 0, '/bin/bash -e ./build.sh a b', '?', 'runner,shim'],
    ]);
  });

  it('whose words were redacted inside is the one that was started with them', () => {
    const frames = [
      start(0, 10, ['curl', '-u', 'me:hunter22'], { source: 'runner', exe: 'curl' }),
      start(1, 10, ['curl', '-u', 'me:[API_TOKEN]'], { redacted: true }),
    ];
    expect(summary(frames)).toEqual([[10, 0, 0, 'curl -u me:[API_TOKEN]', '?', 'runner,shim']]);
  });
});

describe('the end of a process', () => {
  const started = start(0, 10, ['x']);
  const end = (...frames: Frame[]) => {
    const [process] = buildProcesses([started, ...frames], HEADER).processes;
    return [process?.exit, process?.endNs];
  };

  it('is what was waited for, and else what it said itself', () => {
    expect(end(exit(50, 10, 4))).toEqual([{ kind: 'exited', code: 4 }, at(50)]);
    expect(end(exit(50, 10, 0), reap(60, 9, 10, exited(2)))).toEqual([
      { kind: 'exited', code: 2 },
      at(60),
    ]);
    expect(end(reap(60, 'ptrace', 10, 9), exit(50, 10, 0), reap(70, 9, 10, 9))).toEqual([
      { kind: 'signaled', signal: 'SIGKILL', core: false },
      at(60),
    ]);
    expect(end(reap(60, 9, 10, 0x8b))[0]).toEqual({
      kind: 'signaled',
      signal: 'SIGSEGV',
      core: true,
    });
    expect(end(reap(60, 9, 10, 35))[0]).toMatchObject({ signal: 'SIGRTMIN+1' });
    expect(end(reap(60, 9, 10, 33))[0]).toMatchObject({ signal: 'SIG33' });
    expect(end(exit(50, 10, -1))[0]).toEqual({ kind: 'exited', code: 255 });
  });

  it('is not that it stopped or went on', () => {
    expect(end(reap(60, 9, 10, 0x137f), reap(61, 9, 10, 0xffff))).toEqual([
      { kind: 'unknown' },
      undefined,
    ]);
  });

  it('of the root is known from the capture when no frame has it', () => {
    const facts = { root: { pid: 10, startTime: 0 }, endedAt: 1_794_816_006_000 } as const;
    const exitOf = (outcome: object) =>
      buildProcesses([started], HEADER, { ...facts, ...outcome }).processes[0];
    expect(exitOf({ outcome: { kind: 'signaled', signal: 'SIGTERM' } })).toMatchObject({
      exit: { kind: 'signaled', signal: 'SIGTERM' },
      endNs: 1_794_816_006_000_000_000n,
    });
    expect(exitOf({ outcome: { kind: 'exited', code: 1 } })?.exit).toEqual({
      kind: 'exited',
      code: 1,
    });
    expect(exitOf({ outcome: { kind: 'failed' } })?.exit).toEqual({ kind: 'unknown' });
  });
});

describe('a child', () => {
  const parent = start(0, 10, ['sh', '-c', 'x'], { startTicks: 1 });

  it('that was forked and never became a program of its own is a copy of its parent', () => {
    const { processes } = buildProcesses([parent, fork(5, 11, 10, { startTicks: 2 })], HEADER);
    const image = { argv: ['sh', '-c', 'x'], inherited: true, startNs: at(5), cwd: '/project' };
    expect(processes[1]).toMatchObject({ pid: 11, forkedFrom: 0, images: [image] });
  });

  it('is still one when somebody looked at it', () => {
    const seen = start(9, 11, ['sh', '-c', 'x'], { source: 'proc', parent: 10, startTicks: 2 });
    const frames = [parent, fork(5, 11, 10, { startTicks: 2 }), seen];
    expect(buildProcesses(frames, HEADER).processes[1]).toMatchObject({
      forkedFrom: 0,
      images: [{ inherited: true }],
      sources: ['proc', 'shim'],
    });
  });

  it('of which only a zombie was seen has the words of who started it', () => {
    const zombie = (us: number, name: string) =>
      start(us, 11, [`[${name}]`], { source: 'proc', exe: '', cut: true, cwd: '', parent: 10 });
    const words = (...frames: Frame[]) => summary([parent, ...frames])[1]?.[3];
    expect(words(exec(5, 11, ['rg', 'x'], { isStatic: true }), zombie(9, 'rg'))).toBe('rg x');
    expect(words(zombie(4, 'rg'), exec(5, 10, ['rg', 'x'], { spawned: 11 }))).toBe('rg x');
    expect(words(zombie(9, 'rg'))).toBe('[rg]');
    expect(words(zombie(4, 'rg'), start(5, 11, ['rg', 'x'], { source: 'ptrace' }))).toBe('rg x');
    expect(words(fork(5, 11, 10), zombie(9, 'sh'))).toBe('sh -c x');
    expect(words(fork(5, 11, 10), zombie(9, 'rg'))).toBe('[rg]');
  });

  it('that was forked, and followed, and became a program is one', () => {
    const frames = [
      parent,
      fork(5, 11, 10),
      exec(6, 11, ['static'], { isStatic: true }),
      { ...fork(7, 11, 10, { startTicks: 9 }), source: 'ptrace' } as const,
      start(8, 11, ['static'], { source: 'ptrace', startTicks: 9, isStatic: true }),
      reap(9, 'ptrace', 11, exited(3)),
    ];
    expect(summary(frames)[1]).toEqual([11, 10, 1, 'static', 3, 'ptrace,shim']);
    expect(summary(frames)).toHaveLength(2);
  });

  it('that was forked and then became a program is that program', () => {
    const frames = [parent, fork(5, 11, 10), exec(6, 11, ['ls']), start(7, 11, ['ls'])];
    const [, child] = buildProcesses(frames, HEADER).processes;
    expect(child?.images.map(({ argv, startNs }) => [argv, startNs])).toEqual([[['ls'], at(6)]]);
    expect(child?.forkedFrom).toBeUndefined();
  });

  it('that could not become a program is a copy of who started it, also by vfork', () => {
    const failed = [exec(5, 11, ['nope']), execFail(6, 11, '/nope'), reap(9, 10, 11, exited(127))];
    expect(buildProcesses([parent, ...failed], HEADER).processes[1]).toMatchObject({
      forkedFrom: 0,
      images: [{ argv: ['sh', '-c', 'x'], inherited: true }],
      failedExecs: [{ file: '/nope', errno: 2 }],
    });
    // Somebody waited for it, and that is all: what it was nobody knows.
    expect(buildProcesses([parent, reap(9, 10, 11, 9)], HEADER).processes[1]).toMatchObject({
      forkedFrom: undefined,
      images: [],
    });
  });

  it('of system() ended as that says, if no other can be meant', () => {
    const shell = (us: number, pid: number) => start(us, pid, ['sh', '-c', 'y'], { parent: 10 });
    const done = (us: number, since: number, status = 9) =>
      ({ ...reap(us, 10, 0, status), sinceNs: at(since) }) as const;
    const ends = (...frames: Frame[]) =>
      summary([parent, ...frames]).map(([pid, , , , e]) => [pid, e]);
    const root = [10, '?'];
    expect(ends(shell(5, 11), done(9, 4))).toEqual([root, [11, 'SIGKILL']]);
    expect(ends(shell(5, 11), done(9, 4), shell(12, 12), done(14, 10, 15))).toEqual([
      root,
      [11, 'SIGKILL'],
      [12, 'SIGTERM'],
    ]);
    // Two at once: nobody can tell which of them it was.
    expect(ends(shell(5, 11), shell(6, 12), done(9, 4))).toEqual([root, [11, '?'], [12, '?']]);
    expect(ends(shell(5, 11), done(4, 2))).toEqual([root, [11, '?']]);
    expect(ends(fork(5, 11, 10), done(9, 4))).toEqual([root, [11, '?']]);
    const [, child] = buildProcesses([parent, shell(5, 11), done(9, 4)], HEADER).processes;
    expect(child).toMatchObject({ sources: ['parent', 'shim'], endNs: at(9) });
  });

  it('that never reported has the words of who spawned it', () => {
    const frames = [parent, exec(5, 10, ['crash', '-x'], { spawned: 11 }), reap(9, 10, 11, 11)];
    expect(summary(frames)).toEqual([
      [10, 0, 0, 'sh -c x', '?', 'shim'],
      [11, 10, 1, 'crash -x', 'SIGSEGV', 'parent'],
    ]);
    expect(buildProcesses(frames, HEADER).processes[1]?.images[0]?.argvFrom).toBe('parent');
  });

  it('that reported has its own, whoever was first', () => {
    for (const told of [5, 50]) {
      const frames = [
        parent,
        start(10, 11, ['real', 'words'], { parent: 10, startTicks: 3 }),
        exec(told, 10, ['given'], { spawned: 11 }),
      ];
      expect(summary(frames)[1]).toEqual([11, 10, 1, 'real words', '?', 'parent,shim']);
    }
  });

  it('gone before its parent was back from spawning it is still one', () => {
    const frames = [
      parent,
      start(10, 11, ['quick'], { parent: 10, startTicks: 3 }),
      reap(20, 'ptrace', 11, 0),
      exec(21, 10, ['quick'], { spawned: 11 }),
    ];
    expect(summary(frames)).toHaveLength(2);
  });

  it('whose exec nobody heard of again has the words of that', () => {
    const frames = [parent, fork(5, 11, 10), exec(6, 11, ['sudo', 'id'])];
    expect(buildProcesses(frames, HEADER).processes[1]?.images).toMatchObject([
      { argv: ['sudo', 'id'], exe: '/bin/sudo', argvFrom: 'parent', inherited: false },
    ]);
  });

  it('whose exec failed did not become that, and it is told', () => {
    const frames = [
      parent,
      fork(5, 11, 10),
      exec(6, 11, ['nope']),
      execFail(7, 11, '/bin/nope'),
      execFail(8, 10, '/bin/other', 13, true),
    ];
    const { processes } = buildProcesses(frames, HEADER);
    expect(processes[1]).toMatchObject({
      images: [{ argv: ['sh', '-c', 'x'], inherited: true }],
      failedExecs: [{ file: '/bin/nope', errno: 2, atNs: at(7), spawn: false }],
    });
    expect(processes[0]?.failedExecs).toEqual([
      { file: '/bin/other', errno: 13, atNs: at(8), spawn: true },
    ]);
  });

  it('that is static and starts a dynamic program was both', () => {
    const frames = [
      parent,
      fork(5, 11, 10),
      exec(6, 11, ['busybox', 'env', 'ls'], { isStatic: true }),
      start(9, 11, ['ls']),
    ];
    expect(summary(frames)[1]?.[3]).toBe('busybox env ls -> ls');
    const followed = start(7, 11, ['busybox', 'env', 'ls'], { source: 'ptrace', isStatic: true });
    expect(summary([...frames, followed])[1]?.[3]).toBe('busybox env ls -> ls');
  });

  it('of a parent that died belongs to that and not to the runner', () => {
    const frames = [
      parent,
      fork(5, 11, 10),
      exit(6, 10, 0),
      exec(7, 11, ['daemon']),
      start(8, 11, ['daemon'], { parent: HEADER.runnerPid }),
      reap(99, 'runner', 11, 0),
    ];
    expect(summary(frames)[1]).toEqual([11, 10, 1, 'daemon', 0, 'runner,shim']);
  });

  it('that somebody traced belongs to its parent', () => {
    const frames = [
      parent,
      start(1, 12, ['strace'], { parent: 10 }),
      fork(5, 11, 10),
      reap(7, 12, 11, 0),
      reap(8, 10, 11, 0),
    ];
    expect(summary(frames).find(([pid]) => pid === 11)).toEqual([
      11,
      10,
      1,
      'sh -c x',
      0,
      'parent,shim',
    ]);
  });

  it('of which only the end is known is there', () => {
    expect(summary([parent, reap(9, 10, 77, exited(5))])[1]).toEqual([77, 10, 1, '', 5, 'parent']);
  });
});
