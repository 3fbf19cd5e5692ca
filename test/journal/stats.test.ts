// The numbers of the journal. How the catalog comes to the same is in catalog.test.ts.
import { describe, expect, it } from 'vitest';
import { scanStats } from '../../src/journal/stats.ts';
import { Journal } from './catalog-helper.ts';
import { NOW } from './helper.ts';

const SESSION = '20260118_143052_a7b3c9d2-e4f5';
const OTHER = '20260118_160315_b8c4d0e3-f6a7';

const IN_ORDER = { skipped: 0, repeated: 0, backward: 0, missing: 0 };
const NOTHING = {
  sessions: 0,
  commands: 0,
  durationMs: 0,
  frequency: [],
  exitCodes: { zero: 0, one: 0, other: 0, none: 0 },
  averageMs: 0,
  sequence: IN_ORDER,
};

describe('statistics', () => {
  it('count sessions, commands, time, forms, exit codes and the longest command', () => {
    const journal = new Journal();
    const add = (session: string, ...all: readonly [string, number, number | null][]) => {
      const entries = all.map(([command, duration_ms, exit_code], i) =>
        journal.entry(session, i + 1, { command, duration_ms, exit_code }),
      );
      journal.append(session, ...entries);
    };
    add(SESSION, ['cat a.txt', 100, 0], ['cat b/c.txt', 200, 1], ['git status', 300, 0]);
    add(OTHER, ['npm run build', 45_300, 0], ['make', 50, 2], ['sleep 9', 50, null]);
    expect(scanStats(journal.directory, {})).toEqual({
      sessions: 2,
      commands: 6,
      durationMs: 46_000,
      frequency: [
        { command: 'cat <file>', count: 2 },
        { command: 'git status', count: 1 },
        { command: 'make', count: 1 },
        { command: 'npm run build', count: 1 },
        { command: 'sleep 9', count: 1 },
      ],
      exitCodes: { zero: 3, one: 1, other: 1, none: 1 },
      averageMs: 46_000 / 6,
      longest: { command: 'npm run build', durationMs: 45_300 },
      sequence: IN_ORDER,
    });
  });

  it('of nothing are zeros without a longest command', () => {
    expect(scanStats(new Journal().directory, {})).toEqual(NOTHING);
  });

  it('of a period have the commands that began in it, and their sessions', async () => {
    const journal = new Journal();
    journal.append(SESSION, journal.entry(SESSION, 1), journal.entry(SESSION, 2));
    journal.append(OTHER, journal.entry(OTHER, 50, { command: 'ls -la' }));
    const catalog = await journal.open();
    catalog.refresh();
    for (const stats of [
      scanStats(journal.directory, { since: NOW + 2000 }),
      catalog.stats({ since: NOW + 2000 }),
    ]) {
      expect(stats).toMatchObject({ sessions: 2, commands: 2 });
    }
    expect(catalog.stats({ since: NOW + 2001 })).toMatchObject({ sessions: 1, commands: 1 });
    expect(catalog.stats({ since: NOW + 90_000_000 })).toEqual(NOTHING);
    catalog.close();
  });
});
