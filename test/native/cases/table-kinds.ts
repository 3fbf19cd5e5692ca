// Hard cases: kinds of programs. Static and dynamic, of every libc, with none, and of Go.
import { type Case, ran } from './case.ts';

const LINES = ['printed', 'warned', 'written', 'vector', 'dprintf', 'fwritten', 'dup', 'dup again'];
const KILLED = /^bash: line \d+: +\d+ Killed /;

/** bash tells the pid of a child that was killed. */
export const PIDS = [/(?<=line \d+:) +\d+(?= )/g];

/** Written in every way there is, and ended in two. */
function kind(name: string, more: Partial<Case> = {}): Case {
  const first = 'o printed e warned w written v vector d dprintf u fwritten D dup p failed x 3';
  return {
    name: `kind: ${name}`,
    command: `$B/${name} ${first}; echo "status $?"
      $B/${name} c chars k 9; echo "status $?"; exit 4`,
    wrote: ['status 3', 'status 137', KILLED],
    processes: [
      ran(`$B/${name} ${first}`, 3, [...LINES, 'failed: No such file or directory']),
      ran(`$B/${name} c chars k 9`, 'SIGKILL', ['chars']),
    ],
    masks: PIDS,
    ...more,
  };
}

/** Of such a child only the kernel knows, and what is seen in /proc if it lives long enough. */
const PAST_LIBC = {
  start: 'started by a system call of its parent, and gone before anybody looks',
  end: 'waited for by a system call of its parent',
};

const BY_GO = ran('$B/say o hello x 3', 3, ['hello']);
const GO_LINES = ['go: out', 'go: err', 'go: exit status 3'];

export const KINDS: readonly Case[] = [
  kind('say', { pty: true }),
  kind('say-clang', { pty: true }),
  kind('say-relro', { pty: true }),
  kind('say-lazy', { pty: true }),
  kind('say-musl', { pty: true }),
  kind('say-static'),
  kind('say-static-pie'),
  kind('say-musl-static'),
  kind('say-32'),
  kind('say-32-static'),
  {
    name: 'kind: Go, static, starts a dynamic program',
    command: '$B/say-go $B/say o hello x 3; echo "status $?"; $B/say-go; exit 0',
    wrote: ['status 4'],
    processes: [
      ran('$B/say-go $B/say o hello x 3', 4, GO_LINES),
      BY_GO,
      ran('$B/say-go', 3, ['go: out', 'go: err']),
    ],
  },
  {
    name: 'kind: Go with cgo, dynamic, starts programs past its libc',
    command: '$B/say-cgo $B/say o hello x 3; echo "status $?"; $B/say-cgo; exit 0',
    wrote: ['status 4'],
    processes: [
      ran('$B/say-cgo $B/say o hello x 3', 4, GO_LINES),
      { ...BY_GO, never: PAST_LIBC },
      ran('$B/say-cgo', 3, ['go: out', 'go: err']),
    ],
  },
  {
    name: 'kind: no libc at all',
    command: '$B/raw-alone; echo "status $?"; $B/raw-alone $B/say o hello x 3; exit $?',
    wrote: ['status 3'],
    processes: [
      ran('$B/raw-alone', 3, ['raw: written']),
      ran('$B/raw-alone $B/say o hello x 3', 4, ['raw: written', 'raw: child 3']),
      ran('$B/say o hello x 3', 3, ['hello']),
    ],
  },
  {
    name: 'kind: system calls past the libc',
    command: '$B/raw; echo "status $?"; $B/raw $B/say o hello x 3; exit $?',
    wrote: ['status 3'],
    processes: [
      ran('$B/raw', 3, ['raw: written']),
      ran('$B/raw $B/say o hello x 3', 4, ['raw: written', 'raw: child 3']),
      ran('$B/say o hello x 3', 3, ['hello'], { never: PAST_LIBC }),
    ],
  },
  {
    name: 'kind: a write by io_uring',
    command: '$B/odd uring; echo "status $?"',
    wrote: ['status 0'],
    processes: [ran('$B/odd uring', 0, ['uring: written'])],
    needs: ['io_uring'],
  },
  {
    name: 'kind: sendfile, dynamic and static',
    command: '$B/say s $W/text x 2; $B/say-static s $W/text; exit 0',
    files: { text: 'from a file\n' },
    processes: [
      ran('$B/say s $W/text x 2', 2, ['from a file']),
      ran('$B/say-static s $W/text', 0, ['from a file']),
    ],
  },
  {
    name: 'kind: sendfile to a terminal',
    command: '$B/say s $W/text x 2; exit 0',
    files: { text: 'from a file\n' },
    processes: [ran('$B/say s $W/text x 2', 2, ['from a file'])],
    pty: true,
  },
  {
    name: 'kind: a static program shows its environment',
    needs: ['follows'],
    command: '$B/say-static E x; $B/say-musl-static E x; exit 0',
    processes: [
      ran('$B/say-static E x', 0, [/^\w+=/]),
      ran('$B/say-musl-static E x', 0, [/^\w+=/]),
    ],
  },
  {
    name: 'kind: a dynamic program shows its environment',
    command: '$B/say E x; env; printenv; (exit 3); exit 0',
    processes: [
      ran('$B/say E x', 0, [/^\w+=/]),
      ran('env', 0, [/^\w+=/]),
      ran('printenv', 0, [/^\w+=/]),
    ],
    pty: true,
  },
  {
    name: 'kind: much by stdio',
    command: '$B/say n 20000; $B/say-musl n 5000; exit 0',
    processes: [
      ran('$B/say n 20000', 0, [/^line \d+ of 20000$/]),
      ran('$B/say-musl n 5000', 0, [/^line \d+ of 5000$/]),
    ],
    pty: true,
  },
];
