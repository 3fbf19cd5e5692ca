// A reader of clean text and a writer that is faster: every question is answered with what there
// was when it came, and with bounded work.
import { describe, expect, it } from 'vitest';
import { CleanReader } from '../../../src/shell/output/new-output.ts';
import type { ReadResult, ViewOptions } from '../../../src/shell/shell.ts';
import type { View } from '../../../src/types.ts';

const MIB = 1024 * 1024;

/** Output that grows by as much with every look as a reader takes of it. */
class Endless {
  readonly #unit: string;
  bytesRead = 0;
  end: number;

  constructor(unit: string, end: number) {
    this.#unit = unit;
    this.end = end;
  }

  read(_id: string, cursor: number, maxBytes: number): ReadResult {
    this.end += MIB;
    const from = Math.min(cursor, this.end);
    const length = Math.min(maxBytes, this.end - from);
    this.bytesRead += length;
    if (this.bytesRead > 64 * MIB) throw new Error('it reads for ever');
    const bytes = Buffer.alloc(length, this.#unit);
    const chunk = { offset: from, length, channel: 'stdout', at: 0, lines: 0 } as const;
    const chunks = length === 0 ? [] : [{ chunk, bytes }];
    return { chunks, nextCursor: from + length, eof: false, final: false };
  }

  view(_id: string, { offset = 0 }: ViewOptions): View {
    const size = { bytes: 0, lines: 0 };
    const rest = { text: '', from: offset, to: offset, cut: 'bytes', partialLine: false } as const;
    const firstLine = Math.floor(offset / 8) + 1;
    return { ...rest, firstLine, lastLine: firstLine, totals: size, shown: size, path: '' };
  }
}

describe('a writer that is faster than its reader', () => {
  it('does not keep it: both ends are those of what there was', () => {
    for (const size of [0, 100 * MIB, 900 * MIB]) {
      const source = new Endless('1234567\n', size);
      const { head, tail, bytes, lines } = new CleanReader(source, 'one').readEnds(1_000);
      expect(bytes).toBe(size + MIB);
      expect(head).toBe('1234567\n'.repeat(63).slice(0, 500));
      expect(tail).toBe('1234567\n'.repeat(63).slice(-500));
      expect(lines).toBe(bytes / 8);
      expect(source.bytesRead).toBeLessThan(4 * MIB);
    }
  });

  it('does not keep one who reads page by page', () => {
    const source = new Endless('1234567\n', 100 * MIB);
    const { text, more } = new CleanReader(source, 'one').read(1_000);
    expect([text, more]).toEqual(['1234567\n'.repeat(125), true]);
  });

  it('cannot hide behind bytes that nobody sees', () => {
    const source = new Endless('\x1b[31m\x1b[0m', 100 * MIB);
    const reader = new CleanReader(source, 'one');
    expect(reader.read(1_000)).toEqual({ text: '', more: true, looked: 2 * MIB });
    const { head, tail } = new CleanReader(new Endless('\x1b[31m\x1b[0m', MIB), 'one').readEnds(9);
    expect([head, tail]).toEqual(['', undefined]);
    const far = new Endless('\x1b[31m\x1b[0m', 900 * MIB);
    expect(new CleanReader(far, 'one').readEnds(1_000)).toMatchObject({ head: '', tail: '' });
    expect(far.bytesRead).toBeLessThan(5 * MIB);
  });

  it('is passed by when it does not print text', () => {
    const source = new Endless('\0\x01\x02', 900 * MIB);
    const reader = new CleanReader(source, 'one');
    expect(reader.readEnds(1_000)).toMatchObject({ head: '', tail: undefined, bytes: 901 * MIB });
    expect(source.bytesRead).toBe(8_192);
  });
});
