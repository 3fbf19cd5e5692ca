// `GET /api/stats`: the numbers of `cuff record stats`, of one journal or of all together.

import { sumOfFaults } from '../../journal/sequence.ts';
import { type Stats, statsJson } from '../../journal/stats.ts';
import { journalStats } from '../../recordings/catalog.ts';
import { journalsFor } from '../journals.ts';
import type { Question } from './ground.ts';

export const stats: Question = {
  params: ['since', 'project'],
  async answer({ journals }, { params }) {
    const since = params.time('since');
    const all: Stats[] = [];
    for (const { directory } of journalsFor(journals, params.text('project'))) {
      all.push(await journalStats(directory, since === undefined ? {} : { since }));
    }
    return statsJson(together(all), since);
  },
};

function together(all: readonly Stats[]): Stats {
  const sum = (of: (one: Stats) => number): number =>
    all.reduce((total, one) => total + of(one), 0);
  const forms = new Map<string, number>();
  for (const { frequency } of all) {
    for (const { command, count } of frequency) {
      forms.set(command, (forms.get(command) ?? 0) + count);
    }
  }
  const frequency = [...forms].map(([command, count]) => ({ command, count }));
  frequency.sort((a, b) => b.count - a.count || (a.command < b.command ? -1 : 1));
  const longest = all
    .flatMap((one) => one.longest ?? [])
    .sort((a, b) => b.durationMs - a.durationMs)[0];
  const commands = sum((one) => one.commands);
  const durationMs = sum((one) => one.durationMs);
  return {
    sessions: sum((one) => one.sessions),
    commands,
    durationMs,
    frequency,
    exitCodes: {
      zero: sum(({ exitCodes }) => exitCodes.zero),
      one: sum(({ exitCodes }) => exitCodes.one),
      other: sum(({ exitCodes }) => exitCodes.other),
      none: sum(({ exitCodes }) => exitCodes.none),
    },
    averageMs: commands === 0 ? 0 : durationMs / commands,
    sequence: sumOfFaults(all.map(({ sequence }) => sequence)),
    ...(longest !== undefined && { longest }),
  };
}
