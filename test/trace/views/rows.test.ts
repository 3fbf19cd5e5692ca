// The rows of the tree: which processes are one row, which are left out, and that none is lost.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { exitText } from '../../../src/trace/shown.ts';
import { renderTree } from '../../../src/trace/tree.ts';
import { matching, withAncestors } from '../../../src/trace/views/choice.ts';
import { type Row, rowsOf } from '../../../src/trace/views/rows.ts';
import { shapeOf } from '../../../src/trace/views/shape.ts';
import { anyProcesses, FAILED, processesOf } from './helper.ts';

const make = processesOf([
  { argv: ['make'], to: 100 },
  ...[0, 1, 2, 3].flatMap((i) => [
    {
      argv: ['gcc', '-c', `f${i}.c`, '-o', `f${i}.o`],
      parent: 0,
      from: i * 10,
      to: i * 10 + 8,
      cpuNs: 1_000_000,
      peak: { kind: 'known', bytes: (i + 1) * 1024 } as const,
      bytes: { stderr: 3 },
      exit: i === 3 ? FAILED : ({ kind: 'exited', code: 0 } as const),
    },
    { argv: ['cc1', `f${i}.c`], parent: 1 + 2 * i, from: i * 10 + 1, to: i * 10 + 7 },
  ]),
  { argv: ['ld', '-o', 'prog'], parent: 0, from: 90, to: 99 },
]);

const shown = (rows: readonly Row[]): string[] =>
  rows.map(({ members, depth, below }) => {
    const words = members[0]?.images[0]?.argv[0];
    return `${depth} ${members.length} ${words}${below > 0 ? ` +${below}` : ''}`;
  });

describe('equal siblings', () => {
  it('are one row with what they started, but for those that ended in another way', () => {
    expect(shown(rowsOf(make, { fold: true }))).toEqual([
      '0 1 make',
      '1 3 gcc',
      '2 3 cc1',
      '1 1 gcc',
      '2 1 cc1',
      '1 1 ld',
    ]);
  });

  it('are told apart with --no-fold, and where there are only two', () => {
    expect(rowsOf(make, { fold: false })).toHaveLength(make.length);
    const two = processesOf([{}, { argv: ['a'], parent: 0 }, { argv: ['a'], parent: 0 }]);
    expect(rowsOf(two, { fold: true })).toHaveLength(3);
  });

  it('are told with their number, what they have in common, and the sum of what they used', () => {
    expect(renderTree({ processes: make }, {}, { fold: true })).toBe(
      `\
PID    TIME     CPU  MEMORY  END     OUTPUT   COMMAND
100  100 ms       ?       ?  exit 0           make  [/p]
      24 ms  3.0 ms   3 KiB  exit 0  err 9 B  ├─ x 3 gcc -c … -o …
      18 ms       ?       ?  exit 0           │  └─ x 3 cc1 …
107  8.0 ms  1.0 ms   4 KiB  exit 1  err 3 B  ├─ gcc -c f3.c -o f3.o
108  6.0 ms       ?       ?  exit 0           │  └─ cc1 f3.c
109  9.0 ms       ?       ?  exit 0           └─ ld -o prog
`,
    );
  });

  it('of any tree have every process in exactly one row, in its place below its parent', () => {
    fc.assert(
      fc.property(anyProcesses, fc.boolean(), (processes, fold) => {
        const rows = rowsOf(processes, { fold });
        const ids = rows.flatMap(({ members }) => members.map(({ id }) => id));
        expect([...ids].sort((a, b) => a - b)).toEqual(processes.map(({ id }) => id));
        for (const { members, parent, depth } of rows) {
          const above = parent === undefined ? undefined : rows[parent];
          const kinds = members.map((one) => `${shapeOf(one)} ${exitText(one.exit)}`);
          expect(new Set(kinds).size).toBe(1);
          expect(depth).toBe(above === undefined ? 0 : above.depth + 1);
          for (const one of members) {
            expect(above?.members.some(({ id }) => id === one.parent) ?? true).toBe(true);
          }
        }
      }),
    );
  });
});

describe('a choice of processes', () => {
  it('down to a depth says how many are below', () => {
    expect(shown(rowsOf(make, { fold: true, depth: 1 }))).toEqual([
      '0 1 make',
      '1 3 gcc +3',
      '1 1 gcc +1',
      '1 1 ld',
    ]);
    expect(shown(rowsOf(make, { depth: 0 }))).toEqual(['0 1 make +9']);
  });

  it('shows those above it, which are dim', () => {
    const failed = matching(make, { failed: true });
    expect(failed.map(({ pid }) => pid)).toEqual([107]);
    const choice = {
      shown: withAncestors(make, failed),
      matches: new Set(failed.map(({ id }) => id)),
    };
    const paint = (format: string, text: string): string => `<${format}>${text}`;
    const lines = renderTree({ processes: make }, { paint }, choice).trimEnd().split('\n');
    expect(lines.slice(1).map((line) => line.replace(/ .*</, ' … <'))).toEqual([
      '100 … <dim>make  [/p]',
      '107 … <red>└─ gcc -c f3.c -o f3.o',
    ]);
  });

  it('is by the words of any program, by time, and by all of it together', () => {
    const pids = (choice: Parameters<typeof matching>[1]): number[] =>
      matching(make, choice).map(({ pid }) => pid);
    expect(pids({ grep: /f2\.c/ })).toEqual([105, 106]);
    expect(pids({ minTimeNs: 9_000_000n })).toEqual([100, 109]);
    expect(pids({ minTimeNs: 8_000_000n, grep: /gcc/, failed: true })).toEqual([107]);
  });

  it('by time has no process whose time is not known, but those that still run', () => {
    const some = processesOf([
      { to: undefined, exit: { kind: 'unknown' } },
      { to: undefined, exit: { kind: 'running' } },
    ]);
    expect(matching(some, { minTimeNs: 1n }, 50_000_000n).map(({ id }) => id)).toEqual([1]);
    expect(matching(some, { minTimeNs: 0n })).toEqual([]);
  });
});
