// Which servers are alive, for readers in other processes: each keeps one small file under
// servers/ in the state root, with who it is and how it does. A file whose process is gone is
// removed by the next one who looks.

import * as fs from 'node:fs';
import { join } from 'node:path';
import { makeDirectories, namesIn, replaceFile } from '../directories.ts';
import { processAlive, thisProcess } from '../run/processes.ts';
import { asCount, asObject, asString, type JsonObject, parseObject } from '../text/json.ts';
import type { Health } from '../types.ts';

const WRITE_EVERY_MS = 1_000;

export type ServerCounters = {
  readonly commands: number;
  readonly entries: number;
  readonly recordingErrors: number;
};

export type ServerFacts = {
  readonly version: string;
  readonly projectDirectory: string;
  /** The journal it writes. */
  readonly directory: string;
  readonly counters: ServerCounters;
  readonly health: Health;
};

export type KnownServer = Omit<ServerFacts, 'health'> & {
  readonly pid: number;
  /** Epoch milliseconds. */
  readonly startedAt: number;
  readonly updatedAt: number;
  readonly health: JsonObject;
};

export type Announcement = {
  /** Something is different: it is written soon, and at most once a second. */
  changed(): void;
  close(): void;
};

/** By the path of its file: several plugins of one server are one server. */
const announced = new Map<string, Set<() => ServerFacts>>();

/** Writes this process's file now and on every change, until it is closed. Never throws. */
export function announceServer(stateRoot: string, facts: () => ServerFacts): Announcement {
  const { pid, startTime } = thisProcess();
  const startedAt = Date.now();
  const path = join(stateRoot, 'servers', `${pid}.json`);
  const parts = announced.get(path) ?? new Set();
  announced.set(path, parts.add(facts));
  let timer: NodeJS.Timeout | undefined;
  const write = (): void => {
    timer = undefined;
    const { version, projectDirectory, directory, counters, health } = together(parts, facts);
    const text = JSON.stringify({
      pid,
      start_time: startTime,
      started_at: startedAt,
      updated_at: Date.now(),
      version,
      project_directory: projectDirectory,
      directory,
      commands: counters.commands,
      entries: counters.entries,
      recording_errors: counters.recordingErrors,
      health,
    });
    replace(path, `${text}\n`);
  };
  write();
  return {
    changed() {
      timer ??= setTimeout(write, WRITE_EVERY_MS).unref();
    },
    close() {
      clearTimeout(timer);
      parts.delete(facts);
      if (parts.size === 0) remove(path);
    },
  };
}

/** What all of them did; who they are and where, the one that speaks says. */
function together(parts: ReadonlySet<() => ServerFacts>, own: () => ServerFacts): ServerFacts {
  if (parts.size === 1) return own();
  const all = [...parts].map((facts) => facts());
  const sum = (of: (counters: ServerCounters) => number): number =>
    all.reduce((total, { counters }) => total + of(counters), 0);
  return {
    ...own(),
    counters: {
      commands: sum(({ commands }) => commands),
      entries: sum(({ entries }) => entries),
      recordingErrors: sum(({ recordingErrors }) => recordingErrors),
    },
    health: {
      ...own().health,
      healthy: all.every(({ health }) => health.healthy),
      reasons: [...new Set(all.flatMap(({ health }) => health.reasons))],
    },
  };
}

/** Oldest first. */
export function aliveServers(stateRoot: string): KnownServer[] {
  const dir = join(stateRoot, 'servers');
  return namesIn(dir)
    .filter((name) => /^\d+\.json$/.test(name))
    .flatMap((name) => {
      const found = readServer(join(dir, name));
      if (found === undefined) remove(join(dir, name));
      return found === undefined ? [] : [found];
    })
    .sort((a, b) => a.startedAt - b.startedAt);
}

function readServer(path: string): KnownServer | undefined {
  const json = parseObject(readText(path));
  const [pid, startTime] = [asCount(json?.pid), asCount(json?.start_time)];
  if (json === undefined || pid === undefined || startTime === undefined) return undefined;
  if (!processAlive({ pid, startTime })) return undefined;
  return {
    pid,
    startedAt: asCount(json.started_at) ?? 0,
    updatedAt: asCount(json.updated_at) ?? 0,
    version: asString(json.version) ?? '',
    projectDirectory: asString(json.project_directory) ?? '',
    directory: asString(json.directory) ?? '',
    counters: {
      commands: asCount(json.commands) ?? 0,
      entries: asCount(json.entries) ?? 0,
      recordingErrors: asCount(json.recording_errors) ?? 0,
    },
    health: asObject(json.health) ?? {},
  };
}

function replace(path: string, text: string): void {
  try {
    makeDirectories(join(path, '..'), 0o700);
    replaceFile(path, text);
  } catch {
    // There is no place to report it; the server works without the file.
  }
}

function remove(path: string): void {
  try {
    fs.rmSync(path, { force: true });
  } catch {
    // The next reader sees that the process of this file is gone.
  }
}

function readText(path: string): string {
  try {
    return fs.readFileSync(path, 'utf8');
  } catch {
    return ''; // gone between listing and reading
  }
}
