// The numbers of `cuff record stats`, and the plain way to them: looking at every entry. The
// catalog has a shorter way and must come to the same.
import type { Entry } from '../types.ts';
import { journalSessionIds, readEntries } from './reader.ts';
import { addEntry, type Longest, newRollup, type Rollup } from './rollup.ts';
import { storable } from './search-text.ts';

export type Stats = {
  /** Sessions with at least one of the commands. */
  readonly sessions: number;
  readonly commands: number;
  readonly durationMs: number;
  /** Every normal form of a command, the most frequent first. */
  readonly frequency: readonly { readonly command: string; readonly count: number }[];
  /** `other` is 2 and more; `none` timed out, was killed or never started. */
  readonly exitCodes: {
    readonly zero: number;
    readonly one: number;
    readonly other: number;
    readonly none: number;
  };
  /** 0 when there are no commands. */
  readonly averageMs: number;
  readonly longest?: Longest;
};

export type StatsQuery = {
  /** Only commands that began then or later (epoch ms). */
  readonly since?: number;
};

type Facts = Pick<Entry, 'session_id' | 'command' | 'duration_ms' | 'exit_code'>;

export function statsOf(entries: Iterable<Facts>): Stats {
  const rollup = newRollup();
  const sessions = new Set<string>();
  for (const entry of entries) {
    sessions.add(entry.session_id);
    addEntry(rollup, entry);
  }
  return statsFrom(rollup, sessions.size);
}

/** Over a whole journal, by reading it. A session counts as the file it is in. */
export function scanStats(directory: string, query: StatsQuery): Stats {
  return statsOf(factsOf(directory, query.since ?? Number.NEGATIVE_INFINITY));
}

function* factsOf(directory: string, since: number): Generator<Facts, void, undefined> {
  for (const id of journalSessionIds(directory)) {
    for (const { entry } of readEntries(directory, id)) {
      if (Date.parse(entry.timestamp) < since) continue;
      yield { ...entry, session_id: id, command: storable(entry.command) };
    }
  }
}

export function statsFrom(rollup: Rollup, sessions: number): Stats {
  const { commands, durationMs, exitCodes, longest, forms } = rollup;
  const frequency = [...forms].map(([command, count]) => ({ command, count }));
  frequency.sort((a, b) => b.count - a.count || (a.command < b.command ? -1 : 1));
  return {
    sessions,
    commands,
    durationMs,
    frequency,
    exitCodes: { ...exitCodes },
    averageMs: commands === 0 ? 0 : durationMs / commands,
    ...(longest === undefined ? {} : { longest }),
  };
}
