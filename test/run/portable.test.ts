// The portable backend by itself, with a sink in memory: what the shared contract suite cannot see
// from above. Order of events, forwarding, failing sinks, and who gets which signal.
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough, Writable } from 'node:stream';
import { describe, expect, it, onTestFinished } from 'vitest';
import { PORTABLE_LIMITS, portableBackend } from '../../src/run/portable.ts';
import { processAlive } from '../../src/run/processes.ts';
import type { RunMessage } from '../../src/run/spec.ts';
import { FACT_MS_MAX } from '../pace.ts';
import { bash, fakeSink, gone, specOf, start } from './portable-helper.ts';

// Whoever takes TERM ends with it, however long that takes on a busy machine.
const KILL = { signal: 'TERM', graceMs: 30_000, cause: 'kill' } as const;
const POLL = { timeout: FACT_MS_MAX };

function tempDir(): string {
  const dir = mkdtempSync(join(tmpdir(), 'cuff-portable-'));
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }));
  return dir;
}

/** A stream that takes each write only when told to. */
function slowReader(steps: string[], name: string): Writable & { take(): void } {
  const held: (() => void)[] = [];
  const stream = new Writable({
    highWaterMark: 1,
    write(_bytes, _encoding, taken) {
      steps.push(`forward ${name}`);
      held.push(taken);
    },
  });
  return Object.assign(stream, { take: () => held.shift()?.() });
}

describe('a portable run', () => {
  it('is on record before it is forwarded, and before it is said to be done', async () => {
    const sink = fakeSink();
    const streams = { stdout: slowReader(sink.steps, 'stdout'), stderr: new PassThrough() };
    const run = start(specOf(bash('echo hi'), { forward: true }), { sink, streams });
    await run.sink.shows(/hi/);
    expect(sink.steps).toEqual(['sink started', 'said started', 'sink stdout', 'forward stdout']);
    streams.stdout.take();
    expect(await run.message('done')).toEqual({
      kind: 'done',
      outcome: { kind: 'exited', code: 0 },
      outputBytes: 3,
      lostBytes: 0,
      tookMs: expect.any(Number),
      survivors: 0,
      endedBy: 'itself',
    });
    await run.message('ended');
    expect(sink.steps.slice(4)).toEqual([
      'sink shell_exited',
      'sink finish closed',
      'said done',
      'said ended',
    ]);
    expect(sink.events).toEqual([{ type: 'shell_exited', fields: { exit_code: 0 } }]);
  });

  it('waits with its end until a slow reader has everything', async () => {
    const sink = fakeSink();
    const streams = { stdout: slowReader(sink.steps, 'stdout'), stderr: new PassThrough() };
    const run = start(specOf(bash('echo hi'), { forward: true }), { sink, streams });
    await run.sink.shows(/hi/);
    // Longer than the drain: a reader that is slow is not a survivor.
    await expect.poll(() => sink.steps, POLL).toContain('sink shell_exited');
    const survivor = start(specOf(bash('sleep 100 &')));
    await survivor.message('done'); // which takes the drain
    survivor.handle.kill({ ...KILL, signal: 'KILL' });
    await survivor.message('ended');
    expect(run.messages.map(({ kind }) => kind)).toEqual(['started']);
    streams.stdout.take();
    await run.message('ended');
  });

  it('is held up by a reader that does not read', async () => {
    const sink = fakeSink();
    const streams = { stdout: slowReader(sink.steps, 'stdout'), stderr: new PassThrough() };
    const run = start(specOf(['yes'], { forward: true }), { sink, streams });
    await run.sink.shows(/y/);
    const { pid } = (await run.message('started')).child;
    // Asleep in write(2): it waits for room.
    const asleep = (): string => readFileSync(`/proc/${pid}/wchan`, 'utf8');
    await expect.poll(asleep, POLL).toContain('sock');
    expect(sink.outputBytes).toBeLessThan(256 * 1024);
    run.handle.kill({ ...KILL, signal: 'KILL' });
    while (!run.messages.some(({ kind }) => kind === 'ended')) {
      streams.stdout.take();
      await new Promise((resolve) => setImmediate(resolve));
    }
  });

  it('gets SIGPIPE when the reader of its forwarded output leaves', async () => {
    const streams = {
      stdout: new Writable({ write: (_bytes, _encoding, taken) => taken(new Error('EPIPE')) }),
      stderr: new PassThrough(),
    };
    // The first write may fail with ECONNRESET only: what was unread then is in the way.
    const text = 'while :; do echo y; done 2> /dev/null';
    const run = start(specOf(bash(text), { forward: true }), { streams });
    expect((await run.message('done')).outcome).toEqual({ kind: 'signaled', signal: 'SIGPIPE' });
    expect(run.sink.text()).toMatch(/^y\n/);
    await run.message('ended');
  });

  it('forwards both streams to their own, byte for byte', async () => {
    const [stdout, stderr] = [new PassThrough(), new PassThrough()];
    const text = 'head -c 300000 /dev/urandom | tee /dev/fd/2 2>&1 1>&3 3>&- | cat; echo e >&2';
    const run = start(specOf(bash(`exec 3>&1; ${text}`), { forward: true }), {
      streams: { stdout, stderr },
    });
    const read = async (stream: PassThrough): Promise<Buffer> => {
      const pieces: Buffer[] = [];
      run.message('ended').then(() => stream.end());
      for await (const piece of stream) pieces.push(piece);
      return Buffer.concat(pieces);
    };
    const [out, err] = await Promise.all([read(stdout), read(stderr)]);
    expect(out.equals(run.sink.bytes('stdout'))).toBe(true);
    expect(out.length).toBeGreaterThan(0);
    expect(err.toString()).toBe('e\n');
  });

  it('is not recorded without a directory, and still counts its bytes', async () => {
    const run = start(specOf(bash('echo hi'), { dir: undefined }));
    expect(await run.message('done')).toMatchObject({ outputBytes: 3 });
    expect(run.sink.steps.filter((step) => step.startsWith('sink'))).toEqual([]);
  });
});

describe('starting', () => {
  const failed = async (argv: string[], changes = {}): Promise<RunMessage> => {
    const run = start(specOf(argv, changes));
    const message = await run.message('failed');
    expect(run.messages).toEqual([message]);
    const { error, message: text } = message;
    const outcome = { kind: 'failed', error, message: text };
    expect(run.sink.finals).toEqual([
      { ended: { at: expect.any(Number), outcome, endedBy: 'itself' }, closed: true },
    ]);
    return message;
  };

  it('tells a missing directory from a missing program', async () => {
    expect(await failed(['true'], { cwd: '/no/such' })).toEqual({
      kind: 'failed',
      stage: 'cwd',
      error: 'ENOENT',
      message: '/no/such: No such file or directory',
    });
    expect(await failed(['no-such-program'])).toEqual({
      kind: 'failed',
      stage: 'exec',
      error: 'ENOENT',
      message: 'no-such-program: No such file or directory',
    });
    const dir = tempDir();
    writeFileSync(join(dir, 'file'), '#!/bin/sh\n');
    expect(await failed(['true'], { cwd: join(dir, 'file') })).toMatchObject({
      stage: 'cwd',
      error: 'ENOTDIR',
    });
  });

  it.each(['pipe', 'pty'] as const)('fails over a %s as execve would', async (transport) => {
    const dir = tempDir();
    const plain = join(dir, 'plain');
    writeFileSync(plain, '#!/bin/sh\n');
    chmodSync(plain, 0o644);
    const exec = (error: string) => ({ kind: 'failed', stage: 'exec', error });
    expect(await failed([plain], { transport })).toMatchObject(exec('EACCES'));
    expect(await failed([dir], { transport })).toMatchObject(exec('EACCES'));
    expect(await failed([''], { transport })).toMatchObject(exec('ENOENT'));
    expect(await failed([`${plain}/x`], { transport })).toMatchObject(exec('ENOTDIR'));
    expect(await failed(['plain'], { transport })).toMatchObject(exec('ENOENT'));
    expect(await failed(['plain'], { transport, env: { PATH: dir } })).toMatchObject(
      exec('EACCES'),
    );
    expect(await failed(['true'], { transport, cwd: '/no/such' })).toMatchObject({ stage: 'cwd' });
  });

  it('reports what Node refuses to start at once', async () => {
    expect(await failed(['true', 'x'.repeat(1 << 20)])).toMatchObject({ error: 'E2BIG' });
    expect(await failed(['true', 'a\0b'])).toMatchObject({ error: 'EINVAL' });
  });

  it('says nothing before start has returned', async () => {
    const messages: RunMessage[] = [];
    const backend = portableBackend({ openSink: () => fakeSink() });
    for (const argv of [['true'], ['no-such'], ['true', 'a\0b']]) {
      backend.start(specOf(argv), (message) => messages.push(message));
      expect(messages).toEqual([]);
    }
    await expect
      .poll(() => messages.map(({ kind }) => kind).sort(), POLL)
      .toEqual(['done', 'ended', 'failed', 'failed', 'started']);
  });

  it('goes on without a sink, and says so; strict does not start', async () => {
    const broken = Object.assign(new Error('read-only'), { code: 'EROFS' });
    const messages: RunMessage[] = [];
    const backend = portableBackend({
      openSink: () => {
        throw broken;
      },
    });
    backend.start(specOf(['true']), (message) => messages.push(message));
    await expect
      .poll(() => messages.map(({ kind }) => kind), POLL)
      .toEqual(['uncaptured', 'started', 'done', 'ended']);
    const strict: RunMessage[] = [];
    backend.start(specOf(['true'], { strict: true }), (message) => strict.push(message));
    await expect
      .poll(() => strict, POLL)
      .toEqual([{ kind: 'failed', stage: 'capture', error: 'EROFS', message: 'read-only' }]);
  });
});

describe('ending', () => {
  it('strict ends a run whose bytes cannot be kept', async () => {
    const sink = fakeSink([], 2);
    const run = start(specOf(bash('echo 1; echo 2; sleep 100'), { strict: true }), { sink });
    expect(await run.message('done')).toMatchObject({
      outcome: { kind: 'signaled', signal: 'SIGTERM' },
      endedBy: 'capture',
    });
    expect(sink.events.map(({ type }) => type)).toEqual(['shell_exited', 'kill']);
    expect(sink.events[1]?.fields).toMatchObject({ by: 'capture', signal: 'SIGTERM', alive: [] });
  });

  it('without strict a run whose bytes cannot be kept goes on', async () => {
    const sink = fakeSink([], 2);
    const run = start(specOf(bash('echo 1; echo 2; exit 3')), { sink });
    expect(await run.message('done')).toMatchObject({ outcome: { kind: 'exited', code: 3 } });
  });

  it('takes orders that come before the command has been started', async () => {
    const run = start(specOf(['cat'], { stdin: 'orders' }));
    run.handle.write(Buffer.from('early\n'));
    run.handle.endInput();
    expect((await run.message('done')).outcome).toEqual({ kind: 'exited', code: 0 });
    expect(run.sink.text()).toBe('early\n');
    const killed = start(specOf(['sleep', '100']));
    killed.handle.kill(KILL);
    expect(await killed.message('done')).toMatchObject({
      outcome: { kind: 'signaled', signal: 'SIGTERM' },
      endedBy: 'kill',
    });
  });

  it('gives every process the signal of a kill once', async () => {
    const child = `trap 'echo t' TERM; echo up; while :; do sleep 0.01; done`;
    const text = `trap 'echo T' TERM; (${child}) & wait; wait; wait`;
    const run = start(specOf(bash(text)));
    await run.sink.shows(/up/);
    run.handle.kill(KILL);
    await run.sink.shows(/T/);
    await run.sink.shows(/t/);
    await new Promise((resolve) => setTimeout(resolve, 200)); // for a second one to show itself
    run.handle.kill({ ...KILL, signal: 'KILL' });
    await run.message('ended');
    expect(run.sink.text('stdout').split('\n').sort()).toEqual(['', 'T', 't', 'up']);
  });

  it('reaches stopped processes, other groups of the session, and setsid children', async () => {
    const text =
      'setsid sleep 101 & echo $!; set -m; sleep 102 & echo $!; (kill -STOP $BASHPID) & wait';
    const run = start(specOf(bash(text)));
    await run.sink.shows(/\d+\n\d+\n/);
    const pids = run.sink.text().trim().split('\n').map(Number);
    expect(pids.map((pid) => processAlive({ pid, startTime: 0 }))).toEqual([true, true]);
    run.handle.kill(KILL);
    await run.message('ended');
    expect(pids.map((pid) => processAlive({ pid, startTime: 0 }))).toEqual([false, false]);
    const kill = run.sink.events.find(({ type }) => type === 'kill');
    expect(kill?.fields).toMatchObject({ signal: 'SIGTERM', by: 'order', alive: [] });
    expect(kill?.fields.died).toEqual(expect.arrayContaining(pids));
  });

  it('lets go of an escaped process after a kill', async () => {
    const escaped = 'until [ "$(ps -o sid= -p $!)" -eq $! ]; do :; done';
    const run = start(specOf(bash(`setsid sleep 100 & ${escaped}; echo $!`)));
    await run.message('done');
    const id = { pid: Number(run.sink.text()), startTime: 0 };
    onTestFinished(async () => {
      process.kill(id.pid, 'SIGKILL');
      await gone(id);
    });
    run.handle.kill(KILL);
    await run.message('ended');
    expect(processAlive(id)).toBe(true);
    expect(run.sink.finals.map(({ closed }) => closed)).toEqual([false, true]);
  });

  it('is over only when survivors that do not hold the output are gone', async () => {
    // The shell ends once the other has let go of its output.
    const away = 'until [ /proc/$!/fd/1 -ef /dev/null -a /proc/$!/fd/2 -ef /dev/null ]; do :; done';
    const run = start(specOf(bash(`sleep 100 > /dev/null 2>&1 & ${away}; echo $!`)));
    expect(await run.message('done')).toMatchObject({ survivors: 1 });
    const pid = Number(run.sink.text());
    expect(run.sink.finals.map(({ closed }) => closed)).toEqual([false]);
    const survivors = run.sink.events.find(({ type }) => type === 'survivors');
    expect(survivors?.fields).toEqual({
      processes: [
        {
          pid,
          start_time: expect.any(Number),
          // Or the bash that is becoming it this very moment.
          command: expect.stringMatching(/sleep|bash/),
          holds_output: false,
        },
      ],
    });
    process.kill(pid, 'SIGTERM');
    await run.message('ended');
    expect(run.sink.finals.map(({ closed }) => closed)).toEqual([false, true]);
  });

  it('names survivors that hold the output, and keeps what they write', async () => {
    const text = '(trap "echo bye; exit" USR1; echo up; while :; do sleep 0.01; done) & echo $!';
    const run = start(specOf(bash(`${text}; read x`), { stdin: 'orders' }));
    await run.sink.shows(/up/);
    run.handle.endInput();
    await run.message('done');
    const pid = Number(/\d+/.exec(run.sink.text())?.[0]);
    const survivors = run.sink.events.find(({ type }) => type === 'survivors');
    expect(survivors?.fields.processes).toContainEqual(
      expect.objectContaining({ pid, holds_output: true }),
    );
    process.kill(pid, 'SIGUSR1');
    await run.message('ended');
    expect(run.sink.text()).toContain('bye\n');
  });

  it('signals the command alone, unless a terminal meant everybody', async () => {
    const child = `trap 'echo t; exit' INT; echo up; sleep 100 & wait`;
    const text = `trap 'echo T' INT; (${child}) & wait; wait`;
    const alone = start(specOf(bash(`${text}; exit 0`), { graceMs: 50 }));
    await alone.sink.shows(/up/);
    alone.handle.signal('INT');
    await alone.sink.shows(/T/);
    expect(alone.sink.text()).not.toContain('t');
    expect(alone.sink.events).toEqual([
      { type: 'signal', fields: { signal: 'SIGINT', from: 'order' } },
    ]);
    const stdout = Object.assign(new PassThrough(), { isTTY: true });
    const streams = { stdin: new PassThrough(), stdout, stderr: new PassThrough() };
    const all = start(specOf(bash(text), { session: 'auto', forward: true }), { streams });
    await all.sink.shows(/up/);
    all.handle.signal('SIGINT');
    await all.sink.shows(/t\n/);
    await all.sink.shows(/T\n/);
  });

  it('takes a deadline of months for what it is', async () => {
    const run = start(specOf(['true'], { killAfterMs: 2 ** 31 + 5 }));
    expect(await run.message('done')).toMatchObject({ endedBy: 'itself' });
  });

  it('ignores signals that do not exist', async () => {
    const run = start(specOf(bash('read x; exit 4'), { stdin: 'orders' }));
    run.handle.kill({ ...KILL, signal: 'NOPE' });
    run.handle.signal('0');
    run.handle.endInput();
    expect((await run.message('done')).outcome).toEqual({ kind: 'exited', code: 4 });
  });

  it('keeps input the command does not read up to a limit', async () => {
    const run = start(specOf(['sleep', '100'], { stdin: 'orders' }));
    await run.message('started');
    for (let i = 0; i < 18; i++) run.handle.write(Buffer.alloc(1024 * 1024));
    const lost = run.sink.events.map(({ fields }) => fields);
    expect(lost.at(-1)).toEqual({ offset: 0, lost_bytes: 1024 * 1024, reason: 'stdin' });
    expect(lost.length).toBeLessThan(3);
  });

  it('has limits that are each one sentence', () => {
    expect(PORTABLE_LIMITS.filter((limit) => !/^[A-Zs].*\.$/.test(limit))).toEqual([]);
  });
});
