import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Capture } from '../../../src/capture/store.ts';
import { streamChunks } from '../../../src/capture/stream.ts';
import { rawView, type ViewOptions } from '../../../src/shell/output/raw-view.ts';
import type { View } from '../../../src/types.ts';
import {
  build,
  NOW,
  type Part,
  program,
  RUNNER,
  streamOf,
  tempDir,
  testStore,
} from '../../capture/helper.ts';

const STREAMS = ['stdout', 'stderr', 'all'] as const;

/** Text cut into chunks without regard for characters or lines, on both streams. */
const given: fc.Arbitrary<Part[]> = fc
  .array(
    fc.record({
      text: fc.string({
        unit: fc.constantFrom('a', 'b', '\n', '\n', 'é', '€', '😀', '\r', '\0', '\t'),
        maxLength: 40,
      }),
      cut: fc.nat(60),
      channel: fc.constantFrom('stdout' as const, 'stderr' as const),
    }),
    { maxLength: 12 },
  )
  .map((all) =>
    all.flatMap(({ text, cut, channel }) => {
      const bytes = Buffer.from(text);
      return [bytes.subarray(0, cut), bytes.subarray(cut)].map((one) => ({ bytes: one, channel }));
    }),
  );

function withCapture(parts: readonly Part[], use: (capture: Capture) => void): void {
  const store = testStore();
  use(build(store, parts));
  rmSync(store.root, { recursive: true });
}

const newlines = (bytes: Uint8Array): number => bytes.filter((byte) => byte === 10).length;
const linesIn = (bytes: Uint8Array): number =>
  newlines(bytes) + (bytes.length > 0 && bytes.at(-1) !== 10 ? 1 : 0);

/** What must hold of every view of contiguous bytes. */
function check(shown: View, whole: Buffer): void {
  const bytes = whole.subarray(shown.from, shown.to);
  expect(shown.text).toBe(bytes.toString('utf8'));
  expect(shown.totals).toEqual({ bytes: whole.length, lines: linesIn(whole) });
  expect(shown.shown).toEqual({ bytes: bytes.length, lines: linesIn(bytes) });
  expect(shown.lastLine - shown.firstLine + 1).toBe(linesIn(bytes));
  expect(shown.cut === 'none').toBe(bytes.length === whole.length);
}

describe('tail', () => {
  it('by lines is what tail -n shows', () => {
    fc.assert(
      fc.property(given, fc.constantFrom(...STREAMS), fc.nat(12), (parts, channel, linesMax) => {
        withCapture(parts, (capture) => {
          const whole = streamOf(parts, channel);
          const file = join(capture.dir, 'alone');
          writeFileSync(file, whole);
          const shown = rawView(capture, { kind: 'tail', channel, linesMax });
          expect(shown.text).toBe(program('tail', '-n', String(linesMax), file).toString());
          check(shown, whole);
          expect([shown.to, shown.lastLine]).toEqual([whole.length, linesIn(whole)]);
          expect(shown.partialLine).toBe(false);
        });
      }),
      { numRuns: 60 },
    );
  });

  it('by bytes shows whole lines only, as many as fit, or the end of the last one', () => {
    fc.assert(
      fc.property(given, fc.constantFrom(...STREAMS), fc.nat(60), (parts, channel, bytesMax) => {
        withCapture(parts, (capture) => {
          const whole = streamOf(parts, channel);
          const shown = rawView(capture, { kind: 'tail', channel, bytesMax });
          check(shown, whole);
          expect(shown.shown.bytes).toBeLessThanOrEqual(bytesMax);
          expect(shown.text).not.toContain('\ufffd');
          const lineStart = shown.from === 0 || whole[shown.from - 1] === 10;
          if (shown.text !== '') expect(shown.partialLine).toBe(!lineStart);
          if (shown.cut !== 'bytes') return;
          // One line more would not have fitted; a partial line is nearly as long as allowed.
          const before = whole.lastIndexOf(10, shown.from - 2) + 1;
          if (lineStart)
            expect(whole.length - (shown.from > 1 ? before : 0)).toBeGreaterThan(bytesMax);
          else expect(shown.shown.bytes).toBeGreaterThan(bytesMax - 4);
        });
      }),
    );
  });

  it('both limits hold, and the one that was hit is named', () => {
    const parts = [{ bytes: 'a\nbb\nccc\ndddd\n' }];
    withCapture(parts, (capture) => {
      const tail = (options: Partial<ViewOptions>) => {
        const { text, cut, firstLine, lastLine, from, to } = rawView(capture, {
          kind: 'tail',
          ...options,
        });
        return [text, cut, firstLine, lastLine, from, to];
      };
      expect(tail({})).toEqual(['a\nbb\nccc\ndddd\n', 'none', 1, 4, 0, 14]);
      expect(tail({ linesMax: 4, bytesMax: 14 })).toEqual([
        'a\nbb\nccc\ndddd\n',
        'none',
        1,
        4,
        0,
        14,
      ]);
      expect(tail({ linesMax: 2, bytesMax: 14 })).toEqual(['ccc\ndddd\n', 'lines', 3, 4, 5, 14]);
      expect(tail({ linesMax: 4, bytesMax: 10 })).toEqual(['ccc\ndddd\n', 'bytes', 3, 4, 5, 14]);
      expect(tail({ linesMax: 1, bytesMax: 9 })).toEqual(['dddd\n', 'lines', 4, 4, 9, 14]);
      expect(tail({ bytesMax: 9 })).toEqual(['ccc\ndddd\n', 'bytes', 3, 4, 5, 14]);
      expect(tail({ bytesMax: 3 })).toEqual(['dd\n', 'bytes', 4, 4, 11, 14]);
      expect(tail({ linesMax: 0 })).toEqual(['', 'lines', 5, 4, 14, 14]);
      expect(tail({ bytesMax: 0 })).toEqual(['', 'bytes', 5, 4, 14, 14]);
    });
  });

  it('of one line of 10 MB is the end of that line, and says so', () => {
    const line = '€'.repeat(3_500_000);
    withCapture([{ bytes: 'first\n' }, { bytes: line }, { bytes: '\n' }], (capture) => {
      const shown = rawView(capture, { kind: 'tail', linesMax: 2_000, bytesMax: 51_200 });
      expect(shown).toMatchObject({
        totals: { bytes: 10_500_007, lines: 2 },
        shown: { bytes: 51_199, lines: 1 },
        firstLine: 2,
        lastLine: 2,
        cut: 'bytes',
        partialLine: true,
      });
      expect(shown.text).toBe(`${'€'.repeat(17_066)}\n`);
    });
  });

  it('of nothing is nothing', () => {
    withCapture([], (capture) => {
      for (const kind of ['tail', 'head', 'middle', 'raw'] as const) {
        expect(rawView(capture, { kind, linesMax: 5, bytesMax: 5 })).toEqual({
          text: '',
          from: 0,
          to: 0,
          firstLine: 1,
          lastLine: 0,
          totals: { bytes: 0, lines: 0 },
          shown: { bytes: 0, lines: 0 },
          cut: 'none',
          partialLine: false,
          path: join(capture.dir, 'output.bin'),
        });
      }
    });
  });
});

describe('head', () => {
  it('by lines is what head -n shows', () => {
    fc.assert(
      fc.property(given, fc.constantFrom(...STREAMS), fc.nat(12), (parts, channel, linesMax) => {
        withCapture(parts, (capture) => {
          const whole = streamOf(parts, channel);
          const file = join(capture.dir, 'alone');
          writeFileSync(file, whole);
          const shown = rawView(capture, { kind: 'head', channel, linesMax });
          expect(shown.text).toBe(program('head', '-n', String(linesMax), file).toString());
          check(shown, whole);
          expect([shown.from, shown.firstLine]).toEqual([0, 1]);
        });
      }),
      { numRuns: 60 },
    );
  });

  it('by bytes shows whole lines only, as many as fit, or the start of the first one', () => {
    fc.assert(
      fc.property(given, fc.constantFrom(...STREAMS), fc.nat(60), (parts, channel, bytesMax) => {
        withCapture(parts, (capture) => {
          const whole = streamOf(parts, channel);
          const shown = rawView(capture, { kind: 'head', channel, bytesMax });
          check(shown, whole);
          expect(shown.shown.bytes).toBeLessThanOrEqual(bytesMax);
          expect(shown.text).not.toContain('\ufffd');
          if (shown.cut !== 'bytes' || bytesMax === 0) return;
          const lineEnd = whole[shown.to - 1] === 10;
          expect(shown.partialLine).toBe(!lineEnd);
          const next = whole.indexOf(10, shown.to) + 1 || whole.length;
          if (lineEnd) expect(next).toBeGreaterThan(bytesMax);
          else expect(shown.shown.bytes).toBeGreaterThan(bytesMax - 4);
        });
      }),
    );
  });
});

describe('middle', () => {
  it('up to its limit is everything, beyond it both ends', () => {
    const text = `${'é'.repeat(50)}\n`; // 101 bytes
    withCapture([{ bytes: text }], (capture) => {
      const middle = (bytesMax: number, endBytes: number) =>
        rawView(capture, { kind: 'middle', bytesMax, endBytes });
      expect(middle(101, 10)).toMatchObject({ text, cut: 'none', shown: { bytes: 101, lines: 1 } });
      expect(middle(100, 11)).toMatchObject({
        text: `${'é'.repeat(5)}\n\n[snip]\n\n${'é'.repeat(5)}\n`,
        cut: 'bytes',
        from: 0,
        to: 101,
        firstLine: 1,
        lastLine: 1,
        totals: { bytes: 101, lines: 1 },
        shown: { bytes: 21, lines: 2 },
        partialLine: true,
      });
    });
  });

  it('has 131,072 bytes and 4,096 of each end unless told otherwise', () => {
    withCapture([{ bytes: Buffer.alloc(131_072, 'x') }], (capture) => {
      expect(rawView(capture, { kind: 'middle' }).shown.bytes).toBe(131_072);
    });
    withCapture([{ bytes: Buffer.alloc(131_073, 'x') }], (capture) => {
      const { text, shown } = rawView(capture, { kind: 'middle' });
      expect(text).toBe(`${'x'.repeat(4_096)}\n\n[snip]\n\n${'x'.repeat(4_096)}`);
      expect(shown.bytes).toBe(8_192);
    });
  });

  it('never has a broken character, and its ends are those of the stream', () => {
    fc.assert(
      fc.property(
        given,
        fc.constantFrom(...STREAMS),
        fc.nat(50),
        fc.nat(20),
        (parts, channel, bytesMax, endBytes) => {
          withCapture(parts, (capture) => {
            const whole = streamOf(parts, channel).toString();
            const { text, cut } = rawView(capture, { kind: 'middle', channel, bytesMax, endBytes });
            expect(text).not.toContain('\ufffd');
            if (cut === 'none') return expect(text).toBe(whole);
            const [first = '', last = ''] = text.split('\n\n[snip]\n\n');
            expect(whole.startsWith(first) && whole.endsWith(last)).toBe(true);
          });
        },
      ),
    );
  });
});

describe('raw', () => {
  it('pages through a stream without losing a byte or breaking a character', () => {
    fc.assert(
      fc.property(
        given,
        fc.constantFrom(...STREAMS),
        fc.integer({ min: 4, max: 50 }),
        (parts, channel, bytesMax) => {
          withCapture(parts, (capture) => {
            const whole = streamOf(parts, channel);
            let text = '';
            for (let offset = 0; offset < whole.length; ) {
              const page = rawView(capture, { kind: 'raw', channel, offset, bytesMax });
              expect([page.from, page.shown.bytes > 0]).toEqual([offset, true]);
              expect(page.firstLine).toBe(1 + newlines(whole.subarray(0, offset)));
              check(page, whole);
              text += page.text;
              offset = page.to;
            }
            expect(text).toBe(whole.toString());
          });
        },
      ),
    );
  });

  it('from inside a character starts with the next one', () => {
    withCapture([{ bytes: 'a€b' }], (capture) => {
      const texts = [0, 1, 2, 3, 4, 5, 6].map(
        (offset) => rawView(capture, { kind: 'raw', offset }).text,
      );
      expect(texts).toEqual(['a€b', '€b', 'b', 'b', 'b', '', '']);
    });
  });

  it('of a running capture leaves an unfinished character for the next page', () => {
    const store = testStore();
    store.living.push(RUNNER);
    store.now = () => NOW + 1_000_000_000_000;
    const capture = build(store, [{ bytes: Buffer.from('a€').subarray(0, 3) }], {
      final: 'missing',
    });
    expect(rawView(capture, { kind: 'raw' })).toMatchObject({ text: 'a', to: 1 });
    expect(rawView({ ...capture, outputOpen: false }, { kind: 'raw' })).toMatchObject({ to: 3 });
  });

  it('shows bytes that are no text as such, and counts them truly', () => {
    fc.assert(
      fc.property(
        fc.uint8Array({ maxLength: 200 }),
        fc.nat(200),
        fc.nat(60),
        (bytes, offset, bytesMax) => {
          withCapture([{ bytes }], (capture) => {
            for (const kind of ['tail', 'head', 'raw'] as const) {
              const shown = rawView(capture, { kind, offset, bytesMax, linesMax: 3 });
              const part = Buffer.from(bytes).subarray(shown.from, shown.to);
              expect(shown.text).toBe(part.toString());
              expect(shown.totals).toEqual({ bytes: bytes.length, lines: linesIn(bytes) });
            }
          });
        },
      ),
    );
  });
});

describe('the totals of a view', () => {
  it('are those of wc', () => {
    const parts: Part[] = Array.from({ length: 300 }, (_, n) => ({
      bytes: `${n} ${'é€😀'.repeat(n % 7)}${n % 5 === 0 ? '' : '\n'}`,
      channel: n % 4 === 0 ? 'stderr' : 'stdout',
    }));
    withCapture(parts, (capture) => {
      for (const channel of STREAMS) {
        const file = join(tempDir(), 'alone');
        writeFileSync(file, streamOf(parts, channel));
        const [lines, bytes] = program('wc', '-lc', file)
          .toString()
          .trim()
          .split(/\s+/)
          .map(Number);
        const { totals } = rawView(capture, { kind: 'tail', channel, linesMax: 3 });
        const unfinished = streamOf(parts, channel).at(-1) === 10 ? 0 : 1;
        expect(totals).toEqual({ bytes, lines: Number(lines) + unfinished });
        expect(Buffer.concat([...streamChunks(capture, channel)])).toEqual(
          streamOf(parts, channel),
        );
      }
    });
  });

  it('count the output of a pty as stdout', () => {
    const store = testStore();
    const meta = { transport: 'pty', transportMode: 'posix-pty' } as const;
    const capture = build(store, [{ bytes: 'a\r\n', channel: 'pty' }], { meta });
    expect(rawView(capture, { kind: 'tail', channel: 'stdout' }).text).toBe('a\r\n');
    expect(rawView(capture, { kind: 'tail', channel: 'stderr' }).totals.bytes).toBe(0);
  });
});
