// What is known of a run, and its bytes: plain, packed and encrypted, with holes, by Range.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { packCapture } from '../../src/capture/packed/pack.ts';
import type { IndexRecord } from '../../src/web/api.ts';
import { Page } from './helper.ts';

let page: Page;
let lines = '';
beforeAll(async () => {
  page = await Page.open();
  const { cli } = page.journal;
  const text = Array.from({ length: 3000 }, (_, i) => `line ${i + 1} é\n`);
  lines = text.join('');
  writeFileSync(join(page.pages, 'lines'), lines);
  await cli.run('lines', 'cat', join(page.pages, 'lines'));
  await cli.run(
    'both',
    'sh',
    '-c',
    'echo one; sleep 0.1; echo two >&2; sleep 0.1; echo three; exit 3',
  );
  await cli.run('empty', 'true');
  await cli.run('packed', 'cat', join(page.pages, 'lines'));
  packCapture(cli.dir('packed'));
  await cli.cuff(
    'run',
    '--trace',
    '--session-id',
    'traced',
    '--',
    'sh',
    '-c',
    'echo a; false; ls /',
  );
});
afterAll(() => page.close());

async function ranged(path: string, range: string) {
  const response = await page.bytes(`runs/${path}`, { range });
  const text = Buffer.from(await response.arrayBuffer()).toString();
  return { status: response.status, range: response.headers.get('content-range'), text };
}

describe('the bytes of a run', () => {
  it.each(['lines', 'packed'])('are those that were printed: %s', async (id) => {
    const response = await page.bytes(`runs/${id}/bytes`);
    expect(response.headers.get('content-type')).toBe('application/octet-stream');
    expect(await response.text()).toBe(lines);
    const total = Buffer.byteLength(lines);
    expect(await ranged(`${id}/bytes`, 'bytes=5-9')).toEqual({
      status: 206,
      range: `bytes 5-9/${total}`,
      text: Buffer.from(lines).subarray(5, 10).toString(),
    });
  });

  it.each([
    ['bytes=0-0', 0, 1],
    ['bytes=100-', 100, undefined],
    ['bytes=-7', -7, undefined],
    ['bytes=0-999999999999', 0, undefined],
    ['bytes=-999999999', 0, undefined],
  ])('by %s', async (range, from, to) => {
    const wanted = Buffer.from(lines).subarray(from, to);
    const { status, text } = await ranged('lines/bytes', range);
    expect([status, text]).toEqual([206, wanted.toString()]);
  });

  it('are none behind the end, before the start, or in a range that is none', async () => {
    const total = Buffer.byteLength(lines);
    for (const range of [`bytes=${total}-`, `bytes=${total + 5}-${total + 9}`, 'bytes=-0']) {
      const found = await ranged('lines/bytes', range);
      expect([range, found.status, found.range]).toEqual([range, 416, `bytes */${total}`]);
    }
    expect((await ranged('empty/bytes', 'bytes=0-')).status).toBe(416);
    for (const range of [
      'bytes=5-4',
      'bytes=-',
      'bytes=a-b',
      'lines=1-2',
      'bytes=0-1,3-4',
      '0-5',
    ]) {
      expect([range, (await ranged('lines/bytes', range)).status]).toEqual([range, 400]);
    }
  });

  it('of one stream are its own, at its own places', async () => {
    expect(await (await page.bytes('runs/both/bytes?stream=stderr')).text()).toBe('two\n');
    expect(await (await page.bytes('runs/both/bytes?stream=stdout')).text()).toBe('one\nthree\n');
    expect(await ranged('both/bytes?stream=stdout', 'bytes=4-8')).toEqual({
      status: 206,
      range: 'bytes 4-8/10',
      text: 'three',
    });
    expect((await page.get('runs/both/bytes?stream=stdin')).status).toBe(400);
  });

  it('are a file with a name for a person who keeps them', async () => {
    const response = await page.bytes('runs/both/bytes?download=1');
    expect(response.headers.get('content-disposition')).toBe('attachment; filename="both.log"');
    await response.text();
  });

  it('come in parts of 4 MiB, and what is in a hole is passed over', async () => {
    const { cli } = page.journal;
    const cap = 8 * 1024 * 1024;
    // As a runner would leave it whose output was larger than a capture may be.
    await cli.run('holed', 'sh', '-c', `head -c ${cap} /dev/zero | tr '\\0' 'x'`);
    const event = {
      type: 'gap',
      timestamp: '2026-01-18T14:30:52.000Z',
      offset: cap / 2,
      lost_bytes: 1024,
      reason: 'cap',
      hole: [cap / 2, cap / 2 + 1024],
    };
    const meta = JSON.parse(readFileSync(join(cli.dir('holed'), 'meta.json'), 'utf8'));
    writeFileSync(join(cli.dir('holed'), 'events.jsonl'), `${JSON.stringify(event)}\n`);
    writeFileSync(
      join(cli.dir('holed'), 'meta.json'),
      `${JSON.stringify({ ...meta, output_bytes_max: cap })}\n`,
    );
    const first = await ranged('holed/bytes', 'bytes=0-');
    expect([first.status, first.text.length]).toEqual([206, 4 * 1024 * 1024]);
    const inside = await ranged('holed/bytes', `bytes=${cap / 2 + 3}-${cap / 2 + 2000}`);
    expect(inside.range).toMatch(new RegExp(`^bytes ${cap / 2 + 1024}-`));
    const whole = await page.bytes('runs/holed/bytes');
    expect(whole.headers.get('x-cuff-hole')).toBe(`${cap / 2}-${cap / 2 + 1024}`);
    expect((await whole.arrayBuffer()).byteLength).toBe(cap - 1024);
  });
});

describe('the places in a run', () => {
  it('have the line, the offset and the time that belong together', async () => {
    const bytes = Buffer.from(lines);
    for (const line of [1, 2, 10, 1500, 3000]) {
      const { json } = await page.get(`runs/lines/place?line=${line}`);
      const offset = bytes.indexOf(`line ${line} `);
      expect(json).toMatchObject({ line, offset, lines: 3000, bytes: bytes.length });
      const { json: back } = await page.get(`runs/lines/place?offset=${offset + 3}`);
      expect(back).toMatchObject({ line, offset });
    }
    expect((await page.get('runs/lines/place?line=999999')).json.offset).toBe(bytes.length);
    expect((await page.get('runs/both/place?t=0')).json).toMatchObject({ line: 1, offset: 0 });
    expect((await page.get('runs/both/place?t=999999')).json).toMatchObject({ offset: 14 });
  });

  it('are in the index, page by page, without a gap', async () => {
    const all: IndexRecord[] = [];
    for (let from = 0; ; ) {
      const { json } = await page.get(`runs/both/index?from=${from}&limit=1`);
      all.push(...json.records);
      expect(json.line).toBe(all.length);
      from = json.next;
      if (json.eof) {
        expect(json.final).toBe(true);
        break;
      }
    }
    expect(
      all.map(({ offset, length, channel, lines: n }) => [offset, length, channel, n]),
    ).toEqual([
      [0, 4, 'stdout', 1],
      [4, 4, 'stderr', 1],
      [8, 6, 'stdout', 1],
    ]);
  });

  it('of a text are found, and counted', async () => {
    const { json } = await page.get('runs/lines/find?q=LINE%2030&limit=3');
    const bytes = Buffer.from(lines);
    expect(json.count).toBe(lines.split('line 30').length - 1);
    expect(json.matches).toEqual(
      [30, 300, 301].map((line) => ({ offset: bytes.indexOf(`line ${line} `), length: 7, line })),
    );
    expect(json.next).toBeNull();
    expect((await page.get('runs/lines/find?q=LINE&case=1')).json.count).toBe(0);
    const found = await page.get('runs/packed/find?q=%5Eline%2029..%20%C3%A9%24&regex=1');
    expect(found.json.count).toBe(100);
    expect((await page.get('runs/lines/find?q=(&regex=1')).status).toBe(400);
    expect((await page.get('runs/lines/find')).status).toBe(400);
  });
});

describe('the facts of a run', () => {
  it('are those of the command line', async () => {
    const { cli } = page.journal;
    const { json } = await page.get('runs/both');
    const listed = await cli.json<{ sessions: { session_id: string }[] }>('ls', '--limit', '50');
    expect(json.run).toEqual(listed.sessions.find((one) => one.session_id === 'both'));
    expect(json.final).toMatchObject({ state: 'exited', exit_code: 3, output_bytes: 14 });
    expect(json.totals).toEqual({ bytes: 14, lines: 3, stdout_bytes: 10, stderr_bytes: 4 });
    expect(json.events.map(({ type }: { type: string }) => type)).toContain('shell_exited');
    expect([json.stored, json.hole, json.entry]).toEqual(['plain', null, null]);
    expect((await page.get('runs/packed')).json.stored).toBe('packed');
    expect((await page.get('runs/nothing')).status).toBe(404);
  });

  it('are listed, page by page, newest first', async () => {
    const ids: string[] = [];
    for (let cursor = ''; ; ) {
      const { json } = await page.get(`runs?limit=2&cursor=${cursor}`);
      ids.push(...json.runs.map((one: { session_id: string }) => one.session_id));
      if (json.cursor === null) break;
      cursor = json.cursor;
    }
    expect(ids.toSorted()).toEqual(['both', 'empty', 'holed', 'lines', 'packed', 'traced']);
    expect((await page.get('runs?cursor=gone')).status).toBe(404);
  });

  it('have the trace of the command line, and what each process wrote', async () => {
    const { cli } = page.journal;
    const { json } = await page.get('runs/traced/trace');
    expect(json).toEqual(await cli.json('trace', 'traced'));
    expect(json.enabled).toBe(true);
    const [shell] = json.processes;
    const { json: writes } = await page.get(`runs/traced/writes?pid=${shell.pid}`);
    expect(writes.ranges[0].slice(0, 2)).toEqual([0, 2]);
    expect((await page.get('runs/both/trace')).json).toMatchObject({ enabled: false });
    expect((await page.get('runs/both/trace?format=chrome')).status).toBe(404);
    expect((await page.get('runs/traced/trace?format=chrome')).json).toBeDefined();
  });

  it('are told of what is damaged, without an error of ours', async () => {
    const { cli } = page.journal;
    for (const [id, files] of Object.entries({
      bare: { 'output.bin': 'left\n' },
      torn: { 'meta.json': '{"schema_ver', 'output.bin': 'x\n', 'index.jsonl': '{"off' },
      lying: { 'meta.json': '[]', 'final.json': '{"state":7}', 'output.bin': '' },
    })) {
      mkdirSync(cli.dir(id), { mode: 0o700 });
      for (const [name, text] of Object.entries(files))
        writeFileSync(join(cli.dir(id), name), text);
      const all = ['', '/index', '/place?line=1', '/find?q=x', '/trace'];
      for (const path of all) {
        expect([id, path, (await page.get(`runs/${id}${path}`)).status]).toEqual([id, path, 200]);
      }
    }
    expect(await (await page.bytes('runs/bare/bytes')).text()).toBe('left\n');
    expect(page.errors).toEqual([]);
  });
});
