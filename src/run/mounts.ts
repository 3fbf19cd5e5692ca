// Mounts whose file system may stop answering, such as those of NFS and FUSE. Asking one of them
// for anything can block the whole process, so the mount table is asked which paths lead there.

import { lstatSync, readFileSync, readlinkSync } from 'node:fs';
import { dirname, resolve } from 'node:path';

const KEPT_MS = 1_000; // reading the table takes 50 microseconds, and mounts change rarely
const LINKS_MAX = 40; // as the system counts them

/** File systems that are served from this machine's own memory and disks. */
const LOCAL = new Set(
  (
    'bcachefs binfmt_misc bpf btrfs cgroup cgroup2 configfs debugfs devpts devtmpfs efivarfs ' +
    'erofs exfat ext2 ext3 ext4 f2fs fusectl hugetlbfs iso9660 jfs mqueue msdos nsfs ntfs3 ' +
    'overlay proc pstore ramfs reiserfs rootfs rpc_pipefs securityfs selinuxfs squashfs sysfs ' +
    'tmpfs tracefs ubifs udf vfat xfs zfs'
  ).split(' '),
);

let known: readonly string[] = [];
let readAt = Number.NEGATIVE_INFINITY;

/** The mount points of all others; none if the system has no mount table. */
export function remoteMounts(): readonly string[] {
  const now = process.uptime() * 1_000;
  if (now - readAt < KEPT_MS) return known;
  readAt = now;
  try {
    known = remoteIn(readFileSync('/proc/self/mountinfo', 'utf8'));
  } catch {
    known = []; // no Linux, or no /proc
  }
  return known;
}

/** The mount points of a table in the form of proc(5) whose uppermost file system is not local. */
export function remoteIn(table: string): string[] {
  const types = new Map<string, string>();
  for (const line of table.split('\n')) {
    const [mount = '', rest = ''] = line.split(' - ', 2);
    const point = mount.split(' ')[4];
    if (point !== undefined) types.set(unescaped(point), rest.split(' ', 1)[0] ?? '');
  }
  return [...types].filter(([, type]) => !LOCAL.has(type)).map(([point]) => point);
}

export function leadsToRemote(path: string, mounts = remoteMounts()): boolean {
  return remoteMountOf(path, mounts) !== undefined;
}

/** The mount that following this path, links included, leads to. Asks only what lies before it. */
export function remoteMountOf(path: string, mounts: readonly string[]): string | undefined {
  if (mounts.length === 0) return undefined;
  if (mounts.includes('/')) return '/';
  const rest = namesOf(resolve(path));
  let at = '/';
  for (let links = 0; links <= LINKS_MAX; ) {
    const name = rest.shift();
    if (name === undefined) return undefined;
    const next = name === '..' ? dirname(at) : resolve(at, name);
    if (mounts.includes(next)) return next;
    const target = linkAt(next);
    if (target === undefined) {
      at = next;
      continue;
    }
    links += 1;
    rest.unshift(...namesOf(target));
    if (target.startsWith('/')) at = '/';
  }
  return undefined;
}

function namesOf(path: string): string[] {
  return path.split('/').filter((name) => name !== '' && name !== '.');
}

function linkAt(path: string): string | undefined {
  try {
    return lstatSync(path).isSymbolicLink() ? readlinkSync(path) : undefined;
  } catch {
    return undefined; // missing or not readable: the user of the path gets the error
  }
}

/** Blanks and backslashes are written as `\\040` and the like. */
function unescaped(point: string): string {
  return point.replace(/\\([0-7]{3})/g, (_, digits) =>
    String.fromCharCode(Number.parseInt(digits, 8)),
  );
}
