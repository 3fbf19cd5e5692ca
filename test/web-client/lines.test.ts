import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { foldedRows, rowOfLine } from '../../web/core/fold.ts';
import { countNewlines, LINE_BYTES_MAX, splitLines, timed } from '../../web/core/lines.ts';

const bytes = (text: string) => new TextEncoder().encode(text);

describe('lines of bytes', () => {
  it('have offsets, lengths and no line ends', () => {
    const { lines, end } = splitLines(bytes('one\ntwö\r\nthr'), 100, true);
    expect(lines.map(({ offset, length, text, open }) => [offset, length, text, open])).toEqual([
      [100, 4, 'one', false],
      [104, 6, 'twö', false],
      [110, 3, 'thr', true],
    ]);
    expect(end).toBe(113);
  });

  it('leave half a line to the next piece, unless it is all there is', () => {
    expect(splitLines(bytes('one\ntw'), 0, false)).toMatchObject({
      end: 4,
      lines: [{ text: 'one' }],
    });
    expect(splitLines(bytes('tw'), 0, false)).toMatchObject({ end: 2, lines: [{ open: true }] });
    expect(splitLines(bytes(''), 7, true)).toEqual({ end: 7, lines: [] });
  });

  it('decode no more of a long line than is shown, and cut no character', () => {
    const { lines } = splitLines(bytes(`${'ü'.repeat(LINE_BYTES_MAX)}\n`), 0, true);
    expect(lines[0]?.cutBytes).toBe(LINE_BYTES_MAX);
    expect(lines[0]?.text).toBe('ü'.repeat(LINE_BYTES_MAX / 2));
  });

  it('cover every byte once, in whatever pieces they come', () => {
    const texts = fc.array(fc.constantFrom('a', 'ü', '\n', '\r\n', '\0', '😀'), { maxLength: 60 });
    fc.assert(
      fc.property(texts, fc.integer({ min: 1, max: 20 }), (parts, size) => {
        const whole = bytes(parts.join(''));
        let at = 0;
        let newlines = 0;
        while (at < whole.length) {
          const piece = whole.subarray(at, at + size);
          const split = splitLines(piece, at, at + size >= whole.length);
          let next = at;
          for (const { offset, length, open } of split.lines) {
            expect(offset).toBe(next);
            next += length;
            newlines += open ? 0 : 1;
          }
          expect(split.end).toBe(next);
          expect(next).toBeGreaterThan(at);
          at = next;
        }
        expect(newlines).toBe(countNewlines(whole));
      }),
    );
  });

  it('have the time and the channel of their first byte', () => {
    const { lines } = splitLines(bytes('aa\nbb\ncc\n'), 0, true);
    const at = '2026-01-18T10:00:01.000Z';
    const records = [
      { offset: 0, length: 4, channel: 'stdout', timestamp: at, t: 5 },
      { offset: 4, length: 5, channel: 'stderr', timestamp: at, t: null },
    ];
    const t0 = Date.parse('2026-01-18T10:00:00.000Z');
    expect(timed(lines, records, t0).map(({ t, channel }) => [t, channel])).toEqual([
      [5, 'stdout'],
      [5, 'stdout'],
      [1_000, 'stderr'],
    ]);
    expect(timed(lines, [], t0).map(({ t }) => t)).toEqual([null, null, null]);
  });
});

describe('folded lines', () => {
  const texts = ['start', ...Array.from({ length: 20 }, (_, i) => `compiling file ${i}`), 'end'];

  it('are one row, between the first and the last of them', () => {
    const rows = foldedRows(texts);
    expect(rows).toEqual([
      { kind: 'line', line: 0 },
      { kind: 'line', line: 1 },
      { kind: 'folded', first: 2, last: 19 },
      { kind: 'line', line: 20 },
      { kind: 'line', line: 21 },
    ]);
    expect([0, 1, 2, 10, 19, 20, 21, 99].map((line) => rowOfLine(rows, line))).toEqual([
      0, 1, 2, 2, 2, 3, 4, 4,
    ]);
  });

  it('are never errors', () => {
    const errors = Array.from({ length: 20 }, (_, i) => `error: file ${i} is broken`);
    expect(foldedRows(errors)).toHaveLength(20);
  });
});
