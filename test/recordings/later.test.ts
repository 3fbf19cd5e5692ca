// What processes that a command left running printed behind its entry, through the real program:
// found, shown, exported and taken back.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { loadSqlite } from '../../src/journal/sqlite.ts';
import type { Entry } from '../../src/types.ts';
import { lacking } from '../requirements.ts';
import { Journal } from './helper.ts';

const SESSION = '20260118_143052_a7b3c9d2-e4f5';
const SURVIVORS = [{ pid: 71, command: 'make serve' }];
const LATER = { stdout: 'listening\nEADDRINUSE <1>\n', stderr: 'gone\n', truncated: false };
const CUT = { stdout: 'the start', stderr: '', truncated: true };

let journal: Journal;
let entries: readonly Entry[];

beforeEach(() => {
  const made = new Journal();
  onTestFinished(() => made.close());
  journal = made;
  entries = made.add(SESSION, {
    entries: [
      { command: 'make serve &', stdout: 'first', survivors: SURVIVORS, agent_id: 'a' },
      { command: 'make watch &', stdout: 'second', survivors: SURVIVORS, exit_code: 1 },
      { command: 'ls' },
    ],
  });
  const lines = [LATER, CUT].map((output, at) =>
    JSON.stringify({ entry_id: entries[at]?.entry_id, survivors: SURVIVORS, output }),
  );
  made.write(`${SESSION}.later.jsonl`, `${lines.join('\n')}\n{"entry_id":"e_to`);
});

/** The entries with what came behind them. */
function joined(): readonly Entry[] {
  return entries.map((entry, at) => ({
    ...entry,
    ...([{ later: LATER }, { later: CUT }][at] ?? {}),
  }));
}

type Hit = { readonly entry_id: string; readonly field: string; readonly snippet: string };
type Answer = {
  readonly hits: readonly Hit[];
  readonly limited: boolean;
  readonly not_searched: { damaged_lines: number; cut_outputs: number };
};

async function search(...words: readonly string[]): Promise<Answer> {
  return JSON.parse((await journal.run('search', '--json', ...words)).out);
}

describe('output that came behind an entry', () => {
  it('is searched with its entry', async () => {
    const { hits, not_searched } = await search('eaddrinuse');
    expect(hits).toMatchObject([
      { entry_id: entries[0]?.entry_id, field: 'later.stdout', snippet: 'EADDRINUSE <1>' },
    ]);
    expect(not_searched).toEqual({ damaged_lines: 0, cut_outputs: 1 });
    expect((await search('--regex', 'g.ne')).hits).toMatchObject([{ field: 'later.stderr' }]);
    const shown = await journal.run('search', 'listening');
    expect(shown.out).toContain('later.stdout+0: listening\n');
  });

  it('is found only where the rest of the question fits', async () => {
    const found = async (...words: string[]): Promise<number> =>
      (await search('the start', ...words)).hits.length;
    expect(await found('--exit', '1')).toBe(1);
    expect(await found('--exit', '0')).toBe(0);
    expect(await found('--agent', 'a')).toBe(0);
    expect(await found('--since', '2026-01-19')).toBe(0);
    // What is in the entry itself is named first, and an entry is found once.
    expect((await search('s')).hits.map(({ field }) => field)).toEqual([
      'command',
      'stdout',
      'command',
    ]);
    expect(await search('s', '--limit', '2')).toMatchObject({ limited: true, hits: [{}, {}] });
  });

  it('that is damaged is named as not searched', async () => {
    journal.write(`${SESSION}.later.jsonl`, 'rubbish\n');
    expect((await search('no such text')).not_searched.damaged_lines).toBe(1);
  });

  it('is shown with the session and with the entry alone', async () => {
    const whole = await journal.run('show', SESSION, '--entries', '--output');
    const alone = await journal.run('show', entries[0]?.entry_id ?? '');
    for (const { out } of [whole, alone]) {
      expect(out).toContain('     + listening\n     + EADDRINUSE <1>\n    +! gone\n');
    }
    expect(whole.out).toContain('(only the start of what came later was kept)');
  });

  it('is in every export', async () => {
    const json = await journal.json<{ sessions: { entries: Entry[] }[] }>('export', 'all');
    expect(json.sessions[0]?.entries).toEqual(joined());
    const jsonl = (await journal.run('export', 'all', '--format', 'jsonl')).out;
    const lines = jsonl.trimEnd().split('\n');
    expect(lines.map((line) => JSON.parse(line))).toEqual(joined());
    const own = readFileSync(join(journal.sessions, `${SESSION}.jsonl`), 'utf8').split('\n');
    expect(lines[2]).toBe(own[2]);
    const csv = (await journal.run('export', 'all', '--format', 'csv')).out;
    const cells = [SURVIVORS, LATER].map((one) => `"${JSON.stringify(one).replaceAll('"', '""')}"`);
    expect(csv.split('\r\n')[1]).toContain(`,${cells.join(',')},`);
    const html = (await journal.run('export', 'all', '--format', 'html')).out;
    expect(html).toContain('EADDRINUSE &lt;1&gt;');
  });

  it.skipIf(lacking(loadSqlite() === undefined, 'this Node has no SQLite'))(
    'is in a database',
    async () => {
      await journal.run('export', 'all', '--format', 'sqlite', '--output', 'all.db');
      const database = loadSqlite()?.open(journal.path('all.db'));
      const rows = database?.all('SELECT survivors, later FROM entries ORDER BY sequence_number');
      database?.close();
      expect(rows).toEqual([
        { survivors: JSON.stringify(SURVIVORS), later: JSON.stringify(LATER) },
        { survivors: JSON.stringify(SURVIVORS), later: JSON.stringify(CUT) },
        { survivors: null, later: null },
      ]);
    },
  );

  it('comes back with an import, beside the entries', async () => {
    await journal.run('export', 'all', '--format', 'jsonl', '--output', 'all.jsonl');
    const other = new Journal();
    onTestFinished(() => other.close());
    const { code, out } = await other.run('import', journal.path('all.jsonl'));
    expect([code, out.split('\n')[0]]).toEqual([0, 'Imported 3 commands into 1 session:']);
    const later = ({ survivors, later: one }: Entry) => ({ survivors, later: one });
    const back = await other.json<{ sessions: { entries: Entry[] }[] }>('export', 'all');
    expect(back.sessions[0]?.entries.map(later)).toEqual(joined().map(later));
    const [beside = ''] = readdirSync(other.sessions).filter((name) => name.includes('.later.'));
    const lines = readFileSync(join(other.sessions, beside), 'utf8').trimEnd().split('\n');
    const ids = lines.map((line) => JSON.parse(line).entry_id);
    expect(ids).toEqual(back.sessions[0]?.entries.slice(0, 2).map(({ entry_id }) => entry_id));
    const main = readFileSync(join(other.sessions, beside.replace('.later', '')), 'utf8');
    expect(main).not.toContain('listening');
  });

  it('that is no output is refused by an import', async () => {
    writeFileSync(journal.path('bad.jsonl'), `${JSON.stringify({ ...entries[0], later: 7 })}\n`);
    const { code, err } = await journal.run('import', 'bad.jsonl');
    expect(code).toBe(2);
    expect(err).toContain('later is not the output of both streams');
  });
});
