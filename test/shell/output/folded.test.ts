// Both ends of many lines: every line is shown, folded or hidden, and each is said by its number.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type FoldedEnds, foldedEnds } from '../../../src/shell/output/folded.ts';
import { errorWeight } from '../../../src/text/error-lines.ts';

type Limits = { readonly headBytes: number; readonly tailBytes: number };

function endsOf(texts: readonly string[], limits: Limits): FoldedEnds | undefined {
  const lines = texts.map((text, i) => ({ number: i + 1, text }));
  const folded = ({ firstLine, lastLine }: { firstLine: number; lastLine: number }) =>
    `[${firstLine}-${lastLine}]`;
  return foldedEnds([lines.slice(0, 7), lines.slice(7)], texts.length, { ...limits, folded });
}

/** The numbers of the lines that a text shows, or says are folded. */
function numbersIn(text: string, first: number): number[] {
  let next = first;
  return text
    .split('\n')
    .slice(0, -1)
    .flatMap((line) => {
      const [, from, to] = /^\[(\d+)-(\d+)\]$/.exec(line) ?? [];
      if (from === undefined) return [next++];
      expect(Number(from)).toBe(next);
      const range = Array.from({ length: Number(to) - next + 1 }, (_, i) => next + i);
      next = Number(to) + 1;
      return range;
    });
}

const LINES = ['batch 1 of 9', 'batch 22 of 9', 'step 3', '42', 'x.c:7: error: no', ''];

describe('the ends of an output', () => {
  it('and what is hidden between them are all of it, within the limits', () => {
    const texts = fc.array(fc.tuple(fc.constantFrom(...LINES), fc.integer({ min: 1, max: 12 })), {
      minLength: 1,
      maxLength: 30,
    });
    const limit = fc.integer({ min: 40, max: 200 });
    fc.assert(
      fc.property(texts, limit, limit, (runs, headBytes, tailBytes) => {
        const all = runs.flatMap(([text, many]) => Array.from({ length: many }, () => text));
        const ends = endsOf(all, { headBytes, tailBytes });
        const { head = '', tail = '', hidden, bytes } = ends ?? {};
        expect(Buffer.byteLength(head)).toBeLessThanOrEqual(headBytes);
        expect(Buffer.byteLength(tail)).toBeLessThanOrEqual(tailBytes);
        expect(bytes).toBe(Buffer.byteLength(head + tail));
        const first = numbersIn(head, 1);
        const between = hidden === undefined ? [] : range(hidden.firstLine, hidden.lastLine);
        const last = numbersIn(tail, (hidden?.lastLine ?? first.length) + 1);
        expect([...first, ...between, ...last]).toEqual(all.map((_, i) => i + 1));
        const errors = between.filter((n) => errorWeight(all[n - 1] ?? '') !== 'none');
        expect(hidden?.errors.count ?? 0).toBe(errors.length);
        expect(hidden?.errors.lines[0]?.number).toBe(errors[0]);
      }),
    );
  });

  it('are not told of lines that are missing, or too long for one', () => {
    const limits = { headBytes: 100, tailBytes: 100 };
    expect(endsOf(['x'.repeat(51)], limits)).toBeUndefined();
    const gap = [
      { number: 1, text: 'a' },
      { number: 3, text: 'c' },
    ];
    expect(foldedEnds([gap], 3, { ...limits, folded: undefined })).toBeUndefined();
    expect(foldedEnds([gap.slice(0, 1)], 2, { ...limits, folded: undefined })).toBeUndefined();
  });
});

function range(first: number, last: number): number[] {
  return Array.from({ length: last - first + 1 }, (_, i) => first + i);
}
