// How things are, asked from another process than the server's: servers, live runs, journals.
import * as fs from 'node:fs';
import { join } from 'node:path';
import { Command } from 'commander';
import { expect, it, onTestFinished, vi } from 'vitest';
import { addStatusCommand } from '../../src/cli/status.ts';
import { until } from '../cli/helper.ts';
import { execute, World } from '../recorder/helper.ts';
import { Server } from '../recorder/server.ts';

/** What the command prints for this state root and project. */
async function status(world: World, ...args: readonly string[]): Promise<string> {
  const before = process.cwd();
  const printed: string[] = [];
  const spies = [process.stdout, process.stderr].map((stream) =>
    vi.spyOn(stream, 'write').mockImplementation((text, ...rest) => {
      printed.push(String(text));
      const done = rest.find((one) => typeof one === 'function');
      done?.();
      return true;
    }),
  );
  vi.stubEnv('CUFF_STATE_ROOT', world.stateRoot);
  process.chdir(world.project);
  try {
    const program = new Command();
    addStatusCommand(program);
    await program.parseAsync(['status', ...args], { from: 'user' });
  } finally {
    process.chdir(before);
    vi.unstubAllEnvs();
    for (const spy of spies) spy.mockRestore();
  }
  return printed.join('');
}

async function json(world: World): Promise<Record<string, Record<string, unknown>[]>> {
  return JSON.parse(await status(world, '--json'));
}

it('a server, its runs and its journal are told', async () => {
  const world = new World();
  const server = await Server.start(world);
  await server.execute('echo 1');
  const { run_id } = await server.execute('sleep 60 & echo 2');
  // The command is counted before its entry, and the server may write in between.
  await until(
    () => world.filesWith('"commands":2,"entries":2,').some((path) => path.includes('servers')),
    'the server has said so',
  );
  const { servers, runs, journals } = await json(world);
  expect(servers).toEqual([
    {
      pid: server.child.pid,
      started_at: expect.stringMatching(/Z$/),
      updated_at: expect.stringMatching(/Z$/),
      version: '0.1.0',
      project_directory: world.project,
      directory: world.journal,
      commands: 2,
      entries: 2,
      recording_errors: 0,
      health: expect.objectContaining({ healthy: true, entries_recorded: 2 }),
    },
  ]);
  expect(runs).toMatchObject([{ session_id: run_id }]);
  expect(journals).toEqual([
    { directory: world.journal, sessions: 1, active_sessions: 1, entries: 2 },
  ]);
  const text = await status(world);
  expect(text).toMatch(/^SERVER +AGE +HEALTH +COMMANDS +ENTRIES +ERRORS +PROJECT\n/);
  expect(text).toMatch(new RegExp(`${server.child.pid} +\\S+ +ok +2 +2 +0 +${world.project}\\n`));
  expect(text).toContain('sleep 60 & echo 2');
  await server.stop();
  expect((await json(world)).servers).toEqual([]);
  expect(await status(world)).toContain('No server is running.\n');
});

it('a server that was killed is not told about', async () => {
  const world = new World();
  const server = await Server.start(world);
  await server.kill();
  expect((await json(world)).servers).toEqual([]);
});

it('a server that is not well says why, and the exit status is 1', async () => {
  const world = new World();
  onTestFinished(() => {
    process.exitCode = undefined;
  });
  fs.writeFileSync(join(world.project, 'file'), '');
  const plugin = await world.plugin({ recording: { directory: 'file/below' } });
  await execute(plugin, 'true');
  const text = await status(world);
  expect(text).toMatch(/\bbad\b/);
  expect(text).toContain(`${process.pid}: ${world.project}/file/below cannot be written: ENOTDIR.`);
  expect(process.exitCode).toBe(1);
});
