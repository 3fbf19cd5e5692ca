// What a process writes to the run's streams is told with its time, stream, length and hash, by
// whichever call, through whichever descriptor; and nothing else is.
import { describe, expect, it } from 'vitest';
import {
  bytesTold,
  drive,
  expectEveryByteTold,
  expectStreamTold,
  of,
  program,
  seen,
  workDir,
} from './streams-helper.ts';

const calls = program('calls', 'cc -O1 -Wno-unused-result');

/** What the program writes, by the name of the call. */
const VECTORS = 6153;

describe('a write', () => {
  it.each([
    ['write', 5049, 5049],
    ['writev', VECTORS, VECTORS],
    ['pwritev2', VECTORS, VECTORS],
    ['vmsplice', VECTORS, VECTORS],
    ['syscall', VECTORS, VECTORS],
    ['big', 10 << 20, 10 << 20],
    ['failing', 6, 6],
  ])('by %s to a pipe is told with the hash of its bytes', (name, out, err) => {
    const run = drive('pipe', [calls, name]);
    expect([run.code, run.stdout.length, run.stderr.length]).toEqual([0, out, err]);
    expectEveryByteTold(run);
    expect(run.told.every(({ hash }) => hash !== undefined)).toBe(true);
  });

  it.each(['write', 'writev', 'pwritev2', 'syscall', 'big', 'partial', 'failing'])(
    'by %s to a terminal is told as the terminal it is',
    (name) => {
      const run = drive('pty', [calls, name]);
      expect([run.code, run.stdout.length > 0]).toEqual([0, true]);
      expectEveryByteTold(run, 'pty');
    },
  );

  it.each(['write', 'writev', 'sendmsg', 'send'])(
    'by %s to a socket is told where the kernel does not say who wrote',
    (name) => {
      const run = drive('pipesocket', [calls, name]);
      expect(run.code).toBe(0);
      expectEveryByteTold(run);
    },
  );

  it.each([
    ['sendfile', 5000, 4000],
    ['splice', 5000, 0],
    ['tee', 0, 1000],
  ])('by %s is told without a hash, for the bytes were never there', (name, out, err) => {
    const run = drive('pipe', [calls, name]);
    expect([run.code, run.stdout.length, run.stderr.length]).toEqual([0, out, err]);
    expectEveryByteTold(run);
    expect(run.told.map(({ hash }) => hash)).toEqual(run.told.map(() => undefined));
  });

  it('that takes less than all is told with what it took', () => {
    const run = drive('pipe', [calls, 'partial']);
    expect([run.code, run.stdout.length]).toEqual([0, 3 << 20]);
    expectEveryByteTold(run);
    expect(run.told.length).toBeGreaterThan(2);
  });

  it('is told with a time inside the run and a duration', () => {
    const before = BigInt(Date.now()) * 1_000_000n;
    const { told } = drive('pipe', [calls, 'big']);
    const after = BigInt(Date.now() + 1) * 1_000_000n;
    expect(told.length).toBeGreaterThan(0);
    for (const { atNs, tookNs } of told) {
      expect(atNs >= before - 1_000_000n && atNs + BigInt(tookNs) <= after).toBe(true);
      expect(tookNs).toBeGreaterThan(1000); // a megabyte at least through 64 KiB
    }
  });

  it('to a socket of a run is left to the kernel: nothing is told', () => {
    const run = drive('socket', [calls, 'write']);
    expect([run.code, run.stdout.length, run.told]).toEqual([0, 5049, []]);
  });
});

describe('a descriptor', () => {
  it.each(['pipe', 'pipesocket'] as const)(
    'is the stream it is, whatever its number was (%s)',
    (mode) => {
      const run = drive(mode, [calls, 'dups']);
      expect(seen(run)).toEqual({
        code: 0,
        stdout: 'o-dup\no-swapped\no-raw\n',
        stderr: 'e-fcntl\ne-swapped\ne-raw\n',
      });
      expectEveryByteTold(run);
    },
  );

  it('is asked about again as soon as it could be another, or the writer could', () => {
    const run = drive('pipe', [calls, 'in_a_row']);
    expect([run.code, run.stdout.length, run.stderr.length]).toEqual([0, 20_040, 1250]);
    expectEveryByteTold(run);
    const child = run.stdout
      .toString()
      .split('')
      .map((letter) => letter === 'v');
    const parent = of(run, 'stderr')[0]?.pid;
    expect(of(run, 'stdout').map(({ pid }) => pid !== parent)).toEqual(child);
    expect(run.frames.length).toBeLessThan(1000);
  });

  it('that a shell has swapped is the other stream', () => {
    const swap = '{ echo to-err; echo to-out >&2; } 3>&1 1>&2 2>&3 3>&-; /bin/echo plain';
    const run = drive('pipe', ['bash', '-c', swap]);
    expect(seen(run)).toEqual({ code: 0, stdout: 'to-out\nplain\n', stderr: 'to-err\n' });
    expectEveryByteTold(run);
  });

  it('is one stream where stdout and stderr are one', () => {
    const run = drive('merged', ['bash', '-c', 'echo a; echo b >&2; /bin/echo c']);
    expect(run.stdout.toString()).toBe('a\nb\nc\n');
    expectEveryByteTold(run);
  });

  it('of a pipe beside the terminal is stderr', () => {
    const run = drive('ptyerr', [calls, 'write']);
    expect([bytesTold(run, 'pty'), bytesTold(run, 'stderr')]).toEqual([5049, 5049]);
    expectEveryByteTold(run, 'pty');
  });

  it('of /dev/tty is the terminal, and of another terminal is not', () => {
    const run = drive('pty', ['bash', '-c', 'echo tty > /dev/tty; ls /dev/null > /dev/tty']);
    expect(run.stdout.toString()).toBe('tty\n/dev/null\n');
    expectEveryByteTold(run, 'pty');
    // Inside `script` /dev/tty is a terminal of its own; what script copies out is script's.
    const log = `${workDir}/typescript`;
    const inner = drive('pty', ['script', '-qec', 'echo inner > /dev/tty', log]);
    expect(inner.stdout.toString()).toBe('inner\r\n');
    expectEveryByteTold(inner, 'pty');
    expect(new Set(inner.told.map(({ pid }) => pid)).size).toBe(1);
  });
});

describe('a process that is killed', () => {
  it('has told the beginning of what it wrote, in order and without a gap', () => {
    const run = drive('pipe', ['perl', '-e', KILLED]);
    expect([run.code, run.stdout.length, run.damagedBytes]).toEqual([137, 1000 * 50, 0]);
    const told = bytesTold(run, 'stdout');
    expect(told).toBeGreaterThanOrEqual(7 * 127 * 50); // a batch is 127 records
    expect(told).toBeLessThan(1000 * 50);
    expectStreamTold(of(run, 'stdout'), run.stdout.subarray(0, told));
  });

  it('by its own hand has told everything, in far fewer frames than writes', () => {
    const run = drive('pipe', [calls, 'killed']);
    expect([run.code, run.stdout.length]).toEqual([137, 1000 * 50]);
    expectEveryByteTold(run);
    expect(run.frames.length).toBeLessThan(run.told.length / 10);
    const aborted = drive('pipe', ['perl', '-MPOSIX', '-e', `${MANY} POSIX::abort()`]);
    expect([aborted.code, aborted.stdout.length]).toEqual([134, 1000 * 50]);
    expectEveryByteTold(aborted);
  });

  it('through the last of all system calls, too', () => {
    const run = drive('pipe', [calls, 'exit_group']);
    expect([run.code, run.stdout.length]).toEqual([6, 100 * 50]);
    expectEveryByteTold(run);
  });

  it('by a fault, after a few words, has told them', () => {
    const run = drive('pipe', ['perl', '-e', 'syswrite STDOUT, $_ for 1..8; unpack "p", "x" x 8']);
    expect([run.code, run.stdout.toString()]).toEqual([139, '12345678']);
    expectEveryByteTold(run);
  });
});

it('a process that becomes another program has told what it wrote as the first', () => {
  const run = drive('pipe', ['perl', '-e', `${MANY} exec "/bin/echo", "end"`]);
  expect([run.code, run.stdout.length]).toEqual([0, 1000 * 50 + 4]);
  expectEveryByteTold(run);
  const raw = drive('pipe', [calls, 'execve']);
  expect([raw.code, raw.stdout.length]).toEqual([0, 100 * 50 + 4]);
  expectEveryByteTold(raw);
  expect(raw.frames.filter(({ type }) => type === 'start')).toHaveLength(2);
  const failed = drive('pipe', ['perl', '-e', `${MANY} exec "/nothing/here"; exit 9`]);
  expect([failed.code, failed.stdout.length]).toEqual([9, 1000 * 50]);
  expectEveryByteTold(failed);
});

const MANY = 'syswrite STDOUT, sprintf("%049d\\n", $_) for 1..1000;';

/** By a child from before the first write: nobody sees it coming, not even a hook. */
const KILLED = `
  pipe(READ, WRITE); pipe(NEVER, HELD);
  if (!fork) { close STDOUT; close STDERR; close WRITE; sysread READ, $_, 1; kill 9, getppid; exit }
  ${MANY}
  syswrite WRITE, "x"; sysread NEVER, $_, 1;
`;
