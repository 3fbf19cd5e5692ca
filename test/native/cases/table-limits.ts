// Hard cases: threads, small stacks, limits, seccomp and files.
import { type Case, forked, ran } from './case.ts';
import { PIDS } from './table-kinds.ts';

const SAY = 'o hello e warn x 3';
const LINES = ['hello', 'warn'];

function threads(name: string, code: number, own: RegExp, more: Partial<Case> = {}): Case {
  return {
    name: `threads: ${name}`,
    command: `$B/threads ${name} $B/say; exit $?`,
    processes: [ran(`$B/threads ${name} $B/say`, code, [own]), ...(more.processes ?? [])],
    unordered: true,
    pty: true,
    ...Object.fromEntries(Object.entries(more).filter(([key]) => key !== 'processes')),
  };
}

const SMALL_WORDS = ['$B/say', 'w', 'from a small stack', 'x', '4'];

const THREADS: readonly Case[] = [
  threads('write', 0, /^thread \d line \d+$/),
  threads('print', 0, /^thread \d prints \d+$/),
  threads('small', 0, /^small \d (0|status 4)$/, {
    processes: [ran(SMALL_WORDS, 4, ['from a small stack'], { times: 4 })],
  }),
  threads('forks', 0, /^small \d (0|status 4)$/, {
    processes: [ran(SMALL_WORDS, 4, ['from a small stack'], { times: 16 })],
  }),
  threads('signals', 0, /^(tick|work \d+ 0)$/),
  threads('jumps', 5, /^jumped \d 0$/),
  threads('cancelling', 0, /^cancelled 1 0$/),
  {
    name: 'threads: of static programs',
    command: `for way in write small forks signals jumps cancelling; do
      $B/threads-static $way $B/say; done; exit 0`,
    processes: [
      ran('$B/threads-static write $B/say', 0, [/^thread \d line \d+$/]),
      ran('$B/threads-static small $B/say', 0, [/^small \d (0|status 4)$/]),
      ran('$B/threads-static forks $B/say', 0, [/^small \d (0|status 4)$/]),
      ran('$B/threads-static signals $B/say', 0, [/^(tick|work \d+ 0)$/]),
      ran('$B/threads-static jumps $B/say', 5, [/^jumped \d 0$/]),
      ran('$B/threads-static cancelling $B/say', 0, ['cancelled 1 0']),
      ran(SMALL_WORDS, 4, ['from a small stack'], { times: 20 }),
    ],
    unordered: true,
  },
  {
    name: 'threads: small stacks with musl',
    command: '$B/threads-musl small $B/say-musl; $B/threads-musl cancelling; exit 0',
    processes: [
      ran('$B/threads-musl small $B/say-musl', 0, [/^small \d (0|status 4)$/]),
      ran('$B/threads-musl cancelling', 0, ['cancelled 1 0']),
      ran(['$B/say-musl', ...SMALL_WORDS.slice(1)], 4, ['from a small stack'], { times: 4 }),
    ],
    unordered: true,
    pty: true,
  },
];

const CLOSED = 'another user may not write to the files of a capture';
const UNLIMITED = 'no frame is written where a file may not grow';

const LIMITS: readonly Case[] = [
  {
    name: 'limits: files of 1 KB',
    command: `(ulimit -f 1; $B/say ${SAY}); (ulimit -f 1; head -c 5000 /dev/zero > $W/f); echo "$?"
      stat -c %s $W/f; exit 0`,
    wrote: ['153'],
    processes: [
      ran(`$B/say ${SAY}`, 3, LINES, { before: /^bash/, never: { start: UNLIMITED } }),
      ran('head -c 5000 /dev/zero', 'SIGXFSZ', [], { never: { start: UNLIMITED } }),
      forked(153, [/^bash: line 1: +\d+ File size/]),
      ran('stat -c %s $W/f', 0, ['1024']),
    ],
    masks: PIDS,
    pty: true,
    ptyLacks: UNLIMITED,
  },
  {
    name: 'limits: 8 files',
    command: `ulimit -n 8; $B/start fork $B/say ${SAY}; $B/start spawn $B/say ${SAY}; exit 0`,
    processes: [
      ran(`$B/start fork $B/say ${SAY}`, 0, ['fork: exit 3']),
      ran(`$B/start spawn $B/say ${SAY}`, 0, ['spawn: exit 3']),
      ran(`$B/say ${SAY}`, 3, LINES, { times: 2 }),
    ],
    pty: true,
  },
  {
    name: 'limits: 3 files',
    command: `(ulimit -n 3; $B/say-static ${SAY}); $B/say o after x 4; exit 0`,
    processes: [
      ran(`$B/say-static ${SAY}`, 3, LINES, {
        before: /^bash/,
        never: { start: 'no descriptor is free to say anything' },
      }),
      ran('$B/say o after x 4', 4, ['after']),
    ],
  },
  {
    name: 'limits: 300 MB of address space',
    command: `(ulimit -v 300000; $B/start fork $B/say ${SAY}; python3 -c 'print(1)'); exit 0`,
    processes: [
      ran(`$B/start fork $B/say ${SAY}`, 0, ['fork: exit 3']),
      ran(`$B/say ${SAY}`, 3, LINES),
      ran(['python3', '-c', 'print(1)'], 0, ['1']),
    ],
    needs: ['python3'],
    pty: true,
  },
  {
    name: 'limits: a stack of 128 KB, 1 second of processor',
    command: `(ulimit -s 128; ulimit -t 1; $B/start vfork $B/say ${SAY}); exit 0`,
    processes: [
      ran(`$B/start vfork $B/say ${SAY}`, 0, ['vfork: seen 42', 'vfork: exit 3']),
      ran(`$B/say ${SAY}`, 3, LINES),
    ],
    pty: true,
  },
  {
    name: 'limits: no more processes',
    command: `setpriv --reuid=65534 --clear-groups prlimit --nproc=1:1 $B/start fork \\
      $B/say ${SAY}; exit 0`,
    processes: [
      ran(`$B/start fork $B/say ${SAY}`, 1, ['fork: errno 11'], {
        before: /^(setpriv|prlimit)/,
        never: { start: CLOSED },
      }),
    ],
    needs: ['root', 'setpriv', 'prlimit'],
  },
];

const AFTER = 'behind a seccomp filter nobody may say anything';

const SECCOMP: readonly Case[] = [
  {
    name: 'seccomp: strict',
    command: '$B/odd strict; echo "$?"; exit 0',
    wrote: ['4'],
    processes: [ran('$B/odd strict', 4, ['strict: before', 'strict: behind'])],
    pty: true,
    ptyLacks: AFTER,
  },
  ...['prctl', 'syscall', 'raw'].map(
    (how): Case => ({
      name: `seccomp: a filter that kills, set by ${how}`,
      command: `$B/odd filter ${how}; echo "$?"; exit 0`,
      wrote: ['6'],
      processes: [
        ran(`$B/odd filter ${how}`, 6, [/^filter: (before|behind|child 5)/]),
        forked(5, ['filter: child'], { never: { start: AFTER, end: AFTER } }),
      ],
      pty: true,
      ptyLacks: AFTER,
    }),
  ),
  {
    name: 'seccomp: file(1), which puts itself into a sandbox',
    command: 'file -b $W/text; exit 0',
    files: { text: 'hello\n' },
    processes: [ran('file -b $W/text', 0, [/^ASCII text/])],
    needs: ['file'],
    pty: true,
    ptyLacks: AFTER,
  },
];

const FILES: readonly Case[] = [
  {
    name: 'files: which are open, and which is next',
    command: '$B/odd files; $B/odd-static files; (exec 3</dev/null; $B/odd files); exit 0',
    processes: [
      ran('$B/odd files', 0, [/^(fd|next) \d+$/], { times: 2 }),
      ran('$B/odd-static files', 0, [/^(fd|next) \d+$/]),
    ],
  },
  {
    name: 'files: a storm',
    command: '$B/odd storm; exit $?',
    processes: [ran('$B/odd storm', 0, [/^storm/]), forked(0)],
    pty: true,
  },
  {
    name: 'files: handed over by another process',
    command: '$B/odd pass; exit 0',
    processes: [ran('$B/odd pass', 0, ['passed: 8']), forked(8, ['passed: by the child'])],
    pty: true,
  },
  {
    name: 'files: errno stays as it was',
    command: '$B/odd errno; exit 0',
    processes: [ran('$B/odd errno', 0, [/^errno: /]), forked(77)],
    pty: true,
  },
  {
    name: 'files: a working directory that is gone',
    command: 'mkdir $W/gone; cd $W/gone; rmdir $W/gone; $B/say o hello x 3; exit 0',
    processes: [
      ran('mkdir $W/gone', 0),
      ran('rmdir $W/gone', 0),
      ran('$B/say o hello x 3', 3, ['hello']),
    ],
    pty: true,
  },
];

export const HARD_PLACES: readonly Case[] = [...THREADS, ...LIMITS, ...SECCOMP, ...FILES];
