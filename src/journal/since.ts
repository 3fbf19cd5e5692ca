// Whether a session has a command that began at some time or later. Most sessions are told by their
// files alone; only one that was used around that time has to be read.
import type { SessionMetadata } from '../types.ts';
import { findSessionFiles, plainFile } from './files.ts';
import { expectedEntries } from './metadata.ts';
import { readMetadata, readUnpacked, storedMetadata } from './reader.ts';

/**
 * The metadata of a session that has lines, one of them an entry of `since` or later (epoch ms).
 * A session with nothing but damaged lines must not vanish, nor one that has lost them all.
 */
export function metadataSince(
  directory: string,
  id: string,
  since: number | undefined,
): SessionMetadata | undefined {
  const files = findSessionFiles(directory, id);
  const stat = files && plainFile(files.entries);
  if (stat === undefined) return undefined;
  if (stat.size === 0 && expectedEntries(storedMetadata(directory, id)) === 0) return undefined;
  // A line is written after its command began.
  if (since !== undefined && stat.mtimeMs < since) return undefined;
  const metadata = readMetadata(directory, id);
  if (metadata === undefined) return undefined;
  if (since === undefined || Date.parse(metadata.created_at) >= since) return metadata;
  const found = readUnpacked(directory, id, (facts, entries) => {
    if ((facts?.newestAt ?? 0) >= since) return true;
    for (const { entry } of entries) if (Date.parse(entry.timestamp) >= since) return true;
    return false;
  });
  return found === true ? metadata : undefined;
}
