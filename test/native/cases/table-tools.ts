// Hard cases: real programs, and those that look into other processes themselves.
import { type Case, forked, ran } from './case.ts';

const MAKEFILE = `all: one.o two.o
\t@echo linked
%.o: %.c
\t@$(CC) -c $< -o $@ && echo "made $@"
fail:
\t@$B/say o failing x 3
`;

const GIT = `set -e
export GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_SYSTEM=/dev/null GIT_PAGER=cat
export GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@b GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a@b
export GIT_AUTHOR_DATE='2020-01-01T00:00:00Z' GIT_COMMITTER_DATE='2020-01-01T00:00:00Z'
git init -q -b main .
echo text > file
git add file
git commit -q -m first
git log --format=%s | cat
git diff --stat; echo more >> file; git diff --no-ext-diff --stat
git gc -q`;

const PYTHON = `
import multiprocessing, os, subprocess, sys
def work(n): os.write(1, b"worker %d\\n" % n); sys.exit(n)
if __name__ == "__main__":
    for n in (3, 4):
        p = multiprocessing.get_context("fork").Process(target=work, args=(n,))
        p.start(); p.join(); print("joined", p.exitcode, flush=True)
    print(subprocess.run([sys.executable, "-c", "print('inner')"]).returncode, flush=True)
    print(subprocess.getoutput("bash -c 'echo deep'"), flush=True)
`;

const PERL = `$| = 1; system("\\$B/say o perl x 3"); print $? >> 8, "\\n";
print \`\\$B/say o ticks\`;
if (my $pid = fork) { waitpid $pid, 0; print $? >> 8, "\\n" }
else { exec "$ENV{B}/say", "o", "y", "x", 5 }`;

const NODE = `
const { exec, fork, spawn } = require('node:child_process');
if (process.argv[2] === 'child') { console.log('child'); process.exit(5); }
fork(process.argv[1], ['child']).on('exit', (code) => {
  console.log('forked', code);
  spawn('sh', ['-c', 'echo shell; exit 6'], { stdio: 'inherit' }).on('exit', (code) => {
    console.log('spawned', code);
    exec('exit 7', (error) => console.log('exec', error.code));
  });
});
`;

const LIFE: readonly Case[] = [
  {
    name: 'life: make and a compiler',
    command: 'make -s; make -s fail; echo "status $?"',
    files: { Makefile: MAKEFILE, 'one.c': 'int one;\n', 'two.c': 'int two;\n' },
    wrote: ['status 2'],
    processes: [
      ran('make -s', 0),
      ran('make -s fail', 2, [/^make: \*\*\* /]),
      ran(/^\/bin\/sh -c cc -c one\.c -o one\.o && echo/, 0, ['made one.o']),
      ran(/^\/bin\/sh -c cc -c two\.c -o two\.o && echo/, 0, ['made two.o']),
      ran('cc -c one.c -o one.o', 0),
      ran('cc -c two.c -o two.o', 0),
      ran(/cc1 .*one\.c/, 0),
      ran(/cc1 .*two\.c/, 0),
      ran(/^as .*-o one\.o/, 0),
      ran(/^as .*-o two\.o/, 0),
      ran('echo linked', 0, ['linked']),
      ran('$B/say o failing x 3', 3, ['failing']),
    ],
    needs: ['make', 'cc'],
    pty: true,
  },
  {
    name: 'life: git',
    command: GIT,
    processes: [
      ran('git init -q -b main .', 0),
      ran('git add file', 0),
      ran('git commit -q -m first', 0),
      ran('git log --format=%s', 0),
      ran('cat', 0, ['first']),
      ran('git diff --stat', 0),
      ran('git diff --no-ext-diff --stat', 0, [/file/]),
      ran('git gc -q', 0),
    ],
    needs: ['git'],
    pty: false,
  },
  {
    name: 'life: Python, multiprocessing and subprocess',
    command: ['python3', '-c', PYTHON],
    wrote: [/^joined [34]$/, '0', 'deep'],
    processes: [
      forked(3, ['worker 3']),
      forked(4, ['worker 4']),
      ran(/python3\S* -c print\('inner'\)$/, 0, ['inner']),
      ran(['/bin/sh', '-c', "bash -c 'echo deep'"], 'becomes'),
      ran(['bash', '-c', 'echo deep'], 0),
    ],
    needs: ['python3'],
    pty: true,
  },
  {
    name: 'life: Perl',
    command: ['perl', '-e', PERL],
    wrote: ['3', 'ticks', '5'],
    processes: [
      ran('$B/say o perl x 3', 3, ['perl']),
      ran('$B/say o ticks', 0),
      ran('$B/say o y x 5', 5, ['y']),
    ],
    needs: ['perl'],
    pty: true,
  },
  {
    name: 'life: Node forks and spawns',
    command: 'node $W/main.cjs; exit 0',
    files: { 'main.cjs': NODE },
    processes: [
      ran('node $W/main.cjs', 0, [/^(forked 5|spawned 6|exec 7)$/]),
      ran(/node\S* \S*main\.cjs child$/, 5, ['child']),
      ran(['sh', '-c', 'echo shell; exit 6'], 6, ['shell']),
      ran(['/bin/sh', '-c', 'exit 7'], 7),
    ],
    needs: ['node'],
    pty: true,
  },
  {
    name: 'life: awk, sed, sort and tar',
    command: `awk 'BEGIN { system("$B/say o sys x 3")
      while (("$B/say o p" | getline x) > 0) print x }'
      printf 'b\\na\\n' | sort | sed 's/a/A/'; tar czf $W/t.tgz -C $W in; tar tzf $W/t.tgz; exit 0`,
    files: { in: 'x' },
    processes: [
      ran(/^awk BEGIN/, 0, ['p']),
      ran('$B/say o sys x 3', 3, ['sys']),
      ran('$B/say o p', 0),
      ran('sort', 0),
      ran('sed s/a/A/', 0, ['A', 'b']),
      forked(0),
      ran(/^tar czf/, 0),
      ran(/^tar tzf/, 0, ['in']),
      ran(/^(\/bin\/sh -c )?gzip( -d)?$/, 0, [], { times: 2 }),
    ],
    needs: ['awk', 'tar', 'gzip'],
    pty: true,
  },
];

// Else the frames of a malloc are found by guessing, and what is guessed differs from run to run.
const UNWIND = 'fast_unwind_on_malloc=0';
const ADDRESSES = [/0x[0-9a-f]+/g, /==\d+==/g, /BuildId: \w+/g];

const PAST_PRELOADED = { start: 'bear takes the function out of the libc itself, past every hook' };

const WATCHERS: readonly Case[] = [
  {
    name: 'sanitizers: a leak is found',
    command: '$B/leak-asan; echo "$?"; $B/leak-lsan; echo "$?"; exit 0',
    wrote: ['1', '23'],
    processes: [ran('$B/leak-asan', 1, [/./, '']), ran('$B/leak-lsan', 23, [/./, ''])],
    env: { ASAN_OPTIONS: UNWIND, LSAN_OPTIONS: UNWIND },
    masks: ADDRESSES,
    pty: false,
  },
  {
    name: 'sanitizers: an overflow is found, a clean program is clean',
    command: `$B/leak-asan over; echo "$?"; $B/leak-asan start $B/leak-ubsan no
      echo "$ASAN_OPTIONS"; exit 0`,
    env: { ASAN_OPTIONS: `${UNWIND}:color=never` },
    wrote: ['1', `${UNWIND}:color=never`],
    processes: [
      ran('$B/leak-asan over', 1, [/./, '']),
      ran('$B/leak-asan start $B/leak-ubsan no', 0, ['leak: runs', 'leak: child 0']),
      ran('$B/leak-ubsan no', 0, ['leak: runs']),
    ],
    masks: ADDRESSES,
    pty: false,
  },
  {
    name: 'sanitizers: a leak below a static program is found',
    command: '$B/start-static fork $B/leak-asan; exit 0',
    env: { ASAN_OPTIONS: UNWIND },
    processes: [
      ran('$B/start-static fork $B/leak-asan', 0, ['fork: exit 1']),
      ran('$B/leak-asan', 1, [/./, ''], {
        never: { end: 'its parent is static, and a sanitizer ends by a system call of its own' },
      }),
    ],
    masks: ADDRESSES,
  },
  {
    name: 'watchers: gdb',
    command: 'gdb -q -nx -batch -ex run -ex "info inferiors" --args $B/say o hello x 3; exit 0',
    processes: [ran(/^gdb -q -nx/, 0, [/./, '']), ran('$B/say o hello x 3', 3, ['hello'])],
    masks: [/process \d+/g, /warning: Error disabling address.*\n/g],
    needs: ['gdb'],
    pty: false,
  },
  {
    name: 'watchers: strace',
    command: `strace -f -o /dev/null $B/start vfork $B/say o hello x 3; echo "status $?"
      strace -f -qq -e trace=none -e signal=none $B/start spawn $B/say-static o two x 4; exit 0`,
    wrote: ['status 0'],
    processes: [
      ran('strace -f -o /dev/null $B/start vfork $B/say o hello x 3', 0),
      ran('$B/start vfork $B/say o hello x 3', 0, ['vfork: seen 42', 'vfork: exit 3']),
      ran('$B/say o hello x 3', 3, ['hello']),
      ran(/^strace -f -qq/, 0),
      ran('$B/start spawn $B/say-static o two x 4', 0, ['spawn: exit 4']),
      ran('$B/say-static o two x 4', 4, ['two']),
    ],
    needs: ['strace'],
    pty: false,
  },
  {
    name: 'watchers: strace of a static program',
    command: 'strace -o /dev/null $B/say-static o hello x 3; echo "status $?"; exit 0',
    wrote: ['status 3'],
    processes: [
      ran('strace -o /dev/null $B/say-static o hello x 3', 3),
      ran('$B/say-static o hello x 3', 3, ['hello']),
    ],
    needs: ['strace'],
  },
  {
    name: 'watchers: a debugger comes later, to a static program that runs',
    command: `mkfifo $W/go; $B/say-static R $W/go o on x 3 &
      until [ /proc/$!/exe -ef $B/say-static ]; do :; done
      $B/odd attach $!; echo > $W/go; wait $!; echo "status $?"; exit 0`,
    wrote: ['status 3'],
    processes: [
      ran('mkfifo $W/go', 0),
      ran('$B/say-static R $W/go o on x 3', 3, ['on']),
      ran(/odd attach \d+$/, 0, [/^attach: /]),
    ],
    needs: ['mkfifo'],
  },
  {
    name: 'watchers: gdb of a static program',
    command: 'gdb -q -nx -batch -ex run --args $B/say-static o hello x 3; exit 0',
    processes: [ran(/^gdb -q -nx/, 0, [/./, '']), ran('$B/say-static o hello x 3', 3, ['hello'])],
    masks: [/process \d+/g, /warning: Error disabling address.*\n/g],
    needs: ['gdb'],
  },
  {
    name: 'watchers: a debugger of its own, dynamic and static',
    command: '$B/odd debugger; $B/odd-static debugger; exit 0',
    processes: [
      ran('$B/odd debugger', 0, [/^debugger: /]),
      ran('$B/odd-static debugger', 0, [/^debugger: /]),
      forked(9),
      forked(9, [], { never: { start: 'let go at once, so that its debugger may have it' } }),
    ],
  },
  {
    name: 'watchers: valgrind',
    command:
      'valgrind -q --error-exitcode=9 $B/start fork $B/say o hello x 3; echo "status $?"; exit 0',
    wrote: ['status 0'],
    processes: [
      ran(/valgrind.* -q --error-exitcode=9/, 0, ['fork: exit 3']),
      ran('$B/say o hello x 3', 3, ['hello']),
    ],
    needs: ['valgrind'],
  },
  {
    name: 'watchers: ldd',
    command: 'ldd $B/say | sed "s/(0x[0-9a-f]*)//"; ldd $B/say-static; exit 0',
    processes: [
      ran(/bash \S*ldd \S*say$/, 0, []),
      ran(/^sed/, 0, [/\.so/]),
      ran(/bash \S*ldd \S*say-static$/, 1, [/not a dynamic/]),
    ],
    needs: ['ldd'],
    pty: false,
  },
  {
    name: 'watchers: script, with a terminal of its own',
    command: 'script -qec "$B/say o hello x 3" /dev/null; echo "status $?"; exit 0',
    wrote: ['status 3'],
    processes: [ran(/^script -qec/, 3, [/^hello\r?$/]), ran('$B/say o hello x 3', 3)],
    needs: ['script'],
    pty: true,
  },
  {
    name: 'watchers: bear, which preloads a library as well',
    command: 'bear --output $W/db.json -- $W/build; grep -c one.c $W/db.json; exit 0',
    files: { build: '#!/bin/sh\ncc -c $W/one.c -o $W/one.o\necho built\n', 'one.c': 'int one;\n' },
    processes: [
      ran(/^bear --output/, 0),
      ran(/sh \S*build$/, 0, ['built'], { never: PAST_PRELOADED }),
      ran(/cc1 .*one\.c/, 0, [], { never: PAST_PRELOADED }),
      ran(/^grep -c one\.c/, 0, [/^\d$/]),
    ],
    needs: ['bear', 'cc'],
    pty: false,
  },
];

export const TOOLS: readonly Case[] = [...LIFE, ...WATCHERS];
