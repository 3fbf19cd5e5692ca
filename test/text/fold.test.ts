// Runs of lines that differ only in digits: what is folded, what is not, and that no line is lost.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Folder, type FoldPiece, shapeOf } from '../../src/text/fold.ts';

function folded(texts: readonly string[], keeps = (_: string): boolean => false): FoldPiece[] {
  const folder = new Folder(keeps);
  const pieces = texts.flatMap((text, i) => folder.push({ number: i + 1, text }));
  return [...pieces, ...folder.end()];
}

const count = (many: number, line: (i: number) => string): string[] =>
  Array.from({ length: many }, (_, i) => line(i + 1));

describe('a folder', () => {
  it('tells the first line of a run, the last one, and which are between', () => {
    expect(folded(count(100, (i) => `batch ${i} of 100`))).toEqual([
      { kind: 'line', number: 1, text: 'batch 1 of 100' },
      { kind: 'folded', first: 2, last: 99 },
      { kind: 'line', number: 100, text: 'batch 100 of 100' },
    ]);
  });

  it('leaves short runs, numbers alone, and lines it must keep', () => {
    for (const texts of [count(5, (i) => `batch ${i}`), count(50, String), count(50, () => '')]) {
      expect(folded(texts).map((piece) => piece.kind === 'line' && piece.text)).toEqual(texts);
    }
    const errors = count(50, (i) => `error ${i}`);
    expect(folded(errors, (text) => text.startsWith('error'))).toHaveLength(50);
  });

  it('shows the line whose number differs where those of the others do not', () => {
    const status = (i: number): string => `host ${i} status ${i === 50 ? 500 : 200}`;
    const told = folded(count(100, status)).flatMap((one) => (one.kind === 'line' ? one.text : []));
    expect(told).toEqual([status(1), status(49), status(50), status(100)]);
    const sums = [...count(9, (i) => `passed: ${i}, broken: 0`), 'passed: 10, broken: 1'];
    expect(folded(sums).at(-1)).toMatchObject({ text: 'passed: 10, broken: 1' });
  });

  it('goes on where the minute of a time changes', () => {
    const at = (i: number): string => `2025-10-09T08:5${Math.floor(i / 10)}:00.000Z request ${i}`;
    expect(folded(count(90, at))).toHaveLength(3);
  });

  it('loses no line: what is told and what is folded is everything, in order', () => {
    const line = fc.constantFrom('batch 1', 'batch 22', 'step 1', '7', '', 'an error 3', 'end');
    fc.assert(
      fc.property(
        fc.array(fc.tuple(line, fc.integer({ min: 1, max: 9 })), { maxLength: 40 }),
        (runs) => {
          const texts = runs.flatMap(([text, many]) => count(many, () => text));
          const numbers = folded(texts, (text) => text.includes('error')).flatMap((piece) => {
            if (piece.kind === 'line') {
              expect(texts[piece.number - 1]).toBe(piece.text);
              return [piece.number];
            }
            const above = texts[piece.first - 2] ?? '';
            const { length } = texts.slice(piece.first - 1, piece.last);
            const range = Array.from({ length }, (_, i) => piece.first + i);
            for (const at of range) expect(shapeOf(texts[at - 1] ?? '')).toBe(shapeOf(above));
            return range;
          });
          expect(numbers).toEqual(texts.map((_, i) => i + 1));
        },
      ),
    );
  });
});
