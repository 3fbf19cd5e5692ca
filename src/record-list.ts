// The newest sessions of a journal, for `cuff record list`: nothing else is loaded for it.

import { sequenceOf } from './journal/entry-lines.ts';
import { SESSION_COLUMNS, sessionCells } from './journal/export-columns.ts';
import { findSessionFiles } from './journal/files.ts';
import { shortId } from './journal/ids.ts';
import { joined } from './journal/join.ts';
import { type ListQuery, listSessions, type SessionList } from './journal/list.ts';
import { readMetadata } from './journal/reader.ts';
import type { SequenceFaults } from './journal/sequence.ts';

export { SESSION_COLUMNS, sessionCells, shortId };

export function recentSessions(directory: string, query: ListQuery): SessionList {
  const { sessions, more } = listSessions(directory, query, { now: Date.now });
  return { sessions: joined(sessions, (id) => readMetadata(directory, id)), more };
}

export type FaultySession = { readonly id: string; readonly faults: SequenceFaults };

/** Those of the sessions whose entries skip numbers, repeat them or go back. */
export function faultySessions(directory: string, ids: readonly string[]): FaultySession[] {
  return ids.flatMap((id) => {
    const files = findSessionFiles(directory, id);
    const faults = files && sequenceOf(files.entries);
    return faults === undefined ? [] : [{ id, faults }];
  });
}
