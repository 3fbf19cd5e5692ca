// The numbers of `cuff record stats`, and the plain way to them: looking at every entry. The
// catalog has a shorter way and must come to the same.
import { rowIdOf } from './join.ts';
import { expectedEntries } from './metadata.ts';
import { journalSessionIds, readEntries, storedMetadata } from './reader.ts';
import { addEntry, type Longest, newRollup, type Rollup } from './rollup.ts';
import { storable } from './search-text.ts';
import { isFaulty, SequenceCheck, type SequenceFaults, sumOfFaults } from './sequence.ts';

export type Stats = {
  /** Sessions with at least one of the commands; those that `list` joins are one. */
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
  /** Of those sessions over their whole length; without a period also of those without commands. */
  readonly sequence: SequenceFaults;
};

export type StatsQuery = {
  /** Only commands that began then or later (epoch ms). */
  readonly since?: number;
};

/** Over a whole journal, by reading it. */
export function scanStats(directory: string, query: StatsQuery): Stats {
  const since = query.since ?? Number.NEGATIVE_INFINITY;
  const rollup = newRollup();
  const faults: SequenceFaults[] = [];
  const ids = new Set(journalSessionIds(directory));
  const sessions = new Set<string>();
  for (const id of ids) {
    const before = rollup.commands;
    const metadata = storedMetadata(directory, id);
    const check = new SequenceCheck(expectedEntries(metadata));
    for (const { entry } of readEntries(directory, id, 0, { lines: 0, sequence: check })) {
      if (Date.parse(entry.timestamp) < since) continue;
      addEntry(rollup, { ...entry, command: storable(entry.command) });
    }
    const used = rollup.commands > before;
    if (used || query.since === undefined) faults.push(check.faults);
    if (used) sessions.add(rowIdOf(id, metadata?.part_of, (other) => ids.has(other)));
  }
  return statsFrom(rollup, sessions.size, sumOfFaults(faults));
}

export function statsFrom(rollup: Rollup, sessions: number, sequence: SequenceFaults): Stats {
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
    sequence,
    ...(longest === undefined ? {} : { longest }),
  };
}

/** In the names of the journal. */
export function statsJson(stats: Stats, since: number | undefined) {
  const { longest: most } = stats;
  return {
    since: since === undefined ? null : new Date(since).toISOString(),
    sessions: stats.sessions,
    commands: stats.commands,
    total_duration_ms: stats.durationMs,
    average_duration_ms: stats.averageMs,
    longest: most === undefined ? null : { command: most.command, duration_ms: most.durationMs },
    exit_codes: stats.exitCodes,
    frequency: stats.frequency,
    ...(isFaulty(stats.sequence) && { sequence_faults: stats.sequence }),
  };
}
