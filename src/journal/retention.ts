// Which sessions are old enough to go, and removing them. A session that a living process writes is
// never old. Only files whose name and metadata are those of a session are removed: a journal's
// directory may hold other files. The index and the catalog notice by themselves what is gone.
import * as fs from 'node:fs';
import { errnoOf } from '../errors.ts';
import type { ProcessId } from '../types.ts';
import { decodeMetadata } from './entry.ts';
import { findSessionFiles, plainFile, readText, type SessionFiles } from './files.ts';
import { hasForm, journalIdTime } from './ids.ts';
import { segmentPaths } from './packed/source.ts';
import { placeTrouble } from './place.ts';
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
    if (metadata.status === 'active' && ownerAlive(metadata, alive)) return false;
    return ownFiles(directory, id) !== undefined;
  });
}

function arrivedAt(directory: string, id: string): number {
  const files = findSessionFiles(directory, id);
  return (files && plainFile(files.entries)?.mtimeMs) ?? 0;
}

/** The files of a session that a recorder wrote: its metadata says that it is this one. */
function ownFiles(directory: string, id: string): SessionFiles | undefined {
  const files = hasForm(id) ? findSessionFiles(directory, id) : undefined;
  if (files === undefined || placeTrouble(directory) !== undefined) return undefined;
  return decodeMetadata(readText(files.metadata) ?? '')?.session_id === id ? files : undefined;
}

/** False when there is none. Throws the error of the system call (EACCES, EPERM, EROFS...). */
export function removeSession(directory: string, id: string): boolean {
  const files = ownFiles(directory, id);
  if (files === undefined) return false;
  const withLines = [files.later, files.edits, files.entries];
  const lines = (): string[] => withLines.flatMap((path) => [...segmentPaths(path), path]);
  // The metadata last: without it the entries could not be removed the next time.
  removeFiles([...lines(), files.metadata]);
  // A packer that was at work sees that the metadata is gone; what it did before goes here.
  removeFiles(lines());
  return true;
}

/** Those that are there. Throws the error of the system call. */
export function removeFiles(paths: readonly string[]): void {
  for (const path of paths) {
    try {
      fs.unlinkSync(path);
    } catch (error) {
      if (errnoOf(error) !== 'ENOENT') throw error;
    }
  }
}
