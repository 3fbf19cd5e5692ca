// Lines beside the entries of a session, appended: what came behind an entry, files that an agent
// wrote. Several processes may append at once, so all lines of one call are one write. A claim
// keeps them apart from the packer, which puts another file in the place of the one with the lines.
import { randomInt } from 'node:crypto';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { namesIn } from '../directories.ts';
import type { ProcessId } from '../types.ts';
import { type Claim, claimIn } from './claim.ts';
import { endsTorn } from './entry-lines.ts';
import { saltedLine } from './entry-parts.ts';
import {
  closeQuietly,
  DISK,
  type Disk,
  errno,
  type JournalEnv,
  openBeside,
  unwritable,
  writeAll,
} from './files.ts';
import type { SealedLine } from './seal.ts';

/** The process that writes, and which others live. */
export type Writers = {
  readonly owner: ProcessId;
  readonly alive: (one: ProcessId) => boolean;
};

export type BesideEnv = Pick<JournalEnv, 'fs' | 'seal' | 'now'> & { readonly writers: Writers };

type BesideLine = {
  /** JSON, without a salt. */
  readonly text: string;
  /** The number of the entry it belongs to; 0 for the session as a whole. */
  readonly sequence: number;
};

/** They are on the disk when this resolves. Rejects with `journal_unwritable`. */
export async function appendBeside(
  path: string,
  lines: readonly BesideLine[],
  of: {
    readonly directory: string;
    readonly sessionId: string;
    readonly kind: SealedLine['kind'];
  },
  { fs: disk = DISK, seal: sealOf, now, writers }: BesideEnv,
): Promise<void> {
  if (lines.length === 0) return;
  const seal = sealOf?.(of.directory);
  const salted = lines.map((line) => ({ ...line, salt: seal?.salt() }));
  const texts = salted.map(({ text, salt }) =>
    salt === undefined ? text : saltedLine(text, salt),
  );
  let claim: Claim | undefined;
  try {
    claim = await claimBeside(of.directory, of.sessionId, writers, disk);
    const torn = endsTorn(path) ? '\n' : '';
    const fd = openBeside(path, disk);
    try {
      await writeAll(fd, Buffer.from(`${torn}${texts.join('\n')}\n`), disk);
      await disk.sync(fd);
    } finally {
      closeQuietly(fd, disk);
    }
  } catch (error) {
    throw unwritable(path, error);
  } finally {
    claim?.release();
  }
  const about = { session: of.sessionId, kind: of.kind, at: now() };
  for (const { text, salt, sequence } of salted) {
    if (salt !== undefined) seal?.amended({ ...about, sequence, salt, text });
  }
}

const TRIES_MAX = 400;
const TRIES_ALONE_MAX = 5; // no other process has it, so no file can be made
const PAUSE_MS_MAX = 25; // of several that come at once each steps back for another time

/** The right to write the files beside the entries. Rejects with `journal_unwritable`. */
export async function claimBeside(
  directory: string,
  sessionId: string,
  { owner, alive }: Writers,
  disk: Disk = DISK,
): Promise<Claim> {
  const subject = `${sessionId}.beside`;
  for (let tries = 1; tries <= TRIES_MAX; tries += 1) {
    const claim = claimIn(directory, subject, owner, alive, disk);
    if (claim !== undefined) return claim;
    const others = namesIn(directory).some((name) => name.startsWith(`${subject}-`));
    if (!others && tries >= TRIES_ALONE_MAX) break;
    await delay(randomInt(1, PAUSE_MS_MAX));
  }
  const words = 'another process writes it, or no file can be made';
  throw unwritable(join(directory, sessionId), errno('EBUSY', words));
}
