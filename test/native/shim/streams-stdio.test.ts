// stdio writes by functions of its own that no hook replaces; the pointer they go through is
// exchanged. Every byte of printf and its kin is told, in glibc and musl.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { lacking } from '../../requirements.ts';
import {
  bytesTold,
  drive,
  expectEveryByteTold,
  has,
  program,
  seen,
  workDir,
} from './streams-helper.ts';

const BUFFERING = ['none', 'line', 'full', 'default'];
const glibc = program('stdio', 'cc -O1');
const noMusl = lacking(!has('musl-gcc'), 'musl-gcc is not installed');
const musl = noMusl ? '' : program('stdio-musl', 'musl-gcc -O1', 'stdio.c');
const noCpp = lacking(!has('c++'), 'a C++ compiler is not installed');

describe.each(BUFFERING)('stdio with buffering: %s', (how) => {
  it('is told in full by glibc, on a pipe and on a terminal', () => {
    const bare = drive('pipe', [glibc, how], { bare: true });
    const run = drive('pipe', [glibc, how]);
    expect(seen(run)).toEqual(seen(bare));
    expect([run.code, run.stdout.length]).toEqual([5, (1 << 20) + 70]);
    expectEveryByteTold(run);
    expectEveryByteTold(drive('pty', [glibc, how]), 'pty');
  });

  it.skipIf(noMusl)('is told in full by musl, on a pipe and on a terminal', () => {
    const bare = drive('pipe', [musl, how], { bare: true });
    const run = drive('pipe', [musl, how]);
    expect(seen(run)).toEqual(seen(bare));
    expect([run.code, run.stdout.length]).toEqual([5, (1 << 20) + 70]);
    expectEveryByteTold(run);
    expectEveryByteTold(drive('pty', [musl, how]), 'pty');
    // dprintf has no FILE there: how much is known, not what.
    const unhashed = run.told.filter(({ hash }) => hash === undefined);
    expect(unhashed.map(({ length }) => length)).toEqual([10, 9]);
  });
});

it.skipIf(noCpp)('the streams of C++ are told, tied to stdio or not', () => {
  const iostream = program('iostream', 'c++ -O1', 'iostream.cc');
  const run = drive('pipe', [iostream]);
  expect([run.code, run.stdout.length, run.stderr.length]).toEqual([0, 100022, 10]);
  expectEveryByteTold(run);
});

const numbers = join(workDir, 'numbers');
writeFileSync(numbers, Array.from({ length: 5000 }, (_, i) => `${i}\n`).join(''));

const TOOLS: readonly (readonly [string, string, ...string[]])[] = [
  ['bash builtins', 'bash', '-c', 'echo a; printf "%s\\n" b c; echo e >&2; type echo; pwd'],
  ['dash builtins', 'dash', '-c', 'echo a; printf "%s\\n" b; echo e >&2; set | head -1'],
  ['ls', 'ls', '-la', '/etc'],
  ['ls of nothing', 'ls', '/nothing/here'],
  ['grep', 'grep', '-n', '7', numbers],
  ['git', 'git', 'help', '-a'],
  ['python', 'python3', '-c', 'import os,sys; print("p" * 9000); os.write(2, b"raw\\n")'],
  ['perl', 'perl', '-e', 'print "x" x 9000; syswrite STDERR, "y\\n"; printf "%d\\n", 5'],
  ['awk', 'awk', '{ print $1 * 2 } END { print "e" > "/dev/stderr" }', numbers],
  ['sed', 'sed', '-n', '10,90p', numbers],
  ['cat', 'cat', numbers, numbers],
  ['dd', 'dd', `if=${numbers}`, 'bs=1000', 'status=noxfer'],
  ['tee', 'sh', '-c', `tee /dev/stderr < ${numbers}`],
  ['sort', 'sort', '-rn', numbers],
  ['node', process.execPath, '-e', 'console.log("n".repeat(9000)); console.error("e")'],
  ['find', 'find', '/etc', '-maxdepth', '1'],
  ['tar', 'sh', '-c', `tar cf - -C / etc/hostname | cat`],
];

describe.each(TOOLS)('%s', (_, tool, ...words) => {
  const command = [tool, ...words];
  it('ends as without us and tells every byte', (context) => {
    if (!has(tool)) context.skip(`${tool} is not installed`);
    for (const mode of ['pipe', 'pty'] as const) {
      const bare = drive(mode, command, { bare: true });
      const run = drive(mode, command);
      expect(seen(run)).toEqual(seen(bare));
      expect(run.stdout.length + run.stderr.length).toBeGreaterThan(0);
      const channel = mode === 'pty' ? 'pty' : 'stdout';
      expect(bytesTold(run, channel)).toBe(run.stdout.length);
      expectEveryByteTold(run, channel);
    }
  });
});
