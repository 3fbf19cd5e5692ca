// The critical path: the chain of processes that a run waited for, and nothing else.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { criticalPath, renderCritical, type Step } from '../../../src/trace/views/critical.ts';
import { anyProcesses, ms, processesOf } from './helper.ts';

const told = (steps: readonly Step[]): string[] =>
  steps.map(({ process, fromNs, toNs }) => {
    return `${process.images[0]?.argv[0]} ${fromNs / 1_000_000n}-${toNs / 1_000_000n}`;
  });

// `b` runs beside `a` and longer than it, `c` begins when `a` has ended.
const jobs = processesOf([
  { argv: ['make'], to: 100 },
  { argv: ['a'], parent: 0, from: 5, to: 40 },
  { argv: ['a1'], parent: 1, from: 6, to: 39 },
  { argv: ['b'], parent: 0, from: 5, to: 60 },
  { argv: ['c'], parent: 0, from: 41, to: 95 },
]);

describe('the critical path', () => {
  it('goes back from the end, by what had ended before', () => {
    expect(told(criticalPath(jobs, ms(100)))).toEqual([
      'make 0-5',
      'a 5-6',
      'a1 6-39',
      'a 39-40',
      'make 40-41',
      'c 41-95',
      'make 95-100',
    ]);
  });

  it('does not wait for a process that outlives its parent, or whose end is not known', () => {
    const left = processesOf([
      { argv: ['sh'], to: 10 },
      { argv: ['daemon'], parent: 0, from: 2, to: 50 },
      { argv: ['lost'], parent: 0, from: 3, to: undefined, exit: { kind: 'unknown' } },
    ]);
    expect(told(criticalPath(left, ms(50)))).toEqual(['sh 0-10']);
  });

  it('of a run that goes on ends now, and of no processes is empty', () => {
    const live = processesOf([{ to: undefined, exit: { kind: 'running' } }]);
    expect(told(criticalPath(live, ms(30)))).toEqual(['sh 0-30']);
    expect(criticalPath([], 0n)).toEqual([]);
  });

  it('of any run is without gaps, and every step is in the life of its process', () => {
    fc.assert(
      fc.property(anyProcesses, (processes) => {
        const [root] = processes;
        const steps = criticalPath(processes, ms(300));
        if (root === undefined) return;
        let at = root.startNs;
        for (const { process, fromNs, toNs } of steps) {
          expect(fromNs).toBe(at);
          expect(toNs).toBeGreaterThan(fromNs);
          expect(fromNs).toBeGreaterThanOrEqual(process.startNs);
          expect(toNs).toBeLessThanOrEqual(process.endNs ?? ms(300));
          at = toNs;
        }
        expect(at).toBe(root.endNs ?? ms(300));
      }),
    );
  });

  it('of a chain of ten thousand is soon there', () => {
    const chain = processesOf(
      Array.from({ length: 10_000 }, (_, i) => ({
        parent: i === 0 ? undefined : i - 1,
        from: i,
        to: 30_000 - i,
      })),
    );
    expect(criticalPath(chain, 0n)).toHaveLength(19_999);
  });

  it('is shown with what was waited for, and equal processes as one', () => {
    const steps = criticalPath(jobs, ms(100));
    expect(renderCritical(steps)).toBe(
      `\
PID      AT  WAITED  SHARE  COMMAND
100  0.0 ms   11 ms   11 %  make
101  5.0 ms  2.0 ms    2 %    a
102  6.0 ms   33 ms   33 %      a1
104   41 ms   54 ms   54 %    c
`,
    );
    expect(renderCritical(steps, { fold: false }).split('\n')).toHaveLength(9);
  });
});
