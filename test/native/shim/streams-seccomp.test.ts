// A process that locks itself up with seccomp dies of a system call it did not ask for: from then
// on the shim makes none, and what the process starts begins without it.
import { describe, expect, it } from 'vitest';
import { drive, expectEveryByteTold, of, program, seen } from './streams-helper.ts';

const sandbox = program('sandbox', 'cc -O1');
const hello = program('hello', 'cc -O1');
const BEFORE = 'before\nbefore, too\n';
const AFTER = 'after\nafter, too\n';

describe.each(['socket', 'pipe', 'pty'] as const)('on a %s', (mode) => {
  const stream = mode === 'pty' ? 'pty' : 'stdout';
  const told = mode === 'socket' ? 0 : BEFORE.length;

  it.each([
    ['strict', 3, `${BEFORE}after\n`],
    ['filter-prctl', 4, BEFORE + AFTER],
    ['filter-syscall', 4, BEFORE + AFTER],
    ['filter-rawcall', 4, BEFORE + AFTER],
    ['filter-unseen-asks', 4, BEFORE + AFTER],
  ])('%s: ends as without us, and tells what was written before', (kind, code, stdout) => {
    const run = drive(mode, [sandbox, kind]);
    expect(seen(run)).toEqual({ code, stdout, stderr: '' });
    expect(seen(run)).toEqual(seen(drive(mode, [sandbox, kind], { bare: true })));
    expect(of(run, stream).reduce((sum, { length }) => sum + length, 0)).toBe(told);
    expect(run.frames.filter(({ type }) => type === 'exit')).toEqual([]);
  });

  it.each(['exec-prctl', 'exec-syscall', 'exec-unseen-asks'])(
    '%s: so does what it becomes',
    (kind) => {
      const run = drive(mode, [sandbox, kind, hello]);
      expect(seen(run)).toEqual({ code: 7, stdout: `${BEFORE}${AFTER}hello\n`, stderr: '' });
      expect(run.frames.filter(({ type }) => type === 'start')).toHaveLength(1);
    },
  );

  it('a program that only tries whether it could goes on being told', () => {
    const run = drive(mode, [sandbox, 'probe']);
    expect(seen(run)).toEqual({ code: 0, stdout: `${BEFORE}after\n`, stderr: '' });
    expect(run.frames.filter(({ type }) => type === 'exit')).toHaveLength(1);
    if (mode !== 'socket') expectEveryByteTold(run, stream === 'pty' ? 'pty' : 'stdout');
  });
});
