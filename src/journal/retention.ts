// Which sessions are old enough to go, and removing them. A session that somebody still writes is
// never old. What is derived from a removed session (the index, the catalog) notices by itself.
import * as fs from 'node:fs';
import { errnoOf } from '../errors.ts';
import type { ProcessId } from '../types.ts';
import { findSessionFiles, plainFile } from './files.ts';
import { isJournalId, journalIdTime } from './ids.ts';
import { journalSessionIds, readMetadata } from './reader.ts';
import { ownerAlive } from './recovery.ts';

/**
 * Sessions that were last touched before `cutoffMs` (epoch ms), oldest first. `arrived`: nor came
 * into this journal since then, as an imported one may have, whatever its commands' age.
 */
export function sessionsOlderThan(
  directory: string,
  cutoffMs: number,
  alive: (one: ProcessId) => boolean,
  { arrived = false } = {},
): string[] {
  return journalSessionIds(directory).filter((id) => {
    if ((journalIdTime(id) ?? 0) >= cutoffMs) return false; // nothing is older than its name
    if (arrived && arrivedAt(directory, id) >= cutoffMs) return false;
    const metadata = readMetadata(directory, id);
    if (metadata === undefined || Date.parse(metadata.last_updated) >= cutoffMs) return false;
    return metadata.status !== 'active' || !ownerAlive(metadata, alive);
  });
}

function arrivedAt(directory: string, id: string): number {
  const files = findSessionFiles(directory, id);
  return (files && plainFile(files.entries)?.mtimeMs) ?? 0;
}

/** False when there is none. Throws the error of the system call (EACCES, EPERM, EROFS...). */
export function removeSession(directory: string, id: string): boolean {
  const files = isJournalId(id) ? findSessionFiles(directory, id) : undefined;
  if (files === undefined) return false;
  // The entries last: as long as they are there the session is listed and can be removed again.
  for (const path of [files.metadata, files.entries]) {
    try {
      fs.unlinkSync(path);
    } catch (error) {
      if (errnoOf(error) !== 'ENOENT') throw error;
    }
  }
  return true;
}
