// The contract of both backends, second part: every byte of a command's output, in its channel, in
// its order, byte for byte and with true totals.
import { createHash, randomBytes } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { decodeEvent } from '../../src/capture/event.ts';
import { decodeIndex } from '../../src/capture/format.ts';
import { portablePty } from '../../src/run/portable.ts';
import type { Channel } from '../../src/types.ts';
import { until } from '../cli/helper.ts';
import { lacking } from '../requirements.ts';
import {
  argv,
  bytesOf,
  chunksOf,
  describeBackends,
  lacks,
  shows,
  textOf,
  type World,
  world,
} from './backends.ts';

const noPty = lacking(!(await portablePty()), '@lydell/node-pty does not load here');

describeBackends('output', (backend) => {
  it('an index record has its time on a clock that does not jump, an event its place', async () => {
    const home = world(backend);
    const go = join(home.dir, 'go');
    const began = performance.now();
    const run = home.start(
      `echo one; until test -e ${go}; do sleep 0.02; done; echo two; sleep 60`,
    );
    await shows(home, run.id, /one/);
    const held = performance.now();
    await until(() => performance.now() - held >= 60, 'a while has passed between both');
    writeFileSync(go, '');
    await shows(home, run.id, /two/);
    const longest = performance.now() - began;
    await run.kill({ signal: 'KILL' });
    await run.closed;
    const lines = (name: string): string[] =>
      readFileSync(join(home.root, 'sessions', run.id, name), 'utf8')
        .trimEnd()
        .split('\n');
    const [one = -1, two = -1] = lines('index.jsonl').map((line) => decodeIndex(line)?.t);
    expect(one).toBeGreaterThanOrEqual(0);
    expect(two - one).toBeGreaterThanOrEqual(59);
    expect(two).toBeLessThanOrEqual(longest + 1);
    const kill = lines('events.jsonl')
      .map((line) => decodeEvent(line))
      .find((event) => event?.type === 'kill');
    expect(kill?.offset).toBe('one\ntwo\n'.length);
  });

  it('5 MB in each channel are captured byte for byte', async () => {
    const home = world(backend);
    const [out, err] = [randomBytes(5_000_000), randomBytes(5_000_000)];
    writeFileSync(join(home.dir, 'out'), out);
    writeFileSync(join(home.dir, 'err'), err);
    const run = home.start('cat out & cat err >&2; wait');
    await run.done;
    await run.closed;
    expect(sha(bytesOf(home, run.id, 'stdout'))).toBe(sha(out));
    expect(sha(bytesOf(home, run.id, 'stderr'))).toBe(sha(err));
    // The same bytes whatever the steps they are read in.
    const whole = sha(readFileSync(join(home.shell.open(run.id).dir, 'output.bin')));
    for (const step of [65_536, 99_991, 1_000_000]) {
      const pieces = chunksOf(home, run.id, step).map(({ bytes }) => bytes);
      expect(sha(Buffer.concat(pieces))).toBe(whole);
    }
    expectWholeIndex(home, run.id, { stdout: out, stderr: err });
  });

  it('the streams keep apart, each in its order', async () => {
    const home = world(backend);
    const run = home.start('for i in {1..200}; do echo o$i; echo e$i >&2; done');
    await run.done;
    await run.closed;
    const lines = (mark: string) => Array.from({ length: 200 }, (_, i) => `${mark}${i + 1}\n`);
    const [stdout, stderr] = [lines('o').join(''), lines('e').join('')];
    expect(textOf(home, run.id, 'stdout')).toBe(stdout);
    expect(textOf(home, run.id, 'stderr')).toBe(stderr);
    expectWholeIndex(home, run.id, { stdout: Buffer.from(stdout), stderr: Buffer.from(stderr) });
  });

  it('what is written after a pause is behind what was written before it', async () => {
    const home = world(backend);
    const text = 'echo 1; read x; echo 2 >&2; read x; echo 3; read x; echo 4 >&2';
    const run = home.start(text, { stdin: 'orders' });
    await run.started;
    for (const shown of [/1/, /2/, /3/]) {
      await shows(home, run.id, shown);
      run.write('\n');
    }
    await run.done;
    const order = chunksOf(home, run.id).map(({ chunk, bytes }) => [
      chunk.channel,
      Buffer.from(bytes).toString(),
    ]);
    expect(order).toEqual([
      ['stdout', '1\n'],
      ['stderr', '2\n'],
      ['stdout', '3\n'],
      ['stderr', '4\n'],
    ]);
  });

  it('every byte value comes through, NUL too', async () => {
    const home = world(backend);
    const every = Buffer.from(Uint8Array.from({ length: 256 }, (_, value) => value));
    const bytes = Buffer.concat([every, Buffer.alloc(1000), every]);
    writeFileSync(join(home.dir, 'bytes'), bytes);
    const run = home.start('cat bytes; cat bytes >&2');
    await run.done;
    expect(bytesOf(home, run.id, 'stdout').equals(bytes)).toBe(true);
    expect(bytesOf(home, run.id, 'stderr').equals(bytes)).toBe(true);
  });

  it('a line of 10 MB is one line', async () => {
    const home = world(backend);
    const run = home.start("head -c 10000000 /dev/zero | tr '\\0' x");
    await run.done;
    await run.closed;
    const { text, totals, partialLine } = home.shell.view(run.id, { kind: 'tail', bytesMax: 10 });
    expect({ text, totals, partialLine }).toEqual({
      text: 'x'.repeat(10),
      totals: { bytes: 10_000_000, lines: 1 },
      partialLine: true,
    });
    expect(sha(bytesOf(home, run.id))).toBe(sha(Buffer.alloc(10_000_000, 'x')));
  });

  it('a command without output has an empty capture', async () => {
    const home = world(backend);
    const run = home.start(argv('true'));
    await run.done;
    await run.closed;
    expect(chunksOf(home, run.id)).toEqual([]);
    expect(home.shell.read(run.id)).toMatchObject({ nextCursor: 0, eof: true, final: true });
  });

  it('what was printed can be read again from cursor 0 after the end', async () => {
    const home = world(backend);
    const run = home.start('echo one; echo two');
    await run.done;
    await run.closed;
    expect(textOf(home, run.id)).toBe('one\ntwo\n');
    expect(textOf(home, run.id)).toBe('one\ntwo\n');
  });
});

describeBackends('transports', (backend) => {
  it('a command may open /dev/stdout and /dev/stderr', async () => {
    const home = world(backend);
    const run = home.start('echo x > /dev/stdout && echo y | tee /dev/stderr');
    const { outcome } = await run.done;
    if (lacks(backend, '/dev/stdout can be opened')) {
      expect(outcome).toEqual({ kind: 'exited', code: 1 });
      expect(textOf(home, run.id, 'stderr')).toMatch(/No such device or address/);
      return;
    }
    expect(outcome).toEqual({ kind: 'exited', code: 0 });
    expect(textOf(home, run.id, 'stdout')).toBe('x\ny\n');
    expect(textOf(home, run.id, 'stderr')).toBe('y\n');
  });

  it('merged output is in the order it was written in', async () => {
    const home = world(backend);
    const run = home.start('for i in {1..200}; do echo o$i; echo e$i >&2; done', {
      transport: 'merged',
    });
    await run.done;
    const lines = textOf(home, run.id).trimEnd().split('\n');
    const wanted = Array.from({ length: 200 }, (_, i) => [`o${i + 1}`, `e${i + 1}`]).flat();
    if (lacks(backend, 'merged output is in true order')) {
      // Whole lines of both, each stream in its own order.
      for (const mark of ['o', 'e']) {
        const own = (line: string) => line.startsWith(mark);
        expect(lines.filter(own)).toEqual(wanted.filter(own));
      }
      return;
    }
    expect(lines).toEqual(wanted);
  });

  it('over a socket every chunk names its writer', async () => {
    const home = world(backend);
    const run = home.start('echo $BASHPID; (echo $BASHPID); (echo $BASHPID >&2)', {
      transport: 'socket',
    });
    await run.done;
    const chunks = chunksOf(home, run.id);
    const printed = textOf(home, run.id).trim().split('\n').map(Number);
    expect(printed).toHaveLength(3);
    const named = chunks.map(({ chunk }) => chunk.pid);
    if (lacks(backend, 'the socket transport names writers')) {
      expect(named.filter((pid) => pid !== undefined)).toEqual([]);
      return;
    }
    expect([...named].sort()).toEqual([...printed].sort());
  });

  it.skipIf(noPty)('a pty is a terminal of the given size', async () => {
    const home = world(backend);
    const size = { cols: 101, rows: 33 };
    const run = home.start('test -t 0 && test -t 1 && test -t 2 && stty size', {
      transport: 'pty',
      size,
    });
    expect((await run.done).outcome).toEqual({ kind: 'exited', code: 0 });
    const channels = new Set<Channel>(chunksOf(home, run.id).map(({ chunk }) => chunk.channel));
    expect([...channels]).toEqual(['pty']);
    expect(textOf(home, run.id)).toBe('33 101\r\n');
    const { meta } = home.shell.open(run.id);
    expect(meta).toMatchObject({ transport: 'pty', transportMode: 'posix-pty' });
  });

  it.skipIf(noPty)('a pty takes keys and follows a resize', async () => {
    const home = world(backend);
    const resized =
      'trap "stty size; seen=1" WINCH; echo up; until [ "$seen" ]; do sleep 0.01; done';
    const text = `${resized}; read x; echo "got $x"; read y`;
    const run = home.start(text, { transport: 'pty', stdin: 'orders' });
    await shows(home, run.id, /up/);
    run.resize(60, 20);
    await shows(home, run.id, /20 60/);
    run.write('keys\r');
    await shows(home, run.id, /got keys/);
    run.write('\u0003');
    expect((await run.done).outcome).toEqual({ kind: 'signaled', signal: 'SIGINT' });
  });
});

/** index.jsonl covers every byte once, and its running totals are those of the streams. */
function expectWholeIndex(home: World, id: string, streams: Record<string, Buffer>): void {
  const { dir } = home.shell.open(id);
  const lines = readFileSync(join(dir, 'index.jsonl'), 'utf8').split('\n');
  expect(lines.pop()).toBe('');
  const bytes = readFileSync(join(dir, 'output.bin'));
  const totals = { stdout: { bytes: 0, lines: 0 }, stderr: { bytes: 0, lines: 0 } };
  let offset = 0;
  for (const line of lines) {
    const record = decodeIndex(line);
    const own = record?.channel === 'stderr' ? totals.stderr : totals.stdout;
    if (record === undefined || record.channel === 'pty') throw new Error(`no record: ${line}`);
    own.bytes += record.length;
    own.lines += newlines(bytes.subarray(offset, offset + record.length));
    expect(record).toMatchObject({
      offset,
      totalBytes: [totals.stdout.bytes, totals.stderr.bytes],
      totalLines: [totals.stdout.lines, totals.stderr.lines],
    });
    offset += record.length;
  }
  expect(offset).toBe(bytes.length);
  for (const channel of ['stdout', 'stderr'] as const) {
    const stream = streams[channel] ?? Buffer.alloc(0);
    expect(totals[channel]).toEqual({ bytes: stream.length, lines: newlines(stream) });
  }
}

function newlines(bytes: Buffer): number {
  return bytes.reduce((count, byte) => count + (byte === 0x0a ? 1 : 0), 0);
}

function sha(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex');
}
