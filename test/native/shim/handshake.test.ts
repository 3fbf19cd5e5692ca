// The header of trace.bin is the handshake. Whatever is there instead, the command runs as if
// nobody watched, says nothing, and only a log that was asked for tells why.
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { makeHeader } from '../../trace/header.ts';
import { bare, framesOf, shown, traced, work } from './helper.ts';

type Prepare = (path: string) => void;

const COMMAND = ['bash', '-c', '/usr/bin/env; ls /nonexistent; (exit 3); /bin/echo $?; exit 7'];
const BARE = bare(COMMAND);

function changed(change: (bytes: Buffer) => Buffer | undefined): Prepare {
  return (path) => {
    const bytes = makeHeader();
    writeFileSync(path, change(bytes) ?? bytes);
  };
}

const BAD: readonly [string, Prepare, string][] = [
  ['no file', () => {}, 'cannot open the trace, error 2'],
  ['a directory', (path) => mkdirSync(path), 'cannot open the trace, error 21'],
  ['a FIFO', (path) => execFileSync('mkfifo', [path]), 'header refused: it is too short'],
  ['a link', (path) => symlinkSync('/dev/null', path), 'cannot open the trace, error 40'],
  ['an empty file', (path) => writeFileSync(path, ''), 'header refused: it is too short'],
  ['half a header', changed((bytes) => bytes.subarray(0, 4095)), 'header refused: it is too short'],
  ['another magic', changed((bytes) => void bytes.write('X', 0)), 'header refused: wrong magic'],
  ['another version', changed((bytes) => void bytes.writeUInt32LE(2, 8)), 'another version'],
  ['another size', changed((bytes) => void bytes.writeUInt32LE(8192, 12)), 'another size'],
  ['an unknown mode', changed((bytes) => void bytes.writeUInt32LE(9, 32)), 'unknown mode'],
  ['names without an end', changed(endless), 'names without an end'],
];

function endless(bytes: Buffer): undefined {
  bytes.fill('A', 232);
  bytes.writeUInt32LE(3, 96);
}

describe.each(BAD)('%s', (_, prepare, why) => {
  it('turns the shim off without a word', () => {
    const run = traced(COMMAND, { prepare });
    expect(shown(run)).toEqual(BARE);
    expect(run.frames).toEqual([]);
  });

  it('is told in the log, once, by the one process that tried', () => {
    const log = join(work, `log-${Math.random()}`);
    traced(COMMAND, { prepare, env: { CUFF_TRACE_LOG: log } });
    const lines = readFileSync(log, 'utf8').split('\n').filter(Boolean);
    expect(lines).toHaveLength(1);
    expect(lines[0]).toMatch(/^cuff-shim\[\d+\] /);
    expect(lines[0]).toContain(why);
  });
});

describe('the log', () => {
  it.each(['CUFF_TRACE_LOG', 'AH_CMDTRACE_LOG'])('%s names a file that is appended to', (name) => {
    const log = join(work, `${name}.log`);
    writeFileSync(log, 'before\n');
    const run = traced(['sh', '-c', '/bin/true; exec /bin/true'], { env: { [name]: log } });
    expect(run).toMatchObject({ status: 0, stdout: '', stderr: '' });
    const lines = readFileSync(log, 'utf8').split('\n');
    expect(lines[0]).toBe('before');
    const attached = lines.filter((line) => line.endsWith(`attached to ${run.trace}`));
    expect(attached).toHaveLength(3);
  });

  it.each(['1', 'stderr'])('%s means stderr', (value) => {
    const run = traced(['/bin/true'], { env: { AH_CMDTRACE_LOG: value } });
    expect(run.stderr).toBe(`cuff-shim[${run.pid}] attached to ${run.trace}\n`);
  });

  it('does not exist without being asked for', () => {
    expect(shown(traced(COMMAND))).toEqual(BARE);
    expect(shown(traced(COMMAND, { env: { CUFF_TRACE_LOG: '' } }))).toEqual(
      bare(COMMAND, { env: { CUFF_TRACE_LOG: '' } }),
    );
  });

  it('tells of reports that failed', () => {
    const log = join(work, 'failed.log');
    const argv = ['sh', '-c', 'ulimit -f 1; /bin/true'];
    traced(argv, { env: { CUFF_TRACE_LOG: log }, header: { fileMax: 4200 } });
    expect(readFileSync(log, 'utf8')).toContain('self-report failed, error 27');
  });
});

describe('a file that cannot take more', () => {
  it('RLIMIT_FSIZE: nothing is written, and no signal comes', () => {
    const argv = ['bash', '-c', 'ulimit -f 1; /bin/true; /usr/bin/env; (exit 3)'];
    const run = traced(argv);
    expect(run).toMatchObject(bare(argv));
    expect(framesOf(run, 'start').map((frame) => frame.argv[0])).toEqual(['bash']);
  });

  it('the bound of the header stops the frames, not the command', () => {
    const run = traced(COMMAND, { header: { fileMax: 4096 + 600 } });
    expect(shown(run)).toEqual(BARE);
    expect(statSync(run.trace).size).toBeLessThanOrEqual(4096 + 600);
    expect(run.damagedBytes).toBe(0);
  });

  it('no descriptor left: what could not be written is counted, and told later', () => {
    const script =
      'import os,resource,sys\n' +
      'soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)\n' +
      'resource.setrlimit(resource.RLIMIT_NOFILE, (3, hard))\n' +
      'for i in range(3):\n' +
      '  pid = os.fork()\n' +
      '  if pid == 0: os._exit(i)\n' +
      '  os.waitpid(pid, 0)\n' +
      'resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))\n' +
      'pid = os.fork()\n' +
      'if pid == 0: os._exit(9)\n' +
      'os.waitpid(pid, 0)\n';
    const run = traced(['python3', '-c', script]);
    expect(run).toMatchObject({ status: 0, stdout: '', stderr: '' });
    // Three reaps of the parent; each child counts for itself and has nobody to tell.
    expect(framesOf(run, 'drop')).toMatchObject([{ frames: 3, errno: 24, who: { pid: run.pid } }]);
  });

  it('a trace that is deleted in the middle stops being written', () => {
    const trace = join(work, 'deleted.bin');
    const argv = ['bash', '-c', `rm -f ${trace}; /bin/true; /usr/bin/env; (exit 3); exit 4`];
    const run = traced(argv, { trace });
    expect(shown(run)).toEqual(bare(argv));
    expect(existsSync(trace)).toBe(false);
  });
});
