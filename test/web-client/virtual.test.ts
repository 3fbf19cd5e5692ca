import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  clampPosition,
  HEIGHT_MAX,
  heightOf,
  positionAt,
  positionMax,
  positionShowing,
  rowsAt,
  scrollAt,
} from '../../web/core/virtual.ts';

const list = (count: number) => ({ count, rowHeight: 20, viewport: 600 });

const lists = fc.record({
  count: fc.integer({ min: 0, max: 100_000_000 }),
  rowHeight: fc.integer({ min: 10, max: 120 }),
  viewport: fc.integer({ min: 50, max: 3_000 }),
});

describe('a long list', () => {
  it('makes only the rows on the screen, and a few around them', () => {
    expect(rowsAt(list(100_000), 0)).toEqual({ first: 0, end: 36 });
    expect(rowsAt(list(100_000), 500.5)).toEqual({ first: 494, end: 537 });
    expect(rowsAt(list(10), 0)).toEqual({ first: 0, end: 10 });
    expect(rowsAt(list(0), 0)).toEqual({ first: 0, end: 0 });
  });

  it('is as high as its rows until the browser would not show it', () => {
    expect(heightOf(list(100_000))).toBe(2_000_000);
    expect(heightOf(list(10_000_000))).toBe(HEIGHT_MAX);
    expect(scrollAt(list(100_000), 777)).toBeCloseTo(777 * 20);
  });

  it('comes to its last row at the end of the scrollbar, scaled or not', () => {
    for (const count of [1_000, 100_000_000]) {
      const position = positionAt(list(count), heightOf(list(count)) - 600);
      expect(rowsAt(list(count), position).end).toBe(count);
      expect(position).toBeCloseTo(count - 30);
    }
  });

  it('shows a row that is asked for, with the least movement', () => {
    expect(positionShowing(list(1_000), 100, 110)).toBe(100);
    expect(positionShowing(list(1_000), 100, 50)).toBe(50);
    expect(positionShowing(list(1_000), 100, 130)).toBe(101);
    expect(positionShowing(list(1_000), 100, 5_000)).toBe(970);
  });

  it('goes from a position to the scrollbar and back', () => {
    fc.assert(
      fc.property(lists, fc.double({ min: 0, max: 1, noNaN: true }), (one, part) => {
        const position = part * positionMax(one);
        const back = positionAt(one, scrollAt(one, position));
        expect(Math.abs(back - position)).toBeLessThan(1e-6 * Math.max(1, one.count));
      }),
    );
  });

  it('never makes rows that are not there, nor more than a screen and what is around', () => {
    fc.assert(
      fc.property(lists, fc.double({ min: -1e9, max: 1e9, noNaN: true }), (one, wild) => {
        const { first, end } = rowsAt(one, clampPosition(one, wild));
        expect(first).toBeGreaterThanOrEqual(0);
        expect(end).toBeLessThanOrEqual(one.count);
        expect(end - first).toBeLessThanOrEqual(one.viewport / one.rowHeight + 15);
      }),
    );
  });
});
