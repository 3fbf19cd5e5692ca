// What the kernel says about processes, read from /proc; the only file that reads it. Elsewhere
// than on Linux only liveness is known, by pid alone, and start times are 0.

import { closeSync, openSync, readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { errnoOf } from '../errors.ts';
import type { ProcessId } from '../types.ts';

export type ProcessStat = ProcessId & {
  readonly state: string;
  readonly parent: number;
  readonly group: number;
  readonly sid: number;
};

export type LiveProcess = ProcessId & {
  /** As the kernel has it now; a process that lost its parent has got another. */
  readonly parent: number;
  readonly command: string;
  /** Milliseconds since it started. */
  readonly ageMs: number;
};

/** An open file and what it is, like `pipe:[123]`. */
export type OpenFile = { readonly fd: number; readonly link: string };

const TICKS_PER_SECOND = 100; // USER_HZ: fixed in Linux's /proc interface

/** Empty if the process is gone or belongs to another user. */
export function readProc(path: string): string {
  try {
    return readFileSync(`/proc/${path}`, 'utf8');
  } catch {
    return '';
  }
}

function listProc(path: string): string[] {
  try {
    return readdirSync(`/proc/${path}`);
  } catch {
    return []; // gone, another user's, or no /proc at all
  }
}

export function statOf(pid: number): ProcessStat | undefined {
  const text = readProc(`${pid}/stat`);
  // The name in parentheses may hold anything, spaces and parentheses included.
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
  const [state = '', parent, group, sid] = fields;
  const startTime = fields[19];
  if (startTime === undefined) return undefined;
  return {
    pid,
    startTime: Number(startTime),
    state,
    parent: Number(parent),
    group: Number(group),
    sid: Number(sid),
  };
}

/** This very process. */
export function thisProcess(): ProcessId {
  return { pid: process.pid, startTime: statOf(process.pid)?.startTime ?? 0 };
}

/** True while that process lives: same pid and, where known, same start time. Zombies are dead. */
export function processAlive(id: ProcessId): boolean {
  if (process.platform === 'linux') {
    const stat = statOf(id.pid);
    if (stat === undefined) return hidden(id.pid);
    if (stat.state === 'Z' || stat.state === 'X') return false;
    return id.startTime === 0 || stat.startTime === id.startTime;
  }
  return signalable(id.pid);
}

/** Without a free descriptor /proc cannot be read, although the process may well be there. */
function hidden(pid: number): boolean {
  if (!signalable(pid)) return false;
  try {
    closeSync(openSync('/proc/self/stat', 'r'));
    return false;
  } catch (error) {
    return ['EMFILE', 'ENFILE'].includes(errnoOf(error) ?? '');
  }
}

function signalable(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return errnoOf(error) === 'EPERM'; // another user's: alive
  }
}

/** Describes a live process; undefined if it is gone. */
export function describeProcess(pid: number): LiveProcess | undefined {
  const stat = statOf(pid);
  if (stat === undefined || stat.state === 'Z') return undefined;
  const { parent, startTime } = stat;
  return { pid, parent, startTime, command: commandOf(pid), ageMs: ageMsOf(startTime) };
}

/** Milliseconds since a process with this start time started. */
export function ageMsOf(startTime: number): number {
  const uptimeMs = Number(readProc('uptime').split(' ')[0]) * 1000;
  return Math.max(0, uptimeMs - (startTime * 1000) / TICKS_PER_SECOND);
}

export function commandOf(pid: number): string {
  const words = readProc(`${pid}/cmdline`).split('\0').filter(Boolean);
  return words.join(' ') || readProc(`${pid}/comm`).trim();
}

function childrenOf(pid: number): number[] {
  return listProc(`${pid}/task`).flatMap((task) =>
    readProc(`${pid}/task/${task}/children`).split(' ').filter(Boolean).map(Number),
  );
}

/** Every live descendant of a process, parents before their children. */
export function descendantsOf(root: number): LiveProcess[] {
  const pids = childrenOf(root);
  for (let i = 0; i < pids.length; i++) pids.push(...childrenOf(pids[i] ?? 0));
  return pids.map(describeProcess).filter((found) => found !== undefined);
}

/** Live members of a session, for a run whose runner was killed and can no longer tell. */
export function sessionMembers(sid: number): ProcessId[] {
  return listProc('')
    .filter((name) => /^\d+$/.test(name))
    .map((name) => statOf(Number(name)))
    .filter((stat) => stat !== undefined && stat.sid === sid && stat.state !== 'Z')
    .flatMap((stat) => (stat === undefined ? [] : [{ pid: stat.pid, startTime: stat.startTime }]));
}

export function openFilesOf(pid: number): OpenFile[] {
  return listProc(`${pid}/fd`).flatMap((name) => {
    try {
      return [{ fd: Number(name), link: readlinkSync(`/proc/${pid}/fd/${name}`) }];
    } catch {
      return []; // closed between listing and looking
    }
  });
}

/**
 * The processes that hold the other end of a TCP connection within this machine, by its two ports.
 * Empty where that cannot be told: another user's, one that may not be looked into, no /proc.
 */
export function connectionHolders(port: number, theirs: number): readonly number[] {
  const hex = (one: number): string => one.toString(16).toUpperCase().padStart(4, '0');
  const row = new RegExp(
    `^ *\\d+: [0-9A-F]+:${hex(theirs)} [0-9A-F]+:${hex(port)} 01(?: +\\S+){5} +(\\d+)`,
    'm',
  );
  const tables = ['net/tcp', 'net/tcp6'].map(readProc);
  const inodes = tables.flatMap((table) => row.exec(table)?.[1] ?? []);
  const links = inodes.map((inode) => `socket:[${inode}]`);
  if (links.length === 0) return [];
  return listProc('')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((pid) => openFilesOf(pid).some(({ link }) => links.includes(link)));
}
