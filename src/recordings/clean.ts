// Sessions whose time is over: which they are, and removing them. Captures have a retention of
// their own and stay. A session that a living process writes is never among them.

import { AppError, errnoOf } from '../errors.ts';
import { readMetadata } from '../journal/reader.ts';
import { removeSession, sessionsOlderThan } from '../journal/retention.ts';
import { processAlive } from '../run/processes.ts';
import { printable } from '../text/printable.ts';
import type { SessionMetadata } from '../types.ts';

/** Sessions that were last used before `cutoff` (epoch ms), the oldest first. */
export function sessionsToClean(directory: string, cutoff: number): SessionMetadata[] {
  return sessionsOlderThan(directory, cutoff, processAlive)
    .map((id) => readMetadata(directory, id))
    .filter((metadata) => metadata !== undefined);
}

/** Removes them one by one and says which are gone; `trouble` is why it stopped before the end. */
export function cleanSessions(
  directory: string,
  ids: readonly string[],
  remove = removeSession,
): { readonly removed: readonly string[]; readonly trouble: AppError | undefined } {
  const removed: string[] = [];
  for (const id of ids) {
    try {
      if (remove(directory, id)) removed.push(id);
    } catch (error) {
      return { removed, trouble: refused(directory, error) };
    }
  }
  return { removed, trouble: undefined };
}

function refused(directory: string, error: unknown): AppError {
  const errno = errnoOf(error);
  if (errno === undefined) throw error;
  const permission = errno === 'EACCES' || errno === 'EPERM';
  const why = errno === 'EROFS' ? 'It is on a read-only file system' : errno;
  return new AppError('journal_unwritable', `Cannot delete recordings in ${printable(directory)}`, {
    hint: permission
      ? 'Permission denied. Try running with appropriate permissions.'
      : `${why}. Nothing more was deleted.`,
    cause: error,
  });
}
