import { rmSync } from 'node:fs';
import { describe, expect, it, vi } from 'vitest';
import { createCapture, rewriteMeta } from '../../../src/capture/store.ts';
import { openWriter } from '../../../src/capture/writer.ts';
import { thisProcess } from '../../../src/run/processes.ts';
import { build, finalOf, metaOf } from '../../capture/helper.ts';
import { chunksOf, type Derun, derun, outputOf } from './helper.ts';

const LONG = 60_000;

/** A run that goes on for as long as the test wants: this process is its runner. */
function live(): Derun & { readonly dir: string; readonly writer: ReturnType<typeof openWriter> } {
  const made = derun(Date.now);
  const meta = metaOf('one', { transport: 'merged', createdAt: Date.now() });
  const dir = createCapture(made.store, meta, ['x']);
  rewriteMeta(dir, { ...meta, runner: thisProcess(), child: thisProcess() }, ['x']);
  return { ...made, dir, writer: openWriter(dir, meta, { now: Date.now }) };
}

const wait = (cursor: string, more: object = {}) => ({ session_id: 'one', cursor, ...more });

describe('wait_output', () => {
  it('waits at the tail of a live session until bytes come, and gives only those', async () => {
    const { ask, writer } = live();
    let cursor = '0';
    for (let n = 0; n < 20; n += 1) {
      let answered = false;
      const waiting = ask('wait_output', wait(cursor, { timeout_ms: LONG }));
      waiting.then(() => {
        answered = true;
      });
      await new Promise((resolve) => setImmediate(resolve));
      expect(answered).toBe(false);
      writer.append('stdout', Buffer.from(`line ${n}\n`));
      const answer = await waiting;
      expect(outputOf(answer)).toBe(`line ${n}\n`);
      expect(answer).toMatchObject({ state: 'running', eof: true, final: false });
      cursor = String(answer.next_cursor);
    }
  });

  it('answers with what is there already', async () => {
    const { ask, writer } = live();
    writer.append('stdout', Buffer.from('abc'));
    expect(outputOf(await ask('wait_output', wait('1', { timeout_ms: LONG })))).toBe('bc');
    // Nothing to wait for in a session that is over.
    const over = derun();
    build(over.store, [{ bytes: 'abc' }]);
    expect(await over.ask('wait_output', wait('3', { timeout_ms: LONG }))).toMatchObject({
      chunks: [],
      next_cursor: '3',
      eof: true,
      final: true,
    });
  });

  it('answers when the session ends', async () => {
    const { ask, writer } = live();
    const waiting = ask('wait_output', wait('0', { timeout_ms: LONG }));
    writer.finish(finalOf({ at: Date.now() }));
    expect(await waiting).toMatchObject({ state: 'exited', chunks: [], eof: true, final: true });
  });

  it('answers with nothing when the time is over', async () => {
    const { ask } = live();
    const start = performance.now();
    const answer = await ask('wait_output', wait('7', { timeout_ms: 200 }));
    expect(performance.now() - start).toBeGreaterThanOrEqual(199);
    expect(answer).toMatchObject({ chunks: [], next_cursor: '0', eof: true, final: false });
    expect(await ask('wait_output', wait('0', { timeout_ms: 0 }))).toMatchObject({ chunks: [] });
  });

  it('a cursor behind the end waits for what comes next', async () => {
    const { ask, writer } = live();
    writer.append('stdout', Buffer.from('abc'));
    const waiting = ask('wait_output', wait('999', { timeout_ms: LONG }));
    await new Promise((resolve) => setImmediate(resolve));
    writer.append('stdout', Buffer.from('d'));
    expect(chunksOf(await waiting)).toMatchObject([{ offset: 3, length: 1 }]);
  });

  it('ends at once when the caller gives up', async () => {
    const { call } = live();
    const caller = new AbortController();
    const waiting = call('wait_output', wait('0', { timeout_ms: LONG }), caller.signal);
    caller.abort();
    expect((await waiting).structured).toMatchObject({ chunks: [], final: false });
  });

  it('half a character does not wake one who reads text', async () => {
    const { ask, writer } = live();
    const waiting = ask('wait_output', wait('0', { timeout_ms: LONG, encoding: 'text' }));
    writer.append('stdout', Buffer.of(0xe2, 0x82));
    expect(outputOf(await ask('wait_output', wait('0', { timeout_ms: LONG })))).not.toBe('');
    expect(await ask('read_output', { session_id: 'one', encoding: 'text' })).toMatchObject({
      chunks: [],
      next_cursor: '0',
      eof: true,
    });
    writer.append('stdout', Buffer.of(0xac));
    expect(outputOf(await waiting)).toBe('€');
  });

  it('waits 30 s unless told otherwise, and never more than 60 s', async () => {
    const { call, refused } = live();
    const timers = vi.spyOn(globalThis, 'setTimeout');
    const longest = async (more: object): Promise<number> => {
      timers.mockClear();
      const caller = new AbortController();
      const waiting = call('wait_output', wait('0', more), caller.signal);
      caller.abort();
      await waiting;
      return Math.max(...timers.mock.calls.map(([, delay]) => delay ?? 0));
    };
    expect(await longest({})).toBe(30_000);
    expect(await longest({ timeout_ms: 60_000 })).toBe(60_000);
    expect(await longest({ timeout_ms: 3_600_000 })).toBe(60_000);
    timers.mockRestore();
    for (const timeout_ms of [-1, 0.5, '30000', null]) {
      expect(await refused('wait_output', wait('0', { timeout_ms }))).toBe(
        `parse timeout_ms: expected a whole number from 0, got ${JSON.stringify(timeout_ms)}`,
      );
    }
    expect(await refused('wait_output', { session_id: 'one' })).toBe(
      'cursor is required; start with "0" or pass the next_cursor of the last answer',
    );
  });

  it('a session that is removed meanwhile is not found', async () => {
    const { refused, dir } = live();
    const waiting = refused('wait_output', wait('0', { timeout_ms: LONG }));
    rmSync(dir, { recursive: true });
    expect(await waiting).toBe('session not found');
  });
});
