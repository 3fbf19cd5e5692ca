// The right to do what a dead process left undone, or to go on with one session: one process at a
// time has it. A claim is an empty file named after its subject and its process. A process that
// makes one looks for others afterwards and, if one of a living process is there, takes its own
// away; of two that come at once both may step back, so they try again after different times.
// Claims of the dead count for nothing and are removed.
import { randomBytes, randomInt } from 'node:crypto';
import * as fs from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { errnoOf } from '../errors.ts';
import type { ProcessId } from '../types.ts';
import { DISK, type Disk, ensureJournal, sessionsDir } from './files.ts';

const TRIES_MAX = 5;
const PAUSE_MS_MAX = 20;

// A temporary file lives for milliseconds. One of a living process, or of one that has the pid of
// the dead one, goes when it is older than this.
const LEFTOVER_MS = 600_000;

const RECOVERY = 'recovery';
const NAME = /^(.+)-(\d+)-(\d+)-[0-9a-f]{8}\.claim$/;
const TEMP = /\.(\d+)-\d+\.tmp$/;

export type Claim = { readonly release: () => void };

/**
 * Undefined when another process has it, or when the journal cannot be written. It is kept until
 * it is released or its process ends.
 */
export async function claimRecovery(
  directory: string,
  owner: ProcessId,
  alive: (one: ProcessId) => boolean,
  now: () => number = Date.now,
  disk: Disk = DISK,
): Promise<Claim | undefined> {
  for (let tries = 1; ; tries += 1) {
    const claim = tryClaim(directory, RECOVERY, owner, alive, disk);
    if (claim !== undefined) {
      removeLeftovers(directory, now(), alive);
      return claim;
    }
    if (tries === TRIES_MAX) return undefined;
    await delay(randomInt(1, PAUSE_MS_MAX));
  }
}

/** Sessions that this process writes: two servers may be in one process. */
const here = new Set<string>();

/** The right to write one session. Undefined when a living writer has it. */
export function claimSession(
  directory: string,
  sessionId: string,
  owner: ProcessId,
  alive: (one: ProcessId) => boolean,
  disk: Disk = DISK,
): Claim | undefined {
  if (here.has(join(directory, sessionId))) return undefined;
  const claim = tryClaim(directory, sessionId, owner, alive, disk);
  return claim && holdSession(directory, sessionId, claim);
}

/** For a session that its writer has just made, which no other process can want yet. */
export function holdSession(directory: string, sessionId: string, claim?: Claim): Claim {
  const path = join(directory, sessionId);
  here.add(path);
  const release = (): void => {
    here.delete(path);
    claim?.release();
  };
  return { release };
}

function tryClaim(
  directory: string,
  subject: string,
  owner: ProcessId,
  alive: (one: ProcessId) => boolean,
  disk: Disk,
): Claim | undefined {
  try {
    ensureJournal(directory, disk);
  } catch {
    return undefined; // where no file can be made there is nothing to recover either
  }
  return claimIn(directory, subject, owner, alive, disk);
}

/** The right to a subject, in a directory that is there. Undefined when a living process has it. */
export function claimIn(
  directory: string,
  subject: string,
  owner: ProcessId,
  alive: (one: ProcessId) => boolean,
  disk: Disk = DISK,
): Claim | undefined {
  const mine = `${subject}-${owner.pid}-${owner.startTime}-${randomBytes(4).toString('hex')}.claim`;
  const release = (): void => giveUp(join(directory, mine), disk);
  for (const path of unreleased) giveUp(path, disk);
  try {
    disk.closeSync(disk.openSync(join(directory, mine), 'wx', 0o600));
    const others = fs
      .readdirSync(directory)
      .filter((name) => name !== mine && NAME.exec(name)?.[1] === subject);
    const living = others.filter((name) => alive(claimant(name)));
    if (living.length > 0) {
      release();
      return undefined;
    }
    for (const name of others) fs.rmSync(join(directory, name), { force: true });
    return { release };
  } catch {
    release(); // no file can be made
    return undefined;
  }
}

/** Claims that could not be removed: they would keep everybody away while this process lives. */
const unreleased = new Set<string>();

/** Never throws; what cannot be removed is tried again with the next claim. */
function giveUp(path: string, disk: Disk): void {
  unreleased.add(path);
  try {
    disk.unlinkSync(path);
    unreleased.delete(path);
  } catch (error) {
    if (['ENOENT', 'ENOTDIR'].includes(errnoOf(error) ?? '')) unreleased.delete(path);
  }
}

function claimant(name: string): ProcessId {
  const [, , pid, startTime] = NAME.exec(name) ?? [];
  return { pid: Number(pid), startTime: Number(startTime) };
}

/** Claims of dead processes, and temporary files of those that died while they wrote one. */
function removeLeftovers(directory: string, now: number, alive: (one: ProcessId) => boolean): void {
  try {
    for (const name of fs.readdirSync(directory).filter((one) => NAME.test(one))) {
      if (!alive(claimant(name))) fs.rmSync(join(directory, name), { force: true });
    }
    for (const folder of [directory, sessionsDir(directory)]) {
      for (const name of fs.readdirSync(folder)) {
        const pid = Number(TEMP.exec(name)?.[1] ?? Number.NaN);
        if (Number.isNaN(pid)) continue;
        const path = join(folder, name);
        const touchedAt = fs.lstatSync(path, { throwIfNoEntry: false })?.mtimeMs ?? now;
        if (abandoned(pid, touchedAt, now)) fs.rmSync(path, { force: true });
      }
    }
  } catch {
    // They take a little space and nothing else.
  }
}

function abandoned(pid: number, touchedAt: number, now: number): boolean {
  if (now - touchedAt > LEFTOVER_MS) return true;
  // Pids repeat, in a container with every restart: the one before us may have had ours.
  if (pid === process.pid) return touchedAt < Date.now() - process.uptime() * 1000;
  try {
    process.kill(pid, 0);
    return false;
  } catch (error) {
    return errnoOf(error) === 'ESRCH';
  }
}
