// Processes for tests of what is shown of them: a tree in few words, and any tree.
import fc from 'fast-check';
import type { Image, ProcessExit } from '../../../src/trace/processes/process.ts';
import type { TracedProcess } from '../../../src/trace/trace.ts';

type Given = {
  readonly argv?: readonly string[];
  /** The place of the parent. */
  readonly parent?: number | undefined;
  /** Milliseconds. */
  readonly from?: number;
  readonly to?: number | undefined;
  readonly exit?: ProcessExit;
  readonly cpuNs?: number | undefined;
  readonly peak?: TracedProcess['peak'];
  readonly bytes?: Partial<TracedProcess['bytes']>;
  readonly cwd?: string;
  readonly isCopy?: boolean;
};

const EXITED: ProcessExit = { kind: 'exited', code: 0 };
export const FAILED: ProcessExit = { kind: 'exited', code: 1 };

function image(argv: readonly string[], cwd = '/p', inherited = false): Image {
  return {
    exe: `/bin/${argv[0]}`,
    argv,
    args: argv.length,
    cwd,
    startNs: 0n,
    uid: 0,
    env: {},
    isStatic: false,
    cut: false,
    redacted: false,
    argvFrom: 'child',
    inherited,
  };
}

export const ms = (value: number): bigint => BigInt(Math.round(value * 1e6));

/** Parents come before their children, as in a trace; pids count from 100. */
export function processesOf(given: readonly Given[]): TracedProcess[] {
  const made: TracedProcess[] = [];
  for (const [id, one] of given.entries()) {
    const { argv = ['sh'], parent, from = 0, cwd, isCopy = false } = one;
    made.push({
      id,
      pid: 100 + id,
      space: 0,
      ppid: parent === undefined ? 0 : 100 + parent,
      parent,
      depth: parent === undefined ? 0 : (made[parent]?.depth ?? 0) + 1,
      startNs: ms(from),
      endNs: 'to' in one ? (one.to === undefined ? undefined : ms(one.to)) : ms(from + 1),
      images: [image(argv, cwd, isCopy)],
      forkedFrom: isCopy ? parent : undefined,
      exit: one.exit ?? EXITED,
      cpuNs: one.cpuNs,
      peak: one.peak,
      failedExecs: [],
      sources: ['shim'],
      bytes: { stdout: 0, stderr: 0, pty: 0, ...one.bytes },
    });
  }
  return made;
}

/** Any tree, in the order of a trace: every process right behind its parent's subtree so far. */
export const anyProcesses: fc.Arbitrary<TracedProcess[]> = fc
  .array(
    fc.record({
      up: fc.nat(4),
      argv: fc.constantFrom(['cc', 'a.c'], ['cc', 'b.c'], ['as', 'x.s'], ['sh', '-c', 'x']),
      exit: fc.constantFrom(EXITED, EXITED, EXITED, FAILED),
      from: fc.integer({ min: 0, max: 100 }),
      took: fc.option(fc.integer({ min: 0, max: 100 }), { nil: undefined }),
    }),
    { maxLength: 40 },
  )
  .map((all) => {
    const open: number[] = [];
    return processesOf(
      all.map(({ up, argv, exit, from, took }, id) => {
        open.splice(Math.max(0, open.length - up));
        const parent = open.at(-1);
        open.push(id);
        return { argv, exit, parent, from, to: took === undefined ? undefined : from + took };
      }),
    );
  });
