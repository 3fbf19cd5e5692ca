// The scopes of a policy as a command line of bubblewrap: a boundary that the kernel enforces. The
// system can be read, paths in scope can be read or written, the home directory is empty but for
// those, and protected files are not there. Pure: the caller has looked up which paths exist, and
// resolved their links.
//
// Left out on purpose: `--die-with-parent`, because a run outlives its starter and its runner; and
// `--new-session`, because job control ends with it. A command that has a terminal of its
// own can therefore type into it, but no other program reads that terminal.

import { isInside } from './paths.ts';

/** Absolute paths without links. Paths that do not exist are passed over. */
export type SandboxScopes = {
  readonly read: readonly string[];
  readonly write: readonly string[];
  readonly protect: readonly ProtectedPath[];
};

export type ProtectedPath = {
  readonly path: string;
  readonly kind: 'file' | 'directory';
};

export type SandboxSetup = {
  readonly project: string;
  readonly home: string;
  /** Hosts cannot be told apart from outside: all of it, or nothing. */
  readonly network: boolean;
  readonly cwd: string;
  /** Directories that are empty inside; without links, and they must exist. */
  readonly emptied?: readonly string[];
  /** Paths that the recorder itself needs inside, whatever the scopes say. */
  readonly also?: { readonly read: readonly string[]; readonly write: readonly string[] };
};

// Sockets of other programs are in these, and one on a read-only disk can be used all the same.
export const EMPTIED = ['/tmp', '/var/tmp', '/run'];
// Settings of the kernel: root may write them without any capability, and `core_pattern` names a
// program that the kernel starts outside. Bubblewrap covers them only in a user namespace.
const KERNEL = ['/proc/sys', '/proc/sysrq-trigger', '/proc/irq', '/proc/bus', '/proc/fs'];
// Where the names of hosts are looked up on many systems: /etc/resolv.conf is a link to there.
const RESOLVER = '/run/systemd/resolve';

/** The arguments of `bwrap` up to the `--` behind which the command stands. */
export function bwrapArgs(scopes: SandboxScopes, setup: SandboxSetup): readonly string[] {
  const { project, home, network, cwd, also = { read: [], write: [] } } = setup;
  const { emptied = [...EMPTIED, home] } = setup;
  const write = inOrder(scopes.write);
  const everything = write.includes('/');
  // Later mounts lie over earlier ones: parents come before their children, writable paths after
  // readable ones, and protected paths last.
  return [
    ...[everything ? '--bind' : '--ro-bind', '/', '/'],
    ...['--dev', '/dev', '--proc', '/proc'],
    ...KERNEL.flatMap((path) => ['--ro-bind-try', path, path]),
    ...(everything ? [] : emptiedIn(scopes, emptied)),
    ...(network ? ['--ro-bind-try', RESOLVER, RESOLVER] : []),
    ...inOrder([...scopes.read, project]).flatMap((path) => bind('--ro-bind-try', path)),
    ...write.flatMap((path) => bind('--bind-try', path)),
    ...inOrder(scopes.protect.map(({ path }) => path)).flatMap((path) => mask(path, scopes)),
    ...inOrder(also.read).flatMap((path) => bind('--ro-bind-try', path)),
    ...inOrder(also.write).flatMap((path) => bind('--bind-try', path)),
    ...['--unshare-pid', '--unshare-ipc', ...(network ? [] : ['--unshare-net'])],
    ...['--cap-drop', 'ALL', '--chdir', cwd, '--'],
  ];
}

/** Root itself is there already, and once more over everything would bring back what is hidden. */
function bind(how: '--ro-bind-try' | '--bind-try', path: string): readonly string[] {
  return path === '/' ? [] : [how, path, path];
}

/** Unless a scope has all of it. */
function emptiedIn({ read, write }: SandboxScopes, paths: readonly string[]): readonly string[] {
  const open = [...read, ...write];
  return inOrder(paths)
    .filter((path) => path !== '/' && !open.some((scope) => isInside(path, scope)))
    .flatMap((path) => ['--tmpfs', path]);
}

/** A directory is empty and cannot be written, a file cannot be opened. */
function mask(path: string, { protect }: SandboxScopes): readonly string[] {
  const directory = protect.some((one) => one.path === path && one.kind === 'directory');
  return directory ? ['--tmpfs', path, '--remount-ro', path] : ['--ro-bind', '/dev/null', path];
}

/** Each once, a directory before what is in it. */
function inOrder(paths: readonly string[]): readonly string[] {
  return [...new Set(paths)].sort();
}
