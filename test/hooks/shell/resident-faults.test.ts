// A helper that stays and does not answer, and clients of it that are none of ours.
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import * as fs from 'node:fs';
import { connect, createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { until } from '../../cli/helper.ts';
import { LineClient } from '../../mcp/clients.ts';
import { lacking } from '../../requirements.ts';
import { ResidentWorld } from './resident-world.ts';
import { CUFF } from './world.ts';

let world: ResidentWorld;
beforeEach(() => {
  world = new ResidentWorld();
});
afterEach(() => world.close());

let closeFake: () => void = () => undefined;
afterEach(() => closeFake());

/** Kills the helper, and listens where it did. */
async function inItsPlace(say: (socket: Socket) => void): Promise<void> {
  const pid = await world.resident();
  const path = world.socketPath();
  world.hurry();
  process.kill(pid, 'SIGKILL');
  await until(() => world.helpers().length === 0, 'it is gone');
  fs.rmSync(path);
  const open = new Set<Socket>();
  const fake = createServer((socket) => {
    open.add(socket.on('error', () => undefined).resume());
    say(socket);
  });
  closeFake = () => {
    for (const socket of open) socket.destroy();
    fake.close();
  };
  await once(fake.listen(path), 'listening');
}

describe('a helper that does not answer', () => {
  it('is left for a new one while it is stopped, and does nothing later', async () => {
    const pid = await world.resident();
    const cwd = world.project();
    world.hurry();
    process.kill(pid, 'SIGSTOP');
    try {
      expect(await world.record('echo on', cwd)).toMatchObject({ code: 0, out: 'on\n', err: '' });
      expect(world.commands(cwd)).toEqual(['echo on']);
    } finally {
      process.kill(pid, 'SIGCONT');
    }
    expect(await world.record('echo again', cwd)).toMatchObject({ out: 'again\n' });
    expect(world.commands(cwd)).toEqual(['echo on', 'echo again']);
    await world.left(pid);
  });

  it('is replaced once it was killed, and the next call has its entry', async () => {
    const pid = await world.resident();
    const stale = fs.statSync(world.socketPath()).ino;
    process.kill(pid, 'SIGKILL');
    await until(() => world.helpers().length === 0, 'it is gone');
    const cwd = world.project();
    expect(await world.record('echo next', cwd)).toMatchObject({ code: 0, out: 'next\n' });
    expect(world.commands(cwd)).toEqual(['echo next']);
    await until(() => fs.statSync(world.socketPath()).ino !== stale, 'another listens');
    expect(world.sockets()).toHaveLength(1);
  });

  it('killed during a call: the command goes on, and later calls are recorded', async () => {
    const pid = await world.resident();
    const cwd = world.project();
    const other = await world.heldBy(pid, cwd);
    process.kill(pid, 'SIGKILL');
    expect(await other.release()).toMatchObject({ code: 0, out: other.said });
    expect(await world.record('echo next', cwd)).toMatchObject({ out: 'next\n' });
    expect(world.commands(cwd)).toContain('echo next');
  });

  it('killed during a call: its entry comes when another has gone on and ended', async () => {
    const pid = await world.resident();
    const cwd = world.project();
    const { said, release } = await world.heldBy(pid, cwd);
    process.kill(pid, 'SIGKILL');
    await release();
    const ended = Date.now();
    await world.record('echo next', cwd);
    await until(() => Date.now() >= ended + 1_000, 'the session ends in a later second');
    for (const helper of world.helpers()) process.kill(helper, 'SIGTERM');
    await until(() => world.helpers().length === 0, 'the session is ended in order');
    expect(world.entries(cwd).map(({ stdout }) => stdout)).not.toContain(said);
    const argv = ['-c', 'cd "$1" && exec "$0" mcp', CUFF, cwd];
    const server = new LineClient('/bin/sh', argv, world.env);
    try {
      await server.initialize();
      await until(
        () => world.entries(cwd).some((one) => one.stdout === said),
        'the entry of the lost call',
      );
    } finally {
      await server.close();
    }
    expect(world.commands(cwd)).toHaveLength(2);
  });

  it.each([
    ['nothing', () => undefined],
    ['another word', (socket: Socket) => void socket.write('hi\n')],
    ['its end', (socket: Socket) => void socket.end()],
    ['no answer behind the greeting', (socket: Socket) => void socket.end('hello\n')],
    ['words without sense', (socket: Socket) => void socket.end('hello\nr 99 9\n')],
  ])('a program in its place that says %s changes nothing', async (_, say) => {
    await inItsPlace(say);
    const cwd = world.project();
    expect(await world.record('echo on', cwd)).toMatchObject({ code: 0, out: 'on\n', err: '' });
    expect(world.commands(cwd)).toEqual(['echo on']);
  });

  const FREE = 'hello\nx\n'; // as for a call that is not to be recorded

  it('a program of the same user that answers in its place is believed', async () => {
    await inItsPlace((socket) => void socket.write(FREE));
    const cwd = world.project();
    expect(await world.record('echo on', cwd)).toMatchObject({ code: 0, out: 'on\n', err: '' });
    expect(world.commands(cwd)).toEqual([]);
  });

  it('a socket in a directory that others can enter is not used', async () => {
    await inItsPlace((socket) => void socket.write(FREE));
    fs.chmodSync(join(world.root, 'helpers'), 0o755);
    const cwd = world.project();
    await world.record('echo on', cwd);
    expect(world.commands(cwd)).toEqual(['echo on']);
  });

  const NOBODY = ['--reuid', '65534', '--regid', '65534', '--clear-groups'];
  const unable = spawnSync('setpriv', [...NOBODY, 'true']).status !== 0;

  it.skipIf(lacking(unable, 'no other user can be had'))(
    'a program of another user is not believed',
    async () => {
      await world.resident();
      const path = world.socketPath();
      const theirs = fs.mkdtempSync(join(tmpdir(), 'cuff-theirs-'));
      fs.chmodSync(theirs, 0o777);
      const script = `require('node:net').createServer((s) => s.write(${JSON.stringify(FREE)}))
        .listen(${JSON.stringify(join(theirs, 's'))}, () => console.log('on'))`;
      const child = spawn('setpriv', [...NOBODY, process.execPath, '-e', script]);
      try {
        await once(child.stdout, 'data');
        fs.renameSync(join(theirs, 's'), path);
        const cwd = world.project();
        await world.record('echo on', cwd);
        expect(world.commands(cwd)).toEqual(['echo on']);
      } finally {
        child.kill('SIGKILL');
        fs.rmSync(theirs, { recursive: true });
      }
    },
  );
});

describe('its clients', () => {
  const request = (bytes: number) => `cuff-sh 1 ${bytes}\n`;
  const WORDS = ['w', '1', 'file', 'there', '/', '/bin/bash', 'true', '/', 'OPENCODE=1'];
  const OTHER = WORDS.map((word) => `${word}\0`).join('');

  it.each([
    ['garbage', Buffer.alloc(100_000, 'x')],
    ['half a request', Buffer.from(`${request(1000)}half`)],
    ['a request that is too long', Buffer.from(request(999_999_999))],
    ['another version', Buffer.from('cuff-sh 2 4\nabc\0')],
    ['another world', Buffer.from(`${request(OTHER.length)}${OTHER}`)],
    ['nothing', Buffer.alloc(0)],
  ])('%s is answered by no one, and others are served', async (_, bytes) => {
    const pid = await world.resident();
    const socket = connect(world.socketPath()).on('error', () => undefined);
    await once(socket, 'connect');
    if (bytes.length > 0) socket.write(bytes);
    const cwd = world.project();
    expect(await world.record('echo on', cwd)).toMatchObject({ out: 'on\n' });
    expect(world.commands(cwd)).toEqual(['echo on']);
    socket.destroy();
    await world.left(pid);
  });

  it('may send without end: it keeps little of it', async () => {
    const pid = await world.resident();
    const open: Socket[] = [];
    for (let at = 0; at < 300; at += 1) {
      const socket = connect(world.socketPath()).on('error', () => undefined);
      open.push(socket);
      socket.write(request(16_000_000));
      socket.write(Buffer.alloc(1_000_000));
    }
    await until(() => open.filter(({ destroyed }) => destroyed).length >= 250, 'it refuses most');
    const peak = /VmHWM:\s+(\d+)/.exec(fs.readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
    expect(Number(peak)).toBeLessThan(400_000);
    for (const socket of open) socket.destroy();
    const cwd = world.project();
    expect(await world.record('echo on', cwd)).toMatchObject({ out: 'on\n' });
    expect(world.commands(cwd)).toEqual(['echo on']);
  });
});
