// Servers that are killed at random moments while they go on with the session of the one before and
// write what came behind entries. `CUFF_LONG=1` kills 200 of them, `CUFF_SEED` repeats a run.
import { execFileSync } from 'node:child_process';
import * as fs from 'node:fs';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { until } from '../cli/helper.ts';
import { chance } from '../policy/fuzz/random.ts';
import { seedOf } from '../seed.ts';
import { World } from './helper.ts';
import { Server } from './server.ts';

const KILLS = process.env.CUFF_LONG === '1' ? 200 : 25;
const LANES = 3;

/** Processes that wait for their turn: each `go` lets so many of them print and end. */
function gate(world: World): { readonly path: string; readonly go: (count: number) => void } {
  const path = join(world.dir, 'gate');
  execFileSync('mkfifo', [path]);
  const fd = fs.openSync(path, 'r+');
  onTestFinished(() => fs.closeSync(fd));
  // A line is one byte, so that readers side by side take whole ones.
  return { path, go: (count) => void fs.writeSync(fd, '\n'.repeat(count)) };
}

it('entries and what came behind them are whole after every kill', async () => {
  const world = new World();
  const { path, go } = gate(world);
  const random = chance(seedOf('kills'));
  let begun = 0;
  let answered = 0;
  const lane = async (server: Server): Promise<never> => {
    for (;;) {
      begun += 1;
      await server.execute(`echo now ${begun}; (read x < ${path}; echo later ${begun}) &`);
      answered += 1;
    }
  };
  for (let round = 0; round < KILLS; round += 1) {
    const server = await Server.start(world);
    const enough = answered + random.int(5);
    for (let one = 0; one < LANES; one += 1) void lane(server);
    await until(() => answered >= enough, 'some are answered');
    // Some end while the server lives, some as it dies, some without any.
    go(random.int(2 * LANES));
    // A moment that is random: nothing depends on how long it is.
    await new Promise((resolve) => setTimeout(resolve, random.int(30)));
    await server.kill();
  }
  const runs = world.shell.list().filter(({ meta }) => meta?.journal !== undefined);
  go(2 * runs.length + LANES);
  const closed = (): boolean => world.shell.list().every(({ outputOpen }) => !outputOpen);
  await until(closed, 'all have closed');
  const last = await Server.start(world);
  // A server that dies between the intent and the start has started nothing.
  const listed = world.shell.list().filter(({ final }) => final === undefined);
  const unstarted = new Set(listed.map(({ id }) => id));
  const texts = (): string[] =>
    world
      .entries()
      .filter(({ run_id }) => !unstarted.has(run_id ?? ''))
      .map(({ stdout, later }) => `${stdout}${later?.stdout ?? ''}`);
  const isWhole = (text: string): boolean => /^now (\d+)\nlater \1\n$/.test(text);
  await until(
    () => world.entries().length >= runs.length && texts().every(isWhole),
    'the journal has all of them',
  );
  await last.stop();
  const entries = world.entries();
  expect(entries.map(({ run_id }) => run_id).sort()).toEqual(runs.map(({ id }) => id).sort());
  expect(texts().every(isWhole)).toBe(true);
  for (const entry of entries.filter(({ run_id }) => unstarted.has(run_id ?? ''))) {
    expect(entry).toMatchObject({ end_reason: 'interrupted', stdout: '' });
  }
  // Every server went on with the session of the one before.
  const [session, ...others] = world.sessions();
  expect([session?.metadata.status, others]).toEqual(['shutdown', []]);
  const numbers = session?.entries.map(({ sequence_number }) => sequence_number) ?? [];
  expect(numbers).toEqual(numbers.map((_, at) => at + 1));
  const ids = entries.map(({ entry_id }) => entry_id);
  expect(new Set(ids).size).toBe(ids.length);
  const files = fs.readdirSync(join(world.journal, 'sessions'));
  expect(files.filter((name) => name.endsWith('.tmp'))).toEqual([]);
}, 900_000);
