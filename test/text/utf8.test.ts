import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { decodeUtf8, utf8End, utf8Start } from '../../src/text/utf8.ts';

const text = fc.string({ unit: 'grapheme', maxLength: 40 });
const bytesOf = (value: string): Uint8Array => new TextEncoder().encode(value);

describe('UTF-8 cuts', () => {
  it('cut text at any place gives a prefix and a suffix of the text', () => {
    fc.assert(
      fc.property(text, fc.nat(200), (value, place) => {
        const bytes = bytesOf(value);
        const i = Math.min(place, bytes.length);
        const [start, end] = [utf8Start(bytes, i), utf8End(bytes, i)];
        expect(value.startsWith(decodeUtf8(bytes.subarray(0, end)))).toBe(true);
        expect(value.endsWith(decodeUtf8(bytes.subarray(start)))).toBe(true);
        expect(end <= i && i - end <= 3 && start >= i && start - i <= 3).toBe(true);
      }),
    );
  });

  it('the nearest boundary is taken, and a boundary stays', () => {
    const bytes = bytesOf('aé€😀z'); // 1 + 2 + 3 + 4 + 1 bytes
    const boundaries = [0, 1, 3, 6, 10, 11];
    for (let i = 0; i <= bytes.length; i += 1) {
      expect(utf8Start(bytes, i)).toBe(boundaries.find((one) => one >= i));
      expect(utf8End(bytes, i)).toBe(boundaries.findLast((one) => one <= i));
    }
  });

  it('bytes that are no text move by at most three', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 30 }), fc.nat(30), (bytes, place) => {
        const i = Math.min(place, bytes.length);
        const [start, end] = [utf8Start(bytes, i), utf8End(bytes, i)];
        expect(start >= i && start <= Math.min(i + 3, bytes.length)).toBe(true);
        expect(end <= i && end >= Math.max(i - 3, 0)).toBe(true);
      }),
    );
    const rubbish = new Uint8Array(8).fill(0x80);
    expect([utf8Start(rubbish, 2), utf8End(rubbish, 6)]).toEqual([2, 6]);
  });

  it('a byte order mark is kept', () => {
    expect(decodeUtf8(Uint8Array.of(0xef, 0xbb, 0xbf, 0x61))).toBe('\ufeffa');
  });
});
