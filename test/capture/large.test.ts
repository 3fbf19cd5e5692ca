// Captures of real size: what is read of the index must not grow with it.
import { appendFileSync, readFileSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { ByteSource } from '../../src/capture/byte-source.ts';
import { encodeIndex, type IndexRecord } from '../../src/capture/format.ts';
import { endOf, neighbours } from '../../src/capture/index-search.ts';
import { readOutput } from '../../src/capture/reader.ts';
import type { Capture } from '../../src/capture/store.ts';
import { streamChunks } from '../../src/capture/stream.ts';
import { rawView } from '../../src/shell/output/raw-view.ts';
import { lacking } from '../requirements.ts';
import {
  build,
  fileOf,
  indexOf,
  type Part,
  setFile,
  streamOf,
  testStore,
  totals,
} from './helper.ts';

const noProc = lacking(process.platform !== 'linux', 'bytes read are counted by /proc/self/io');

/** How many bytes this process reads from files while `action` runs. */
function bytesReadBy(action: () => void): number {
  const count = (): number =>
    Number(/rchar: (\d+)/.exec(readFileSync('/proc/self/io', 'utf8'))?.[1]);
  const before = count();
  action();
  return count() - before;
}

/** In memory, and counting what is read of it. */
function counting(bytes: Buffer): ByteSource & { bytesRead: number } {
  return {
    size: bytes.length,
    changedAt: 0,
    bytesRead: 0,
    read(position, length) {
      const part = bytes.subarray(position, position + length);
      this.bytesRead += part.length;
      return part;
    },
    close: () => {},
  };
}

const line = (n: number): Part => ({
  bytes: `line ${n}\n`,
  channel: n % 10 === 0 ? 'stderr' : 'stdout',
});

describe('finding a record', () => {
  const records = indexOf(Array.from({ length: 20_000 }, (_, n) => line(n)));
  const bytes = Buffer.from(records.map(encodeIndex).join(''));

  const check = (index: ByteSource, left: readonly IndexRecord[], target: number): void => {
    const { before, after } = neighbours(index, endOf, target);
    expect(before).toEqual(left.findLast((one) => endOf(one) <= target));
    expect(after).toEqual(left.find((one) => endOf(one) > target));
  };

  it('takes some blocks of the index, wherever the record is', () => {
    const last = records.at(-1) as IndexRecord;
    fc.assert(
      fc.property(fc.nat(endOf(last) + 10), (target) => {
        const index = counting(bytes);
        check(index, records, target);
        expect(index.bytesRead).toBeLessThan(120_000);
      }),
    );
    const end = counting(bytes);
    check(end, records, Number.POSITIVE_INFINITY);
    expect(end.bytesRead).toBeLessThan(40_000);
  });

  it('is not led astray by lines that stand in the wrong place', () => {
    const lines = records.map(encodeIndex);
    const moved = fc.array(fc.tuple(fc.nat(19_999), fc.nat(19_999)), { maxLength: 40 });
    fc.assert(
      fc.property(moved, fc.nat(endOf(records.at(-1) as IndexRecord)), (all, target) => {
        const copy = [...lines];
        for (const [from, to] of all) copy.splice(to, 0, lines[from] ?? '');
        check(counting(Buffer.from(copy.join(''))), records, target);
      }),
      { numRuns: 40 },
    );
  });

  it('passes over NULs of any length', () => {
    const ends: number[] = [];
    for (const one of records) ends.push((ends.at(-1) ?? 0) + encodeIndex(one).length);
    const damage = fc.record({ at: fc.nat(bytes.length - 500), length: fc.nat(400_000) });
    fc.assert(
      fc.property(
        damage,
        fc.nat(endOf(records.at(-1) as IndexRecord)),
        ({ at, length }, target) => {
          const to = Math.min(at + length, bytes.length - 300);
          const copy = Buffer.from(bytes).fill(0, at, to);
          // Only the newline may be hit: the record is whole without it.
          const whole = (n: number): boolean =>
            (ends[n - 1] ?? 0) >= to || (ends[n] ?? 0) - 1 <= at;
          const left = to <= at ? records : records.filter((_, n) => whole(n));
          check(counting(copy), left, target);
        },
      ),
      // A record that lost only its newline, in front of a long run.
      { examples: [[{ at: 721_425, length: 164_502 }, 47_780]] },
    );
  });
});

describe('a capture of 200,000 chunks', () => {
  const given = Array.from({ length: 200_000 }, (_, n) => ({
    bytes: `line ${n}\n`,
    channel: n > 1_000 && n < 1_010 ? ('stderr' as const) : ('stdout' as const),
  }));
  const make = (): Capture => build(testStore(), given);

  it.skipIf(noProc)('is read at any cursor, and in any view, by reading a little of it', () => {
    const capture = make();
    const indexBytes = fileOf(capture, 'index.jsonl').length;
    expect(indexBytes).toBeGreaterThan(25_000_000);
    const whole = streamOf(given, 'all');
    for (const cursor of [0, 1_234_567, whole.length - 100, whole.length]) {
      const cost = bytesReadBy(() => {
        const { chunks } = readOutput(capture, cursor, 1_000);
        const got = Buffer.concat(chunks.map(({ bytes }) => bytes));
        expect(got.equals(whole.subarray(cursor, cursor + 1_000))).toBe(true);
      });
      expect(cost).toBeLessThan(400_000);
    }
    const sums = bytesReadBy(() => expect(totals(capture).stdout.lines).toBe(199_991));
    expect(sums).toBeLessThan(100_000);
    const views = bytesReadBy(() => {
      const tail = rawView(capture, { kind: 'tail', linesMax: 2_000, bytesMax: 51_200 });
      expect([tail.firstLine, tail.lastLine, tail.totals.lines]).toEqual([
        198_001, 200_000, 200_000,
      ]);
      const err = rawView(capture, { kind: 'tail', channel: 'stderr', linesMax: 5 });
      expect(err.text).toBe([5, 6, 7, 8, 9].map((n) => `line ${1_000 + n}\n`).join(''));
      expect([err.firstLine, err.totals.lines]).toEqual([5, 9]);
      const out = rawView(capture, {
        kind: 'raw',
        channel: 'stdout',
        offset: 1_500_000,
        bytesMax: 24,
      });
      expect(out.from).toBe(1_500_000);
    });
    expect(views).toBeLessThan(2_000_000);
  });

  it.skipIf(noProc)(
    'a few chunks of one stream among many of the other are found by jumping',
    () => {
      const sparse = Array.from({ length: 60_000 }, (_, n) => ({
        bytes: 'x\n',
        channel: n % 20_000 === 10_000 ? ('stderr' as const) : ('stdout' as const),
      }));
      const capture = build(testStore(), sparse);
      const cost = bytesReadBy(() => {
        expect(Buffer.concat([...streamChunks(capture, 'stderr')]).toString()).toBe('x\nx\nx\n');
      });
      expect(cost).toBeLessThan(fileOf(capture, 'index.jsonl').length / 5);
    },
  );

  it('lines in the wrong place, a lost stretch and NULs change no byte and no total', () => {
    const capture = make();
    const lines = fileOf(capture, 'index.jsonl')
      .toString()
      .split(/(?<=\n)/);
    lines.splice(150_000, 0, lines[3] ?? '', lines[199_000] ?? '');
    lines.splice(50_000, 0, lines[190_000] ?? '');
    lines.splice(100_000, 300);
    lines[120_000] = '\0'.repeat(50_000);
    lines.push(lines[7] ?? '');
    setFile(capture, 'index.jsonl', Buffer.from(lines.join('')));
    const whole = streamOf(given, 'all');
    for (const cursor of [0, 500_000, 1_100_000, 1_600_000, 2_000_000, whole.length - 50_000]) {
      const { chunks } = readOutput(capture, cursor, 50_000);
      const got = Buffer.concat(chunks.map(({ bytes }) => bytes));
      expect(got.equals(whole.subarray(cursor, cursor + 50_000))).toBe(true);
      const lost = chunks.filter(({ chunk }) => chunk.at === 0);
      expect(lost.length).toBeLessThanOrEqual(1);
    }
    expect(totals(capture)).toEqual({
      stdout: { bytes: streamOf(given, 'stdout').length, lines: 199_991 },
      stderr: { bytes: streamOf(given, 'stderr').length, lines: 9 },
    });
    expect(Buffer.concat([...streamChunks(capture, 'stderr')])).toEqual(streamOf(given, 'stderr'));
  });
});

describe('a capture of 1 GiB', () => {
  it('is viewed without being loaded', () => {
    const capture = build(testStore(), [{ bytes: 'first\n' }]);
    const output = join(capture.dir, 'output.bin');
    const size = 1024 ** 3;
    truncateSync(output, size - 5); // a sparse file: as long, and quick to make
    appendFileSync(output, 'last\n');
    const head = encodeIndex(indexOf([{ bytes: 'first\n' }])[0] as IndexRecord);
    const rest = encodeIndex({
      offset: 6,
      length: size - 6,
      channel: 'stdout',
      at: 1,
      lines: 1,
      totalBytes: [size, 0],
      totalLines: [2, 0],
    });
    writeFileSync(join(capture.dir, 'index.jsonl'), head + rest);
    const before = process.memoryUsage().rss;
    const tail = rawView(capture, { kind: 'tail', channel: 'stdout', bytesMax: 51_200 });
    expect(tail.text.endsWith('\0last\n')).toBe(true);
    expect(tail).toMatchObject({
      totals: { bytes: size, lines: 2 },
      partialLine: true,
      lastLine: 2,
    });
    expect(rawView(capture, { kind: 'head', linesMax: 1 }).text).toBe('first\n');
    expect(rawView(capture, { kind: 'middle', channel: 'all' }).shown.bytes).toBe(8_192);
    let streamed = 0;
    for (const piece of streamChunks(capture, 'stdout')) {
      streamed += piece.length;
      if (streamed > 50_000_000) break;
    }
    expect(process.memoryUsage().rss - before).toBeLessThan(150_000_000);
  });
});
