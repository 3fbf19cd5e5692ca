// Sessions that go on, as a person sees them: servers of one project that are stopped, crash and
// start again, and what `cuff record list` makes of their sessions.
import { spawnSync } from 'node:child_process';
import { expect, it } from 'vitest';
import type { SessionMetadata } from '../../src/types.ts';
import { binary } from '../cli/helper.ts';
import { CLIENTS, type TestClient } from './clients.ts';
import { dead, Life } from './life.ts';

class Project {
  readonly life = new Life();

  constructor(mode: 'per_day' | 'per_conversation') {
    const config = `recording: { session_mode: ${mode} }`;
    this.life.settings(`plugins:\n  bash_recorder:\n    config:\n      ${config}\n`);
  }

  async open(): Promise<TestClient> {
    const { 'SDK v1': connect } = CLIENTS;
    if (connect === undefined) throw new Error('there is no such client');
    return this.life.connect(connect, 'cuff');
  }

  async stop(client: TestClient): Promise<void> {
    await client.close();
    await dead(client.pid);
  }

  async crash({ pid }: TestClient): Promise<void> {
    process.kill(pid, 'SIGKILL');
    await dead(pid);
  }

  list(): SessionMetadata[] {
    const { project: cwd, env } = this.life;
    const words = [binary('cuff'), 'record', 'list', '--json'];
    const { stdout } = spawnSync(process.execPath, words, { cwd, env, encoding: 'utf8' });
    return JSON.parse(stdout).sessions;
  }
}

/** The session of a command, and its number there. */
async function ran(client: TestClient, conversation?: string): Promise<readonly [string, number]> {
  const meta = conversation === undefined ? {} : { conversation_id: conversation };
  const { text } = await client.call('bash_recorder_execute', { command: 'echo hi' }, { meta });
  const { session_id, recording_id } = JSON.parse(text);
  return [session_id, Number(/_(\d+)-/.exec(recording_id)?.[1])];
}

it('a day has one session, over a stop and a crash, and of two servers at once', async () => {
  const project = new Project('per_day');
  const first = await project.open();
  const [id, number] = await ran(first);
  expect(number).toBe(1);
  await project.stop(first);
  const second = await project.open();
  expect(await ran(second)).toEqual([id, 2]);
  await project.crash(second);
  const third = await project.open();
  expect(await ran(third)).toEqual([id, 3]);
  const beside = await project.open();
  const [part, start] = await ran(beside);
  expect([part === id, start]).toEqual([false, 1]);
  expect(await ran(third)).toEqual([id, 4]);
  await Promise.all([project.stop(third), project.stop(beside)]);
  expect(project.list()).toMatchObject([
    { session_id: id, entry_count: 5, status: 'shutdown', resumed_at: expect.any(String) },
  ]);
});

it('a conversation has one session, also if its server crashes after one command', async () => {
  const project = new Project('per_conversation');
  const first = await project.open();
  const [mine] = await ran(first, 'mine');
  await project.crash(first);
  const second = await project.open();
  expect(await ran(second, 'mine')).toEqual([mine, 2]);
  const [other, start] = await ran(second, 'other');
  expect([other === mine, start]).toEqual([false, 1]);
  await project.crash(second);
  expect(project.list()).toHaveLength(2);
});
