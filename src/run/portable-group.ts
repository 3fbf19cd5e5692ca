// The processes of a portable run, as far as they can be found without being their subreaper: the
// group everywhere; on Linux also the session and the command's remaining descendants. A process
// that called setsid and whose parent is gone is not found.

import { spawn } from 'node:child_process';
import { errnoOf } from '../errors.ts';
import type { ProcessId, Survivor } from '../types.ts';
import {
  commandOf,
  descendantsOf,
  openFilesOf,
  processAlive,
  sessionMembers,
  statOf,
} from './processes.ts';

/** The processes that a kill is for. */
export type Group = {
  /** The live ones. Outside of Linux the leader stands for all of them. */
  members(): ProcessId[];
  /** To all of them, each once. */
  signal(name: NodeJS.Signals): void;
};

export type RunGroup = Group & {
  readonly leader: ProcessId;
  /** Whether there may be members: cheap, and zombies count. */
  exists(): boolean;
  /** Describes members, `open` while output may come; gives nothing outside of Linux. */
  describe(members: readonly ProcessId[], open: boolean): Survivor[];
};

export function groupOf(pid: number): RunGroup {
  if (process.platform === 'linux') return linuxGroup(pid);
  const leader = { pid, startTime: 0 };
  const windows = process.platform === 'win32';
  const exists = (): boolean => (windows ? processAlive(leader) : groupExists(pid));
  const members = (): ProcessId[] => (exists() ? [leader] : []);
  const known = { leader, exists, members, describe: () => [] };
  if (!windows) return { ...known, signal: (name) => send(-pid, name) };
  return {
    ...known,
    // There are no signals on Windows, and only this reaches the children, too. Not tested there.
    signal: () => {
      const args = ['/PID', String(pid), '/T', '/F'];
      spawn('taskkill', args, { stdio: 'ignore', windowsHide: true }).on('error', () => {
        send(pid, 'SIGKILL'); // no taskkill: at least the command itself
      });
    },
  };
}

function linuxGroup(pid: number): RunGroup {
  const leader = { pid, startTime: statOf(pid)?.startTime ?? 0 };
  const known = new Map<number, ProcessId>();

  function members(): ProcessId[] {
    const leading = processAlive(leader);
    // The pid belongs to another process now, so none of ours is left under it.
    const reused = !leading && processAlive({ pid, startTime: 0 });
    const found = reused ? [] : [...sessionMembers(pid), ...(leading ? descendantsOf(pid) : [])];
    for (const { pid, startTime } of found) known.set(pid, { pid, startTime });
    for (const one of known.values()) if (!processAlive(one)) known.delete(one.pid);
    return [...known.values()];
  }
  return {
    leader,
    members,
    exists: () => groupExists(pid),
    signal(name) {
      const outside = members().filter((one) => statOf(one.pid)?.group !== pid);
      // One kill for the whole group also reaches a child that is forked at this moment.
      send(-pid, name);
      for (const one of outside) if (processAlive(one)) send(one.pid, name);
    },
    describe: (list, open) =>
      list.map((one) => ({
        ...one,
        command: commandOf(one.pid),
        holdsOutput: open && writesToUs(one.pid),
      })),
  };
}

function groupExists(pid: number): boolean {
  try {
    process.kill(-pid, 0);
    return true;
  } catch (error) {
    return errnoOf(error) === 'EPERM'; // another user's by now, but alive
  }
}

export function send(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch (error) {
    // Gone meanwhile, or become another user's: nothing a signal could do about it.
    if (errnoOf(error) !== 'ESRCH' && errnoOf(error) !== 'EPERM') throw error;
  }
}

/** The two ends of a socket have different names, so any socket as stdout or stderr counts. */
function writesToUs(pid: number): boolean {
  return openFilesOf(pid).some(
    ({ fd, link }) => (fd === 1 || fd === 2) && /^(socket:|\/dev\/pts\/)/.test(link),
  );
}
