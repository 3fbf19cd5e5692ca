// Whether a journal can be written: found out by writing, because rights and free space do not tell
// all of it. Seed 000's six keys, and in words what is not as it should be.

import * as fs from 'node:fs';
import { join } from 'node:path';
import { existingAbove } from '../directories.ts';
import { errnoOf } from '../errors.ts';
import { formatSize } from '../text/size.ts';
import type { Health } from '../types.ts';

/** Less than this is low: a few large outputs and it is full. */
const FREE_BYTES_MIN = 100 * 1024 * 1024;

export type RecorderFacts = {
  readonly directory: string;
  /** Recording is wanted, and works as far as is known. */
  readonly recording: boolean;
  /** Why it does not, when it should. */
  readonly trouble: string | undefined;
  readonly session: string | undefined;
  readonly entries: number;
};

/** What of the disk is asked; tests have disks of their own. */
export type DiskProbe = {
  /** Undefined when a file could be written there. */
  readonly writeProblem: (directory: string) => string | undefined;
  readonly freeBytes: (directory: string) => number | undefined;
};

export const REAL_DISK: DiskProbe = { writeProblem, freeBytes };

export function recorderHealth(facts: RecorderFacts, disk: DiskProbe = REAL_DISK): Health {
  const problem = disk.writeProblem(facts.directory);
  const free = disk.freeBytes(facts.directory);
  const spaceOk = free === undefined || free >= FREE_BYTES_MIN;
  const reasons = [
    ...(problem === undefined ? [] : [`${facts.directory} cannot be written: ${problem}.`]),
    ...(spaceOk ? [] : [`Only ${formatSize(free)} are free for ${facts.directory}.`]),
    ...(facts.trouble === undefined
      ? []
      : [`The last command was not recorded: ${facts.trouble}.`]),
  ];
  return {
    healthy: problem === undefined && spaceOk,
    recording_enabled: facts.recording,
    directory_writable: problem === undefined,
    disk_space_ok: spaceOk,
    current_session: facts.session ?? null,
    entries_recorded: facts.entries,
    reasons,
  };
}

/** The health of a server whose policy is not the one of its files. */
export function withPolicy(
  given: Health,
  problems: readonly string[] | undefined,
  notices: readonly string[] = [],
): Health {
  const health = notices.length === 0 ? given : { ...given, notices };
  if (problems === undefined || problems.length === 0) return health;
  return { ...health, healthy: false, reasons: [...problems, ...health.reasons] };
}

/** Writes and removes a file; where there is no directory yet, in the one it would be made in. */
function writeProblem(directory: string): string | undefined {
  const probe = join(existingAbove(directory), `.cuff-health-${process.pid}`);
  const { O_WRONLY, O_CREAT, O_NOFOLLOW = 0 } = fs.constants;
  try {
    const fd = fs.openSync(probe, O_WRONLY | O_CREAT | O_NOFOLLOW, 0o600);
    try {
      fs.writeSync(fd, 'x');
    } finally {
      fs.closeSync(fd);
      fs.unlinkSync(probe);
    }
    return undefined;
  } catch (error) {
    return errnoOf(error) ?? String(error);
  }
}

function freeBytes(directory: string): number | undefined {
  try {
    const { bavail, bsize } = fs.statfsSync(existingAbove(directory));
    return bavail * bsize;
  } catch {
    return undefined; // a file system that does not tell has no limit that we know of
  }
}

const ROOM_BYTES = 65_536; // for the lines that commands write meanwhile

/**
 * Whether a text of this length can be added and leave room for others. A write that fails halfway
 * fills the disk, so what can wait is not tried before.
 */
export function hasRoom(directory: string, length: number): boolean {
  const free = freeBytes(directory);
  return free === undefined || free >= ROOM_BYTES + 2 * length; // JSON escapes some of it
}
