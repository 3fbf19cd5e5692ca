// Lines beside the entries of a session, appended: what came behind an entry, files that an agent
// wrote. Several processes may append at once, so all lines of one call are one write.

import { endsTorn } from './entry-lines.ts';
import { saltedLine } from './entry-parts.ts';
import { closeQuietly, DISK, type JournalEnv, openBeside, unwritable, writeAll } from './files.ts';
import type { SealedLine } from './seal.ts';

export type BesideEnv = Pick<JournalEnv, 'fs' | 'seal' | 'now'>;

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
  { fs: disk = DISK, seal: sealOf, now }: BesideEnv,
): Promise<void> {
  if (lines.length === 0) return;
  const seal = sealOf?.(of.directory);
  const salted = lines.map((line) => ({ ...line, salt: seal?.salt() }));
  const texts = salted.map(({ text, salt }) =>
    salt === undefined ? text : saltedLine(text, salt),
  );
  try {
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
  }
  const about = { session: of.sessionId, kind: of.kind, at: now() };
  for (const { text, salt, sequence } of salted) {
    if (salt !== undefined) seal?.amended({ ...about, sequence, salt, text });
  }
}
