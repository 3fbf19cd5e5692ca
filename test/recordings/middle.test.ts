// The search through the real program finds what is stored, wherever it stands.
import { appendFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { Journal } from './helper.ts';

const SESSION = '20260118_143052_a7b3c9d2-e4f5';
const LINE = 'src/journal/reader.ts:42: warning: nothing to see here\n';

/** 100 kB of lines with a text in them. */
function around(text: string, place: number): string {
  const before = LINE.repeat(Math.floor((100_000 * place) / LINE.length));
  return `${before}${text}\n${LINE.repeat(Math.floor((100_000 * (1 - place)) / LINE.length))}`;
}

type Answer = {
  readonly hits: readonly { sequence_number: number; snippet: string; field: string }[];
  readonly limited: boolean;
  readonly not_searched: { damaged_lines: number; cut_outputs: number };
};

it('a search finds what stands in the middle of large outputs, commands and errors', async () => {
  const journal = new Journal();
  onTestFinished(() => journal.close());
  const needle = 'ENEEDLE at 0xDEADBEEF';
  const places = [0, 0.03, 0.25, 0.5, 0.75, 0.97, 1];
  journal.add(SESSION, {
    entries: [
      ...places.map((place) => ({ command: 'make', stdout: around(needle, place) })),
      ...places.map((place) => ({ command: 'make', stderr: around(needle, place) })),
      { command: `cat <<'EOF'\n${around(needle, 0.5)}EOF` },
      { command: 'make', stdout: around('nothing', 0.5), output_truncated: true },
    ],
  });
  for (const words of [
    ['eneedle at 0xdeadbeef'],
    ['--regex', 'needle at 0x[a-f]+'],
    ['0xDEADBEEF', '--limit', '16'],
  ]) {
    const { code, out } = await journal.run('search', '--json', ...words);
    const { hits, not_searched, limited } = JSON.parse(out) as Answer;
    expect([code, limited]).toEqual([0, false]);
    expect(hits.map((hit) => hit.sequence_number)).toEqual(
      [...Array(15).keys()].map((i) => 15 - i),
    );
    expect(hits.every(({ snippet }) => snippet.includes(needle))).toBe(true);
    expect(not_searched).toEqual({ damaged_lines: 0, cut_outputs: 1 });
  }
});

it('a search that finds nothing says what it did not look at', async () => {
  const journal = new Journal();
  onTestFinished(() => journal.close());
  journal.add(SESSION, { entries: [{ command: 'make', stdout: 'ok', output_truncated: true }] });
  appendFileSync(join(journal.sessions, `${SESSION}.jsonl`), 'rubbish\n');
  const { code, err } = await journal.run('search', 'no such text');
  expect([code, err]).toEqual([
    1,
    'Nothing found.\n' +
      'Not searched: what 1 command printed beyond the limit of the journal.\n' +
      'Not searched: 1 damaged line of the journal.\n',
  ]);
});
