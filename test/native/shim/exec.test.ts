// Becoming and starting other programs: every way of the exec family reports before it happens,
// says so when it did not, and hands the shim on, whatever the environment of the child is.
import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { bare, framesOf, program, type Traced, traced, work } from './helper.ts';

const starter = program('starter');

/** argv of every program that reported itself. */
function started(run: Traced): readonly (readonly string[])[] {
  return framesOf(run, 'start').map((frame) => frame.argv);
}

const BECOMING = [
  'execve execv execvp execvpe execl execlp execle fexecve',
  'execveat execveat-fd thread empty null clearenv',
].flatMap((words) => words.split(' '));

describe('a program that becomes another', () => {
  it.each(BECOMING)('%s reports, and so does what it becomes', (way) => {
    const run = traced([starter, way, '/bin/echo', 'one', 'two words']);
    expect(run).toMatchObject({ status: 0, stdout: 'one two words\n', stderr: '' });
    expect(started(run)).toEqual([
      [starter, way, '/bin/echo', 'one', 'two words'],
      ['/bin/echo', 'one', 'two words'],
    ]);
    const [exec] = framesOf(run, 'exec');
    expect(exec).toMatchObject({ argv: ['/bin/echo', 'one', 'two words'], spawned: undefined });
    // A process that execs stays the same process.
    expect(new Set(run.frames.map((frame) => frame.who.pid))).toEqual(new Set([run.pid]));
    expect(framesOf(run, 'exit').map((frame) => frame.code)).toEqual([0]);
  });

  it.each(['execve', 'execvp', 'execlp', 'fexecve', 'posix_spawn', 'posix_spawnp'])(
    '%s of what is not there reports the error and goes on',
    (way) => {
      const argv = [starter, way, '/nonexistent/program', 'x'];
      const run = traced(argv);
      expect(run).toMatchObject(bare(argv));
      expect(run.status).toBe(99);
      const errno = Number(/errno (\d+)/.exec(run.stderr)?.[1]);
      const spawn = way.startsWith('posix');
      const file = way === 'fexecve' ? '' : '/nonexistent/program';
      expect(framesOf(run, 'execfail')).toMatchObject([{ errno, spawn, file }]);
      expect(framesOf(run, 'exit').map((frame) => frame.code)).toEqual([99]);
    },
  );

  it('a search along PATH that finds nothing says so once', () => {
    const run = traced([starter, 'execvp', 'no-such-program']);
    expect(framesOf(run, 'execfail')).toMatchObject([{ errno: 2, file: 'no-such-program' }]);
  });

  it('a script without `#!` still runs by way of the shell', () => {
    const script = join(work, 'plain-script');
    writeFileSync(script, 'echo plain $1\n', { mode: 0o755 });
    const run = traced([starter, 'execvp', script, 'here']);
    expect(run).toMatchObject({ status: 0, stdout: 'plain here\n', stderr: '' });
    expect(started(run).at(-1)).toEqual(['/bin/sh', script, 'here']);
  });
});

describe('a program that starts another', () => {
  it.each(['posix_spawn', 'posix_spawnp', 'fork', 'vfork'])(
    '%s: parent and child report',
    (way) => {
      const run = traced([starter, way, '/bin/sh', '-c', 'exit 5']);
      expect(run).toMatchObject({ status: 5, stderr: '' });
      expect(started(run)).toEqual([
        [starter, way, '/bin/sh', '-c', 'exit 5'],
        ['/bin/sh', '-c', 'exit 5'],
      ]);
      const child = framesOf(run, 'start')[1];
      expect(child?.parent).toBe(run.pid);
      const [exec] = framesOf(run, 'exec');
      expect(exec?.argv).toEqual(['/bin/sh', '-c', 'exit 5']);
      if (way.startsWith('posix')) {
        expect(exec).toMatchObject({ who: { pid: run.pid }, spawned: child?.who.pid });
      } else {
        expect(exec).toMatchObject({ who: { pid: child?.who.pid }, spawned: undefined });
      }
      expect(framesOf(run, 'reap')).toMatchObject([
        { who: { pid: run.pid }, child: child?.who.pid, status: 5 << 8 },
      ]);
    },
  );

  it.each(['system', 'popen'])('%s hands the shim on and leaves the environment alone', (way) => {
    const argv = [starter, way, 'echo inside; /usr/bin/env; exit 4'];
    const run = traced(argv);
    expect(run).toMatchObject(bare(argv));
    expect(run.status).toBe(4);
    expect(started(run)).toEqual([
      argv,
      ['sh', '-c', 'echo inside; /usr/bin/env; exit 4'],
      ['/usr/bin/env'],
    ]);
  });
});

describe('system and popen', () => {
  it('a process has its own environment again behind them, with what changed meanwhile', () => {
    const changer = program('changer');
    const env = { API_KEY: 'key-0123456789', LD_PRELOAD: '', ASAN_OPTIONS: 'a=1' };
    const run = traced([changer], { env });
    expect(run).toMatchObject(bare([changer], { env }));
    expect(run.stdout).toContain('NEW=1\n');
  });

  it.each([{}, { LD_PRELOAD: '', ASAN_OPTIONS: 'a=1', API_KEY: 'key-0123456789' }])(
    'threads may look through the environment meanwhile %#',
    (env) => {
      const walker = program('walker');
      for (const way of ['system', 'popen', 'execvp', 'execv']) {
        const run = traced([walker, way], { env });
        expect({ way, ...run }).toMatchObject({ way, ...bare([walker, way], { env }) });
        expect(run.status).toBe(0);
      }
    },
  );

  it.for(['cc', 'musl-gcc'])('a thread may be cancelled inside system (%s)', (cc, context) => {
    if (spawnSync(cc, ['--version']).error) context.skip(`${cc} is not installed`);
    const cancelled = program('cancelled', `${cc} -O1 -pthread`);
    const run = traced([cancelled]);
    expect(run).toMatchObject(bare([cancelled]));
    expect(run.stdout).toContain('after\n');
    // The second one handed the shim on as the first did.
    expect(started(run)).toContainEqual(['/usr/bin/env']);
  });
});

describe('the environment of a child', () => {
  it('a cleared environment is the same for the program, and the shim is there', () => {
    const argv = ['env', '-i', '/usr/bin/env', 'A=1', 'sh', '-c', '/usr/bin/env; /bin/true'];
    const run = traced(argv);
    expect(run).toMatchObject(bare(argv));
    expect(started(run).map((words) => words[0])).toEqual([
      'env',
      '/usr/bin/env',
      'sh',
      '/usr/bin/env',
      '/bin/true',
    ]);
  });

  it.each([100, 10_000])('%i variables reach the child as they are', (count) => {
    const names = Array.from({ length: count }, (_, i) => [`VARIABLE_${i}`, `value ${i}`]);
    const options = { env: Object.fromEntries(names) };
    for (const way of ['execve', 'vfork', 'posix_spawn', 'system', 'thread']) {
      const argv = [starter, way, '/usr/bin/env'];
      const run = traced(argv, options);
      expect(run).toMatchObject(bare(argv, options));
      expect(started(run).at(-1)).toEqual(['/usr/bin/env']);
      // The shell of system() adds PWD.
      const added = way === 'system' ? 4 : 3;
      expect(framesOf(run, 'start').at(-1)?.envCount).toBe(count + added);
    }
  });

  it.each(['execve', 'execv', 'spawn'])('what just fits without us fits (%s)', (way) => {
    const argv = [program('brimful'), way];
    const run = traced(argv);
    expect(run).toMatchObject(bare(argv));
    expect(run.stdout).toMatch(/^\d+ bytes fit\n$/);
  });

  it('vfork children of a process with many variables leave no memory behind', () => {
    const vforker = program('vforker');
    const names = Array.from({ length: 200 }, (_, i) => [`VARIABLE_${i}`, `value ${i}`]);
    const run = traced([vforker], { env: Object.fromEntries(names) });
    expect(run).toMatchObject({ status: 0, stdout: 'mappings stay\n', stderr: '' });
  });

  it("the user's own LD_PRELOAD and ASAN_OPTIONS stay, in their place, for every child", () => {
    const library = program('nothing', 'cc -shared -fPIC');
    const env = { LD_PRELOAD: library, ASAN_OPTIONS: 'detect_leaks=0', LAST: '1' };
    const argv = ['sh', '-c', '/usr/bin/env; env -u LD_PRELOAD /usr/bin/env; exec /usr/bin/env'];
    const run = traced(argv, { env });
    expect(run).toMatchObject(bare(argv, { env }));
    expect(run.stdout).toContain(`LD_PRELOAD=${library}\n`);
    expect(started(run).filter((words) => words[0] === '/usr/bin/env')).toHaveLength(3);
  });

  it('a program that sets CUFF_TRACE for a child is obeyed', () => {
    const argv = ['sh', '-c', 'CUFF_TRACE=mine /usr/bin/env'];
    const run = traced(argv);
    expect(run).toMatchObject(bare(argv));
    expect(started(run)).toEqual([argv]);
  });

  it('ldd lists what it would list', () => {
    const argv = ['sh', '-c', "ldd /bin/true | sed 's/ (.*//'"];
    expect(traced(argv)).toMatchObject(bare(argv));
  });
});

describe('long command lines', () => {
  it('are cut at the bounds of the header, and counted', () => {
    const words = Array.from({ length: 20 }, (_, i) => `word-${i}`);
    const run = traced(['/bin/echo', ...words], { header: { argsMax: 5 } });
    const [start] = framesOf(run, 'start');
    expect(start).toMatchObject({
      argv: ['/bin/echo', 'word-0', 'word-1', 'word-2', 'word-3'],
      args: 21,
      cut: true,
    });
    const long = 'x'.repeat(100_000);
    const [other] = framesOf(
      traced(['/bin/echo', long, 'y'], { header: { argvMax: 1000 } }),
      'start',
    );
    expect(other).toMatchObject({ args: 3, cut: true });
    expect(other?.argv.join('').length).toBeLessThan(1000);
    expect(other?.argv[1]).toMatch(/^x{900,}$/);
  });

  it('2 MB of words are reported as far as they are kept', () => {
    const words = Array.from({ length: 20_000 }, () => 'w'.repeat(90));
    const run = traced(['sh', '-c', 'exec /bin/true "$@"', 'sh', ...words]);
    expect(run).toMatchObject({ status: 0, stderr: '' });
    const [, start] = framesOf(run, 'start');
    expect(start).toMatchObject({ args: 20_001, cut: true });
    expect(framesOf(run, 'exec')[0]).toMatchObject({ args: 20_001, cut: true });
    expect(start?.argv.join('').length).toBeLessThan(17_000);
  });
});
