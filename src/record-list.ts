// The newest sessions of a journal, for `cuff record list`: nothing else is loaded for it.

import { SESSION_COLUMNS, sessionCells } from './journal/export-columns.ts';
import { shortId } from './journal/ids.ts';
import { type ListQuery, listSessions, type SessionList } from './journal/list.ts';

export { SESSION_COLUMNS, sessionCells, shortId };

export function recentSessions(directory: string, query: ListQuery): SessionList {
  return listSessions(directory, query, { now: Date.now });
}
