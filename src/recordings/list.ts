// The newest sessions of a journal, for `cuff record list`: nothing else is loaded for it.

import { sequenceOf } from '../journal/entry-lines.ts';
import { findSessionFiles } from '../journal/files.ts';
import { type JoinedSession, joined } from '../journal/join.ts';
import { type ListQuery, listSessions } from '../journal/list.ts';
import { expectedEntries } from '../journal/metadata.ts';
import { readMetadata, storedMetadata } from '../journal/reader.ts';
import type { SequenceFaults } from '../journal/sequence.ts';

type JoinedList = { readonly sessions: readonly JoinedSession[]; readonly more: number };

export function recentSessions(directory: string, query: ListQuery): JoinedList {
  const { sessions, more } = listSessions(directory, query, { now: Date.now });
  return { sessions: joined(sessions, (id) => readMetadata(directory, id)), more };
}

export type FaultySession = { readonly id: string; readonly faults: SequenceFaults };

/** Those of the sessions whose entries are not those that their writer left. */
export function faultySessions(directory: string, ids: readonly string[]): FaultySession[] {
  return ids.flatMap((id) => {
    const files = findSessionFiles(directory, id);
    const expected = expectedEntries(storedMetadata(directory, id));
    const faults = files && sequenceOf(files.entries, expected);
    return faults === undefined ? [] : [{ id, faults }];
  });
}
