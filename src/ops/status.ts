// The status for a reader in another process: which servers are alive and how they
// do, which runs are live, what the journals hold, and how much room captures take.

import { type CapturesRoom, capturesRoom } from '../capture/room.ts';
import { readIndex } from '../journal/index-file.ts';
import type { Store } from '../shell/captures.ts';
import { type LiveRun, liveRuns } from '../shell/processes.ts';
import { aliveServers, type KnownServer } from './servers.ts';

export type JournalTotals = {
  readonly directory: string;
  readonly sessions: number;
  readonly activeSessions: number;
  readonly entries: number;
};

export type Status = {
  readonly servers: readonly KnownServer[];
  readonly runs: readonly LiveRun[];
  readonly journals: readonly JournalTotals[];
  readonly captures: CapturesRoom;
};

/** The journal of `directory` and those of the servers that are alive. */
export function statusOf(store: Store, directory: string): Status {
  const servers = aliveServers(store.root);
  const directories = new Set([directory, ...servers.map((server) => server.directory)]);
  return {
    servers,
    runs: liveRuns(store),
    journals: [...directories].filter(Boolean).map((one) => totalsOf(one, store.now)),
    captures: capturesRoom(store),
  };
}

function totalsOf(directory: string, now: () => number): JournalTotals {
  const { total_sessions, total_entries, sessions } = readIndex(directory, { now });
  const active = Object.values(sessions).filter(({ status }) => status === 'active');
  return {
    directory,
    sessions: total_sessions,
    activeSessions: active.length,
    entries: total_entries,
  };
}
