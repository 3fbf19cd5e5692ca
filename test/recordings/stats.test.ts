import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { statsText } from '../../src/cli/record/stats.ts';
import { type EntryFacts, Journal, times } from './helper.ts';

const SAMPLE = `\
Recording Statistics (last 30 days)
────────────────────────────────────

Sessions: 47
Total Commands: 1,523
Total Duration: 4h 23m

Command Frequency:
  git status        - 312 (20.5%)
  npm test          - 187 (12.3%)
  ls -la            - 145 (9.5%)
  cat <file>        - 134 (8.8%)
  git diff          - 98 (6.4%)
  ... and 43 others

Exit Code Distribution:
  0 (success)       - 1,421 (93.3%)
  1 (error)         - 89 (5.8%)
  2+ (other)        - 13 (0.9%)

Average Duration: 1.2s
Longest Command: npm run build (45.3s)
`;

const journal = new Journal();
const TOTAL_MS = (4 * 60 + 23) * 60_000;

beforeAll(() => addSampleJournal());
afterAll(() => journal.close());

/** 1,523 commands in 47 sessions of the last days, which come to what the sample says. */
function addSampleJournal(): void {
  const commands: EntryFacts[] = [
    ...times(312, { command: 'git status' }),
    ...times(187, { command: 'npm test' }),
    ...times(145, { command: 'ls -la' }),
    ...Array.from({ length: 134 }, (_, i) => ({ command: `cat src/file-${i}.ts` })),
    ...times(98, { command: 'git diff' }),
    { command: 'npm run build', duration_ms: 45_300 },
    ...Array.from({ length: 646 }, (_, i) => ({ command: `tool-${i % 42} run` })),
  ];
  const rest = Math.floor((TOTAL_MS - 45_300) / 1522);
  const timed = commands.map((facts, i) => ({
    duration_ms: i === 0 ? TOTAL_MS - 45_300 - 1521 * rest : rest,
    exit_code: i < 1421 ? 0 : i < 1510 ? 1 : 2 + (i % 3),
    ...facts,
  }));
  const start = Date.now() - 20 * 86_400_000;
  for (let i = 0; i < 47; i += 1) {
    const at = new Date(start + i * 3_600_000).toISOString();
    const id = `${at.slice(0, 19).replace(/[-:]/g, '').replace('T', '_')}_a7b3c9d2-e4f5`;
    const own = timed.filter((_, n) => n % 47 === i);
    journal.add(id, { entries: own.map((facts) => ({ ...facts, timestamp: at })) });
  }
}

describe('cuff record stats', () => {
  it('prints the sample of the seed, byte for byte, for the numbers in it', () => {
    const named = { 'git status': 312, 'npm test': 187, 'ls -la': 145, 'cat <file>': 134 };
    const frequency = Object.entries({ ...named, 'git diff': 98 });
    const others = Array.from({ length: 43 }, (_, i) => [`tool-${i}`, 15] as const);
    const stats = {
      sessions: 47,
      commands: 1523,
      durationMs: TOTAL_MS,
      frequency: [...frequency, ...others].map(([command, count]) => ({ command, count })),
      exitCodes: { zero: 1421, one: 89, other: 13, none: 0 },
      averageMs: 1_200,
      longest: { command: 'npm run build', durationMs: 45_300 },
      sequence: { skipped: 0, repeated: 0, backward: 0, missing: 0 },
    };
    expect(statsText(stats, 'last 30 days')).toBe(SAMPLE);
  });

  it('prints it for a journal of such commands, but for its average', async () => {
    const { code, out, err } = await journal.run('stats', '--since', '30d');
    expect([code, err]).toEqual([0, '']);
    // 4h 23m over 1,523 commands are 10.4 s each, whatever the seed says.
    expect(out).toBe(SAMPLE.replace('Average Duration: 1.2s', 'Average Duration: 10.4s'));
  });

  it('names the period that it is about', async () => {
    const titles: string[] = [];
    for (const args of [[], ['--since', '2020-01-01'], ['--since', '1m']]) {
      titles.push((await journal.run('stats', ...args)).out.split('\n')[0] ?? '');
    }
    expect(titles).toEqual([
      'Recording Statistics (all time)',
      'Recording Statistics (since 2020-01-01)',
      'Recording Statistics (last month)',
    ]);
    const recent = await journal.run('stats', '--since', '1d');
    expect([recent.code, recent.out]).toEqual([0, 'No recordings found (last day).\n']);
  });

  it('gives the numbers as JSON', async () => {
    type Numbers = { frequency: { command: string; count: number }[] };
    const { frequency, ...numbers } = await journal.json<Numbers>('stats', '--format', 'json');
    expect(numbers).toEqual({
      since: null,
      sessions: 47,
      commands: 1523,
      total_duration_ms: TOTAL_MS,
      average_duration_ms: expect.closeTo(TOTAL_MS / 1523, 6),
      longest: { command: 'npm run build', duration_ms: 45_300 },
      exit_codes: { zero: 1421, one: 89, other: 13, none: 0 },
      captures: { count: 0, disk_bytes: 0, packed: 0, packed_bytes: 0, plain_bytes: 0 },
    });
    expect(frequency).toHaveLength(48);
    expect(frequency.slice(0, 2)).toEqual([
      { command: 'git status', count: 312 },
      { command: 'npm test', count: 187 },
    ]);
  });

  it('counts commands that ended without an exit code by themselves', async () => {
    const other = new Journal();
    other.add('20260118_143052_a7b3c9d2-e4f5', {
      entries: [
        { command: 'true' },
        { command: 'sleep 9', exit_code: null, timed_out: true },
        { command: 'x\x1b]0;owned\x07', exit_code: 127 },
      ],
    });
    const { out } = await other.run('stats');
    expect(out).toContain(
      '  0 (success)       - 1 (33.3%)\n' +
        '  1 (error)         - 0 (0.0%)\n' +
        '  2+ (other)        - 1 (33.3%)\n' +
        '  none (killed)     - 1 (33.3%)\n',
    );
    expect(out.replaceAll('\n', '')).not.toMatch(/\p{Cc}/u);
    await other.close();
  });

  it('counts sessions as list does, which joins the parts of one', async () => {
    const other = new Journal();
    const [first, part, late] = ['143052', '150000', '160315'].map(
      (at) => `20260118_${at}_a7b3-e4f5`,
    );
    const alone = '20260119_090000_a7b3-e4f5';
    const add = (id = '', part_of?: string): unknown =>
      other.add(id, {
        entries: times(2, { command: 'make' }),
        metadata: part_of === undefined ? {} : { part_of },
      });
    add(first);
    add(part, first);
    add(late, first);
    add(alone, '20260101_000000_a7b3-e4f5'); // which was removed
    const counted = async (...since: string[]): Promise<number[]> => {
      const list = await other.json<{ sessions: unknown[] }>('list', '--json', ...since);
      const stats = await other.json<{ sessions: number }>('stats', '--json', ...since);
      return [list.sessions.length, stats.sessions];
    };
    expect(await counted()).toEqual([2, 2]);
    expect(await counted('--since', '2026-01-19')).toEqual([1, 1]);
    await other.close();
  });

  it('says that there is nothing, and how there will be something', async () => {
    const empty = new Journal();
    const { code, out, err } = await empty.run('stats');
    expect([code, err]).toEqual([0, '']);
    expect(out).toBe(
      'No recordings found.\n\n' +
        'Recordings are created when the BashRecorder plugin executes commands.\n' +
        'Configure the plugin in settings.yml to start recording.\n',
    );
    expect(await empty.json('stats', '--json')).toMatchObject({ commands: 0, longest: null });
    await empty.close();
  });

  it('refuses what is no date', async () => {
    const { code, err } = await journal.run('stats', '--since', '7x');
    expect([code, err.split('\n')[0]]).toEqual([2, "Error: Invalid date format '7x'"]);
  });
});
