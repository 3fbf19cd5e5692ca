// Which servers are alive: a file each, seen from another process, and gone with it.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import * as fs from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { aliveServers, announceServer, type ServerFacts } from '../../src/ops/servers.ts';
import { until } from '../cli/helper.ts';

function stateRoot(): string {
  const root = fs.mkdtempSync(join(tmpdir(), 'cuff-servers-'));
  onTestFinished(() => fs.rmSync(root, { recursive: true, force: true }));
  return root;
}

const FACTS: ServerFacts = {
  version: '0.1.0',
  projectDirectory: '/project',
  directory: '/project/.cuff/recordings',
  counters: { commands: 3, entries: 2, recordingErrors: 1 },
  health: { healthy: true, reasons: [] },
};

it('a server is known while it lives and says what changed', async () => {
  const root = stateRoot();
  let { counters } = FACTS;
  const announced = announceServer(root, () => ({ ...FACTS, counters }));
  onTestFinished(() => announced.close());
  const [first] = aliveServers(root);
  expect(first).toMatchObject({ ...FACTS, pid: process.pid });
  expect(fs.statSync(join(root, 'servers', `${process.pid}.json`)).mode & 0o777).toBe(0o600);
  counters = { ...counters, commands: 4 };
  announced.changed();
  announced.changed();
  await until(() => aliveServers(root)[0]?.counters.commands === 4, 'the change was written');
  announced.close();
  expect(aliveServers(root)).toEqual([]);
});

it('a server that was killed is not alive, and its file goes', async () => {
  const root = stateRoot();
  const child = spawn('sleep', ['60']);
  const start = fs.readFileSync(`/proc/${child.pid}/stat`, 'utf8').split(') ')[1]?.split(' ')[19];
  const path = join(root, 'servers', `${child.pid}.json`);
  fs.mkdirSync(join(root, 'servers'));
  const written = JSON.stringify({ pid: child.pid, start_time: Number(start), started_at: 5 });
  fs.writeFileSync(path, written);
  expect(aliveServers(root).map(({ pid }) => pid)).toEqual([child.pid]);
  child.kill('SIGKILL');
  await once(child, 'exit');
  expect(aliveServers(root)).toEqual([]);
  expect(fs.existsSync(path)).toBe(false);
});

it('another process with the same pid is not that server', () => {
  const root = stateRoot();
  fs.mkdirSync(join(root, 'servers'));
  const written = JSON.stringify({ pid: process.pid, start_time: 1, started_at: 5 });
  fs.writeFileSync(join(root, 'servers', `${process.pid}.json`), written);
  expect(aliveServers(root)).toEqual([]);
});

it('a state root that cannot be written hides a server and stops nobody', () => {
  const root = stateRoot();
  fs.writeFileSync(join(root, 'servers'), 'a file in its way');
  const announced = announceServer(root, () => FACTS);
  expect(aliveServers(root)).toEqual([]);
  announced.close();
});
