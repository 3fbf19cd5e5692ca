// The most costly processes, by each of the four costs.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { rank, renderTop, TOP_KEYS, TOP_MAX } from '../../../src/trace/views/top.ts';
import { anyProcesses, processesOf } from './helper.ts';

const KIB = 1024;
const some = processesOf([
  { argv: ['sh'], to: 100, cpuNs: 2_000_000, peak: { kind: 'known', bytes: KIB } },
  { argv: ['cc', 'a.c'], parent: 0, to: 30, cpuNs: 9_000_000, bytes: { stderr: 5 } },
  { argv: ['cc', 'b.c'], parent: 0, to: 31, cpuNs: 8_000_000, bytes: { stdout: 2 } },
  { argv: ['cc', 'c.c'], parent: 0, to: 32, peak: { kind: 'at most', bytes: 7 * KIB } },
]);
const pids = (groups: ReturnType<typeof rank>['groups']): number[][] =>
  groups.map((group) => group.map(({ pid }) => pid));

describe('the most costly processes', () => {
  it.each([
    ['time', [[100], [103], [102], [101]], 0],
    ['cpu', [[101], [102], [100]], 1],
    ['memory', [[103], [100]], 2],
    ['bytes', [[101], [102], [100], [103]], 0],
  ] as const)('by %s come first; where it is not known they are counted', (key, order, unknown) => {
    const ranking = rank(some, { key, fold: false });
    expect([pids(ranking.groups), ranking.unknown]).toEqual([order, unknown]);
  });

  it('count together if they are equal, with the sum, or the most memory of one', () => {
    expect(pids(rank(some, { key: 'time', fold: true }).groups)).toEqual([[100], [101, 102, 103]]);
    expect(renderTop(rank(some, { key: 'bytes', fold: true }))).toBe(
      `\
PID    TIME     CPU  MEMORY  END     OUTPUT            COMMAND
      93 ms       ?       ?  exit 0  out 2 B, err 5 B  x 3 cc …
100  100 ms  2.0 ms   1 KiB  exit 0                    sh
`,
    );
  });

  it('are twenty at most', () => {
    const many = processesOf(Array.from({ length: 50 }, (_, i) => ({ argv: [`p${i}`] })));
    const lines = renderTop(rank(many, { key: 'time', fold: true }))
      .trimEnd()
      .split('\n');
    expect([TOP_MAX, lines.length]).toEqual([20, 21]);
  });

  it('of any run are all of which the cost is known, each once', () => {
    fc.assert(
      fc.property(
        anyProcesses,
        fc.constantFrom(...TOP_KEYS),
        fc.boolean(),
        (processes, key, fold) => {
          const { groups, unknown } = rank(processes, { key, fold });
          const ids = groups.flat().map(({ id }) => id);
          expect(new Set(ids).size).toBe(ids.length);
          expect(ids.length + unknown).toBe(processes.length);
        },
      ),
    );
  });
});
