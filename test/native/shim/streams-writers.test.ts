// Many writers at once: every line says which process wrote it, and so must its record.
import { describe, expect, it } from 'vitest';
import { fnv64 } from '../../trace/encode.ts';
import { drive, expectEveryByteTold, type Mode, of, program, type Run } from './streams-helper.ts';

const writers = program('writers', 'cc -O1 -pthread');
const LINE = 64;

/** Lines and records as "pid hash", in no order: equal when every line was told for its writer. */
function expectLinesTold(run: Run, mode: Mode = 'pipe'): void {
  const stdout = mode === 'pty' ? 'pty' : 'stdout';
  expect(run.damagedBytes).toBe(0);
  for (const [stream, bytes] of [
    [stdout, run.stdout],
    ['stderr', run.stderr],
  ] as const) {
    const told = of(run, stream).map(({ pid, hash, length }) => `${pid} ${hash} ${length}`);
    expect(told.sort()).toEqual(linesOf(bytes));
  }
}

function linesOf(bytes: Buffer): string[] {
  const lines: string[] = [];
  for (let at = 0; at < bytes.length; at += LINE) {
    const line = bytes.subarray(at, at + LINE);
    const pid = Number(line.toString('latin1', 2, 12));
    lines.push(`${pid} ${fnv64(line)} ${LINE}`);
  }
  return lines.sort();
}

describe('a line is told for the process that wrote it', () => {
  it.each(['pipe', 'pty'] as const)('with 8 threads on a %s', (mode) => {
    const run = drive(mode, [writers, 'threads', '500']);
    expect([run.code, run.stdout.length + run.stderr.length]).toEqual([0, 8 * 500 * LINE]);
    expectLinesTold(run, mode);
  });

  it.each(['pipe', 'pty'] as const)('with 8 forked children on a %s', (mode) => {
    const run = drive(mode, [writers, 'forks', '100']);
    expect([run.code, run.stdout.length + run.stderr.length]).toEqual([0, (8 * 100 + 9) * LINE]);
    expectLinesTold(run, mode);
    expect(new Set(run.told.map(({ pid }) => pid)).size).toBe(9);
  });

  it('in a vfork child, which has only its parent to write from', () => {
    const run = drive('pipe', [writers, 'vforks', '20']);
    expect([run.code, run.stdout.length, run.stderr.length]).toEqual([0, 40 * LINE, 20 * LINE]);
    expectLinesTold(run);
    expect(new Set(of(run, 'stderr').map(({ pid }) => pid)).size).toBe(20);
  });

  it('in a child that no hook saw begin', () => {
    const run = drive('pipe', [writers, 'clones', '1']);
    expect([run.code, run.stdout.length, run.stderr.length]).toEqual([0, 5 * LINE, 2 * LINE]);
    expectLinesTold(run);
  });

  it('in a signal handler that interrupts a write', () => {
    const run = drive('pipe', [writers, 'signals', '3000']);
    expect([run.code, run.stdout.length]).toEqual([0, 3000 * LINE]);
    expect(run.stderr.length).toBeGreaterThan(LINE);
    expectLinesTold(run);
  });
});

it('a signal handler that jumps out of a write loses its own record and no other line', () => {
  const run = drive('pipe', [writers, 'jumps', '30']);
  expect(run.code).toBe(0);
  const lines = linesOf(run.stdout);
  const told = of(run, 'stdout').map(({ pid, hash, length }) => `${pid} ${hash} ${length}`);
  // Never one that was not written, and the last one is there.
  const left = [...lines];
  for (const record of told) {
    const at = left.indexOf(record);
    expect(at).toBeGreaterThanOrEqual(0);
    left.splice(at, 1);
  }
  expect(of(run, 'stderr')).toHaveLength(1);
});

it.each([
  ['write', '0'],
  ['a buffered file', '1'],
])('a thread can be cancelled while it waits in %s', (_, kind) => {
  const run = drive('pipe', [writers, 'cancelled', kind]);
  expect(run.code).toBe(0);
  expectEveryByteTold(run);
});

it('subshells, pipelines and coprocesses each tell their own', () => {
  const script = `
    echo shell; (echo "sub $BASHPID"; echo "err $BASHPID" >&2) ; /bin/echo child
    printf 'a\\nb\\n' | while read -r x; do echo "loop $x $BASHPID"; done
    coproc cat; echo through >&"\${COPROC[1]}"; read -r back <&"\${COPROC[0]}"; echo "$back"
    ls /dev/null |& cat; echo "$(echo captured)"; wc -c < /dev/null`;
  const run = drive('pipe', ['bash', '-c', script]);
  expect(run.code).toBe(0);
  expectEveryByteTold(run);
  for (const line of run.stdout.toString().split('\n')) {
    const pid = /^(?:sub|loop .) (\d+)$/.exec(line)?.[1];
    if (pid === undefined) continue;
    const hash = fnv64(Buffer.from(`${line}\n`));
    expect(run.told.find((record) => record.hash === hash)?.pid).toBe(Number(pid));
  }
});
