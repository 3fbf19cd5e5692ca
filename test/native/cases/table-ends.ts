// Hard cases: how processes end, and how their parents hear of it.
import { type Case, forked, ran } from './case.ts';
import { PIDS } from './table-kinds.ts';

function waiting(name: string, lines: readonly string[], children: Case['processes']): Case {
  return {
    name: `ends: ${name}`,
    command: `$B/waits ${name}; echo "status $?"`,
    wrote: ['status 0'],
    processes: [ran(`$B/waits ${name}`, 0, lines), ...children],
    pty: true,
  };
}

const WAITS: readonly Case[] = [
  waiting(
    'waitid',
    ['waitid: peeked 1 5', 'waitid: 1 5', 'waitid: 2 9'],
    [forked(5), forked('SIGKILL')],
  ),
  waiting(
    'wait4',
    ['wait4: 500', 'wait3: 9', 'wait: gone'],
    [forked(5, [], { times: 2 }), forked('SIGKILL')],
  ),
  waiting('polling', ['polled: 500'], [forked(5)]),
  waiting('stopping', ['stopped: 137f', 'continued: ffff', 'ended: 500'], [forked(5)]),
  waiting('ignoring', ['ignored: ECHILD'], [forked(5)]),
  waiting('setsid', ['setsid: 500'], [forked(5, ['setsid: child'])]),
  waiting('interrupts', ['interrupted: -1 EINTR', 'interrupted: f'], [forked('SIGTERM')]),
  waiting('cancelling', ['cancelled: yes', 'cancelled: 9'], [forked('SIGKILL')]),
  waiting(
    'many',
    ['many: 64 224'],
    [0, 1, 2, 3, 4, 5, 6, 7].map((code) => forked(code, [], { times: 8 })),
  ),
  {
    name: 'ends: a daemon that speaks when everybody is gone',
    command: ['$B/waits', 'daemon'],
    wrote: ['daemon: left'],
    processes: [forked(0), forked(6, ['daemon: alone'])],
    pty: true,
  },
  {
    name: 'ends: static parents, stopped, signalled and cancelled',
    followed: true,
    command: `for way in waitid wait4 stopping ignoring setsid interrupts cancelling many; do
      $B/waits-static $way; done; exit 0`,
    processes: [
      ran('$B/waits-static waitid', 0, [/^waitid: /]),
      ran('$B/waits-static wait4', 0, [/^wait/]),
      ran('$B/waits-static stopping', 0, [/^(stopped|continued|ended): /]),
      ran('$B/waits-static ignoring', 0, ['ignored: ECHILD']),
      ran('$B/waits-static setsid', 0, ['setsid: 500']),
      ran('$B/waits-static interrupts', 0, [/^interrupted: /]),
      ran('$B/waits-static cancelling', 0, [/^cancelled: /]),
      ran('$B/waits-static many', 0, ['many: 64 224']),
      forked(5, ['setsid: child']),
      forked(5, [], { times: 5 }),
      forked('SIGKILL', [], { times: 3 }),
      forked('SIGTERM'),
      ...[0, 1, 2, 3, 4, 5, 6, 7].map((code) => forked(code, [], { times: 8 })),
    ],
  },
  {
    name: 'ends: a static program is killed by another',
    followed: true,
    command: `mkfifo $W/never; timeout -s KILL 0.2 $B/say-static R $W/never; echo "$?"
      $B/waits-static daemon; exit 0`,
    wrote: ['137', /Killed/],
    masks: PIDS,
    processes: [
      ran('mkfifo $W/never', 0),
      ran('timeout -s KILL 0.2 $B/say-static R $W/never', 'SIGKILL'),
      ran('$B/say-static R $W/never', 'SIGKILL'),
      ran('$B/waits-static daemon', 3, ['daemon: left']),
      forked(6, ['daemon: alone']),
    ],
  },
  {
    name: 'ends: musl parents',
    command: 'for way in waitid wait4 stopping cancelling; do $B/waits-musl $way; done; exit 0',
    processes: [
      ran('$B/waits-musl waitid', 0, [/^waitid: /]),
      ran('$B/waits-musl wait4', 0, [/^wait/]),
      ran('$B/waits-musl stopping', 0, [/^(stopped|continued|ended): /]),
      ran('$B/waits-musl cancelling', 0, [/^cancelled: /]),
      forked(5, [], { times: 4 }),
      forked('SIGKILL', [], { times: 3 }),
    ],
    pty: true,
  },
];

function dying(name: string, words: string, signal: string, lines: readonly string[] = []): Case {
  return {
    name: `ends: ${name}`,
    command: `ulimit -c 0; ${words}; echo "status $?"; exit 0`,
    wrote: [/^status \d+$/, /^bash: line 1: /, 'Terminated'],
    processes: [ran(words, signal, lines)],
    masks: PIDS,
    pty: !words.includes('static'),
  };
}

export const ENDS: readonly Case[] = [
  ...WAITS,
  dying('SIGKILL', '$B/say w hello k 9', 'SIGKILL', ['hello']),
  dying('SIGTERM behind stdio', '$B/say o hello k 15', 'SIGTERM', ['hello']),
  dying('a segmentation fault', '$B/say w hello S 16', 'SIGSEGV', ['hello']),
  dying('a static segmentation fault', '$B/say-static w hello S 16', 'SIGSEGV', ['hello']),
  dying('abort', '$B/say w hello A 1', 'SIGABRT', ['hello']),
  dying('no more stack', '$B/odd overflow', 'SIGSEGV'),
  dying('a real-time signal', '$B/say w hello k 40', 'SIGRTMIN+6', ['hello']),
  {
    name: 'ends: _exit, exit codes and what was not flushed',
    command:
      '$B/say o lost _ 255; echo "$?"; $B/say o kept f - _ 254; echo "$?"; $B/say x 256; exit 0',
    wrote: ['255', '254'],
    processes: [
      ran('$B/say o lost _ 255', 255, ['lost']),
      ran('$B/say o kept f - _ 254', 254, ['kept']),
      ran('$B/say x 256', 0),
    ],
    pty: true,
  },
  {
    name: 'ends: the root is killed',
    command: 'echo before; kill -9 $$',
    wrote: ['before'],
    processes: [],
    pty: true,
  },
  {
    name: 'ends: killed by timeout',
    command: 'timeout 1 sleep 300; echo "status $?"; timeout -s KILL 30 $B/say o hello x 3; exit 0',
    wrote: ['status 124'],
    processes: [
      ran('timeout 1 sleep 300', 124),
      ran('sleep 300', 'SIGTERM'),
      ran('timeout -s KILL 30 $B/say o hello x 3', 3),
      ran('$B/say o hello x 3', 3, ['hello']),
    ],
    pty: true,
  },
  {
    name: 'ends: what is left behind writes later',
    // Behind the end of the shell, however long that takes.
    command: '(tail -s 0.1 --pid=$$ -f /dev/null; $B/say o late x 3) & echo early; exit 5',
    wrote: ['early'],
    processes: [ran(/^tail -s 0\.1 --pid=\d+ /, 0), ran('$B/say o late x 3', 3, ['late'])],
    pty: false,
  },
];
