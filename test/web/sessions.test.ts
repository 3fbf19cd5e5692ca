// Sessions and what they add up to: the same numbers as those of the command line.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Block, SessionRow } from '../../src/web/api.ts';
import { addSamples, times } from '../recordings/helper.ts';
import { Page } from './helper.ts';

const MANY = 1_000;
const SAMPLE = '20260118_143052_a7b3c9d2-e4f5';

let page: Page;
beforeAll(async () => {
  page = await Page.open();
  const { journal } = page;
  addSamples(journal);
  for (let i = 0; i < MANY; i += 1) {
    const minute = String(i % 60).padStart(2, '0');
    const hour = String(Math.floor(i / 60) % 24).padStart(2, '0');
    const id = `20260110_${hour}${minute}00_${i.toString(16).padStart(8, '0')}-0000`;
    const agent = ['claude', 'codex', null][i % 3] ?? null;
    journal.add(id, {
      entries: [{ command: `make ${i % 7}`, exit_code: i % 5 === 0 ? 2 : 0, agent_id: agent }],
      metadata: { agent_id: agent },
    });
  }
});
afterAll(() => page.close());

const ids = (rows: readonly SessionRow[]): string[] => rows.map((row) => row.session_id);

async function everyPage(query: string): Promise<{ rows: SessionRow[]; total: number }> {
  const rows: SessionRow[] = [];
  for (let cursor = ''; ; ) {
    const { json } = await page.get(`sessions?cursor=${cursor}&${query}`);
    rows.push(...json.sessions);
    if (json.cursor === null) return { rows, total: json.total };
    cursor = json.cursor;
  }
}

describe('the list of sessions', () => {
  it('is that of the command line, page by page, each session once', async () => {
    const { rows, total } = await everyPage('limit=77');
    const listed = await page.journal.json<{ sessions: Record<string, unknown>[] }>(
      ...['list', '--json', '--limit', '5000'],
    );
    expect(total).toBe(MANY + 3);
    // The page has the newest first, and the terminal last.
    const own = listed.sessions.toReversed();
    expect(ids(rows)).toEqual(own.map((one) => one.session_id));
    for (const [at, row] of rows.entries()) expect(row).toMatchObject(own[at] ?? {});
  });

  it('goes on behind its cursor, whatever came or went since', async () => {
    const { json: first } = await page.get('sessions?limit=5');
    page.journal.add('20270101_000000_00000000-0000', { entries: [{ command: 'new' }] });
    const { json: second } = await page.get(`sessions?limit=5&cursor=${first.cursor}`);
    const { rows } = await everyPage('limit=500');
    expect(ids(rows).slice(0, 11)).toEqual([
      '20270101_000000_00000000-0000',
      ...ids(first.sessions),
      ...ids(second.sessions),
    ]);
  });

  it('is filtered, and says how many there are of each kind', async () => {
    const { json } = await page.get('sessions?agent=claude&limit=3');
    expect(json.total).toBe(334);
    expect(json.sessions.every((row: SessionRow) => row.agent_id === 'claude')).toBe(true);
    const agents = Object.fromEntries(
      json.facets.agent.map((one: { value: string; count: number }) => [one.value, one.count]),
    );
    expect(agents).toEqual({ claude: 334, codex: 333, '': 336, 'claude-code': 1 });
    expect(json.facets.status).toEqual([{ value: 'complete', count: 334 }]);
    expect((await page.get('sessions?agent=-')).json.total).toBe(336);
    expect((await page.get('sessions?q=a7b3%20CLAUDE')).json.total).toBe(1);
    expect((await page.get('sessions?status=active')).json.total).toBe(1);
    expect((await page.get('sessions?since=2026-01-15&until=2026-02-01')).json.total).toBe(3);
    expect((await page.get(`sessions?project=${page.journal.project}`)).json.total).toBe(MANY + 4);
    expect((await page.get('sessions?project=/elsewhere')).json.total).toBe(0);
  });

  it('shows the last command, and how many were refused', async () => {
    const decision = { verdict: 'deny', code: 'rule.deny', mode: 'enforce', rule: 'rm *' } as const;
    page.journal.add('20270102_000000_00000000-0000', {
      entries: [
        { command: 'ls' },
        { command: 'rm x', exit_code: null, decision: { ...decision, approved: null } },
        { command: 'echo "\\"end_reason\\":\\"denied\\""', exit_code: 3 },
      ],
    });
    const { json } = await page.get('sessions?limit=1');
    expect(json.sessions[0]).toMatchObject({
      commands_refused: 1,
      last_command: { command: 'echo "\\"end_reason\\":\\"denied\\""', outcome: 'failed' },
      pinned: 0,
      live: false,
    });
  });
});

describe('a session', () => {
  it('has its commands as blocks, page by page, and the outline of all', async () => {
    const blocks: Block[] = [];
    for (let from = 0; ; ) {
      const { json } = await page.get(`sessions/${SAMPLE}?limit=4&from=${from}`);
      blocks.push(...json.blocks);
      if (json.next === null) break;
      from = json.next;
    }
    const shown = await page.journal.json<{
      session: Record<string, unknown>;
      top_commands: unknown;
      entries: Record<string, unknown>[];
    }>('show', SAMPLE, '--json', '--entries');
    expect(blocks.map((one) => one.command)).toEqual(shown.entries.map((one) => one.command));
    for (const [at, block] of blocks.entries())
      expect(block).toMatchObject(shown.entries[at] ?? {});
    const { json } = await page.get(`sessions/${SAMPLE}`);
    expect(json.session).toMatchObject(shown.session);
    expect(json.top_commands).toEqual(shown.top_commands);
    const { json: outline } = await page.get(`sessions/${SAMPLE}/outline`);
    expect(outline.entries.length).toBe(blocks.length);
    expect(outline.entries.at(-1)).toEqual([
      blocks.length,
      Date.parse(blocks.at(-1)?.timestamp ?? ''),
      blocks.at(-1)?.duration_ms,
      'failed',
    ]);
  });

  it('shows the first and the last lines that were printed, of capture or entry', async () => {
    const { journal } = page;
    const id = '20270103_000000_00000000-0000';
    const text = Array.from({ length: 100 }, (_, i) => `line ${i + 1}\n`).join('');
    writeFileSync(join(page.pages, 'hundred'), text);
    await journal.cli.run(
      'hundred',
      'sh',
      '-c',
      `cat ${join(page.pages, 'hundred')}; echo err >&2`,
    );
    journal.add(id, {
      entries: [
        { command: 'captured', run_id: 'hundred', stdout: 'no\n' },
        { command: 'gone', run_id: 'gone', stdout: text, stderr: 'err\n' },
        { command: 'quiet', stdout: null, stderr: null },
        { command: 'short', stdout: 'a\nb\n', stderr: 'c' },
      ],
    });
    const { json } = await page.get(`sessions/${id}`);
    const [captured, gone, quiet, short] = json.blocks.map((one: Block) => one.output);
    const head = text.split('\n').slice(0, 20).join('\n').concat('\n');
    expect(captured).toMatchObject({ source: 'capture', lines: 101, omitted_lines: 61 });
    expect(captured.head).toEqual([{ channel: 'stdout', text: head }]);
    expect(captured.tail.map((part: { text: string }) => part.text).join('')).toMatch(
      /^line 82\n[\s\S]*line 100\nerr\n$/,
    );
    expect(gone).toMatchObject({
      source: 'entry',
      lines: 101,
      omitted_lines: 61,
      head: captured.head,
    });
    expect(gone.tail.at(-1)).toEqual({ channel: 'stderr', text: 'err\n' });
    expect(quiet).toMatchObject({ source: 'none', head: [], lines: 0 });
    expect(short.head).toEqual([
      { channel: 'stdout', text: 'a\nb\n' },
      { channel: 'stderr', text: 'c' },
    ]);
    expect(json.blocks.map((one: Block) => one.run?.session_id)).toEqual([
      'hundred',
      ...Array(3).fill(undefined),
    ]);
  });

  it('that is damaged says so, and shows what is left', async () => {
    const id = '20270104_000000_00000000-0000';
    page.journal.add(id, { entries: times(3, { command: 'ls' }) });
    const path = join(page.journal.sessions, `${id}.jsonl`);
    const [first, , third] = readFileSync(path, 'utf8').split('\n');
    writeFileSync(path, `${first}\n{"torn\n${third}\n`);
    const { json } = await page.get(`sessions/${id}`);
    expect(json.blocks.length).toBe(2);
    expect(json.damaged_lines).toBe(1);
    expect(json.sequence_faults).toMatchObject({ skipped: 1 });
  });
});

/** Without what it says about the damaged one. */
async function numbers(...args: readonly string[]): Promise<Record<string, unknown>> {
  return JSON.parse((await page.journal.run('stats', '--json', ...args)).out);
}

describe('all sessions together', () => {
  it('come to the numbers of the command line', async () => {
    const { captures: _, ...stats } = await numbers();
    expect((await page.get(`stats?project=${page.journal.project}`)).json).toEqual(stats);
    expect((await page.get('stats')).json).toEqual(stats);
    const { captures: __, ...later } = await numbers('--since', '2026-01-12');
    expect((await page.get('stats?since=2026-01-12')).json).toEqual(later);
  });

  it('are searched as by the command line', async () => {
    const found = await page.journal.json<{ hits: Record<string, unknown>[] }>(
      ...['search', 'git', '--json', '--limit', '5'],
    );
    const { json } = await page.get('search?q=git&limit=5');
    expect(json.hits.length).toBe(5);
    for (const [at, hit] of json.hits.entries()) expect(hit).toMatchObject(found.hits[at] ?? {});
    expect(json.limited).toBe(true);
    expect((await page.get('search?q=make&exit=2&limit=1000')).json.hits.length).toBe(200);
    const one = await page.get(`search?q=git&session=${SAMPLE}`);
    expect(one.json.facets.project).toEqual([{ value: page.journal.project, count: 8 }]);
    expect((await page.get('search?q=(&regex=1')).status).toBe(400);
    expect((await page.get('search?q=x&project=/elsewhere')).status).toBe(404);
  });

  it('are plotted: every command is in one bucket, one hour and one outcome', async () => {
    const query = 'since=2026-01-01&until=2026-02-01';
    const { json } = await page.get(`activity?${query}`);
    const add = (numbers: readonly number[]): number => numbers.reduce((a, b) => a + b, 0);
    const of = (one: Record<string, number>): number =>
      add(['ok', 'failed', 'refused', 'timed_out', 'none'].map((name) => one[name] ?? 0));
    expect(json.commands).toBe(MANY + 15 + 8 + 3);
    expect(of(json.outcomes)).toBe(json.commands);
    expect(json.outcomes).toMatchObject({ failed: 201, ok: 825 });
    expect(add(json.timeline.map(of))).toBe(json.commands);
    expect(add(json.heat.flat())).toBe(json.commands);
    expect(json.timeline.map(({ start }: { start: string }) => start)).toEqual([
      '2026-01-10T00:00:00.000Z',
      '2026-01-18T00:00:00.000Z',
    ]);
    // 2026-01-18 is a Sunday; 14:30 is 16:00 an hour and a half further east.
    expect(json.heat[6][14]).toBe(15);
    expect((await page.get(`activity?${query}&zone=90`)).json.heat[6][16]).toBe(15);
    expect(json.top[0]).toMatchObject({ command: 'npm test' });
    expect(add(json.failing.map(({ failed }: { failed: number }) => failed))).toBe(201);
    const hours = await page.get('activity?since=2026-01-18&until=2026-01-19');
    expect(hours.json.bucket_minutes).toBe(60);
    expect((await page.get('activity?zone=9999')).status).toBe(400);
  });

  it('are found by the page that was started in an empty place', async () => {
    const empty = await Page.open();
    try {
      for (const path of ['hello', 'sessions', 'runs', 'stats', 'activity', 'search?q=x']) {
        expect([path, (await empty.get(path)).status]).toEqual([path, 200]);
      }
      for (const path of ['verify', 'seal', 'health', 'storage', 'policy', 'questions']) {
        expect([path, (await empty.get(path)).status]).toEqual([path, 200]);
      }
      expect(empty.errors).toEqual([]);
    } finally {
      await empty.close();
    }
  });
});

it('no mistake of the server was among the answers', () => {
  expect(page.errors).toEqual([]);
});
