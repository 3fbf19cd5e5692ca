// What a session's entries add up to. Counts are always those of the lines in the file; the rest
// (status, owner, who asked) only the metadata file knows, so without it the rest is a guess that
// says so in `end_reason`.
import type { Entry, ProcessId, SessionMetadata, VcsState } from '../types.ts';
import { wholeSeconds } from './entry.ts';
import { journalIdTime } from './ids.ts';

export type SessionFacts = {
  readonly workingDirectory: string;
  readonly agentId: string | null;
  readonly conversationId: string | null;
  readonly owner: ProcessId | null;
  readonly group?: string;
  readonly partOf?: string | undefined;
  readonly vcs?: VcsState | undefined;
  readonly sealedBy?: string | undefined;
};

type Counts = Pick<
  SessionMetadata,
  | 'entry_count'
  | 'total_duration_ms'
  | 'commands_succeeded'
  | 'commands_failed'
  | 'commands_timed_out'
>;

const NO_ENTRIES: Counts = {
  entry_count: 0,
  total_duration_ms: 0,
  commands_succeeded: 0,
  commands_failed: 0,
  commands_timed_out: 0,
};

export function newMetadata(id: string, facts: SessionFacts, now: number): SessionMetadata {
  const { owner, group, partOf, vcs, sealedBy } = facts;
  return {
    session_id: id,
    created_at: wholeSeconds(now),
    last_updated: wholeSeconds(now),
    ...NO_ENTRIES,
    status: 'active',
    working_directory: facts.workingDirectory,
    agent_id: facts.agentId,
    conversation_id: facts.conversationId,
    end_reason: null,
    owner: ownerField(owner),
    ...(group !== undefined && { group }),
    ...(partOf !== undefined && { part_of: partOf }),
    ...(vcs !== undefined && { vcs }),
    ...(sealedBy !== undefined && { sealed_by: sealedBy }),
  };
}

export function ownerField(owner: ProcessId | null): SessionMetadata['owner'] {
  return owner === null ? null : { pid: owner.pid, start_time: owner.startTime };
}

/** Killed, cancelled and never started count as failed: every entry is in one of the three. */
export function withEntry<T extends Counts>(counts: T, entry: Entry): T {
  const succeeded = !entry.timed_out && entry.exit_code === 0;
  const failed = !entry.timed_out && !succeeded;
  return {
    ...counts,
    entry_count: counts.entry_count + 1,
    total_duration_ms: counts.total_duration_ms + entry.duration_ms,
    commands_succeeded: counts.commands_succeeded + Number(succeeded),
    commands_failed: counts.commands_failed + Number(failed),
    commands_timed_out: counts.commands_timed_out + Number(entry.timed_out),
  };
}

/**
 * How many entries the file of a session has at least; 0 when that is not known. The metadata of a
 * session that is being written may be older than its entries, and is no measure.
 */
export function expectedEntries(stored: SessionMetadata | undefined): number {
  return stored === undefined || stored.status === 'active' ? 0 : stored.entry_count;
}

/** Never before it was made or last touched, whatever the clock says now. */
export function touched(metadata: SessionMetadata, now: number): SessionMetadata {
  const before = Date.parse(metadata.last_updated);
  return { ...metadata, last_updated: wholeSeconds(Math.max(before, now)) };
}

/** What entries add up to that are not read again. */
export type TallyState = {
  readonly counts: Counts;
  /** The highest number of an entry. */
  readonly highest: number;
  /** When the last command was over (epoch ms). */
  readonly endedAt: number;
  /** The runs that have an entry. */
  readonly ids: readonly string[];
};

/** The entries of one file, added up while they are read. */
export class Tally {
  counts: Counts;
  first: Entry | undefined;
  sequence: number;
  endedAt: number;
  readonly runIds: Set<string>;

  constructor(before?: TallyState) {
    this.counts = before?.counts ?? NO_ENTRIES;
    this.sequence = before?.highest ?? 0;
    this.endedAt = before?.endedAt ?? 0;
    this.runIds = new Set(before?.ids);
  }

  add(entry: Entry): void {
    this.counts = withEntry(this.counts, entry);
    this.first ??= entry;
    if (entry.run_id !== null) this.runIds.add(entry.run_id);
    this.sequence = Math.max(this.sequence, entry.sequence_number);
    this.endedAt = Math.max(this.endedAt, Date.parse(entry.timestamp) + entry.duration_ms);
  }
}

/** `stored` with the counts of the entries, or what can be known without it. */
export function metadataOf(
  id: string,
  stored: SessionMetadata | undefined,
  tally: Tally,
  modifiedAt: number,
): SessionMetadata {
  if (stored !== undefined) {
    // A server that crashed may have written its first entry and not yet whose it is.
    const agent_id = stored.agent_id ?? tally.first?.agent_id ?? null;
    const counted = { ...stored, session_id: id, agent_id, ...tally.counts };
    // As many lines as it knows of: it was written after the last of them.
    const current = stored.entry_count === counted.entry_count;
    return current ? counted : touched(counted, tally.endedAt);
  }
  const { first } = tally;
  const startedAt = first === undefined ? modifiedAt : Date.parse(first.timestamp);
  const facts: SessionFacts = {
    workingDirectory: first?.working_directory ?? '',
    agentId: first?.agent_id ?? null,
    conversationId: first?.conversation_id ?? null,
    owner: null,
  };
  const made = newMetadata(id, facts, journalIdTime(id) ?? startedAt);
  const guess = { ...made, ...tally.counts, status: 'interrupted', end_reason: LOST } as const;
  return touched(guess, tally.endedAt);
}

const LOST = 'metadata_lost';
