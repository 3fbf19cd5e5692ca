// Sessions of a journal that this user may not read, such as those of an agent that ran as root. An
// answer over all sessions says that it is without them.

import { unreadableSessions } from '../../journal/reader.ts';
import { counted } from '../../text/plural.ts';
import { say } from '../output.ts';

/** Gives how many there are. */
export function sayUnreadable(directory: string): number {
  const count = unreadableSessions(directory);
  const many = counted(count, 'session is', 'sessions are');
  if (count > 0) say(`${many} left out: this user may not read the files.`);
  return count;
}

/** For an answer as JSON; nothing where all can be read. */
export function unreadableJson(count: number): { readonly unreadable_sessions?: number } {
  return count === 0 ? {} : { unreadable_sessions: count };
}
