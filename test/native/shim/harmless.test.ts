// What a program does that no hook may be in the way of: pointers that lead nowhere, threads that
// move descriptors about.
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { constants, tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { lacking } from '../../requirements.ts';
import { makeHeader } from '../../trace/header.ts';
import { bare, framesOf, program, shown, type Traced, traced, work } from './helper.ts';

const COMPILERS = ['cc -O1 -pthread', 'musl-gcc -O1 -pthread'];
const noRoot = lacking(process.getuid?.() !== 0, 'root alone can become another user');

describe('exec with pointers that lead nowhere', () => {
  it.each(['cc -O1', 'musl-gcc -O1'])('fails as it does without us (%s)', (compiler) => {
    const unmapped = program('unmapped', compiler);
    const run = traced([unmapped]);
    expect(shown(run)).toEqual(shown(bare([unmapped])));
    expect(run.stdout).toContain('execve argv: -1 14\n');
    expect(
      run.stdout.split('\n').filter((line) => line.includes(': -1 14')).length,
    ).toBeGreaterThan(20);
  });

  it('also in a container that forbids process_vm_readv', () => {
    const argv = [program('container', 'cc -static'), program('unmapped', 'cc -O1')];
    const header = makeHeader();
    const [flagsAt, filtered] = [88, 2]; // the runner is in the container, too
    header.writeUInt32LE(filtered, flagsAt);
    const run = traced(argv, { prepare: (path) => writeFileSync(path, header) });
    expect(shown(run)).toEqual(shown(bare(argv)));
    expect(run.stdout).toContain('execve argv: -1 14\n');
    expect(framesOf(run, 'start')).toHaveLength(1);
  });
});

const FRAME = 'CFFR';
const dropped = (run: Traced) => framesOf(run, 'drop').reduce((sum, { frames }) => sum + frames, 0);

describe('threads that move descriptors about', () => {
  it.each(COMPILERS)('find no frame in their files, and lose none (%s)', (compiler) => {
    const grabber = program('grabber', compiler);
    const file = join(mkdtempSync(join(work, 'grabbed-')), 'file');
    const run = traced([grabber, file, '600']);
    expect(run).toMatchObject({ status: 0, stdout: '0 failed, 0 lost\n' });
    const text = readFileSync(file, 'latin1');
    expect(text.split(FRAME).length - 1).toBe(0);
    expect(new Set(text.split('\n'))).toEqual(new Set(["a line of the program's own", '']));
    expect(framesOf(run, 'reap')).toHaveLength(600);
    expect(framesOf(run, 'exit').length).toBeGreaterThanOrEqual(600);
    expect(dropped(run)).toBe(0);
  });

  it.each([
    ['write', []],
    ['close', []],
    ['pread', []],
    ['fstat', []],
    ['write', ['old']],
    ['close', ['old']],
  ])('may take the number of a descriptor right before its %s %s', (call, kernel) => {
    const snatcher = program('snatcher');
    const file = join(mkdtempSync(join(work, 'snatched-')), 'file');
    const run = traced([snatcher, file, '20', call, ...kernel]);
    const [told = '', threads = ''] = run.stdout.split('\n');
    expect({ status: run.status, told }).toEqual({
      status: 0,
      told: '0 failed, 0 lost, 0 bytes',
    });
    // A look at the program, and a frame for its start and one for its end.
    expect(Number.parseInt(threads, 10)).toBeGreaterThanOrEqual(20 * 3);
    const children = new Set(framesOf(run, 'exec').flatMap(({ spawned }) => spawned ?? []));
    const reaped: unknown[] = framesOf(run, 'reap').map(({ child }) => child);
    expect(children.size).toBe(20);
    expect([...children].filter((child) => !reaped.includes(child))).toEqual([]);
    expect(dropped(run)).toBe(0);
  });
});

describe('a program with threads', () => {
  it.each(COMPILERS)('finds no thread, child or descriptor of the shim (%s)', (compiler) => {
    const looker = program('looker', compiler);
    const run = traced([looker, '500']);
    expect(shown(run)).toEqual(shown(bare([looker, '500'])));
    expect(run.stdout).toBe('0 threads, 0 children, 0 descriptors, 0 signals\n');
    expect(framesOf(run, 'reap')).toHaveLength(500);
    expect(dropped(run)).toBe(0);
  });

  it.skipIf(noRoot)('that may have no more of them lacks a frame, and says so', () => {
    const dir = mkdtempSync(join(tmpdir(), 'cuff-limited-'));
    try {
      const trace = join(dir, 'trace.bin');
      chmodSync(dir, 0o755);
      const prepare = (path: string) => {
        writeFileSync(path, makeHeader());
        chmodSync(path, 0o666);
      };
      const run = traced([program('limited')], { trace, prepare });
      expect(run).toMatchObject({ status: 0, stdout: '0 0\n', stderr: '' });
      expect(framesOf(run, 'reap')).toHaveLength(1);
      expect(framesOf(run, 'drop')).toMatchObject([{ frames: 1, errno: constants.errno.EAGAIN }]);
    } finally {
      rmSync(dir, { recursive: true, force: true });
    }
  });
});
