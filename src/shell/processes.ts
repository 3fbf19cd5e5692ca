// Which processes belong to a run, asked from outside of it: with a live runner all its
// descendants, without one those that can still be told apart from strangers. Also who of them can
// still write to the run's output.

import { uptime } from 'node:os';
import type { Capture } from '../capture/store.ts';
import {
  descendantsOf,
  describeProcess,
  type LiveProcess,
  type OpenFile,
  openFilesOf,
  processAlive,
  readProc,
  sessionMembers,
} from '../run/processes.ts';
import type { ProcessId } from '../types.ts';

/** `ageMs` is undefined where nobody tells. */
export type Member = Omit<LiveProcess, 'ageMs'> & { readonly ageMs: number | undefined };

type Run = Pick<Capture, 'meta' | 'final'>;

// Clocks are corrected, and a boot is known only by the clock.
const BOOT_SLACK_MS = 5 * 60_000;

/** True while a native runner, or the process that runs it portably, is there. */
export function runnerAlive({ meta }: Run): boolean {
  return meta?.runner !== undefined && processAlive(meta.runner);
}

/** Everyone alive that belongs to the run, without its runner; parents before their children. */
export function membersOf(run: Run): Member[] {
  const { meta } = run;
  if (meta?.runner !== undefined && !portable(run) && processAlive(meta.runner)) {
    return descendantsOf(meta.runner.pid);
  }
  return process.platform === 'linux' ? leftOf(run) : leaderOf(run);
}

/** A run without a runner of its own: then the starter has other children, too. */
export function portable({ meta }: Pick<Run, 'meta'>): boolean {
  return meta?.runner !== undefined && meta.runner.pid === meta.starter.pid;
}

/** Without a runner to ask: the command, its descendants and sessions, and the known survivors. */
function leftOf(run: Run): Member[] {
  const { meta, final } = run;
  if (meta === undefined || meta.createdAt < Date.now() - uptime() * 1000 - BOOT_SLACK_MS) {
    return []; // before this boot: whoever has these pids now is somebody else
  }
  const roots = [...(meta.child === undefined ? [] : [meta.child]), ...(final?.survivors ?? [])];
  const sessions = [meta.child, portable(run) ? undefined : meta.runner].filter(
    (one) => one !== undefined,
  );
  const known = new Map<number, Member>();
  const add = (id: ProcessId): void => {
    if (known.has(id.pid) || id.pid === process.pid || !processAlive(id)) return;
    const member = describeProcess(id.pid);
    if (member !== undefined) known.set(id.pid, member);
  };
  for (const root of roots) {
    add(root);
    if (processAlive(root)) for (const one of descendantsOf(root.pid)) add(one);
  }
  for (const session of sessions) for (const one of sessionOf(session)) add(one);
  return [...known.values()];
}

/** The session a process leads or led. Its number is not given away while it has members. */
function sessionOf(leader: ProcessId): ProcessId[] {
  const taken = processAlive({ pid: leader.pid, startTime: 0 }) && !processAlive(leader);
  if (taken) return [];
  return sessionMembers(leader.pid).filter((one) => one.startTime >= leader.startTime);
}

function leaderOf({ meta }: Run): Member[] {
  const { child } = meta ?? {};
  if (child === undefined || !processAlive(child)) return [];
  return [{ ...child, parent: 0, command: '', ageMs: undefined }];
}

/**
 * Which of the members can write to what the runner reads. Pipes have one name for both ends, and
 * the runner's end of a terminal knows its number. The ends of a socket have two names: there, who
 * has one as stdout or stderr is taken for a holder.
 */
export function holders(run: Run, members: readonly ProcessId[]): ReadonlySet<number> {
  const runner = run.meta?.runner;
  const found = new Set<number>();
  if (runner === undefined || !processAlive(runner)) return found;
  const sockets = run.meta?.transport === 'socket' || portable(run);
  const outputs = new Set(
    openFilesOf(runner.pid).flatMap((file) => outputBehind(runner.pid, file)),
  );
  const open = members.map((one) => ({ pid: one.pid, files: openFilesOf(one.pid) }));
  if (sockets) {
    const standard = open.flatMap(({ files }) => files.filter(({ fd }) => fd === 1 || fd === 2));
    for (const { link } of standard) if (link.startsWith('socket:')) outputs.add(link);
  }
  for (const { pid, files } of open) {
    const writes = files.some(
      (file) => outputs.has(file.link) && accessOf(fdInfo(pid, file.fd)) !== 'read',
    );
    if (writes) found.add(pid);
  }
  return found;
}

/** The names under which others have the far end of one of the runner's open files. */
function outputBehind(runner: number, { fd, link }: OpenFile): string[] {
  // The pipe for input and those that output is forwarded to are open here for writing only.
  if (link.startsWith('pipe:')) return accessOf(fdInfo(runner, fd)) === 'read' ? [link] : [];
  if (!link.endsWith('/ptmx')) return [];
  const index = /^tty-index:\s*(\d+)/m.exec(fdInfo(runner, fd))?.[1];
  return index === undefined ? [] : [`/dev/pts/${index}`];
}

function fdInfo(pid: number, fd: number): string {
  return readProc(`${pid}/fdinfo/${fd}`);
}

/** The access mode is in the last two bits of the octal flags; 0 is reading only. */
function accessOf(fdinfo: string): 'read' | 'write' {
  const flags = /^flags:\s*([0-7]+)/m.exec(fdinfo)?.[1] ?? '1';
  return (Number.parseInt(flags, 8) & 3) === 0 ? 'read' : 'write';
}
