// Hard cases: ways to start a program, and environments in which it is started.
import { type Case, forked, ran, type Words } from './case.ts';

const SAY = 'o hello e warn x 3';
const LINES = ['hello', 'warn'];

function way(
  name: string,
  own: readonly string[] = [],
  said = ran(`$B/say ${SAY}`, 3, LINES),
): Case {
  return {
    name: `start: ${name}`,
    command: `$B/start ${name} $B/say ${SAY}; echo "status $?"`,
    wrote: ['status 0'],
    processes: [ran(`$B/start ${name} $B/say ${SAY}`, 0, [...own, `${name}: exit 3`]), said],
    pty: true,
  };
}

const QUOTED = "'$B/say' 'o' 'hello' 'e' 'warn' 'x' '3'";

function through(name: string, own: readonly string[], lines: Words): Case {
  const made = way(name, own, ran(`$B/say ${SAY}`, 3, lines));
  return { ...made, processes: [...made.processes, ran(['sh', '-c', QUOTED], 'becomes')] };
}

const WAYS: readonly Case[] = [
  way('fork'),
  way('vfork', ['vfork: seen 42']),
  way('spawn'),
  way('spawnp', [], ran(`say ${SAY}`, 3, LINES)),
  way('clone3'),
  way('clone'),
  way('memfd'),
  way('execveat'),
  way('thread'),
  through('system', [], LINES),
  through('popen', ['popen: read hello'], ['warn']),
  way('empty'),
  {
    name: 'start: execl',
    command: `$B/start execl $B/say o hello e warn`,
    processes: [
      ran('$B/start execl $B/say o hello e warn', 0, ['execl: exit 0']),
      ran('$B/say o hello e warn', 0, LINES),
    ],
    pty: true,
  },
  {
    name: 'start: musl, by fork, vfork, spawn and system',
    command: `for way in fork vfork spawn system; do
      $B/start-musl $way $B/say-musl o $way x 3; done`,
    processes: [
      ran('$B/start-musl fork $B/say-musl o fork x 3', 0, ['fork: exit 3']),
      ran('$B/start-musl vfork $B/say-musl o vfork x 3', 0, ['vfork: seen 42', 'vfork: exit 3']),
      ran('$B/start-musl spawn $B/say-musl o spawn x 3', 0, ['spawn: exit 3']),
      ran('$B/start-musl system $B/say-musl o system x 3', 0, ['system: exit 3']),
      ...['fork', 'vfork', 'spawn', 'system'].map((name) =>
        ran(`$B/say-musl o ${name} x 3`, 3, [name]),
      ),
    ],
    pty: true,
  },
  {
    name: 'start: a static parent of dynamic and static children',
    followed: true,
    command: `$B/start-static fork $B/say ${SAY}
      $B/start-static vfork $B/say-static ${SAY}; exit 0`,
    processes: [
      ran(`$B/start-static fork $B/say ${SAY}`, 0, ['fork: exit 3']),
      ran(`$B/say ${SAY}`, 3, LINES),
      ran(`$B/start-static vfork $B/say-static ${SAY}`, 0, ['vfork: seen 42', 'vfork: exit 3']),
      ran(`$B/say-static ${SAY}`, 3, LINES),
    ],
  },
  {
    name: 'start: a static parent spawns, and execs from a thread',
    command: `$B/start-static spawn $B/say ${SAY}; $B/start-static thread $B/say ${SAY}; exit 0`,
    processes: [
      ran(`$B/start-static spawn $B/say ${SAY}`, 0, ['spawn: exit 3']),
      ran(`$B/say ${SAY}`, 3, LINES, { times: 2 }),
      ran(`$B/start-static thread $B/say ${SAY}`, 0, ['thread: exit 3']),
    ],
  },
  {
    name: 'start: a static program is started in every way',
    command: `for way in fork vfork spawn thread memfd system; do
      $B/start $way $B/say-static o by-$way x 3; done`,
    processes: [
      ...['fork', 'vfork', 'spawn', 'thread', 'memfd', 'system'].flatMap((name) => [
        ran(
          `$B/start ${name} $B/say-static o by-${name} x 3`,
          0,
          name === 'vfork' ? ['vfork: seen 42', 'vfork: exit 3'] : [`${name}: exit 3`],
        ),
        ran(`$B/say-static o by-${name} x 3`, 3, [`by-${name}`]),
      ]),
    ],
  },
  {
    name: 'start: five static programs one after the other in one process',
    followed: true,
    command: '$B/start-static chain 5; echo "status $?"',
    wrote: ['status 7'],
    processes: [
      ran('$B/start-static chain 5', 'becomes', ['chain at 5']),
      ...[4, 3, 2, 1].map((n) => ran(`start chain ${n}`, 'becomes', [`chain at ${n}`])),
      ran('start chain 0', 7, ['chain at 0']),
    ],
  },
  {
    name: 'start: five programs one after the other in one process',
    command: '$B/start chain 5; echo "status $?"',
    wrote: ['status 7'],
    processes: [
      ran('$B/start chain 5', 'becomes', ['chain at 5']),
      ...[4, 3, 2, 1].map((n) => ran(`start chain ${n}`, 'becomes', [`chain at ${n}`])),
      ran('start chain 0', 7, ['chain at 0']),
    ],
    pty: true,
  },
];

const SCRIPTS: readonly Case[] = [
  {
    name: 'start: a script without #!',
    command: '$W/script one; echo "status $?"; env $W/script two; echo "status $?"',
    files: { script: 'echo "script $1"\nexit 5\n' },
    wrote: ['status 5'],
    processes: [forked(5, ['script one']), ran(/sh \S*script two$/, 5, ['script two'])],
    pty: true,
  },
  {
    name: 'start: a chain of #!',
    command: '$W/outer word; echo "status $?"',
    files: { outer: '#!$W/inner -x\n', inner: '#!/bin/sh\necho "inner $*" | tr -d /\nexit 6\n' },
    wrote: ['status 6'],
    processes: [
      ran('/bin/sh $W/inner -x $W/outer word', 6),
      ran('tr -d /', 0, [/^inner -x/]),
      forked(0),
    ],
    masks: [/\S*outer/g],
    pty: true,
  },
  {
    name: 'start: execs that fail',
    command: '$B/odd execs $W/garbage; $W/garbage; nowhere; $W/plain; exit 0',
    files: { garbage: '\u0001\u0002\u0000\u0003', plain: '#!/nowhere/interpreter\n' },
    processes: [
      ran('$B/odd execs $W/garbage', 0, [/^execv/]),
      forked(126, [/garbage: cannot execute binary file/]),
      forked(127, [/nowhere: command not found/]),
      forked(127, [/plain: cannot execute: required file not found/]),
    ],
    pty: true,
  },
  {
    name: 'start: odd words',
    command:
      '(exec -a "a name" $B/say o named x 2); $B/say o "" o "a  b" o $\'\\xff\\n\\t\' x 3; exit 0',
    processes: [
      ran(['a name', 'o', 'named', 'x', '2'], 2, ['named']),
      ran(/o +o a {2}b o [^\n]+\n\t x 3$/, 3, ['', 'a  b', /^\xff/, '\t']),
    ],
    pty: true,
  },
  {
    name: 'start: 5,000 words',
    command: '$B/say o hello x 3 $(seq 5000); exit 0',
    processes: [ran(/say o hello x 3 1 2 3 /, 3, ['hello'])],
    pty: true,
  },
  {
    name: 'start: words of 100 KB',
    command:
      'x=$(printf %0100000d 7); $B/say o hello x 3 $x; $B/start fork $B/say o $x x 4 | wc -c',
    processes: [
      ran(/say o hello x 3 0000/, 3, ['hello']),
      ran(/start fork \S*say o 0000/, 0),
      ran(/say o 0000/, 4),
      ran('wc -c', 0, ['100014']),
      forked(0),
    ],
    pty: true,
  },
];

const PYTHON = `
import os, subprocess, sys
say = os.environ["B"] + "/say"
work = [say, "o", "hello", "x", "3"]
os.environ.clear()
print("run", subprocess.run(work, env={}).returncode, flush=True)
print("spawn", os.waitpid(os.posix_spawn(say, work, {}), 0)[1], flush=True)
print("system", os.system(" ".join(work)), flush=True)
if os.fork() == 0: os.execve(say, work, {})
print("fork", os.wait()[1], flush=True)
print(sorted(os.environ), flush=True)
`;

const NODE = `
const { spawnSync, execFileSync } = require('node:child_process');
const say = process.env.B + '/say';
for (const name of Object.keys(process.env)) delete process.env[name];
const options = { env: {}, stdio: 'inherit' };
console.log('spawn', spawnSync(say, ['o', 'hello', 'x', '3'], options).status);
console.log('exec', execFileSync('/bin/sh', ['-c', say + ' o inner; env']).toString());
console.log(Object.keys(process.env));
`;

/** What a shell sets by itself when nobody gave it anything. */
const EMPTY = /^(PWD|OLDPWD|SHLVL|_)=/;

const ENVIRONMENTS: readonly Case[] = [
  {
    name: 'environment: env -i',
    command: 'env -i $B/say E x; env -i "$BASH" -c "$B/say o hello x 3; env"; exit 0',
    processes: [
      ran('$B/say E x', 0, []),
      ran('env -i $B/say E x', 'becomes'),
      ran(/^env -i \S*bash -c/, 'becomes'),
      ran(/^\S*bash -c \S*say o hello x 3; env$/, 0),
      ran('$B/say o hello x 3', 3, ['hello']),
      ran('env', 0, [EMPTY]),
    ],
    pty: true,
  },
  {
    name: 'environment: emptied in Python',
    command: ['python3', '-c', PYTHON],
    wrote: ['run 3', 'spawn 768', 'system 768', 'fork 768', '[]'],
    processes: [
      ran('$B/say o hello x 3', 3, ['hello'], { times: 4 }),
      ran(['sh', '-c', '$B/say o hello x 3'], 'becomes'),
    ],
    needs: ['python3'],
    pty: true,
  },
  {
    name: 'environment: emptied in Node',
    command: ['node', '-e', NODE],
    wrote: ['spawn 3', 'exec inner', /^PWD=/, '', '[]'],
    processes: [
      ran('$B/say o hello x 3', 3, ['hello']),
      ran(['/bin/sh', '-c', '$B/say o inner; env'], 0),
      ran('$B/say o inner', 0),
      ran('env', 0),
    ],
    needs: ['node'],
    pty: true,
  },
  {
    name: 'environment: 10,000 variables',
    command: `for i in {1..10000}; do export "V$i=$i"; done; $B/say o hello x 3; env | grep -c ^V`,
    processes: [
      ran('$B/say o hello x 3', 3, ['hello']),
      ran('grep -c ^V', 0, ['10000']),
      ran('env', 0),
    ],
    pty: true,
  },
  {
    name: 'environment: a preloaded library of the user',
    command: `export LD_PRELOAD=$B/hook.so; $B/start fork $B/say ${SAY}; echo "$LD_PRELOAD"
      env | grep ^LD_; LD_PRELOAD= $B/say o none x 4; unset LD_PRELOAD; $B/say o gone x 5; exit 0`,
    wrote: [/hook\.so$/, /^hook: /],
    processes: [
      ran(`$B/start fork $B/say ${SAY}`, 0, ['fork: exit 3', /^hook: /]),
      ran(`$B/say ${SAY}`, 3, [...LINES, /^hook: execv/]),
      ran('grep ^LD_', 0, [/^LD_PRELOAD=/]),
      ran('env', 0, []),
      ran('$B/say o none x 4', 4, ['none']),
      ran('$B/say o gone x 5', 5, ['gone']),
    ],
    pty: true,
  },
  {
    name: 'environment: a library that is not there',
    command:
      'LD_PRELOAD=/nowhere/x.so $B/say o hello x 3; LD_PRELOAD="a.so b.so" $B/say o two; exit 0',
    processes: [
      ran('$B/say o hello x 3', 3, ['hello', /^ERROR: ld\.so: object '\/nowhere\/x\.so'/]),
      ran('$B/say o two', 0, ['two', /^ERROR: ld\.so: object '[ab]\.so'/]),
    ],
    pty: true,
    ptyLacks: 'the complaints of ld.so come before any library is there',
  },
  {
    name: 'environment: fakeroot',
    command: "fakeroot sh -c 'touch f; chown 12:34 f; stat -c %u:%g f; $B/say o hello x 3'; exit 0",
    processes: [
      ran('touch f', 0),
      ran('chown 12:34 f', 0),
      ran('stat -c %u:%g f', 0, ['12:34']),
      ran('$B/say o hello x 3', 3, ['hello']),
    ],
    needs: ['fakeroot'],
    pty: true,
  },
  {
    name: 'environment: stdbuf',
    command: 'stdbuf -o0 $B/say o hello x 3; stdbuf -oL printenv LD_PRELOAD | grep -o libstdbuf.so',
    processes: [
      ran('$B/say o hello x 3', 3, ['hello']),
      ran('stdbuf -o0 $B/say o hello x 3', 'becomes'),
      ran('grep -o libstdbuf.so', 0, ['libstdbuf.so']),
      ran('printenv LD_PRELOAD', 0),
    ],
    needs: ['stdbuf'],
    pty: true,
  },
  {
    name: 'environment: every symbol is bound at once',
    command: `LD_BIND_NOW=1 $B/start spawn $B/say ${SAY}; exit 0`,
    processes: [
      ran(`$B/start spawn $B/say ${SAY}`, 0, ['spawn: exit 3']),
      ran(`$B/say ${SAY}`, 3, LINES),
    ],
    pty: true,
  },
];

export const STARTS: readonly Case[] = [...WAYS, ...SCRIPTS, ...ENVIRONMENTS];
