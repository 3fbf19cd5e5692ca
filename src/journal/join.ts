// Sessions that two servers wrote at the same time for one day or conversation, as one: the first
// of them, with the totals of all.
import type { SessionMetadata } from '../types.ts';

/** A session, and the ids of the sessions that are part of it. */
export type JoinedSession = SessionMetadata & { readonly parts?: readonly string[] };

/** In the order of `sessions`; `read` gives a first one that is not among them, for the end. */
export function joined(
  sessions: readonly SessionMetadata[],
  read: (id: string) => SessionMetadata | undefined,
): JoinedSession[] {
  const rows = new Map<string, JoinedSession>();
  for (const session of sessions) {
    if (session.part_of === undefined) rows.set(session.session_id, session);
  }
  for (const session of sessions) {
    if (session.part_of === undefined) continue;
    const root = rows.get(session.part_of) ?? read(session.part_of);
    if (root === undefined)
      rows.set(session.session_id, session); // the first one was removed
    else rows.set(root.session_id, withPart(root, session));
  }
  return [...rows.values()];
}

/** The session whose row it is in, as `joined` has it: `there` tells whether a session exists. */
export function rowIdOf(
  id: string,
  partOf: string | undefined,
  there: (id: string) => boolean,
): string {
  return partOf !== undefined && there(partOf) ? partOf : id;
}

function withPart(row: JoinedSession, part: SessionMetadata): JoinedSession {
  return {
    ...row,
    last_updated: row.last_updated > part.last_updated ? row.last_updated : part.last_updated,
    entry_count: row.entry_count + part.entry_count,
    total_duration_ms: row.total_duration_ms + part.total_duration_ms,
    commands_succeeded: row.commands_succeeded + part.commands_succeeded,
    commands_failed: row.commands_failed + part.commands_failed,
    commands_timed_out: row.commands_timed_out + part.commands_timed_out,
    status: part.status === 'active' ? 'active' : row.status,
    parts: [...(row.parts ?? []), part.session_id],
  };
}
