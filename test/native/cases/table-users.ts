// Hard cases: other users, other roots, other namespaces. Most need to be root.
import { type Case, forked, ran } from './case.ts';

const SAY = 'o hello e warn x 3';
const LINES = ['hello', 'warn'];
const CLOSED = 'another user may not write to the files of a capture';
const NOBODY = 'setpriv --reuid=65534 --regid=65534 --clear-groups';

/** A root with `say` and what it needs to be loaded. */
const CHROOT = `mkdir -p $W/r; cp $B/say $B/say-static $W/r
for lib in $(ldd $B/say | grep -o '/[^ ]*'); do mkdir -p $W/r/\${lib%/*}; cp $lib $W/r/$lib; done`;

export const USERS: readonly Case[] = [
  {
    name: 'users: set-user-id, started by root',
    command: `install -m 4755 -o nobody $B/say $W/suid; $W/suid ${SAY}; echo "status $?"; exit 0`,
    wrote: ['status 3'],
    processes: [
      ran('install -m 4755 -o nobody $B/say $W/suid', 0),
      ran(`$W/suid ${SAY}`, 3, LINES),
    ],
    needs: ['root'],
  },
  {
    name: 'users: set-user-id root, started by another user',
    command: `install -m 4755 -o root $B/say $W/suid; ${NOBODY} $W/suid ${SAY}; echo "status $?"
      ${NOBODY} sh -c 'id -u; $W/suid o inner x 4; echo "inner $?"'; exit 0`,
    wrote: ['status 3'],
    processes: [
      ran('install -m 4755 -o root $B/say $W/suid', 0),
      ran(`$W/suid ${SAY}`, 3, LINES),
      ran(/^sh -c id -u; \$W\/suid o inner/, 0, ['inner 4']),
      ran('id -u', 0, ['65534'], { never: { start: CLOSED, end: CLOSED } }),
      ran('$W/suid o inner x 4', 4, ['inner'], { never: { start: CLOSED, end: CLOSED } }),
    ],
    needs: ['root', 'setpriv'],
  },
  {
    name: 'users: sudo to root',
    command: `sudo -n $B/say ${SAY}; echo "status $?"
      sudo -n sh -c 'env | grep -c "^LD_\\|^CUFF"'; exit 0`,
    wrote: ['status 3'],
    processes: [
      ran(`sudo -n $B/say ${SAY}`, 3),
      ran(`$B/say ${SAY}`, 3, LINES),
      ran(/^sudo -n sh -c/, 1),
      ran(['sh', '-c', 'env | grep -c "^LD_\\|^CUFF"'], 1),
      ran('env', 0),
      ran(/^grep -c/, 1, ['0']),
    ],
    needs: ['root', 'sudo'],
    pty: false,
  },
  {
    name: 'users: sudo and su to another user',
    command: `sudo -n -u nobody $B/say ${SAY}; echo "status $?"
      su -s /bin/sh nobody -c '$B/say o su x 4'
      echo "status $?"; exit 0`,
    wrote: ['status 3', 'status 4'],
    processes: [
      ran(`sudo -n -u nobody $B/say ${SAY}`, 3),
      ran(`$B/say ${SAY}`, 3, LINES, { before: /^sudo/ }),
      ran(/^su -s/, 4),
      ran(/^-?sh -c/, 4, [], { before: /^su/ }),
      ran('$B/say o su x 4', 4, ['su'], { never: { start: CLOSED, end: CLOSED } }),
    ],
    needs: ['root', 'sudo', 'su'],
    pty: false,
  },
  {
    name: 'users: chroot, dynamic and static',
    command: `${CHROOT}; chroot $W/r /say ${SAY}; echo "status $?"
      chroot $W/r /say-static o two x 4; exit 0`,
    wrote: ['status 3'],
    processes: [
      ran(`/say ${SAY}`, 3, LINES, { before: /^chroot/ }),
      ran('/say-static o two x 4', 4, ['two'], { before: /^chroot/ }),
    ],
    needs: ['root', 'ldd'],
  },
  {
    name: 'namespaces: a user namespace',
    command: `unshare -Ur sh -c 'id -u; $B/say ${SAY}; exit 4'; echo "status $?"; exit 0`,
    wrote: ['status 4'],
    processes: [ran(/^sh -c id -u; /, 4), ran('id -u', 0, ['0']), ran(`$B/say ${SAY}`, 3, LINES)],
    needs: ['unshare'],
    pty: true,
  },
  {
    name: 'namespaces: pids, with the outer /proc',
    command: `unshare -pf sh -c 'echo "I am $$"; $B/say ${SAY}; (exit 5); exit 4'
      echo "status $?"; exit 0`,
    wrote: ['status 4'],
    processes: [
      ran(/^unshare -pf sh/, 4),
      ran(/^sh -c echo "I am/, 4, ['I am 1']),
      ran(`$B/say ${SAY}`, 3, LINES),
      forked(5),
    ],
    needs: ['root', 'unshare'],
    pty: true,
  },
  {
    name: 'namespaces: pids, with a /proc of its own',
    command: `unshare -pf --mount-proc sh -c 'echo "I am $$"; $B/say ${SAY}; (exit 5); exit 4'
      echo "status $?"; exit 0`,
    wrote: ['status 4'],
    processes: [
      ran(/^unshare -pf --mount-proc sh/, 4),
      ran(/^sh -c echo "I am/, 4, ['I am 1']),
      ran(`$B/say ${SAY}`, 3, LINES),
      forked(5),
    ],
    needs: ['root', 'unshare'],
    pty: true,
  },
  {
    name: 'namespaces: pids, by bwrap, whose first process is cloned past its libc',
    command: `bwrap --dev-bind / / --unshare-pid --proc /proc \\
        sh -c 'echo "I am $$"; $B/say ${SAY}; (exit 5); exit 4'
      echo "status $?"; exit 0`,
    wrote: ['status 4'],
    processes: [
      ran(/^bwrap --dev-bind/, 4, [], { times: 2 }),
      ran(/^sh -c echo "I am/, 4, ['I am 2']),
      ran(`$B/say ${SAY}`, 3, LINES),
      forked(5),
    ],
    needs: ['root', 'bwrap'],
    pty: true,
  },
  {
    name: 'namespaces: static programs among own pids',
    followed: true,
    command: `unshare -Upfr --mount-proc sh -c '$B/say-static o one x 3; $B/say o two x 5; exit 4'
      echo "status $?"; exit 0`,
    wrote: ['status 4'],
    processes: [
      ran(/^unshare -Upfr/, 4),
      ran(/^sh -c \S*say-static/, 4),
      ran('$B/say-static o one x 3', 3, ['one']),
      ran('$B/say o two x 5', 5, ['two']),
    ],
    needs: ['unshare', 'userns'],
  },
  {
    name: 'namespaces: no /proc at all',
    command: `unshare -m sh -c 'umount -l /proc; $B/say ${SAY}; exit 4'; echo "status $?"; exit 0`,
    wrote: ['status 4'],
    processes: [ran(/^sh -c umount/, 4), ran('umount -l /proc', 0), ran(`$B/say ${SAY}`, 3, LINES)],
    needs: ['root', 'unshare'],
    pty: true,
  },
];
