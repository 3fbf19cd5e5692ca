// The right to do what a dead process left undone: one process at a time has it. A claim is an
// empty file named after its process. Whoever makes one looks for others afterwards and, if one
// of a living process is there, takes its own away; of two who come at once, both may step back,
// so they try again after different times. Claims of the dead count for nothing and are removed.
import { randomBytes, randomInt } from 'node:crypto';
import * as fs from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { ProcessId } from '../types.ts';
import { ensureJournal, sessionsDir } from './files.ts';

const TRIES_MAX = 5;
const PAUSE_MS_MAX = 20;
const LEFTOVER_MS = 3_600_000; // a temporary file lives for milliseconds

const NAME = /^recovery-(\d+)-(\d+)-[0-9a-f]{8}\.claim$/;
const TEMP = /\.\d+-\d+\.tmp$/;

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
): Promise<Claim | undefined> {
  for (let tries = 1; ; tries += 1) {
    const claim = tryClaim(directory, owner, alive);
    if (claim !== undefined) {
      removeLeftovers(directory, now());
      return claim;
    }
    if (tries === TRIES_MAX) return undefined;
    await delay(randomInt(1, PAUSE_MS_MAX));
  }
}

function tryClaim(
  directory: string,
  owner: ProcessId,
  alive: (one: ProcessId) => boolean,
): Claim | undefined {
  const mine = `recovery-${owner.pid}-${owner.startTime}-${randomBytes(4).toString('hex')}.claim`;
  const release = (): void => fs.rmSync(join(directory, mine), { force: true });
  try {
    ensureJournal(directory);
    fs.closeSync(fs.openSync(join(directory, mine), 'wx', 0o600));
    const others = fs.readdirSync(directory).filter((name) => name !== mine && NAME.test(name));
    const living = others.filter((name) => alive(claimant(name)));
    if (living.length > 0) {
      release();
      return undefined;
    }
    for (const name of others) fs.rmSync(join(directory, name), { force: true });
    return { release };
  } catch {
    return undefined; // where no file can be made there is nothing to recover either
  }
}

function claimant(name: string): ProcessId {
  const [, pid, startTime] = NAME.exec(name) ?? [];
  return { pid: Number(pid), startTime: Number(startTime) };
}

/** Temporary files of processes that died while they replaced something. */
function removeLeftovers(directory: string, now: number): void {
  try {
    for (const folder of [directory, sessionsDir(directory)]) {
      for (const name of fs.readdirSync(folder).filter((one) => TEMP.test(one))) {
        const path = join(folder, name);
        const touchedAt = fs.lstatSync(path, { throwIfNoEntry: false })?.mtimeMs ?? now;
        if (now - touchedAt > LEFTOVER_MS) fs.rmSync(path, { force: true });
      }
    }
  } catch {
    // They are in nobody's way.
  }
}
