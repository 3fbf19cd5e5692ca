// Entries of one second: their ids end in a number that has three digits or more, so that as plain
// text `_1000` would come before `_999`. Nothing that is shown is in that order.
import { afterAll, beforeAll, expect, it } from 'vitest';
import { scanSearch } from '../../src/journal/search.ts';
import { recentEntries } from '../../src/recorder/recent.ts';
import { Journal } from './helper.ts';

const SESSION = '20260118_143052_a7b3c9d2-e4f5';
const COUNT = 1_002;
const NUMBERS = Array.from({ length: COUNT }, (_, i) => i + 1);
const NEWEST = [1002, 1001, 1000, 999, 998];

const journal = new Journal();
beforeAll(() => {
  journal.add(SESSION, { entries: NUMBERS.map((n) => ({ command: `echo ${n}` })) });
});
afterAll(() => journal.close());

type Numbered = { readonly entry_id: string; readonly sequence_number: number };

function numbersOf(entries: readonly Numbered[]): number[] {
  return entries.map(({ entry_id, sequence_number }) => {
    expect(entry_id).toBe(`e_20260118_143052_${String(sequence_number).padStart(3, '0')}`);
    return sequence_number;
  });
}

it('a search gives the newest first, with a catalog and without', async () => {
  const query = { text: 'echo', limit: NEWEST.length };
  expect(scanSearch(journal.directory, query).map(({ sequence }) => sequence)).toEqual(NEWEST);
  const { hits } = await journal.json<{ hits: readonly Numbered[] }>(
    ...['search', 'echo', '--limit', String(NEWEST.length), '--json'],
  );
  expect(numbersOf(hits)).toEqual(NEWEST);
});

it('the last entries of a journal are given newest first', () => {
  const entries = recentEntries(journal.directory, NEWEST.length, [], null);
  expect(numbersOf(entries)).toEqual(NEWEST);
});

it('a session is shown and exported in the order in which it was written', async () => {
  const shown = await journal.run('show', SESSION, '--entries');
  const commands = [...shown.out.matchAll(/echo (\d+)/g)].map(([, number]) => Number(number));
  expect([...new Set(commands)]).toEqual(NUMBERS);
  const lines = await journal.run('export', SESSION, '--format', 'jsonl');
  const entries = lines.out.split('\n').flatMap((line): Numbered[] => {
    const json = line === '' ? undefined : JSON.parse(line);
    return json?.sequence_number === undefined ? [] : [json];
  });
  expect(numbersOf(entries)).toEqual(NUMBERS);
  const csv = await journal.run('export', SESSION, '--format', 'csv');
  const ids = [...csv.out.matchAll(/e_20260118_143052_(\d+)/g)].map(([, n]) => Number(n));
  expect(ids).toEqual(NUMBERS);
});

it('an id is shown for itself, and not for one that begins with it', async () => {
  const { code, out } = await journal.run('show', 'e_20260118_143052_100');
  expect([code, /echo \d+/.exec(out)?.[0]]).toEqual([0, 'echo 100']);
  const longer = await journal.run('show', 'e_20260118_143052_1000');
  expect([longer.code, /echo \d+/.exec(longer.out)?.[0]]).toEqual([0, 'echo 1000']);
});
