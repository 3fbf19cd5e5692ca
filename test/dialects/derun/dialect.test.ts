import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { DerunPlugin } from '../../../src/dialects/derun/dialect.ts';
import { build, NOW, type Part, tempDir } from '../../capture/helper.ts';
import { chunksOf, derun, outputOf } from './helper.ts';

const STREAMS: readonly Part[] = [
  { bytes: 'out\n', at: NOW },
  { bytes: 'err\n', channel: 'stderr', at: NOW + 1_000 },
];

describe('the tools', () => {
  it('only read', async () => {
    const tools = derun().plugin.getTools();
    expect(tools.every(({ annotations }) => annotations?.readOnlyHint === true)).toBe(true);
  });

  it('answer with facts and the same facts as text, each with the schema version', async () => {
    const { store, call } = derun();
    build(store, STREAMS);
    for (const [name, args] of [
      ['list_sessions', {}],
      ['get_session', { session_id: 'one' }],
      ['read_output', { session_id: 'one' }],
      ['wait_output', { session_id: 'one', cursor: '0' }],
    ] as const) {
      const { success, text, structured } = await call(name, args);
      expect(success).toBe(true);
      expect(structured?.schema_version).toBe('v1alpha1');
      expect(JSON.parse(text)).toEqual(structured);
    }
  });

  it('refuse what they do not know, in one line', async () => {
    const { refused } = derun();
    expect(await refused('read_output', { session_id: 'one', curser: '0' })).toBe(
      'unknown argument "curser"; this tool takes session_id, cursor, max_bytes, encoding',
    );
    expect(await refused('delete_session')).toBe('unknown tool derun_delete_session');
  });
});

describe('list_sessions', () => {
  it('state filters and limit bounds', async () => {
    const { store, ask, refused } = derun();
    for (const id of ['a', 'b', 'c']) build(store, [], { id });
    build(store, [], { id: 'lost', final: 'missing' });
    const ids = async (args: object): Promise<unknown[]> => {
      const { sessions, more } = await ask('list_sessions', { ...args });
      return [...(sessions as { session_id: string }[]).map((one) => one.session_id), more];
    };
    expect(await ids({ state: 'exited' })).toEqual(['c', 'b', 'a', 0]);
    expect(await ids({ state: 'failed' })).toEqual(['lost', 0]);
    expect(await ids({ state: 'running' })).toEqual([0]);
    expect(await ids({ state: 'exited', limit: 2 })).toEqual(['c', 'b', 1]);
    expect(await ids({ limit: 1 })).toEqual(['lost', 3]);
    expect(await refused('list_sessions', { state: 'done' })).toBe(
      'parse state: expected one of starting, running, exited, signaled, failed, expired, ' +
        'got "done"',
    );
    for (const limit of [0, -1, 1.5, '3', null, 1e300]) {
      expect(await refused('list_sessions', { limit })).toBe(
        `parse limit: expected a whole number from 1, got ${JSON.stringify(limit)}`,
      );
    }
  });

  it('shortens a long command', async () => {
    const { store, ask } = derun();
    build(store, [], { meta: { command: { kind: 'shell', text: `echo ${'😀'.repeat(5_000)}` } } });
    const [row] = (await ask('list_sessions')).sessions as { command: string }[];
    expect([...(row?.command ?? '')].length).toBe(200);
    expect(row?.command.endsWith('😀...')).toBe(true);
  });
});

describe('get_session', () => {
  it('cuts a command that is too long, and says so', async () => {
    const { store, call, ask } = derun();
    build(store, [], { meta: { command: { kind: 'shell', text: 'x'.repeat(3_000_000) } } });
    const { execution } = await ask('get_session', { session_id: 'one' });
    expect(execution).toMatchObject({ command_truncated: true });
    expect((await call('get_session', { session_id: 'one' })).text.length).toBeLessThan(100_000);
  });
});

describe('read_output', () => {
  it('begins with cursor 0 unless told otherwise', async () => {
    const { store, ask } = derun();
    build(store, STREAMS);
    const answer = await ask('read_output', { session_id: 'one' });
    expect(await ask('read_output', { session_id: 'one', cursor: '0' })).toEqual(answer);
  });

  it('gives 65536 bytes unless told otherwise, and never more than 256 KiB', async () => {
    const { store, ask } = derun();
    build(store, [{ bytes: Buffer.alloc(2_000_000, 'x') }]);
    expect(await ask('read_output', { session_id: 'one' })).toMatchObject({
      next_cursor: '65536',
      eof: false,
      final: false,
    });
    const most = await ask('read_output', { session_id: 'one', max_bytes: 10_000_000 });
    expect(most.next_cursor).toBe('262144');
    const few = await ask('read_output', { session_id: 'one', cursor: '5', max_bytes: 3 });
    expect(chunksOf(few)).toMatchObject([{ offset: 5, length: 3, data: 'eHh4' }]);
    expect(few.next_cursor).toBe('8');
  });

  it('a cursor at or behind the end reads nothing and gives the end', async () => {
    const { store, ask } = derun();
    build(store, STREAMS);
    for (const cursor of ['8', '9', '9007199254740993', '18446744073709551615']) {
      expect(await ask('read_output', { session_id: 'one', cursor })).toMatchObject({
        chunks: [],
        next_cursor: '8',
        eof: true,
        final: true,
      });
    }
  });

  it('steps of any size give every byte once, as bytes and as text', async () => {
    const bytes = 'a€\x1b[31mré😀d\x1b[0m\n'.repeat(20);
    const { store, ask } = derun();
    const cuts = [0, 7, 8, 30, 101, 150];
    const whole = Buffer.from(bytes);
    build(
      store,
      cuts.map((cut, i) => ({ bytes: whole.subarray(cut, cuts[i + 1]) })),
    );
    const all = async (max_bytes: number, encoding: string): Promise<string> => {
      let cursor = '0';
      let read = '';
      while (true) {
        const answer = await ask('read_output', { session_id: 'one', cursor, max_bytes, encoding });
        read += encoding === 'text' ? outputOf(answer) : bytesOf(answer).toString('latin1');
        expect(answer.final || answer.next_cursor !== cursor).toBe(true);
        cursor = String(answer.next_cursor);
        if (answer.final) return read;
      }
    };
    const bytesOf = (answer: Parameters<typeof outputOf>[0]): Buffer =>
      Buffer.concat(chunksOf(answer).map(({ data = '' }) => Buffer.from(data, 'base64')));
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 1, max: 600 }), async (size) => {
        expect(await all(size, 'base64')).toBe(whole.toString('latin1'));
        // Shorter than an escape sequence, a step shows what it cannot recognise.
        if (size >= 6) expect(await all(size, 'text')).toBe('a€ré😀d\n'.repeat(20));
      }),
      { numRuns: 40 },
    );
  });

  it('thousands of tiny chunks do not make an answer that no client takes', async () => {
    const { store, call } = derun();
    const channels = ['stdout', 'stderr'] as const;
    build(
      store,
      Array.from({ length: 9_000 }, (_, i) => ({
        bytes: '"',
        channel: channels[i % 2] ?? 'stdout',
      })),
    );
    const { text, structured } = await call('read_output', { session_id: 'one', encoding: 'text' });
    expect(structured).toMatchObject({ next_cursor: '2000', eof: false });
    expect(text.length).toBeLessThan(400_000);
  });

  it('refuses fractions, negatives, strings and whatever else is no whole number', async () => {
    const { store, refused } = derun();
    build(store, STREAMS);
    for (const max_bytes of [0, -1, 0.5, 2 ** 53, '10', true, null, [1]]) {
      expect(await refused('read_output', { session_id: 'one', max_bytes })).toBe(
        `parse max_bytes: expected a whole number from 1, got ${JSON.stringify(max_bytes)}`,
      );
    }
    for (const cursor of [0, 5, '-1', '01', '1.5', '', ' 1', '1e3', 'abc', null]) {
      expect(await refused('read_output', { session_id: 'one', cursor })).toBe(
        'parse cursor: expected a byte offset as a string like "0", ' +
          `got ${JSON.stringify(cursor)}`,
      );
    }
    expect(await refused('read_output', { session_id: 'one', encoding: 'utf8' })).toBe(
      'parse encoding: expected one of base64, text, got "utf8"',
    );
  });
});

describe('a session that is not there', () => {
  const REQUIRED = 'session_id is required; list the sessions there are with derun_list_sessions';

  it('is not found, however it is asked for', async () => {
    const { store, refused } = derun();
    build(store, STREAMS);
    for (const session_id of ['none', '..', '.', '../one', 'a/b', '/etc', 'one\0', ' one', 'é']) {
      expect(await refused('get_session', { session_id })).toBe('session not found');
      expect(await refused('read_output', { session_id })).toBe('session not found');
      expect(await refused('wait_output', { session_id, cursor: '0' })).toBe('session not found');
    }
  });

  it('is never the latest one', async () => {
    const { store, refused } = derun();
    build(store, STREAMS);
    for (const args of [{}, { session_id: '' }, { session_id: 7 }, { session_id: null }]) {
      expect(await refused('get_session', args)).toBe(REQUIRED);
      expect(await refused('read_output', args)).toBe(REQUIRED);
      expect(await refused('wait_output', { ...args, cursor: '0' })).toBe(REQUIRED);
    }
  });

  it('is not what a link in its place points to', async () => {
    const { store, refused, ask } = derun();
    const outside = tempDir();
    writeFileSync(join(outside, 'output.bin'), 'secret');
    writeFileSync(join(outside, 'meta.json'), '{}');
    mkdirSync(store.sessions, { recursive: true, mode: 0o700 });
    symlinkSync(outside, join(store.sessions, 'link'));
    build(store, STREAMS, { id: 'inside', final: 'missing' });
    symlinkSync(join(outside, 'output.bin'), join(store.sessions, 'inside', 'final.json'));
    for (const session_id of ['link', 'inside']) {
      expect(await refused('read_output', { session_id })).not.toContain('secret');
    }
    expect(JSON.stringify(await ask('list_sessions'))).not.toContain('secret');
  });
});

describe('the output resource', () => {
  it('is the text of a session, or its last lines', async () => {
    const { store, plugin } = derun();
    build(store, [{ bytes: '\x1b[1mhello\x1b[0m\n' }]);
    expect(await plugin.readResource('cuff://sessions/one/output')).toEqual({
      uri: 'cuff://sessions/one/output',
      mimeType: 'text/plain',
      text: 'hello\n',
    });
    build(store, [{ bytes: 'line of text\n'.repeat(100_000) }], { id: 'long' });
    const long = await plugin.readResource('cuff://sessions/long/output');
    expect(long?.text.split('\n').slice(0, 2)).toEqual([
      '[Only the end of 1300000 bytes. Read the rest with derun_read_output.]',
      'line of text',
    ]);
    expect(long?.text.length).toBeLessThan(263_000);
  });

  it('of another kind is not ours, and of no session is not found', async () => {
    const { plugin } = derun();
    expect(await plugin.readResource('cuff://recordings/one')).toBeUndefined();
    expect(await plugin.readResource('cuff://sessions/one/../two/output')).toBeUndefined();
    expect(await plugin.readResource('cuff://sessions/none/output')).toBeUndefined();
    expect(await plugin.readResource('cuff://sessions/../output')).toBeUndefined();
  });
});

describe('the plugin', () => {
  it('has no settings', () => {
    expect(DerunPlugin.checkConfig(undefined)).toEqual([]);
    expect(DerunPlugin.checkConfig({})).toEqual([]);
    expect(DerunPlugin.checkConfig({ a: 1 })).toMatchObject([{ path: ['a'] }]);
    expect(DerunPlugin.checkConfig([])).toMatchObject([{ path: [] }]);
  });

  it('is healthy while captures can be listed', async () => {
    const { store, plugin } = derun();
    expect(await plugin.healthCheck()).toEqual({ healthy: true, reasons: [] });
    mkdirSync(store.root, { recursive: true, mode: 0o700 });
    symlinkSync('/nowhere', store.sessions);
    expect(await plugin.healthCheck()).toMatchObject({ healthy: false });
  });
});
