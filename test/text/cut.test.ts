// Cuts for a reader: within their limits, with true totals, and through no character.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type CutLimits, sizeOf, tailCut } from '../../src/text/cut.ts';
import { countLines } from '../../src/text/lines.ts';
import { sanitize } from '../../src/text/sanitize.ts';

const LIMITS = { linesMax: 2_000, bytesMax: 51_200 };
const SMALL = { linesMax: 3, bytesMax: 10 };

const line = fc.string({ unit: 'grapheme', maxLength: 12 });
const text = fc.array(line, { maxLength: 12 }).map((lines) => lines.join('\n'));
const limits = fc.record({ linesMax: fc.nat(12), bytesMax: fc.nat(80) });
const rubbish = fc.array(fc.constantFrom(0x0a, 0x61, 0xe2, 0x82, 0xac, 0xff, 0xf0, 0x9f), {
  maxLength: 60,
});

function tailOf(bytes: Uint8Array, limits: CutLimits) {
  const { from, to, limit, partialLine } = tailCut(bytes, limits);
  const shown = bytes.subarray(from, to);
  const [all, output] = [sizeOf(bytes), sizeOf(shown)];
  return {
    text: Buffer.from(shown).toString(),
    totalLines: all.lines,
    totalBytes: all.bytes,
    outputLines: output.lines,
    outputBytes: output.bytes,
    truncated: from > 0,
    limit,
    partialLine,
  };
}

describe('the tail of an output', () => {
  it('is at most 2000 lines', () => {
    const lines = Array.from({ length: 8_500 }, (_, i) => `line ${i + 1}\n`);
    expect(tailOf(Buffer.from(lines.join('')), LIMITS)).toEqual({
      text: lines.slice(-2_000).join(''),
      totalLines: 8_500,
      totalBytes: 83_893,
      outputLines: 2_000,
      outputBytes: 20_000,
      truncated: true,
      limit: 'lines',
      partialLine: false,
    });
  });

  it('is at most 51,200 bytes, in whole lines', () => {
    const lines = Array.from({ length: 1_000 }, (_, i) => `${String(i + 1).padStart(99, '.')}\n`);
    expect(tailOf(Buffer.from(lines.join('')), LIMITS)).toEqual({
      text: lines.slice(-512).join(''),
      totalLines: 1_000,
      totalBytes: 100_000,
      outputLines: 512,
      outputBytes: 51_200,
      truncated: true,
      limit: 'bytes',
      partialLine: false,
    });
    const one = tailOf(Buffer.from(`${lines.join('')}x`), LIMITS);
    expect([one.outputLines, one.outputBytes]).toEqual([512, 51_101]);
  });

  it('is the end of a line that is longer than that', () => {
    const long = `first\n${'ä'.repeat(30_000)}\n`;
    expect(tailOf(Buffer.from(long), LIMITS)).toEqual({
      text: `${'ä'.repeat(25_599)}\n`, // half an ä would be left
      totalLines: 2,
      totalBytes: 60_007,
      outputLines: 1,
      outputBytes: 51_199,
      truncated: true,
      limit: 'bytes',
      partialLine: true,
    });
  });

  it('is everything where there is less', () => {
    for (const [value, totalLines] of [
      ['', 0],
      ['\n', 1],
      ['a', 1],
      ['a\nb\n', 2],
    ] as const) {
      expect(tailOf(Buffer.from(value), SMALL)).toEqual({
        text: value,
        totalLines,
        totalBytes: value.length,
        outputLines: totalLines,
        outputBytes: value.length,
        truncated: false,
        limit: 'none',
        partialLine: false,
      });
    }
  });

  it('ends at the right places', () => {
    const cut = (value: string) => {
      const { text: left, limit, partialLine } = tailOf(Buffer.from(value), SMALL);
      return [left, limit === 'none' ? '-' : limit, partialLine ? 'partial' : 'whole'].join(' | ');
    };
    const cases = {
      'a\nb\nc\n': 'a\nb\nc\n | - | whole',
      'a\nb\nc\nd': 'b\nc\nd | lines | whole',
      'a\nb\nc\nd\n': 'b\nc\nd\n | lines | whole',
      '\n\n\n\n': '\n\n\n | lines | whole',
      '0123456789': '0123456789 | - | whole',
      x0123456789: '0123456789 | bytes | partial',
      'x012345678\n': '012345678\n | bytes | partial',
      'x\n0123456789': '0123456789 | bytes | whole',
      'x\n012345678\n': '012345678\n | bytes | whole',
      'abc\nabcdefgh': 'abcdefgh | bytes | whole',
    };
    expect(Object.keys(cases).map(cut)).toEqual(Object.values(cases));
  });

  it('keeps its limits, and says what is true', () => {
    fc.assert(
      fc.property(text, limits, (value, { linesMax, bytesMax }) => {
        const bytes = Buffer.from(value);
        const cut = tailOf(bytes, { linesMax, bytesMax });
        const output = Buffer.from(cut.text);
        expect(value.endsWith(cut.text)).toBe(true);
        expect(cut).toMatchObject({
          totalLines: countLines(bytes),
          totalBytes: bytes.length,
          outputLines: countLines(output),
          outputBytes: output.length,
          truncated: output.length < bytes.length,
        });
        expect(cut.limit === 'none').toBe(!cut.truncated);
        expect(output.length <= bytesMax && cut.outputLines <= linesMax).toBe(true);
        // No line more would have fitted.
        const before = bytes.subarray(0, bytes.length - output.length);
        if (cut.partialLine || !cut.truncated) return;
        const line = before.length - (before.subarray(0, -1).lastIndexOf(0x0a) + 1);
        expect(cut.outputLines === linesMax || output.length + line > bytesMax).toBe(true);
      }),
      { numRuns: 500 },
    );
  });

  it('is within its limit as clean text, whatever the bytes are', () => {
    fc.assert(
      fc.property(rubbish, limits, (codes, { linesMax, bytesMax }) => {
        const bytes = sanitize(Uint8Array.from(codes), { broken: 'replace' });
        const cut = tailOf(bytes, { linesMax, bytesMax });
        expect(Buffer.byteLength(cut.text)).toBeLessThanOrEqual(bytesMax);
        expect(cut.text).toBe(
          Buffer.from(bytes.subarray(bytes.length - cut.outputBytes)).toString(),
        );
      }),
    );
  });
});
