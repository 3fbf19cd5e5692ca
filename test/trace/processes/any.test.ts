// Any history of processes, told by some of those who know of it, in any order, some of it twice:
// what is made of it is the history.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Frame } from '../../../src/trace/decode/format.ts';
import { buildProcesses } from '../../../src/trace/processes/processes.ts';
import { anyFrame } from '../arbitrary.ts';
import { HEADER } from '../encode.ts';
import { exec, exit, exited, fork, reap, start } from '../frames.ts';

type Plan = {
  readonly way: 'fork' | 'fork-exec' | 'vfork-exec' | 'spawn';
  /** No shim gets into it. */
  readonly silent: boolean;
  readonly looked: boolean;
  readonly code: number;
  readonly killed: boolean;
  readonly reapers: readonly ('parent' | 'ptrace')[];
  readonly children: readonly Plan[];
};

const plan = fc.memo(
  (depth): fc.Arbitrary<Plan> =>
    fc.record({
      way: fc.constantFrom('fork', 'fork-exec', 'vfork-exec', 'spawn'),
      silent: fc.boolean(),
      looked: fc.boolean(),
      code: fc.nat(3),
      killed: fc.boolean(),
      reapers: fc.subarray(['parent', 'ptrace'] as const, { minLength: 1 }),
      children: depth > 1 ? fc.array(plan(depth - 1), { maxLength: 3 }) : fc.constant([]),
    }),
);

type Truth = { readonly parent: string; readonly argv: string; readonly end: string | number };

/** Plays a plan: the frames in order of time, and what is true. */
class Play {
  readonly frames: Frame[] = [];
  readonly truth: Truth[] = [];
  #us = 0;
  #made = 0;
  readonly #free: number[] = [];
  #nextPid = 100;

  run(one: Plan, parentPid: number, parent: string): void {
    // Pids come again as soon as they may.
    const pid = this.#free.shift() ?? this.#nextPid++;
    this.#made += 1;
    const argv = ['prog', `${this.#made}`];
    const startTicks = this.#made;
    const inside = !one.silent || one.way === 'fork';
    const child = { parent: parentPid, startTicks };
    if (one.way.startsWith('fork')) this.#tell((us) => fork(us, pid, parentPid, { startTicks }));
    if (one.way.endsWith('exec')) this.#tell((us) => exec(us, pid, argv));
    if (one.way === 'spawn') this.#tell((us) => exec(us, parentPid, argv, { spawned: pid }));
    if (one.way !== 'fork' && inside) this.#tell((us) => start(us, pid, argv, child));
    const shown = one.way === 'fork' ? parent : argv.join(' ');
    if (one.looked) {
      const seen = { ...child, source: 'proc', exe: '/bin/prog' } as const;
      this.#tell((us) => start(us, pid, shown.split(' '), seen));
    }
    const end = one.killed ? 'SIGTERM' : one.code;
    this.truth.push({ parent, argv: shown, end });
    if (inside) for (const next of one.children) this.run(next, pid, shown);
    if (inside && !one.killed) this.#tell((us) => exit(us, pid, one.code));
    const status = one.killed ? 15 : exited(one.code);
    // Of one that nobody forked and that says nothing, only who waits for it is known.
    const nameless = one.way === 'vfork-exec' && one.silent && !one.looked;
    const reapers = nameless ? (['parent'] as const) : one.reapers;
    for (const by of reapers.toSorted().reverse()) {
      this.#tell((us) => reap(us, by === 'parent' ? parentPid : by, pid, status));
    }
    this.#free.push(pid);
  }

  #tell(frame: (us: number) => Frame): void {
    this.#us += 1;
    this.frames.push(frame(this.#us));
  }
}

const root: Plan = {
  way: 'vfork-exec',
  silent: false,
  looked: true,
  code: 0,
  killed: false,
  reapers: ['ptrace'],
  children: [],
};

const history = fc.array(plan(3), { maxLength: 5 }).map((children) => {
  const play = new Play();
  play.run({ ...root, children }, HEADER.runnerPid, 'runner');
  return play;
});

describe('any history', () => {
  it('is told by its frames, in whatever order and how often they come', () => {
    const order = fc.infiniteStream(fc.nat(1_000_000));
    fc.assert(
      fc.property(history, order, fc.nat(5), (play, numbers, twice) => {
        const keyed = [...play.frames, ...play.frames.slice(0, twice)].map((frame) => ({
          frame,
          key: numbers.next().value ?? 0,
        }));
        const shuffled = keyed.sort((a, b) => a.key - b.key).map(({ frame }) => frame);
        const { processes } = buildProcesses(shuffled, HEADER);
        const words = (id: number | undefined) =>
          id === undefined ? 'runner' : processes[id]?.images.at(-1)?.argv.join(' ');
        const found = processes.map(({ parent, id, exit: end }) => ({
          parent: words(parent),
          argv: words(id),
          end: end.kind === 'exited' ? end.code : end.kind === 'signaled' ? end.signal : '?',
        }));
        expect(found).toEqual(play.truth);
        expect(processes).toEqual(buildProcesses(play.frames, HEADER).processes);
      }),
      { numRuns: 500 },
    );
  });
});

describe('any frames', () => {
  it('make some processes, with parents in front of their children', () => {
    const small = anyFrame.map((frame): Frame => {
      const who = { pid: frame.who.pid % 5, space: frame.who.space % 2 };
      return 'parent' in frame
        ? { ...frame, who, parent: frame.parent % 5, startTicks: frame.startTicks % 3 }
        : { ...frame, who };
    });
    fc.assert(
      fc.property(fc.array(small, { maxLength: 30 }), (frames) => {
        const { processes, writes } = buildProcesses(frames, HEADER);
        for (const { id, parent, depth } of processes) {
          expect(parent ?? -1).toBeLessThan(id);
          expect(depth).toBe(parent === undefined ? 0 : (processes[parent]?.depth ?? 0) + 1);
        }
        for (const { process } of writes) expect(processes[process]).toBeDefined();
        expect(buildProcesses(frames.toReversed(), HEADER).processes).toEqual(processes);
      }),
      { numRuns: 500 },
    );
  });

  it('of one pid over and over, or all each other’s children, take no longer than others', () => {
    const kinds: readonly ((i: number) => Frame)[] = [
      (i) => start(i, 10, ['x'], { startTicks: i + 1, parent: 10 }),
      (i) => start(i, i + 20, ['x'], { startTicks: i + 1, inner: { pid: 3, space: 9 } }),
      (i) => fork(i, i + 1, i),
      (i) => fork(i, i + 2, 1),
      (i) => reap(i, 10, 11, exited(i % 2)),
    ];
    for (const kind of kinds) {
      const cost = (count: number): number => {
        const frames = Array.from({ length: count }, (_, i) => kind(i));
        const before = process.cpuUsage();
        expect(buildProcesses(frames, HEADER).processes.length).toBeGreaterThanOrEqual(count);
        return process.cpuUsage(before).user / 1000;
      };
      cost(1000); // the engine warms up
      // Twenty times as many: 400 times the work if anything were looked through again and again.
      expect(cost(20_000)).toBeLessThan(100 * Math.max(10, cost(1000)));
    }
  });
});
