// Which processes belong to a run, seen from outside: all descendants of a live runner; without a
// runner, those that certainly belong to it. Also which of them can write output.

import { uptime } from 'node:os';
import { type Capture, type CaptureSummary, listCaptures, type Store } from '../capture/store.ts';
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

/** `ageMs` is undefined where the system does not say. */
export type Member = Omit<LiveProcess, 'ageMs'> & { readonly ageMs: number | undefined };

type Run = Pick<Capture, 'meta' | 'final'>;

// The boot time is computed from the clock, and clocks are corrected.
const BOOT_SLACK_MS = 5 * 60_000;

/** True while the native runner, or the process that runs it portably, is alive. */
export function runnerAlive({ meta }: Run): boolean {
  return meta?.runner !== undefined && processAlive(meta.runner);
}

/** Every live process of the run except its runner; parents before their children. */
export function membersOf(run: Run): Member[] {
  const { meta } = run;
  if (meta?.runner !== undefined && !portable(run) && processAlive(meta.runner)) {
    return descendantsOf(meta.runner.pid);
  }
  return process.platform === 'linux' ? leftOf(run) : leaderOf(run);
}

/** The run has no runner of its own, so its starter has other children, too. */
export function portable({ meta }: Pick<Run, 'meta'>): boolean {
  return meta?.runner !== undefined && meta.runner.pid === meta.starter.pid;
}

/** Without a runner: the command, its descendants and sessions, and the known survivors. */
function leftOf(run: Run): Member[] {
  const { meta, final } = run;
  if (meta === undefined || meta.createdAt < Date.now() - uptime() * 1000 - BOOT_SLACK_MS) {
    return []; // before this boot: these pids now belong to other processes
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

/**
 * The session a process leads or led. The kernel does not reuse its number while it has members.
 */
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
 * The members that can write to what the runner reads. Both ends of a pipe have one name, and the
 * runner's end of a terminal gives its number. The two ends of a socket have different names, so a
 * process with a socket as stdout or stderr counts as a holder.
 */
function holders(run: Run, members: readonly ProcessId[]): ReadonlySet<number> {
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

/** The names under which other processes hold the far end of one of the runner's open files. */
function outputBehind(runner: number, { fd, link }: OpenFile): string[] {
  // The runner holds its input pipe and its forwarding pipes for writing only.
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

export type RunProcess = Member & {
  readonly holdsOutput: boolean;
  /** 0 for a process whose parent is not part of the run. */
  readonly depth: number;
};

export type LiveRun = {
  readonly capture: CaptureSummary;
  /** False if the runner was killed: then no process captures further output. */
  readonly runnerAlive: boolean;
  /** In the order of a tree: each process right before its children. */
  readonly processes: readonly RunProcess[];
};

/** Newest first; of these captures, where a caller knows which may be live. */
export function liveRuns(
  store: Store,
  captures: readonly CaptureSummary[] = listCaptures(store),
): LiveRun[] {
  return captures.flatMap((capture) => {
    if (capture.final?.outputClosed === true) return [];
    const processes = runProcesses(capture);
    if (!capture.outputOpen && processes.length === 0) return [];
    return [{ capture, runnerAlive: runnerAlive(capture), processes }];
  });
}

export function runProcesses(run: Pick<CaptureSummary, 'meta' | 'final'>): RunProcess[] {
  const members = membersOf(run);
  const holding = holders(run, members);
  return inTreeOrder(members).map(({ member, depth }) => ({
    ...member,
    depth,
    holdsOutput: holding.has(member.pid),
  }));
}

export function stillAlive(processes: readonly RunProcess[]): ReadonlySet<number> {
  return new Set(processes.filter(processAlive).map(({ pid }) => pid));
}

function inTreeOrder(given: readonly Member[]): { member: Member; depth: number }[] {
  const members = [...given].sort((a, b) => a.startTime - b.startTime || a.pid - b.pid);
  const pids = new Set(members.map((one) => one.pid));
  const out: { member: Member; depth: number }[] = [];
  const added = new Set<number>();
  const add = (member: Member, depth: number): void => {
    // A pid that was given away while we looked could make its own child its parent.
    if (added.has(member.pid)) return;
    added.add(member.pid);
    out.push({ member, depth });
    for (const one of members) if (one.parent === member.pid) add(one, depth + 1);
  };
  for (const one of members) if (!pids.has(one.parent)) add(one, 0);
  for (const one of members) add(one, 0);
  return out;
}
