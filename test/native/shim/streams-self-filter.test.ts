// A program that installs a seccomp filter with an instruction of its own: the shim finds that in
// its code before main, says START and why nothing follows, and makes no system call any more.
import { chmodSync, readFileSync, writeFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { drive, type Mode, program, type Run, seen } from './streams-helper.ts';

const MODES: readonly Mode[] = ['pipe', 'pty', 'socket'];
const BUILDS = ['cc -O0', 'cc -O2', 'cc -O0 -DHELPER', 'cc -O2 -DHELPER', 'cc -Os -no-pie'];
const ENDS: readonly (readonly [string, number, string])[] = [
  ['strict', 3, 'before\nafter\n'],
  ['files', 4, 'before\nchild\nthrough a pipe\nthe child ended with 5\n'],
  ['files-prctl', 4, 'before\nchild\nthrough a pipe\nthe child ended with 5\n'],
  ['exec', 0, 'before\nafter\nhello there\n'],
  ['exec-raw-prctl', 0, 'before\nafter\nhello there\n'],
  ['exec-file', 0, 'before\nafter\nhello there\n'],
  ['fork-exec', 6, 'before\nafter\nhello there\n'],
];

const selfFilter = (build: string): string =>
  program(`self-filter${build.replaceAll(' ', '')}`, build, 'self-filter.c');

/** The types of all frames, and of a START whether it is the last word. */
const told = ({ frames }: Run): readonly unknown[] =>
  frames.map((frame) => (frame.type === 'start' ? ['start', frame.silent ?? false] : frame.type));

describe.each(BUILDS)('built by %s', (build) => {
  const built = selfFilter(build);

  describe.each(MODES)('on a %s', (mode) => {
    it.each(ENDS)('%s: ends as without us, and says why nothing is known', (kind, code, stdout) => {
      const command = [built, kind, '/bin/echo', 'hello', 'there'];
      const run = drive(mode, command);
      expect(seen(run)).toEqual({ code, stdout, stderr: '' });
      expect(seen(run)).toEqual(seen(drive(mode, command, { bare: true })));
      expect(told(run)).toEqual([['start', true]]);
    });
  });

  it.each(['exec', 'exec-raw', 'fork-exec'])('%s: what it becomes has nothing of ours', (kind) => {
    const command = [built, kind, '/usr/bin/env'];
    const env = { LD_PRELOAD: '', ASAN_OPTIONS: 'detect_leaks=0' };
    const bare = seen(drive('pipe', command, { bare: true, env }));
    const { stdout } = seen(drive('pipe', command, { env }));
    expect(stdout).not.toMatch(/CUFF_TRACE|libcuff/);
    expect(stdout.replace(/^LD_PRELOAD=.*\n/m, '')).toBe(
      bare.stdout.replace(/^LD_PRELOAD=.*\n/m, ''),
    );
  });
});

const PT_LOAD = 1;
const PT_GNU_EH_FRAME = 0x6474e550;
const [PF_X, PF_R] = [1, 4];

/** The program headers of an ELF file, each a view of its bytes. */
function segmentsOf(elf: Buffer): readonly Buffer[] {
  const [first, bytes] = [Number(elf.readBigUInt64LE(32)), elf.readUInt16LE(54)];
  const starts = Array.from({ length: elf.readUInt16LE(56) }, (_, i) => first + i * bytes);
  return starts.map((at) => elf.subarray(at, at + bytes));
}

const ODD_FILES: Readonly<Record<string, (elf: Buffer) => void>> = {
  'as it was built': () => undefined,
  'without section headers': (elf) => {
    elf.fill(0, 40, 48);
    elf.fill(0, 58, 64);
  },
  'with code that may only be executed': (elf) => {
    for (const segment of segmentsOf(elf)) {
      const isCode = segment.readUInt32LE(0) === PT_LOAD && (segment.readUInt32LE(4) & PF_X) !== 0;
      if (isCode) segment.writeUInt32LE(PF_X, 4);
    }
  },
  // Whoever reads behind the end of the file there dies of SIGBUS.
  'with code that its file is too short for': (elf) => {
    const other = segmentsOf(elf).find((one) => one.readUInt32LE(0) === PT_GNU_EH_FRAME);
    other?.writeUInt32LE(PT_LOAD, 0);
    other?.writeUInt32LE(PF_R | PF_X, 4);
    const lastPage = elf.length - (elf.length % 4096);
    const [address, bytes] = [0x1000_0000, 0x4_0000];
    for (const [i, value] of [lastPage, address, address, bytes, bytes, 4096].entries()) {
      other?.writeBigUInt64LE(BigInt(value), 8 + 8 * i);
    }
  },
};

describe('a program without such code', () => {
  it.each(Object.keys(ODD_FILES))('has a filter as data, %s, and is told', (how) => {
    const built = program('harmless', 'cc -O1 -DHARMLESS', 'self-filter.c');
    // With a last page that has nothing of the program in it.
    const elf = Buffer.concat([readFileSync(built), Buffer.alloc(4096)]);
    ODD_FILES[how]?.(elf);
    const odd = `${built}-${Object.keys(ODD_FILES).indexOf(how)}`;
    writeFileSync(odd, elf);
    chmodSync(odd, 0o755);
    const run = drive('pipe', [odd]);
    expect(seen(run)).toEqual({ code: 4, stdout: 'before\n', stderr: '' });
    expect(told(run)).toEqual([['start', false], 'exit', 'write']);
  });

  it.each([
    ['bash', '-c', 'echo before'],
    ['git', '--version'],
    ['python3', '-c', 'print(1)'],
    [process.execPath, '-e', 'console.log(1)'],
    ['sh', '-c', 'ls / | sed p'],
  ])('%s goes on being told', (...command) => {
    const run = drive('pipe', command);
    const starts = run.frames.filter((frame) => frame.type === 'start');
    expect(starts.length).toBeGreaterThan(0);
    expect(starts.filter(({ silent }) => silent)).toEqual([]);
    expect(run.frames.filter(({ type }) => type === 'exit').length).toBeGreaterThan(0);
  });
});
