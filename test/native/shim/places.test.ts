// Places where a library in the process could show, or hurt: other users and roots, other libcs and
// machines, small stacks, signal handlers, closed descriptors, checkers of memory.
import { spawnSync } from 'node:child_process';
import { chmodSync, chownSync, copyFileSync, cpSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { lacking } from '../../requirements.ts';
import { makeHeader } from '../../trace/header.ts';
import {
  bare,
  framesOf,
  preloaded,
  program,
  readTrace,
  shimDir,
  shown,
  traced,
  work,
} from './helper.ts';

const NOBODY = 65534;
const notRoot = lacking(process.getuid?.() !== 0, 'only root can change users and roots');

function has(name: string): boolean {
  return spawnSync('sh', ['-c', `command -v ${name}`]).status === 0;
}

/** The shim where another user can read it. */
function sharedShim(name: string): string {
  const dir = join(work, name);
  cpSync(shimDir, dir, { recursive: true });
  chmodSync(work, 0o755);
  return dir;
}

function startedBy(run: Parameters<typeof framesOf>[0]): readonly (string | undefined)[] {
  return framesOf(run, 'start').map((frame) => frame.argv[0]);
}

describe.skipIf(notRoot)('other rights', () => {
  it('a set-user-id program is known from its parent and gets nothing of ours', () => {
    const dir = sharedShim('setuid-shim');
    const set = join(work, 'set-user-id-env');
    copyFileSync('/usr/bin/env', set);
    chownSync(set, 1, 1);
    chmodSync(set, 0o4755);
    const argv = ['setpriv', '--reuid=65534', '--clear-groups', 'sh', '-c', `${set}; ${set}; true`];
    const trace = join(work, 'setuid.bin');
    const prepare = (path: string): void => {
      writeFileSync(path, makeHeader());
      chownSync(path, NOBODY, NOBODY);
    };
    const run = traced(argv, { dir, trace, prepare });
    expect(shown(run)).toEqual(bare(argv));
    expect(run.stdout).toContain('PATH=');
    expect(startedBy(run)).not.toContain(set);
    expect(framesOf(run, 'exec').filter((frame) => frame.argv[0] === set)).toHaveLength(2);
    expect(framesOf(run, 'reap')).toHaveLength(2);
  });

  it('a program with capabilities of its own, too, except for root', (context) => {
    if (!has('setcap')) context.skip('setcap is not installed');
    const dir = sharedShim('capable-shim');
    const capable = join(work, 'capable-env');
    copyFileSync('/usr/bin/env', capable);
    const set = spawnSync('setcap', ['cap_net_bind_service+ep', capable]);
    if (set.status !== 0) context.skip('files here have no capabilities');
    const shell = ['sh', '-c', `${capable}; true`];
    const user = ['setpriv', '--reuid=65534', '--clear-groups', ...shell];
    const prepare = (path: string): void => {
      writeFileSync(path, makeHeader());
      chownSync(path, NOBODY, NOBODY);
    };
    const run = traced(user, { dir, trace: join(work, 'capable.bin'), prepare });
    expect(shown(run)).toEqual(bare(user));
    expect(run.stdout).toContain('PATH=');
    expect(startedBy(run)).not.toContain(capable);
    expect(startedBy(traced(shell))).toContain(capable);
  });

  it('a user who may not write the trace runs as ever', () => {
    const dir = sharedShim('user-shim');
    const argv = ['setpriv', '--reuid=65534', '--clear-groups', 'sh', '-c', '/usr/bin/env; exit 3'];
    const run = traced(argv, {
      dir,
      prepare: (path) => writeFileSync(path, makeHeader(), { mode: 0o600 }),
    });
    expect(shown(run)).toEqual(bare(argv));
    // What it becomes is told before; a program of that user has nowhere to tell.
    expect(startedBy(run)).toEqual(['setpriv']);
    expect(framesOf(run, 'exec')).toMatchObject([{ argv: argv.slice(3), who: { pid: run.pid } }]);
  });

  it('behind chroot, where the shim is not, no loader complains', () => {
    const root = join(work, 'root');
    for (const dir of ['bin', 'lib', 'lib64', 'usr'])
      mkdirSync(join(root, dir), { recursive: true });
    const list = spawnSync('ldd', ['/bin/dash', '/bin/true'], { encoding: 'utf8' }).stdout;
    const libraries = new Set([...list.matchAll(/(\/\S+) \(0x/g)].map(([, path = '']) => path));
    for (const file of ['/bin/dash', '/bin/true', ...libraries]) {
      cpSync(file, join(root, file), { dereference: true });
    }
    const argv = ['chroot', root, '/bin/dash', '-c', '/bin/true; echo inside; exit 5'];
    const run = traced(argv);
    expect(shown(run)).toEqual(bare(argv));
    expect(run).toMatchObject({ status: 5, stdout: 'inside\n', stderr: '' });
    expect(startedBy(run)).toEqual(['chroot']);
    expect(framesOf(run, 'exec')).toMatchObject([{ argv: argv.slice(2), who: { pid: run.pid } }]);
  });
});

describe.skipIf(notRoot)('a descriptor is kept only where nothing else helps', () => {
  it.each([
    ['another user', 'os.setresuid(65534, 65534, 65534)', 1],
    ['another root', 'os.chroot("/var")', 1],
    ['a user for a while', 'os.seteuid(65534); os.seteuid(0)', 0],
    ['the same user', 'os.setuid(0)', 0],
  ])('%s', (_, change, kept) => {
    const script =
      'import os, sys\n' +
      'fds = os.open("/proc/self/fd", os.O_RDONLY)\n' +
      `${change}\n` +
      'high = [fd for fd in os.listdir(fds) if int(fd) >= 100]\n' +
      'print(len(high), flush=True)\n' +
      'os.fork() or os._exit(4)\n' +
      'os.wait()\n';
    const argv = ['python3', '-c', script];
    const run = traced(argv, {
      prepare: (path) => writeFileSync(path, makeHeader(), { mode: 0o600 }),
    });
    expect(run).toMatchObject({ status: 0, stderr: '' });
    // This process may have handed on some of its own.
    expect(Number(run.stdout) - Number(bare(argv).stdout)).toBe(kept);
    expect(framesOf(run, 'fork')).toHaveLength(1);
    expect(framesOf(run, 'reap')).toMatchObject([{ status: 4 << 8 }]);
  });
});

describe('a shim that goes away', () => {
  it.each(['deleted', 'emptied'])(
    '%s in the middle: children run without it, in silence',
    (way) => {
      const dir = join(work, `gone-${way}`);
      cpSync(shimDir, dir, { recursive: true });
      const files = `"${dir}/lib64/libcuff-shim.so" "${dir}/\\$LIB/libcuff-shim.so"`;
      const order =
        way === 'deleted' ? `rm -rf ${dir}` : `for f in ${files}; do rm "$f"; : >"$f"; done`;
      const run = traced(['bash', '-c', `/bin/true; ${order}; /bin/echo on; exit 3`], { dir });
      expect(run).toMatchObject({ status: 3, stdout: 'on\n', stderr: '' });
      expect(startedBy(run)).toContain('/bin/true');
      expect(startedBy(run)).not.toContain('/bin/echo');
      expect(framesOf(run, 'exec').at(-1)?.argv).toEqual(['/bin/echo', 'on']);
    },
  );

  it('a child with hardly any address space is left alone', () => {
    const argv = ['bash', '-c', '(ulimit -v 30000; exec /bin/true); echo $?'];
    const run = traced(argv);
    expect(shown(run)).toEqual(bare(argv));
    expect(startedBy(run)).toEqual(['bash']);
  });
});

describe('other programs', () => {
  it.skipIf(lacking(!has('musl-gcc'), 'musl-gcc is not installed'))(
    'a musl program loads the same library, and reports all of its life',
    () => {
      for (const way of ['return', 'exit', '_exit', 'quick_exit', 'pthread_exit', 'fork']) {
        const ender = program('ender', 'musl-gcc -O1 -pthread');
        const run = traced([ender, way, '6']);
        expect(shown(run)).toEqual(bare([ender, way, '6']));
        expect(framesOf(run, 'start')).toMatchObject([{ argv: [ender, way, '6'], cut: false }]);
        const codes = framesOf(run, 'exit').map((frame) => frame.code);
        const expected: Record<string, number[]> = { pthread_exit: [], fork: [6, 0] };
        expect([way, codes]).toEqual([way, expected[way] ?? [6]]);
      }
      const starter = program('starter', 'musl-gcc -O1 -pthread');
      for (const way of ['execve', 'execvp', 'execlp', 'posix_spawn', 'vfork', 'system', 'popen']) {
        const run = traced([starter, way, '/usr/bin/env']);
        expect(shown(run)).toEqual(bare([starter, way, '/usr/bin/env']));
        expect(startedBy(run)).toContain('/usr/bin/env');
      }
      const waiter = program('waiter', 'musl-gcc -O1');
      const run = traced([waiter, 'waitpid']);
      expect(framesOf(run, 'reap').map((frame) => frame.status)).toEqual([3 << 8, 15, 9]);
    },
  );

  it.skipIf(lacking(process.arch !== 'x64', 'only x64 runs 32-bit programs'))(
    'a 32-bit program finds a stub, and the shim is there again behind it',
    () => {
      const starter = program('starter', 'cc -m32 -O1 -pthread -I/usr/include/x86_64-linux-gnu');
      const run = traced(['sh', '-c', `${starter} posix_spawn /bin/sh -c 'exit 6'; exit $?`]);
      expect(run).toMatchObject({ status: 6, stdout: '', stderr: '' });
      expect(startedBy(run)).toEqual(['sh', '/bin/sh']);
      expect(framesOf(run, 'exec')[0]).toMatchObject({
        argv: [starter, 'posix_spawn', '/bin/sh', '-c', 'exit 6'],
      });
    },
  );

  it('a static program is told apart, and hands the shim on', () => {
    const starter = program('starter', 'cc -static -O1 -pthread');
    const run = traced(['sh', '-c', `${starter} posix_spawn /bin/sh -c 'exit 6'; exit $?`]);
    expect(run).toMatchObject({ status: 6, stdout: '', stderr: '' });
    expect(framesOf(run, 'exec')[0]).toMatchObject({ isStatic: true });
    expect(startedBy(run)).toEqual(['sh', '/bin/sh']);
    expect(framesOf(traced(['sh', '-c', '/bin/true; true']), 'exec')[0]?.isStatic).toBe(false);
  });

  it('a script is as static as what runs it', () => {
    const ender = program('ender', 'cc -static -O1 -pthread');
    const script = join(work, 'static-script');
    writeFileSync(script, `#! ${ender} return\n`, { mode: 0o755 });
    const run = traced(['sh', '-c', `${script}; true`]);
    expect(framesOf(run, 'exec')[0]).toMatchObject({ argv: [script], isStatic: true });
  });

  const noArm = lacking(
    !has('qemu-aarch64') || !has('aarch64-linux-gnu-gcc-12'),
    'qemu or the compiler for arm64 is missing',
  );
  it.skipIf(noArm)('on arm64 a program reports its life, as qemu runs it', () => {
    const dir = join(work, 'arm64');
    const script = join(import.meta.dirname, '..', '..', '..', 'scripts', 'shim.mjs');
    const words = [script, 'aarch64-linux-gnu-gcc-12', 'arm64', dir];
    const built = spawnSync(process.execPath, words, { encoding: 'utf8' });
    expect(built).toMatchObject({ status: 0, stderr: '' });
    const ender = program('ender', 'aarch64-linux-gnu-gcc-12 -O1 -pthread');
    for (const [way, codes] of [
      ['return', [6]],
      ['_exit', [6]],
      ['fork', [6, 0]],
    ] as const) {
      const trace = join(work, `arm64-${way}.bin`);
      writeFileSync(trace, makeHeader());
      const given = preloaded(trace, { dir });
      const words = ['LD_PRELOAD', 'CUFF_TRACE'].flatMap((name) => [
        '-E',
        `${name}=${given[name]}`,
      ]);
      const argv = ['-L', '/usr/aarch64-linux-gnu', ...words, ender, way, '6'];
      const made = spawnSync('qemu-aarch64', argv, { encoding: 'utf8' });
      expect(made).toMatchObject({ status: way === 'fork' ? 0 : 6, stderr: '' });
      const run = readTrace(trace);
      expect(framesOf(run, 'start')).toMatchObject([{ argv: [ender, way, '6'] }]);
      expect(framesOf(run, 'exit').map((frame) => frame.code)).toEqual(codes);
    }
  });
});

describe('inside a process', () => {
  it('hooks work on small stacks, in signal handlers, without descriptors, and keep errno', () => {
    const odd = program('odd');
    const run = traced([odd]);
    expect(shown(run)).toEqual(bare([odd]));
    expect(run).toMatchObject({ status: 0, stdout: 'fine\n', stderr: '' });
    expect(framesOf(run, 'reap').length).toBeGreaterThanOrEqual(4);
  });

  it('children of a busy Python never hang', () => {
    const script =
      'import subprocess, threading\n' +
      'def work():\n' +
      '  for i in range(10):\n' +
      '    assert subprocess.run(["/bin/sh", "-c", "exit 3"]).returncode == 3\n' +
      '    assert subprocess.run(["/bin/true"], preexec_fn=lambda: None).returncode == 0\n' +
      'threads = [threading.Thread(target=work) for _ in range(8)]\n' +
      '[t.start() for t in threads]; [t.join() for t in threads]\n';
    const run = traced(['python3', '-W', 'ignore', '-c', script]);
    expect(run).toMatchObject({ status: 0, stdout: '', stderr: '' });
    expect(startedBy(run).filter((name) => name === '/bin/sh')).toHaveLength(80);
    expect(startedBy(run).filter((name) => name === '/bin/true')).toHaveLength(80);
    expect(run.damagedBytes).toBe(0);
  });

  it('a program built with AddressSanitizer says what it would say', () => {
    const ender = program('ender', 'cc -fsanitize=address -O1 -pthread');
    const run = traced(['sh', '-c', `${ender} return 5`]);
    expect(run).toMatchObject({ status: 5, stderr: '' });
    expect(startedBy(run)).toContain(ender);
  });

  it.skipIf(lacking(!has('valgrind'), 'valgrind is not installed'))(
    'valgrind finds nothing to complain about in the shim',
    () => {
      const starter = program('starter');
      const words = ['-q', '--error-exitcode=66', '--trace-children=no'];
      for (const way of ['fork', 'vfork', 'posix_spawn', 'system', 'execvp']) {
        const run = traced(['valgrind', ...words, starter, way, '/bin/true', 'x']);
        expect([way, run.status, run.stderr]).toEqual([way, 0, '']);
        expect(startedBy(run)).toContain('/bin/true');
      }
    },
  );
});
