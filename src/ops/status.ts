// The status for a reader in another process: which servers are alive and how they
// do, which runs are live, what the journals hold, and how much room captures take.

import { type CapturesRoom, capturesRoom, roomJson } from '../capture/room.ts';
import { readIndex } from '../journal/index-file.ts';
import { captureJson } from '../shell/capture-json.ts';
import type { Store } from '../shell/captures.ts';
import { type LiveRun, liveRuns } from '../shell/processes.ts';
import { isoTime } from '../text/dates.ts';
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

/** As `cuff status --json` has it. */
export function statusJson({ servers, runs, journals, captures }: Status) {
  return {
    servers: servers.map(({ counters, ...server }) => ({
      pid: server.pid,
      started_at: isoTime(server.startedAt),
      updated_at: isoTime(server.updatedAt),
      version: server.version,
      project_directory: server.projectDirectory,
      directory: server.directory,
      commands: counters.commands,
      entries: counters.entries,
      recording_errors: counters.recordingErrors,
      health: server.health,
    })),
    runs: runs.map(({ capture }) => captureJson(capture)),
    journals: journals.map(({ directory, sessions, activeSessions, entries }) => ({
      directory,
      sessions,
      active_sessions: activeSessions,
      entries,
    })),
    captures: roomJson(captures),
  };
}
