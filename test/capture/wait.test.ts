import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { rmSync } from 'node:fs';
import { text as textOf } from 'node:stream/consumers';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { ReadResult } from '../../src/capture/reader.ts';
import { createCapture, pinCapture, rewriteMeta } from '../../src/capture/store.ts';
import { follow, waitOutput } from '../../src/capture/wait.ts';
import type { ProcessId } from '../../src/types.ts';
import { build, compile, metaOf, RUNNER, type TestStore, testStore } from './helper.ts';

const LONG = 60_000;

const text = (read: ReadResult): string =>
  Buffer.concat(read.chunks.map((one) => one.bytes)).toString();

/** A capture that another process writes, by orders that it takes line by line. */
async function otherWriter(): Promise<{
  store: TestStore;
  child: ChildProcess;
  order: (...words: string[]) => void;
}> {
  const base = testStore();
  const dir = createCapture(base, metaOf('one'), ['x']);
  const program = compile(`
    import { createInterface } from 'node:readline';
    import { openWriter } from '../../src/capture/writer.ts';
    import { finalOf, metaOf } from './meta.ts';
    const writer = openWriter(process.argv[2], metaOf('one'), { now: Date.now });
    for await (const line of createInterface(process.stdin)) {
      const [verb, channel, ...words] = line.split(' ');
      if (verb === 'append') writer.append(channel, Buffer.from(words.join(' ') + '\\n'));
      if (verb === 'flood') {
        for (let n = 0; n < Number(channel); n += 1) {
          writer.append(n % 2 ? 'stderr' : 'stdout', Buffer.from(n + '\\n'));
        }
      }
      if (verb === 'finish') writer.finish(finalOf());
    }
  `);
  const child = spawn(process.execPath, [program, dir], { stdio: ['pipe', 'ignore', 'inherit'] });
  onTestFinished(() => void child.kill('SIGKILL'));
  await once(child, 'spawn');
  const runner: ProcessId = { pid: child.pid ?? 0, startTime: 1 };
  rewriteMeta(dir, metaOf('one', { runner }), ['x']);
  const dead = (): boolean => child.exitCode !== null || child.signalCode !== null;
  const alive = (one: ProcessId): boolean => one.pid === runner.pid && !dead();
  const store = { ...base, alive, now: Date.now };
  return { store, child, order: (...words) => void child.stdin?.write(`${words.join(' ')}\n`) };
}

describe('waiting for output', () => {
  it('answers at once when there are bytes behind the cursor, or none can come', async () => {
    const store = testStore();
    build(store, [{ bytes: 'abc' }]);
    expect(text(await waitOutput(store, 'one', 1, LONG))).toBe('bc');
    const end = { chunks: [], nextCursor: 3, eof: true, final: true };
    expect(await waitOutput(store, 'one', 3, LONG)).toEqual(end);
    expect(await waitOutput(store, 'one', 99, LONG)).toEqual(end);
  });

  it('an unknown session is not found', async () => {
    await expect(waitOutput(testStore(), 'none', 0, LONG)).rejects.toMatchObject({
      code: 'session_not_found',
      message: 'session not found',
    });
    await expect(waitOutput(testStore(), '../x', 0, LONG)).rejects.toMatchObject({
      code: 'session_id_invalid',
    });
  });

  it('bytes that another process writes end it, every time', async () => {
    const { store, order } = await otherWriter();
    let cursor = 0;
    for (let n = 0; n < 30; n += 1) {
      const waiting = waitOutput(store, 'one', cursor, LONG);
      order('append', 'stdout', `line ${n}`);
      const read = await waiting;
      expect(text(read)).toBe(`line ${n}\n`);
      cursor = read.nextCursor;
    }
    const waiting = waitOutput(store, 'one', cursor, LONG);
    order('finish');
    expect(await waiting).toEqual({ chunks: [], nextCursor: cursor, eof: true, final: true });
  });

  it('several waiters with their own cursors all get their bytes', async () => {
    const { store, order } = await otherWriter();
    const waiting = [0, 0, 3, 1_000].map((cursor) => waitOutput(store, 'one', cursor, LONG));
    order('append', 'stderr', 'hello');
    expect((await Promise.all(waiting)).map(text)).toEqual(Array(4).fill('hello\n'));
  });

  it('a runner that dies without a word ends it', async () => {
    const { store, child, order } = await otherWriter();
    const first = waitOutput(store, 'one', 0, LONG);
    order('append', 'stdout', 'last words');
    const { nextCursor } = await first;
    const waiting = waitOutput(store, 'one', nextCursor, LONG);
    child.kill('SIGKILL');
    expect(await waiting).toEqual({ chunks: [], nextCursor, eof: true, final: true });
  });

  it('time that is up, and a caller that gives up, end it with what there is', async () => {
    const store = testStore();
    store.living.push(RUNNER);
    build(store, [], { final: 'missing' });
    const nothing = { chunks: [], nextCursor: 0, eof: true, final: false };
    expect(await waitOutput(store, 'one', 0, 0)).toEqual(nothing);
    expect(await waitOutput(store, 'one', 0, 20)).toEqual(nothing);
    const gaveUp = new AbortController();
    const waiting = waitOutput(store, 'one', 0, LONG, gaveUp.signal);
    gaveUp.abort();
    expect(await waiting).toEqual(nothing);
    expect(await waitOutput(store, 'one', 0, LONG, AbortSignal.abort())).toEqual(nothing);
  });

  it('a capture that goes away while somebody waits is not found any more', async () => {
    const store = testStore();
    store.living.push(RUNNER);
    const { dir } = build(store, [], { final: 'missing' });
    const waiting = waitOutput(store, 'one', 0, LONG);
    rmSync(dir, { recursive: true });
    await expect(waiting).rejects.toMatchObject({ code: 'session_not_found' });
  });

  it('leaves no watch and no timer behind: the process ends by itself', async () => {
    const store = testStore();
    store.living.push(RUNNER);
    build(store, [{ bytes: 'abc' }], { final: 'missing', meta: { transport: 'merged' } });
    build(store, [], { id: 'two', final: 'missing' });
    const program = compile(`
      import { rmSync } from 'node:fs';
      import { follow, waitOutput } from '../../src/capture/wait.ts';
      const store = { root: process.argv[2], alive: () => true, now: Date.now };
      const stop = new AbortController();
      const all = [1, 2, 3].map(() => waitOutput(store, 'one', 3, ${LONG}, stop.signal));
      setImmediate(() => stop.abort());
      await Promise.all(all);
      await waitOutput(store, 'one', 3, 5);
      for await (const read of follow(store, 'one')) break;
      const quit = new AbortController();
      for await (const read of follow(store, 'one', { signal: quit.signal })) quit.abort();
      const waits = () => waitOutput(store, 'two', 0, ${LONG});
      const follows = () => follow(store, 'one', { from: 3 }).next();
      for (const act of [waits, follows]) {
        const going = act();
        rmSync(store.root + '/sessions', { recursive: true, force: true });
        await going.catch(() => {});
      }
      process.stdout.write('done');
    `);
    const child = spawn(process.execPath, [program, store.root], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    onTestFinished(() => void child.kill('SIGKILL'));
    const said = textOf(child.stdout);
    const [code] = await once(child, 'exit');
    expect([code, await said]).toEqual([0, 'done']);
  });

  it('changes that bring no bytes do not end it', async () => {
    const { store, order } = await otherWriter();
    const waiting = waitOutput(store, 'one', 0, LONG);
    for (let n = 0; n < 20; n += 1) pinCapture(store, 'one', n % 2 === 0);
    order('append', 'stdout', 'x');
    expect(text(await waiting)).toBe('x\n');
  });
});

describe('following', () => {
  it('gives every byte once and in order, with its stream, to the end', async () => {
    const { store, order } = await otherWriter();
    const got: Record<string, string> = { stdout: '', stderr: '' };
    let cursor = 0;
    order('flood', '3000');
    order('append', 'stdout', 'end');
    order('finish');
    for await (const read of follow(store, 'one')) {
      for (const { chunk, bytes } of read.chunks) {
        expect(chunk.offset).toBe(cursor);
        cursor += bytes.length;
        got[chunk.channel] += Buffer.from(bytes).toString();
      }
      expect(read.nextCursor).toBe(cursor);
    }
    const numbers = (odd: number): string =>
      Array.from({ length: 1_500 }, (_, n) => `${2 * n + odd}\n`).join('');
    expect(got).toEqual({ stdout: `${numbers(0)}end\n`, stderr: numbers(1) });
  });

  it('starts where it is told to, and sees each line as it is written', async () => {
    const { store, order } = await otherWriter();
    order('append', 'stdout', 'old');
    await waitOutput(store, 'one', 0, LONG);
    const seen: string[] = [];
    let n = 0;
    order('append', 'stdout', 'new 0');
    for await (const read of follow(store, 'one', { from: 4 })) {
      seen.push(text(read));
      n += 1;
      if (n < 20) order('append', 'stdout', `new ${n}`);
      if (n === 20) order('finish');
    }
    expect(seen).toEqual(Array.from({ length: 20 }, (_, k) => `new ${k}\n`));
  });

  it('ends when the caller stops or the capture is swept away', async () => {
    const store = testStore();
    store.living.push(RUNNER);
    const { dir } = build(store, [{ bytes: 'abc' }], {
      final: 'missing',
      meta: { transport: 'merged' },
    });
    for await (const read of follow(store, 'one')) {
      expect(text(read)).toBe('abc');
      break;
    }
    const stop = new AbortController();
    for await (const _ of follow(store, 'one', { signal: stop.signal })) stop.abort();
    for await (const _ of follow(store, 'one')) rmSync(dir, { recursive: true });
    await expect(follow(store, 'one').next()).rejects.toMatchObject({ code: 'session_not_found' });
  });
});
