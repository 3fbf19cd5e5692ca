// What pages draw: the waterfall of processes, the strip beside a session, days, marked matches,
// the beats of the player, frames of the socket, numbers in words.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { TraceProcess } from '../../src/web/api.ts';
import { keyframeBefore, otherSpeed, SPEEDS, stepOf, waitBefore } from '../../web/core/clock.ts';
import { byDay, countsByDay } from '../../web/core/days.ts';
import { readFrame } from '../../web/core/frames.ts';
import { highlight } from '../../web/core/highlight.ts';
import { minimap, nextFailure, type OutlineEntry, sequenceAt } from '../../web/core/minimap.ts';
import { outputLines, outputText } from '../../web/core/output.ts';
import { barOf, nameOf, waterfall } from '../../web/core/waterfall.ts';
import * as words from '../../web/core/words.ts';

function process(
  pid: number,
  ppid: number,
  start: number,
  end: number | null,
  code = 0,
): TraceProcess {
  return {
    pid,
    ppid,
    start_ns: start,
    end_ns: end,
    images: [],
    exit_code: code,
    signal: null,
    bytes: {},
    sources: ['shim'],
  };
}

describe('the waterfall', () => {
  it('is a tree, in the order in which they began', () => {
    const { rows, span } = waterfall([
      process(1, 0, 0, 100),
      process(3, 1, 40, 90, 1),
      process(2, 1, 10, 30),
      process(4, 3, 50, null),
    ]);
    expect(span).toBe(100);
    expect(
      rows.map(({ process: { pid }, depth, failed, open }) => [pid, depth, failed, open]),
    ).toEqual([
      [1, 0, false, false],
      [2, 1, false, false],
      [3, 1, true, false],
      [4, 2, false, true],
    ]);
    expect(rows.map((row) => barOf(row, span))).toEqual([
      { left: 0, width: 100 },
      { left: 10, width: 20 },
      { left: 40, width: 50 },
      { left: 50, width: 50 },
    ]);
  });

  it('knows which processes made it take so long', () => {
    const { rows } = waterfall([
      process(1, 0, 0, 100),
      process(2, 1, 0, 30), // beside 3, and over sooner
      process(3, 1, 0, 60),
      process(4, 1, 60, 95),
    ]);
    expect(rows.filter(({ critical }) => critical).map((row) => row.process.pid)).toEqual([
      1, 3, 4,
    ]);
  });

  it('keeps processes apart that had the same pid one after the other', () => {
    const { rows } = waterfall([
      process(1, 0, 0, 100),
      process(7, 1, 10, 20),
      process(7, 1, 50, 90),
      process(8, 7, 60, 70),
    ]);
    expect(rows.map(({ process: { pid, start_ns }, depth }) => [pid, start_ns, depth])).toEqual([
      [1, 0, 0],
      [7, 10, 1],
      [7, 50, 1],
      [8, 60, 2],
    ]);
    expect(nameOf(process(9, 1, 0, 1))).toBe('process 9');
  });

  it('has every process once, whatever pids they claim', () => {
    const any = fc.record({
      pid: fc.integer({ min: 0, max: 6 }),
      ppid: fc.integer({ min: 0, max: 6 }),
      start: fc.integer({ min: 0, max: 100 }),
      end: fc.option(fc.integer({ min: 0, max: 200 })),
    });
    fc.assert(
      fc.property(fc.array(any, { maxLength: 30 }), (all) => {
        const made = all.map(({ pid, ppid, start, end }) => process(pid, ppid, start, end));
        const { rows } = waterfall(made);
        expect(rows.map(({ index }) => index).sort((a, b) => a - b)).toEqual(all.map((_, i) => i));
      }),
    );
  });
});

describe('the strip beside a session', () => {
  const entries: OutlineEntry[] = [
    [1, 0, 100, 'ok'],
    [2, 1_000, 60_000, 'failed'],
    [3, 3_600_000, 100, 'refused'],
    [4, 3_601_000, 100, 'ok'],
  ];

  it('is taller for what took longer, and says where nothing ran', () => {
    const bars = minimap(entries, 100);
    expect(bars.map(({ kind, sequence }) => [kind, sequence])).toEqual([
      ['ok', 1],
      ['failed', 2],
      ['pause', 3],
      ['refused', 3],
      ['ok', 4],
    ]);
    const [first, second] = bars;
    expect(second?.height).toBeGreaterThan(3 * (first?.height ?? 0));
    expect(bars.at(-1)).toMatchObject({ sequence: 4 });
    expect([-5, 0, 99, 1_000].map((y) => sequenceAt(bars, y))).toEqual([1, 1, 4, 4]);
  });

  it('fits ten thousand commands', () => {
    const many = Array.from({ length: 10_000 }, (_, i): OutlineEntry => [i, i * 1_000, i, 'ok']);
    const last = minimap(many, 800).at(-1);
    expect((last?.top ?? 0) + (last?.height ?? 0)).toBeCloseTo(800);
    expect(sequenceAt(minimap([], 800), 5)).toBeUndefined();
  });

  it('leads to failures in both directions', () => {
    expect(nextFailure(entries, -1, 1)).toBe(2);
    expect(nextFailure(entries, 2, 1)).toBe(3);
    expect(nextFailure(entries, 3, 1)).toBeUndefined();
    expect(nextFailure(entries, 3, -1)).toBe(2);
  });
});

describe('output of a block', () => {
  it('is lines of its channels, with the colours of each', () => {
    const parts = [
      { channel: 'stdout' as const, text: 'a\x1b[32m\n' },
      { channel: 'stderr' as const, text: 'oops\r\n' },
      { channel: 'stdout' as const, text: 'green' },
    ];
    expect(outputLines(parts)).toEqual([
      { channel: 'stdout', spans: [{ text: 'a', ink: {} }], cut: 0 },
      { channel: 'stderr', spans: [{ text: 'oops', ink: {} }], cut: 0 },
      { channel: 'stdout', spans: [{ text: 'green', ink: { fg: 2 } }], cut: 0 },
    ]);
    expect(outputText(parts)).toBe('a\noops\ngreen');
  });

  it('says how much of a long line is not shown', () => {
    expect(outputLines([{ channel: 'pty', text: 'x'.repeat(1_000_000) }])[0]?.cut).toBe(991_808);
  });
});

describe('a match', () => {
  const ink = { fg: 1 };

  it('is marked across colours, letters of either case', () => {
    const spans = [
      { text: 'an Er', ink: {} },
      { text: 'ror here', ink },
    ];
    expect(highlight(spans, 'error')).toEqual([
      { text: 'an ', ink: {}, found: false },
      { text: 'Er', ink: {}, found: true },
      { text: 'ror', ink, found: true },
      { text: ' here', ink, found: false },
    ]);
  });

  it('never changes the text', () => {
    const spans = fc.array(fc.record({ text: fc.string(), ink: fc.constant({}) }));
    fc.assert(
      fc.property(spans, fc.string({ maxLength: 3 }), (all, text) => {
        const whole = (some: readonly { text: string }[]) => some.map((one) => one.text).join('');
        expect(whole(highlight(all, text))).toBe(whole(all));
      }),
    );
  });
});

describe('the player', () => {
  const beat = (t: number) => ({ offset: t, length: 1, t });

  it('waits as long as was recorded, shortened and sped up', () => {
    expect(waitBefore(beat(1_500), 500, 1, 2)).toBe(1_000);
    expect(waitBefore(beat(60_000), 0, 2, 2)).toBe(1_000);
    expect(waitBefore(beat(60_000), 0, 1, 0)).toBe(60_000);
    expect(waitBefore(beat(10), 50, 1, 2)).toBe(0);
  });

  it('takes what was printed together for one step', () => {
    expect(stepOf([beat(0), beat(5), beat(19), beat(40)])).toHaveLength(3);
    expect(stepOf([])).toEqual([]);
  });

  it('keeps to its speeds, and to the nearest keyframe', () => {
    expect(otherSpeed(1, 1)).toBe(2);
    expect(otherSpeed(SPEEDS[0], -1)).toBe(SPEEDS[0]);
    expect(otherSpeed(16, 1)).toBe(16);
    expect(keyframeBefore([0, 300, 100], 250)).toBe(100);
    expect(keyframeBefore([300], 250)).toBeUndefined();
  });
});

describe('frames of the live socket', () => {
  it('have a channel and an offset of 48 bits', () => {
    const data = new Uint8Array([0, 7, 0x12, 0x34, 0x56, 0x78, 0x9a, 0xbc, 104, 105]);
    expect(readFrame(data.buffer)).toEqual({
      channel: 7,
      offset: 0x123456789abc,
      bytes: new Uint8Array([104, 105]),
    });
    expect(readFrame(new ArrayBuffer(7))).toBeUndefined();
  });
});

describe('days', () => {
  const at = (text: string) => new Date(text).getTime();
  const noon = at('2026-03-10T12:00:00');

  it('have a row before their first session', () => {
    const times = [at('2026-03-10T11:00:00'), at('2026-03-10T09:00:00'), at('2026-03-08T23:59:00')];
    expect(
      byDay(times, (one) => one).map((row) =>
        row.kind === 'day' ? [row.day, row.count] : row.index,
      ),
    ).toEqual([['2026-03-10', 2], 0, 1, ['2026-03-08', 1], 2]);
    expect(countsByDay(times, noon, 4)).toEqual([0, 1, 0, 2]);
    expect(words.dayText('2026-03-10', noon)).toBe('Today');
    expect(words.dayText('2026-03-09', noon)).toBe('Yesterday');
    expect(words.dayText('2026-03-08', noon)).toBe('Sunday, 8 March 2026');
  });
});

describe('numbers in words', () => {
  it('are short, and never of two units that say the same', () => {
    expect([0, 999, 1_000, 1_500, 999_950, 1e9, 2.5e12].map(words.bytesText)).toEqual([
      '0 B',
      '999 B',
      '1.0 kB',
      '1.5 kB',
      '1.0 MB',
      '1.0 GB',
      '2.5 TB',
    ]);
    expect([0, 999, 1_500, 59_990, 61_000, 3_600_000, 90_000_000].map(words.spanText)).toEqual([
      '0 ms',
      '999 ms',
      '1.5 s',
      '60 s',
      '1 min 1 s',
      '1 h 0 min',
      '1 d 1 h',
    ]);
    expect([0, 3_250, 3_723_250].map(words.sinceText)).toEqual([
      '0:00.000',
      '0:03.250',
      '1:02:03.250',
    ]);
    expect(words.agoText(0, 3_600_000)).toBe('1 h ago');
    expect(words.agoText(90_000, 0)).toBe('in 1 min');
    expect(words.agoText(1_000, 0)).toBe('now');
    expect([1, 2].map((count) => words.manyText(count, 'line'))).toEqual(['1 line', '2 lines']);
  });
});
