// What happens reaches every tab, as it happens, and a slow one is told what it missed.
import { execFileSync } from 'node:child_process';
import { rmSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { binary, until } from '../cli/helper.ts';
import { Page, type Tab } from './helper.ts';

let page: Page;
beforeAll(async () => {
  page = await Page.open();
});
afterAll(() => page.close());

/** A run that prints what is written here, and ends when this is closed. */
async function held(id: string) {
  const fifo = join(page.journal.project, `${id}.fifo`);
  execFileSync('mkfifo', [fifo]);
  const live = page.journal.cli.start([
    ...[process.execPath, binary('cuff')],
    ...['run', '--session-id', id, '--', 'sh', '-c', `echo ready; cat '${fifo}'; exit 5`],
  ]);
  await live.seen(/ready/);
  // Not at once: what is printed comes back to this process, too, which has to take it.
  const file = await open(fifo, 'w');
  return {
    print: (text: string) => file.appendFile(text),
    end: () => file.close(),
    over: live.result,
  };
}

async function following(tab: Tab, id: string, from = 0): Promise<number> {
  tab.say({ sub: 'run', id, from });
  return (await tab.message('run', (one) => one.id === id)).channel;
}

const has = (words: string) => (bytes: Buffer) => bytes.includes(words);

describe('a live run', () => {
  it('is followed: what is printed comes, and how it ended', async () => {
    const run = await held('followed');
    const tab = await page.tab();
    const channel = await following(tab, 'followed');
    await tab.output(channel, has('ready\n'));
    for (const words of ['first\n', 'é', '\0binary\xff\n']) {
      await run.print(words);
      await tab.output(channel, has(words));
    }
    await run.end();
    const { run: ended } = await tab.message('state', ({ run: one }) => one.output_open === false);
    expect(ended).toMatchObject({ session_id: 'followed', state: 'exited', exit_code: 5 });
    const all = await tab.output(channel, () => true);
    expect(all.toString()).toBe(`ready\nfirst\né${Buffer.from('\0binary\xff\n')}`);
    await run.over;
  });

  it('comes whole to one that joins late, without repetition, from where it wants', async () => {
    const run = await held('joined');
    await run.print('a\n'.repeat(100_000));
    const early = await page.tab();
    const first = await following(early, 'joined');
    await early.output(first, (bytes) => bytes.length >= 200_006);
    const late = await page.tab();
    const second = await following(late, 'joined');
    const tail = await page.tab();
    const third = await following(tail, 'joined', 200_004);
    await run.print('the end\n');
    await run.end();
    const want = `ready\n${'a\n'.repeat(100_000)}the end\n`;
    for (const [tab, channel, from] of [
      [early, first, 0],
      [late, second, 0],
      [tail, third, 200_004],
    ] as const) {
      const got = await tab.output(channel, has('the end\n'));
      expect(got.toString() === want.slice(from)).toBe(true);
      let at = from as number;
      for (const { offset, bytes } of tab.frames) {
        expect(offset).toBe(at);
        at += bytes.length;
      }
    }
    await run.over;
  });

  it('reaches eight tabs, which follow two runs each', async () => {
    const [one, two] = [await held('one'), await held('two')];
    const tabs = await Promise.all(Array.from({ length: 8 }, () => page.tab()));
    const channels = await Promise.all(
      tabs.map(async (tab) => [await following(tab, 'one'), await following(tab, 'two')] as const),
    );
    await one.print('to one\n');
    await two.print('to two\n');
    for (const [at, tab] of tabs.entries()) {
      const [first, second] = channels[at] ?? [0, 0];
      expect(first).not.toBe(second);
      expect((await tab.output(first, has('to one'))).toString()).toBe('ready\nto one\n');
      expect((await tab.output(second, has('to two'))).toString()).toBe('ready\nto two\n');
    }
    for (const run of [one, two]) {
      await run.end();
      await run.over;
    }
  });

  it('is left alone by one that does not want it any more', async () => {
    const run = await held('left');
    const tab = await page.tab();
    const channel = await following(tab, 'left');
    await tab.output(channel, has('ready'));
    tab.say({ unsub: 'run', id: 'left' });
    tab.say({ sub: 'questions' });
    await tab.message('questions');
    const before = tab.frames.length;
    await run.print('unheard\n');
    const again = await following(tab, 'left', 6);
    await tab.output(again, has('unheard'));
    expect(tab.frames.slice(before).every((one) => one.channel === again)).toBe(true);
    await run.end();
    await run.over;
  });

  it('waits in no memory for a tab that takes nothing, which is told what it missed', async () => {
    const run = await held('fast');
    const tab = await page.tab();
    const channel = await following(tab, 'fast');
    await tab.output(channel, has('ready'));
    tab.socket.pause();
    const text = `${'x'.repeat(1023)}\n`;
    const total = 40 * 1024;
    await run.print(text.repeat(total));
    await run.print('the end\n');
    const size = 6 + total * 1024 + 8;
    await until(() => sizeOf('fast') === size, 'all of it is captured');
    tab.socket.resume();
    const { from, to, bytes } = await tab.message('behind', ({ id }) => id === 'fast');
    expect(bytes).toBe(to - from);
    await tab.output(channel, has('the end\n'));
    const frames = tab.frames.filter((one) => one.channel === channel);
    const sent = frames.reduce((sum, one) => sum + one.bytes.length, 0);
    const missed = [bytes];
    for (let more = 0; sent + sum(missed) !== size; more += 1) {
      expect(more).toBeLessThan(100);
      missed.push((await tab.message('behind')).bytes);
    }
    expect(sum(missed)).toBeGreaterThan(1024 * 1024);
    await run.end();
    await run.over;
  });
});

const sum = (numbers: readonly number[]): number => numbers.reduce((a, b) => a + b, 0);

function sizeOf(id: string): number {
  const out = execFileSync('stat', ['-c', '%s', join(page.journal.cli.dir(id), 'output.bin')]);
  return Number(out.toString());
}

describe('lists', () => {
  it('of live runs change when one begins and ends', async () => {
    const tab = await page.tab();
    tab.say({ sub: 'runs' });
    expect((await tab.message('runs')).runs).toEqual([]);
    const run = await held('listed');
    const { runs } = await tab.message('runs', (one) => one.runs.length === 1);
    expect(runs[0]).toMatchObject({ session_id: 'listed', state: 'running', runner_alive: true });
    expect((await page.get('runs?live=1')).json.runs[0].session_id).toBe('listed');
    await run.end();
    await tab.message('runs', (one) => one.runs.length === 0);
    await run.over;
  });

  it('of sessions tell the rows that changed, and those that are gone', async () => {
    const { journal } = page;
    const [id, other] = ['20260118_143052_a7b3c9d2-e4f5', '20260118_150000_b8c4d0e3-f6a7'];
    journal.add(other, { entries: [{ command: 'true' }] });
    const tab = await page.tab();
    tab.say({ sub: 'sessions' });
    tab.say({ sub: 'questions' });
    await tab.message('questions');
    journal.add(id, { entries: [{ command: 'ls' }], metadata: { agent_id: 'robot' } });
    const { rows } = await tab.message('sessions', (one) => one.rows.length > 0);
    expect(rows.map((row) => [row.session_id, row.agent_id, row.last_command?.command])).toEqual([
      [id, 'robot', 'ls'],
    ]);
    for (const ending of ['.jsonl', '.meta.json']) rmSync(join(journal.sessions, `${id}${ending}`));
    expect((await tab.message('sessions', (one) => one.gone.length > 0)).gone).toEqual([id]);
  });
});

it('a server that ends closes every tab', async () => {
  const tab = await page.tab();
  await page.stop();
  expect([1001, 1006]).toContain(await tab.closed);
  await page.start();
  expect(page.errors).toEqual([]);
});
