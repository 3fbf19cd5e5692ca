// Sessions that a new server may go on with: those of the same day or conversation, and of the same
// project, whose server was stopped or crashed. A session that ended for another reason (new
// settings, a full disk, the next day) stays ended.
import type { ProcessId, SessionMetadata } from '../types.ts';
import { decodeMetadata } from './entry.ts';
import { findSessionFiles, plainFile, readText } from './files.ts';
import { journalSessionIds } from './reader.ts';
import { ownerAlive } from './recovery.ts';
import { plainReason } from './writer.ts';

// Sessions are looked at from the newest on; a group that was not used since is not looked for.
const LOOK_MAX = 500;

export type Continuable = {
  /** Sessions without a living writer, newest first; those that are part of others come last. */
  readonly free: readonly string[];
  /** What a session of this group is part of while another server writes one. */
  readonly root: string | undefined;
};

export function continuable(
  directory: string,
  wanted: {
    readonly group: string;
    readonly workingDirectory: string;
    /** Sessions that were not written since then are over. */
    readonly since: number;
    readonly owner: ProcessId;
  },
  alive: (one: ProcessId) => boolean,
): Continuable {
  const found: SessionMetadata[] = [];
  for (const id of journalSessionIds(directory).slice(-LOOK_MAX)) {
    const files = findSessionFiles(directory, id);
    const written = files && plainFile(files.metadata)?.mtimeMs;
    if (files === undefined || written === undefined || written < wanted.since) continue;
    const metadata = decodeMetadata(readText(files.metadata) ?? '');
    if (metadata?.session_id !== id || metadata.group !== wanted.group) continue;
    if (metadata.working_directory === wanted.workingDirectory) found.push(metadata);
  }
  const open = found.filter(wasCutOff).reverse();
  const [parts, roots] = [open.filter(isPart), open.filter((one) => !isPart(one))];
  // This process may have written it before: then its claim says whether it still does.
  const isFree = (metadata: SessionMetadata): boolean =>
    isOwner(metadata, wanted.owner) || !ownerAlive(metadata, alive);
  const free = [...roots, ...parts].filter(isFree).map(({ session_id }) => session_id);
  return { free, root: roots[0]?.session_id ?? parts[0]?.part_of };
}

function isPart({ part_of }: SessionMetadata): boolean {
  return part_of !== undefined;
}

function isOwner({ owner }: SessionMetadata, { pid, startTime }: ProcessId): boolean {
  return owner?.pid === pid && owner.start_time === startTime;
}

/** Its server was stopped, or died before it could say so. */
function wasCutOff(metadata: SessionMetadata): boolean {
  if (metadata.status === 'active') return true;
  return ['shutdown', 'server_gone'].includes(plainReason(metadata) ?? '');
}
