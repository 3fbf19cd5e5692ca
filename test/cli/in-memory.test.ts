// `encryption.live: memory` with real runs: no byte or word on the disk while they go on, every
// reader and `cuff kill` find them, and what a crash or a logout leaves is honest.
import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import * as fs from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { livePlaces } from '../../src/packing/live.ts';
import { Packer } from '../../src/packing/packer.ts';
import { ownRecipients } from '../../src/packing/recipients.ts';
import { PackThread } from '../../src/packing/thread.ts';
import { thisProcess } from '../../src/run/processes.ts';
import { createShell } from '../../src/shell/shell.ts';
import { lacking } from '../requirements.ts';
import { binary, Cli, type RunJson } from './helper.ts';

const TMPFS = 0x01021994;
const MEMORY = '/dev/shm';
const inMemory = fs.existsSync(MEMORY) && fs.statfsSync(MEMORY).type === TMPFS;

const cli = new Cli();
const config = join(cli.root, 'config');
const settings = join(config, 'cuff', 'settings.yml');
const project = join(cli.root, 'project');
const runtime = inMemory ? fs.mkdtempSync(join(MEMORY, 'cuff-cli-')) : cli.root;

afterAll(async () => {
  await cli.close();
  if (inMemory) fs.rmSync(runtime, { recursive: true, force: true });
});

function start(...args: string[]) {
  const env = { XDG_CONFIG_HOME: config, XDG_RUNTIME_DIR: runtime };
  return cli.start([process.execPath, binary('cuff'), ...args], { cwd: project, env });
}

function cuff(...args: string[]) {
  const live = start(...args);
  live.child.stdin?.end();
  return live.result;
}

/** Everything below the state root but for the user's own files. */
function onDisk(): string {
  const names = fs.readdirSync(cli.root, { recursive: true, encoding: 'utf8' });
  const paths = names.filter((name) => !/^(config|project)/.test(name));
  const files = paths
    .map((name) => join(cli.root, name))
    .filter((one) => fs.statSync(one).isFile());
  return files.map((path) => fs.readFileSync(path, 'latin1')).join('\n');
}

function runsInMemory(): string[] {
  const below = fs.readdirSync(runtime, { recursive: true, encoding: 'utf8' });
  return below.filter((name) => /sessions\/[^/]+$/.test(name)).map((name) => join(runtime, name));
}

async function ps(): Promise<readonly RunJson[]> {
  return JSON.parse((await cuff('ps', '--json')).out).runs;
}

/** A run that printed its first line and goes on until it is told to. */
async function begun(id: string) {
  const script = 'echo "wombats $((6 * 7))"; read word < "$0"; echo "then $word"';
  const held = join(project, id);
  execFileSync('mkfifo', [held]);
  const run = start('run', '--session-id', id, '--', 'sh', '-c', script, held);
  onTestFinished(() => void run.child.kill('SIGKILL'));
  await run.seen(/wombats 42\n/);
  // Held open, so that neither end waits for the other.
  const fd = fs.openSync(held, 'r+');
  onTestFinished(() => fs.closeSync(fd));
  return { ...run, goOn: () => fs.writeSync(fd, 'go\n') };
}

beforeAll(async () => {
  fs.mkdirSync(project, { recursive: true });
  const recipient = (await cuff('identity')).out.trim();
  fs.writeFileSync(settings, `encryption:\n  recipients: [${recipient}]\n  live: memory\n`);
});

describe.skipIf(lacking(!inMemory, '/dev/shm is no tmpfs'))('a run in memory', () => {
  it('is read, listed and ended from everywhere, and encrypted when it is over', async () => {
    const run = await begun('one');
    expect(onDisk()).not.toContain('wombats');
    expect(fs.readdirSync(cli.dir('one')).sort()).toEqual(['live', 'meta.json']);
    expect((await cuff('cat', 'one')).out).toBe('wombats 42\n');
    expect((await cuff('tail', '-n', '1', 'one')).out).toBe('wombats 42\n');
    expect((await cuff('ls')).out).toMatch(/^one +running .*wombats/m);
    const [row] = await ps();
    expect(row).toMatchObject({ session_id: 'one', runner_alive: true });
    const follower = start('tail', '-f', 'one');
    await follower.seen(/wombats/);
    run.goOn();
    expect(await run.result).toMatchObject({ code: 0, out: 'wombats 42\nthen go\n', err: '' });
    expect((await follower.result).out).toBe('wombats 42\nthen go\n');
    expect(onDisk()).not.toContain('wombats');
    expect(runsInMemory()).toEqual([]);
    expect(fs.readdirSync(cli.dir('one'))).toContain('output.bin.gz.age');
    expect((await cuff('cat', 'one')).out).toBe('wombats 42\nthen go\n');
    const ended = await begun('two');
    expect((await cuff('kill', 'two')).code).toBe(0);
    expect((await ended.result).signal).toBe('SIGTERM');
    expect((await cuff('ls')).out).toMatch(/^two +signaled +SIGTERM/m);
    expect((await cuff('verify', '--all', '--deep')).out).toContain('2 sealed captures hashed');
  });

  it('whose starter is killed goes on, and is encrypted by the next sweep', async () => {
    const run = await begun('left');
    const gone = once(run.child, 'exit'); // the runner keeps its streams
    run.child.kill('SIGKILL');
    await gone;
    expect((await cuff('cat', 'left')).out).toBe('wombats 42\n');
    await cuff('kill', 'left');
    expect(onDisk()).not.toContain('wombats');
    const swept = await cuff('sweep');
    expect([swept.code, swept.err]).toEqual([0, expect.stringContaining('Packed 1 capture')]);
    expect(runsInMemory()).toEqual([]);
    expect(onDisk()).not.toContain('wombats');
    expect((await cuff('cat', 'left')).out).toBe('wombats 42\n');
  });

  it('whose runner is killed keeps what it had printed for the readers', async () => {
    const run = await begun('broken');
    const pid = (await ps()).find(({ session_id }) => session_id === 'broken')?.runner_pid ?? 0;
    process.kill(pid, 'SIGKILL');
    await run.result;
    run.goOn();
    const read = await cuff('cat', 'broken');
    expect(read.out).toBe('wombats 42\n');
    expect(read.err).toContain('its runner was killed');
    expect((await cuff('ls')).out).toMatch(/^broken +failed/m);
    expect(onDisk()).not.toContain('wombats');
  });

  it('of a server is read, ended, and encrypted when the server has time', async () => {
    const stateRoot = join(cli.root, 'server');
    const env = { ...process.env, XDG_CONFIG_HOME: config, XDG_RUNTIME_DIR: runtime };
    const about = { stateRoot, cwd: project, env };
    const shell = createShell({ ...about, live: livePlaces({ ...about, log: () => undefined }) });
    onTestFinished(() => shell.close());
    const run = shell.start('echo wombats; exec sleep 1000');
    const { chunks } = await shell.waitOutput(run.id, 0, 600_000);
    expect(Buffer.concat(chunks.map(({ bytes }) => bytes)).toString()).toBe('wombats\n');
    expect(shell.list().map(({ state }) => state)).toEqual(['running']);
    expect(onDisk()).not.toContain('wombats');
    await shell.kill(run.id);
    expect(await shell.wait(run.id)).toMatchObject({ endedBy: 'kill' });
    const recipients = () => ownRecipients(project, env);
    const thread = new PackThread();
    const owner = thisProcess();
    const parts = { store: shell.store, owner, ledger: undefined, budgetBytes: () => 1e9 };
    const packer = new Packer({ ...parts, pack: thread.pack, recipients });
    await run.closed;
    const reasons: string[] = [];
    for await (const { reason } of packer.pass()) reasons.push(reason);
    await thread.stop();
    expect(reasons).toEqual(['encrypted']);
    const dir = join(stateRoot, 'sessions', run.id);
    expect(fs.readdirSync(dir)).toContain('output.bin.gz.age');
    expect(onDisk()).not.toContain('wombats');
  });

  it('is said to be lost where the memory is gone', async () => {
    const run = await begun('lost');
    fs.rmSync(join(runtime, 'cuff'), { recursive: true });
    run.goOn();
    expect((await run.result).code).toBe(0);
    expect((await cuff('ls')).out).toMatch(/^lost +failed .*\(was in memory\)/m);
    const read = await cuff('cat', 'lost');
    expect([read.out, read.err]).toEqual([
      '',
      'Its output and its command were in memory, and are gone: a logout or a restart ended it.\n',
    ]);
    const { sessions } = JSON.parse((await cuff('ls', '--json')).out);
    const lost = sessions.find((row: RunJson) => row.session_id === 'lost');
    expect(lost).toMatchObject({ state: 'failed', reason: 'was kept in memory, which is gone' });
  });
});

it('says so, and is on the disk, where no directory is in memory', async () => {
  const env = { XDG_CONFIG_HOME: config, XDG_RUNTIME_DIR: '' };
  const words = [process.execPath, binary('cuff'), 'run', '--session-id', 'disk', '--'];
  const live = cli.start([...words, 'echo', 'wombats'], { cwd: project, env });
  live.child.stdin?.end();
  expect(await live.result).toMatchObject({
    code: 0,
    out: 'wombats\n',
    err:
      'cuff: its capture is on the disk while it runs: ' +
      'XDG_RUNTIME_DIR names no directory of yours alone\n',
  });
  expect(fs.readdirSync(cli.dir('disk'))).toContain('output.bin.gz.age');
});
