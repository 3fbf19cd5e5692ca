// What is different between the processes of two runs.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  differenceOf,
  differenceRows,
  renderDifference,
} from '../../../src/trace/views/difference.ts';
import { anyProcesses, FAILED, processesOf } from './helper.ts';

const before = processesOf([
  { argv: ['make'], to: 200 },
  { argv: ['cc', '-c', 'a.c', '-o', '/tmp/x1.o'], parent: 0, to: 50 },
  { argv: ['cc', '-c', 'b.c', '-o', '/tmp/x2.o'], parent: 0, to: 50 },
  { argv: ['ld', 'a.o'], parent: 0, to: 30 },
  { argv: ['strip', 'prog'], parent: 0, to: 3 },
]);
const after = processesOf([
  { argv: ['make', '-k'], to: 250, exit: FAILED },
  { argv: ['cc', '-c', 'b.c', '-o', '/tmp/y9.o'], parent: 0, to: 130 },
  { argv: ['cc', '-c', 'a.c', '-o', '/tmp/y8.o'], parent: 0, to: 51, exit: FAILED },
  { argv: ['ld', 'a.o'], parent: 0, to: 31 },
  ...[1, 2, 3].map((i) => ({ argv: ['echo', `try-${i}.log`], parent: 0, to: 1 })),
]);

describe('the difference between two runs', () => {
  it('is what is new, gone, slower or ended otherwise', () => {
    const difference = differenceOf(before, after);
    expect(renderDifference(differenceRows(difference))).toBe(
      `\
CHANGE           BEFORE            AFTER             COMMAND
ended otherwise  exit 0            exit 1            make -k
ended otherwise  exit 0            exit 1            cc -c a.c -o /tmp/y8.o
gone             exit 0 in 3.0 ms                    strip prog
new                                exit 0 in 1.0 ms  x 3 echo …
slower           50 ms             130 ms            cc -c b.c -o /tmp/y9.o
`,
    );
    expect(difference.same).toBe(1);
  });

  it('is none of a run with itself', () => {
    const { same, ...rest } = differenceOf(before, before);
    expect(rest).toEqual({ added: [], gone: [], endedOtherwise: [], slower: [] });
    expect(same).toBe(before.length);
  });

  it('is no end that was not seen', () => {
    const lost = before.map((one) => ({ ...one, exit: { kind: 'unknown' } }) as const);
    expect(differenceOf(before, lost).endedOtherwise).toEqual([]);
  });

  it('is not what is a little slower, or slower by next to nothing', () => {
    const slow = (factor: number): unknown[] =>
      differenceOf(
        processesOf([{ argv: ['a'], to: 30 }]),
        processesOf([{ argv: ['a'], to: 30 * factor }]),
      ).slower.slice();
    expect([slow(1.4).length, slow(1.6).length, slow(2).length]).toEqual([0, 0, 1]);
  });

  it('of any two runs accounts for every process of both', () => {
    fc.assert(
      fc.property(anyProcesses, anyProcesses, (one, other) => {
        const { added, gone, endedOtherwise, slower, same } = differenceOf(one, other);
        const paired = endedOtherwise.length + slower.length + same;
        expect(paired + gone.length).toBe(one.length);
        expect(paired + added.length).toBe(other.length);
        // Nothing of one shape is both new and gone.
        const rows = differenceRows({ added, gone, endedOtherwise, slower, same });
        const words = (change: string): string[] =>
          rows.filter((row) => row.change === change).map(({ command }) => command);
        expect(words('new').filter((text) => words('gone').includes(text))).toEqual([]);
      }),
    );
  });
});
