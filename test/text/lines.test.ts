import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { countLines, countNewlines, nthNewline, nthNewlineFromEnd } from '../../src/text/lines.ts';

const bytes = fc.uint8Array({ min: 9, max: 11, maxLength: 60 }); // every third one is \n
const placesOf = (value: Uint8Array): number[] => [...value.keys()].filter((i) => value[i] === 10);

describe('lines in bytes', () => {
  it('newlines are counted in any part', () => {
    fc.assert(
      fc.property(bytes, fc.nat(60), fc.nat(60), (value, from, to) => {
        const expected = placesOf(value).filter((i) => i >= from && i < to).length;
        expect(countNewlines(value, from, Math.min(to, value.length))).toBe(expected);
      }),
    );
  });

  it('an unfinished line is a line', () => {
    const lines = (text: string): number => countLines(new TextEncoder().encode(text));
    expect(['', '\n', 'a', 'a\n', 'a\nb', '\n\n'].map(lines)).toEqual([0, 1, 1, 1, 2, 2]);
  });

  it('the nth newline is found from both ends', () => {
    fc.assert(
      fc.property(bytes, fc.integer({ min: 1, max: 30 }), fc.nat(60), (value, n, place) => {
        const at = Math.min(place, value.length);
        const behind = placesOf(value).filter((i) => i >= at);
        const before = placesOf(value).filter((i) => i < at);
        expect(nthNewline(value, n, at)).toBe(behind[n - 1] ?? -1);
        expect(nthNewlineFromEnd(value, n, at)).toBe(before[before.length - n] ?? -1);
      }),
    );
  });
});
