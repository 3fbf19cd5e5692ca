// What a process used: which report counts, and what is said where the kernel's number is not that
// of the program.
import { describe, expect, it } from 'vitest';
import type { Frame } from '../../../src/trace/decode/format.ts';
import type { Process } from '../../../src/trace/processes/process.ts';
import { buildProcesses, type RunEnd } from '../../../src/trace/processes/processes.ts';
import { HEADER } from '../encode.ts';
import { exec, exit, fork, reap, start } from '../frames.ts';

const MIB = 1024 * 1024;

type Usage = { readonly cpuNs: number | undefined; readonly peakBytes: number | undefined };

const ended = (us: number, pid: number, usage: Usage): Frame =>
  ({ ...exit(us, pid, 0), usage }) as Frame;

const waited = (us: number, pid: number, status: number, usage: Usage): Frame =>
  ({ ...reap(us, 'runner', pid, status), usage }) as Frame;

function processOf(pid: number, frames: readonly Frame[], end: RunEnd = {}): Process {
  const found = buildProcesses(frames, HEADER, end).processes.find((one) => one.pid === pid);
  if (found === undefined) throw new Error(`no process ${pid}`);
  return found;
}

function usageOf(pid: number, frames: readonly Frame[]): Pick<Process, 'cpuNs' | 'peak'> {
  const { cpuNs, peak } = processOf(pid, frames);
  return { cpuNs, peak };
}

describe('what a process used', () => {
  it('is what it said when it ended', () => {
    const frames = [
      start(0, 10, ['cc1'], { peakBefore: 2 * MIB }),
      ended(90, 10, { cpuNs: 5_000_000, peakBytes: 28 * MIB }),
    ];
    expect(usageOf(10, frames)).toEqual({
      cpuNs: 5_000_000,
      peak: { kind: 'known', bytes: 28 * MIB },
    });
  });

  it('is not known if it did not say it: killed, or of an older trace', () => {
    const killed = [start(0, 10, ['a']), reap(50, 9, 10, 9)];
    const older = [start(0, 10, ['a']), exit(50, 10, 0)];
    for (const frames of [killed, older]) {
      expect(usageOf(10, frames)).toEqual({ cpuNs: undefined, peak: undefined });
    }
  });

  it('is known in part where one number is missing', () => {
    const frames = [start(0, 10, ['a']), ended(9, 10, { cpuNs: 7, peakBytes: undefined })];
    expect(usageOf(10, frames)).toEqual({ cpuNs: 7, peak: undefined });
  });

  it('is what the kernel told the runner, whatever the process says itself', () => {
    const frames = [
      start(0, 10, ['a'], { peakBefore: MIB }),
      ended(90, 10, { cpuNs: 1, peakBytes: 900 * MIB }),
      waited(95, 10, 0, { cpuNs: 12_000, peakBytes: 3 * MIB }),
    ];
    expect(usageOf(10, frames)).toEqual({
      cpuNs: 12_000,
      peak: { kind: 'known', bytes: 3 * MIB },
    });
  });
});

describe('the most memory of a program', () => {
  const small = { cpuNs: 1000, peakBytes: 60 * MIB };

  it('is only limited by what its process had before it', () => {
    const frames = [start(0, 10, ['true'], { peakBefore: 60 * MIB }), ended(9, 10, small)];
    expect(usageOf(10, frames).peak).toEqual({ kind: 'at most', bytes: 60 * MIB });
  });

  it('is only limited where nothing is known about that', () => {
    const frames = [start(0, 10, ['true']), ended(9, 10, small)];
    expect(usageOf(10, frames).peak).toEqual({ kind: 'at most', bytes: 60 * MIB });
  });

  it('is known if its parent never had as much', () => {
    const parent = [start(0, 9, ['sh']), ended(99, 9, { cpuNs: 1, peakBytes: 2 * MIB })];
    const child = [start(10, 10, ['go'], { parent: 9, source: 'ptrace', isStatic: true })];
    const frames = [...parent, fork(9, 10, 9), ...child, waited(50, 10, 0, small)];
    expect(usageOf(10, frames).peak).toEqual({ kind: 'known', bytes: 60 * MIB });
    const large = [...frames.slice(0, 1), ended(99, 9, { cpuNs: 1, peakBytes: 60 * MIB })];
    expect(usageOf(10, [...large, ...frames.slice(2)]).peak?.kind).toBe('at most');
  });

  it('is known of a copy that never became a program, which has what it was copied from', () => {
    const frames = [start(0, 9, ['sh']), fork(5, 10, 9), ended(9, 10, small)];
    expect(usageOf(10, frames).peak).toEqual({ kind: 'known', bytes: 60 * MIB });
  });

  it('is only limited where the program before it may have had more', () => {
    const frames = [
      start(0, 10, ['sh'], { peakBefore: MIB }),
      exec(5, 10, ['go'], { isStatic: true }),
      start(6, 10, ['go'], { source: 'ptrace', isStatic: true }),
      waited(9, 10, 0, small),
    ];
    expect(usageOf(10, frames).peak?.kind).toBe('at most');
  });
});

describe('the end of a process', () => {
  const frames = [start(0, 10, ['serve'], { startTicks: 700 })];
  const alive = (pid: number, startTime: number): RunEnd => ({ alive: [{ pid, startTime }] });

  it('that is alive is still to come', () => {
    expect(processOf(10, frames, alive(10, 700)).exit).toEqual({ kind: 'running' });
  });

  it('was not seen if it is not alive, or another process has its pid', () => {
    for (const end of [{}, alive(11, 700), alive(10, 701)]) {
      expect(processOf(10, frames, end).exit).toEqual({ kind: 'unknown' });
    }
  });

  it('that was told counts, whatever is alive', () => {
    const done = [...frames, exit(9, 10, 0)];
    expect(processOf(10, done, alive(10, 700)).exit).toEqual({ kind: 'exited', code: 0 });
  });

  it('of two with one pid is still to come for the later one alone', () => {
    const both = [fork(0, 10, 9), exit(5, 10, 0), fork(8, 10, 9)];
    const { processes } = buildProcesses(both, HEADER, alive(10, 700));
    expect(processes.map(({ exit: { kind } }) => kind)).toEqual(['exited', 'running']);
    const unseen = [start(0, 10, ['a'], { startTicks: 5 }), start(8, 10, ['b'], { startTicks: 9 })];
    const again = buildProcesses(unseen, HEADER, { alive: [{ pid: 10, startTime: 0 }] }).processes;
    expect(again.map(({ exit: { kind } }) => kind)).toEqual(['unknown', 'running']);
  });

  it('in another pid namespace is not looked up under a number of this one', () => {
    const inside = [start(0, 10, ['init'], { space: 77 })];
    expect(processOf(10, inside, alive(10, 0)).exit).toEqual({ kind: 'unknown' });
  });
});
