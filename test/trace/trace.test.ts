// A trace as a whole, and as JSON.
import { describe, expect, it } from 'vitest';
import { decodeTrace } from '../../src/trace/decode/decode.ts';
import { disabledJson, timeOf, traceJson } from '../../src/trace/json.ts';
import { buildTrace, processOutput } from '../../src/trace/trace.ts';
import { encodeTrace, HEADER } from './encode.ts';
import { exampleTrace, OUTPUT } from './example.ts';
import { start, write, wrote } from './frames.ts';

const trace = exampleTrace();

describe('a trace', () => {
  it('has every process, and how many bytes each wrote to which stream', () => {
    expect(trace.processes.map(({ pid, bytes }) => [pid, bytes])).toEqual([
      [10, { stdout: 0, stderr: 0, pty: 0 }],
      [11, { stdout: 0, stderr: 21, pty: 0 }],
      [12, { stdout: 24, stderr: 0, pty: 0 }],
      [13, { stdout: 0, stderr: 7, pty: 0 }],
      [14, { stdout: 12, stderr: 0, pty: 0 }],
      [99, { stdout: 13, stderr: 0, pty: 0 }],
    ]);
    expect(trace.unattributedBytes).toBe(0);
  });

  it('has an id, a mode, and the time when it began', () => {
    expect([trace.captureId, trace.mode, trace.startedNs]).toEqual([
      HEADER.captureId,
      'socket',
      HEADER.startedNs,
    ]);
  });

  it('says what it does not know', () => {
    expect(trace.untraced).toEqual([
      { kind: 'static', pid: 14, exe: '/bin/rg' },
      { kind: 'writer', pid: 99, bytes: 13 },
      { kind: 'dropped', pid: 13, frames: 3 },
      { kind: 'damaged', bytes: 7 },
    ]);
    expect(exampleTrace([], 0)).toMatchObject({ untraced: [{ pid: 11 }, {}, {}, {}, {}] });
  });

  it('says why a program that installs a seccomp filter by itself reports nothing else', () => {
    const bytes = encodeTrace(HEADER, [start(0, 10, ['jail'], { silent: true })]);
    const silent = buildTrace({
      captureId: 'x',
      decoded: decodeTrace(bytes),
      chunks: [],
      read: () => Buffer.alloc(0),
      runEnd: {},
    });
    expect(traceJson(silent, {})).toMatchObject({
      untraced: [{ reason: 'installs_seccomp_filter', pid: 10, exe: '/bin/jail' }],
    });
  });

  it('counts the bytes that nobody wrote, and knows a pid that came twice', () => {
    const output = Buffer.from('what the first one said\r\n^Cwhat the second one said\r\n');
    const frames = [
      start(0, 10, ['a'], { startTicks: 1 }),
      write(9, 10, [wrote(5, 'what the first one said\n', 'pty')]),
      start(20, 10, ['b'], { startTicks: 2 }),
      write(29, 10, [wrote(25, 'what the second one said\n', 'pty')]),
    ];
    const { length } = output;
    const at = Number(HEADER.startedNs / 1_000_000n);
    const both = buildTrace({
      captureId: 'x',
      decoded: { header: HEADER, frames, damagedBytes: 0 },
      chunks: [{ offset: 0, length, channel: 'pty', at, lines: 2 }],
      read: (offset, count) => output.subarray(offset, offset + count),
      runEnd: {},
    });
    expect(both.unattributedBytes).toBe(2);
    expect(both.untraced).toEqual([{ kind: 'output', bytes: 2 }]);
    expect(traceJson(both, {})).toMatchObject({
      untraced: [{ reason: 'unattributed_bytes', bytes: 2 }],
    });
    expect(both.processes.map(({ bytes }) => bytes.pty)).toEqual([25, 26]);
    expect(processOutput(both, 10)).toEqual([
      { offset: 0, length: 25, channel: 'pty' },
      { offset: 27, length: 26, channel: 'pty' },
    ]);
  });

  it('gives the output of one process alone', () => {
    const text = (pid: number) =>
      processOutput(trace, pid)
        .map(({ offset, length, channel }) => {
          return `${channel}:${OUTPUT.toString('utf8', offset, offset + length)}`;
        })
        .join('');
    expect(text(11)).toBe('stderr:sort: cannot read: x\n');
    expect(text(99)).toBe('stdout:from nowhere\n');
    expect(text(10)).toBe('');
    expect(text(12345)).toBe('');
  });
});

describe('as JSON', () => {
  it('it has the shape that is promised', () => {
    const json = traceJson(trace, { shim: true, socket: true, ptrace: false });
    expect(Object.keys(json)).toEqual([
      'capture_id',
      'enabled',
      'mode',
      'started_at',
      'capabilities',
      'processes',
      'critical_path',
      'unattributed_bytes',
      'untraced',
    ]);
    expect(JSON.parse(JSON.stringify(json))).toMatchObject({
      capture_id: HEADER.captureId,
      enabled: true,
      mode: 'socket',
      started_at: '2026-11-16T08:00:05.000000000Z',
      capabilities: { shim: true, socket: true, ptrace: false },
      unattributed_bytes: 0,
      untraced: [
        { reason: 'static_program', pid: 14, exe: '/bin/rg' },
        { reason: 'unknown_writer', pid: 99, bytes: 13 },
        { reason: 'dropped_frames', pid: 13, frames: 3 },
        { reason: 'damaged_bytes', bytes: 7 },
      ],
    });
  });

  it('every process has these keys, and times are whole nanoseconds of the capture', () => {
    const { processes } = traceJson(trace, {}) as { processes: unknown[] };
    expect(JSON.parse(JSON.stringify(processes.slice(1, 3)))).toEqual([
      {
        pid: 11,
        ppid: 10,
        start_ns: 2_000_000,
        end_ns: 8_000_000,
        images: [
          {
            exe: '/bin/sort',
            argv: ['sort', 'x'],
            cwd: '/project',
            start_ns: 2_100_000,
            env: { PATH: '/bin' },
          },
        ],
        end: 'exited',
        exit_code: 2,
        signal: null,
        cpu_ns: null,
        peak_rss_bytes: null,
        bytes: { stdout: 0, stderr: 21, pty: 0 },
        sources: ['parent', 'shim'],
      },
      {
        pid: 12,
        ppid: 10,
        start_ns: 3_000_000,
        end_ns: 9_000_000,
        images: [
          { exe: '/bin/env', argv: ['env', 'wc'], cwd: '/project', start_ns: 3_100_000 },
          { exe: '/bin/wc', argv: ['wc'], cwd: '/project/sub', start_ns: 4_000_000 },
        ],
        end: 'exited',
        exit_code: 0,
        signal: null,
        cpu_ns: null,
        peak_rss_bytes: null,
        bytes: { stdout: 24, stderr: 0, pty: 0 },
        sources: ['parent', 'shim'],
        failed_execs: [{ file: '/usr/local/bin/wc', errno: 2 }],
      },
    ]);
    expect(processes[3]).toMatchObject({ pid: 13, forked: true, images: [{ exe: '/bin/sh' }] });
    expect(processes[4]).toMatchObject({
      pid: 14,
      exit_code: null,
      signal: 'SIGKILL',
      static: true,
      images: [{ redacted: true, argv: ['rg', '--files', '[API_KEY]'] }],
    });
    expect(processes[5]).toEqual({
      pid: 99,
      ppid: 0,
      start_ns: 13_000_000,
      end_ns: null,
      images: [],
      end: 'not_seen',
      exit_code: null,
      signal: null,
      cpu_ns: null,
      peak_rss_bytes: null,
      bytes: { stdout: 13, stderr: 0, pty: 0 },
      sources: ['kernel'],
    });
  });

  it('a cut argv says how long it was, and another namespace which', () => {
    const one = start(0, 5, ['x', 'y'], { space: 77, args: 90, cut: true, env: {} });
    const { processes } = traceJson(exampleTrace([one], 0), {}) as { processes: unknown[] };
    expect(processes[0]).toMatchObject({ pid_namespace: 77, images: [{ argv_length: 90 }] });
  });

  it('what was not traced says why', () => {
    expect(disabledJson('a', 'tracing was not requested', { shim: false })).toEqual({
      capture_id: 'a',
      enabled: false,
      reason: 'tracing was not requested',
      capabilities: { shim: false },
      processes: [],
      unattributed_bytes: 0,
      untraced: [],
    });
  });

  it('a date has all of its nanoseconds', () => {
    expect(timeOf(1_794_816_005_000_000_001n)).toBe('2026-11-16T08:00:05.000000001Z');
    expect(timeOf(0n)).toBe('1970-01-01T00:00:00.000000000Z');
  });
});
