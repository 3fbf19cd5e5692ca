// Which frames are about the same process: pids that come again, and pids of other namespaces.
import { describe, expect, it } from 'vitest';
import { buildProcesses } from '../../../src/trace/processes/processes.ts';
import { HEADER } from '../encode.ts';
import { at, exec, exit, exited, fork, reap, start } from '../frames.ts';
import { summary } from '../summary.ts';

describe('a pid that comes again', () => {
  it('after its end is another process', () => {
    const frames = [
      start(0, 10, ['a']),
      reap(5, 'runner', 10, 0),
      start(9, 10, ['b']),
      reap(12, 'runner', 10, exited(1)),
    ];
    expect(summary(frames).map((one) => one.slice(3, 5))).toEqual([
      ['a', 0],
      ['b', 1],
    ]);
  });

  it('after it said that it leaves is another process, though nobody waited for it', () => {
    const frames = [start(0, 10, ['a']), exit(5, 10, 0), start(9, 10, ['b']), exit(12, 10, 1)];
    expect(summary(frames).map((one) => one.slice(3, 5))).toEqual([
      ['a', 0],
      ['b', 1],
    ]);
  });

  it('with another end is another process, though nobody saw a start', () => {
    const frames = [
      start(0, 9, ['sh']),
      start(1, 10, ['a'], { parent: 9 }),
      reap(5, 'ptrace', 10, 0),
      reap(6, 9, 10, 0),
      reap(8, 9, 10, exited(7)),
    ];
    expect(summary(frames).map((one) => one.slice(3, 5))).toEqual([
      ['sh', '?'],
      ['a', 0],
      ['', 7],
    ]);
  });

  it('is the same where everything happens at one moment', () => {
    const frames = [
      reap(5, 9, 10, exited(1)),
      exit(5, 10, 1),
      exec(5, 10, ['a']),
      fork(5, 10, 9),
      start(5, 9, ['sh']),
    ];
    expect(summary(frames).map((one) => one.slice(0, 5))).toEqual([
      [9, 0, 0, 'sh', '?'],
      [10, 9, 1, 'a', 1],
    ]);
  });

  it('with other ticks is another process, though nobody saw an end', () => {
    const frames = [start(0, 10, ['a'], { startTicks: 5 }), start(9, 10, ['a'], { startTicks: 6 })];
    expect(summary(frames)).toHaveLength(2);
  });

  it('with the same ticks is the same, though it came late', () => {
    const frames = [
      start(0, 10, ['a'], { startTicks: 5 }),
      reap(7, 9, 10, 0),
      start(9, 10, ['a'], { startTicks: 5, source: 'proc' }),
    ];
    expect(summary(frames)).toEqual([[10, 0, 0, 'a', 0, 'parent,proc,shim']]);
  });

  it('was looked up a moment too late', () => {
    const frames = [
      start(0, 9, ['sh']),
      exec(1, 10, ['rg', 'x'], { isStatic: true }),
      reap(7, 9, 10, 0),
      start(8, 10, ['rg', 'x'], { startTicks: 5, source: 'proc', parent: 9 }),
    ];
    expect(summary(frames)).toHaveLength(2);
  });

  it('is found by time', () => {
    const frames = [
      start(10, 5, ['a']),
      reap(20, 'runner', 5, 0),
      start(30, 5, ['b']),
      reap(40, 'runner', 5, 0),
    ];
    const { find } = buildProcesses(frames, HEADER);
    const words = (us: number) => find({ pid: 5, space: 0 }, at(us))?.images[0]?.argv[0];
    expect([0, 10, 15, 20, 24, 26, 30, 99].map(words)).toEqual([
      'a',
      'a',
      'a',
      'a',
      'a',
      'b',
      'b',
      'b',
    ]);
    expect(find({ pid: 6, space: 0 }, at(15))).toBeUndefined();
  });
});

describe('a process in another pid namespace', () => {
  const NS = 4_026_532_777;
  const outside = start(0, 100, ['unshare'], { startTicks: 1 });

  it('is one, reported from inside and seen from outside', () => {
    const frames = [
      outside,
      start(5, 1, ['sh'], { space: NS, startTicks: 9 }),
      start(6, 101, ['sh'], {
        source: 'proc',
        parent: 100,
        startTicks: 9,
        inner: { pid: 1, space: NS },
      }),
      fork(7, 2, 1, { space: NS, startTicks: 10 }),
      reap(8, 1, 2, exited(4), NS),
    ];
    expect(summary(frames)).toEqual([
      [100, 0, 0, 'unshare', '?', 'shim'],
      [101, 100, 1, 'sh', '?', 'proc,shim'],
      [2, 101, 2, 'sh', 4, 'parent,shim'],
    ]);
    const { find } = buildProcesses(frames, HEADER);
    expect(find({ pid: 101, space: 0 }, at(7))).toBe(find({ pid: 1, space: NS }, at(7)));
  });

  it('that mounted its own /proc on the way is one', () => {
    const frames = [
      outside,
      fork(5, 101, 100, { startTicks: 9, inner: { pid: 1, space: NS } }),
      start(6, 1, ['sh'], { space: NS, startTicks: 9 }),
      reap(9, 100, 101, 9),
    ];
    expect(summary(frames)[1]).toEqual([101, 100, 1, 'sh', 'SIGKILL', 'parent,shim']);
  });

  it('sees its children by their inner pids', () => {
    const inner = (pid: number) => ({ pid, space: NS });
    const frames = [
      outside,
      start(5, 101, ['sh'], { startTicks: 9, parent: 100, inner: inner(1) }),
      start(6, 102, ['ls'], { startTicks: 10, parent: 101, inner: inner(2) }),
      exec(7, 101, ['ls'], { spawned: 2 }),
      reap(8, 101, 2, exited(2)),
    ];
    expect(summary(frames)).toEqual([
      [100, 0, 0, 'unshare', '?', 'shim'],
      [101, 100, 1, 'sh', '?', 'shim'],
      [102, 101, 2, 'ls', 2, 'parent,shim'],
    ]);
  });

  it('with the same pid as one outside is another', () => {
    const frames = [outside, start(5, 100, ['sh'], { space: NS })];
    expect(summary(frames)).toHaveLength(2);
    const own = start(5, 100, ['unshare'], { space: HEADER.pidNamespace, startTicks: 1 });
    expect(summary([outside, own])).toHaveLength(1);
  });
});
