// A command that outlives its server, and ends after its session was ended for it: search, stats
// and index.json, which knew the session without it, notice its entry.
import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { binary, until } from '../cli/helper.ts';
import { CLIENTS, type TestClient } from './clients.ts';
import { dead, Life } from './life.ts';

class Project {
  readonly life = new Life();

  constructor() {
    // A session of its own for every server: none goes on with that of another.
    const config = 'recording: { session_mode: continuous }';
    this.life.settings(`plugins:\n  bash_recorder:\n    config:\n      ${config}\n`);
  }

  async open(): Promise<TestClient> {
    const { 'SDK v1': connect } = CLIENTS;
    if (connect === undefined) throw new Error('there is no such client');
    return this.life.connect(connect, 'cuff');
  }

  record(...args: readonly string[]) {
    const { project: cwd, env } = this.life;
    const words = [binary('cuff'), 'record', ...args, '--json'];
    return JSON.parse(spawnSync(process.execPath, words, { cwd, env, encoding: 'utf8' }).stdout);
  }

  /** A session in index.json. */
  row(id: string): { readonly entry_count: number; readonly status: string } | undefined {
    const path = join(this.life.project, '.cuff', 'recordings', 'index.json');
    return existsSync(path) ? JSON.parse(readFileSync(path, 'utf8')).sessions[id] : undefined;
  }
}

async function ran(client: TestClient, command: string): Promise<string> {
  const { text } = await client.call('bash_recorder_execute', { command });
  return JSON.parse(text).session_id;
}

it('search, stats and the index notice an entry that a late recovery adds', async () => {
  const project = new Project();
  const go = join(project.life.project, 'go');
  const begun = join(project.life.project, 'begun');
  execFileSync('mkfifo', [go]);
  const [first, witness] = [await project.open(), await project.open()];
  const id = await ran(first, 'echo early');
  const own = await ran(witness, 'true');
  // Its answer dies with the server.
  void ran(first, `touch ${begun}; read x < ${go}; echo overdue`).catch(() => undefined);
  await until(() => existsSync(begun), 'the command runs');
  process.kill(first.pid, 'SIGKILL');
  await dead(first.pid);
  // Ends the session, and waits for the command. The witness began earlier, and does not.
  const next = await project.open();
  await until(() => project.row(id)?.status === 'interrupted', 'the session has ended');
  // Catalog and index know the session as one that has ended.
  await ran(witness, 'true');
  await until(() => project.row(own)?.entry_count === 2, 'the witness has written the index');
  expect(project.row(id)).toMatchObject({ status: 'interrupted', entry_count: 1 });
  expect(project.record('stats')).toMatchObject({ sessions: 2, commands: 3 });
  expect(project.record('search', 'overdue').hits).toEqual([]);

  await writeFile(go, 'x\n');
  await until(() => project.row(id)?.entry_count === 2, 'the command has its entry');
  await next.close();
  await dead(next.pid);
  expect(project.record('stats')).toMatchObject({ sessions: 2, commands: 4 });
  expect(project.record('search', 'overdue').hits).toMatchObject([{ session_id: id }]);
  // What the witness knows of the session is older than its entry.
  await ran(witness, 'true');
  await until(() => project.row(own)?.entry_count === 3, 'the witness has written the index');
  expect(project.row(id)).toMatchObject({ status: 'interrupted', entry_count: 2 });
});
