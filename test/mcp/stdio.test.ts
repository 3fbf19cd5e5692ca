import { PassThrough, Writable } from 'node:stream';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isMessage } from '../../src/mcp/sdk.ts';
import { LineWire, MESSAGE_BYTES_MAX, type Message } from '../../src/mcp/stdio.ts';

type Wired = {
  readonly wire: LineWire;
  readonly input: PassThrough;
  readonly got: Message[];
  /** What was written so far, line by line. */
  readonly sent: () => unknown[];
};

async function wired(output: Writable = new PassThrough()): Promise<Wired> {
  const input = new PassThrough();
  const wire = new LineWire(input, output, isMessage);
  const got: Message[] = [];
  wire.onmessage = (message) => got.push(message);
  await wire.start();
  const pieces: Buffer[] = [];
  if (output instanceof PassThrough) output.on('data', (piece: Buffer) => pieces.push(piece));
  const lines = (): string[] => Buffer.concat(pieces).toString().split('\n').slice(0, -1);
  return { wire, input, got, sent: () => lines().map((line) => JSON.parse(line)) };
}

const ping = (id: number): Message => ({ jsonrpc: '2.0', id, method: 'ping' });
const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

function refused(code: number, id: unknown = null): object {
  return { jsonrpc: '2.0', id, error: { code, message: expect.any(String) } };
}

describe('lines of JSON', () => {
  it('are messages wherever the pieces of a stream meet', async () => {
    const messages = [ping(1), { ...ping(2), params: { text: 'a€😀\u2028' } }, ping(3)];
    const bytes = Buffer.from(messages.map((one) => `${JSON.stringify(one)}\r\n\n`).join(''));
    await fc.assert(
      fc.asyncProperty(fc.array(fc.nat(bytes.length)), async (places) => {
        const { input, got } = await wired();
        const cuts = [0, ...places.sort((a, b) => a - b), bytes.length];
        cuts.slice(1).forEach((end, i) => void input.write(bytes.subarray(cuts[i], end)));
        await turn();
        expect(got).toEqual(messages);
      }),
    );
  });

  it('that are no JSON, or no message, are refused, and the next one is taken', async () => {
    const { input, got, sent } = await wired();
    const odd = [
      'not json',
      '{"jsonrpc":"2.0","id":1,',
      '7',
      'null',
      '[{"jsonrpc":"2.0","id":1,"method":"ping"}]',
      '{}',
      '{"jsonrpc":"1.0","id":5,"method":"ping"}',
      '{"jsonrpc":"2.0","id":null,"method":"ping"}',
      '{"jsonrpc":"2.0","id":6,"method":7}',
      '{"jsonrpc":"2.0","id":"seven","method":"ping","params":[1]}',
      '{"jsonrpc":"2.0","id":8,"result":7}',
    ];
    input.write(`${odd.join('\n')}\n   \n${JSON.stringify(ping(9))}\n`);
    await turn();
    expect(got).toEqual([ping(9)]);
    expect(sent()).toEqual([
      refused(-32700),
      refused(-32700),
      refused(-32600),
      refused(-32600),
      refused(-32600),
      refused(-32600, 5),
      refused(-32600),
      refused(-32600, 6),
      refused(-32600, 'seven'),
    ]);
  });

  it('may have other keys, which mean nothing', async () => {
    const { input, got } = await wired();
    input.write(`${JSON.stringify({ ...ping(1), trace: 'x' })}\n`);
    await turn();
    expect(got).toEqual([ping(1)]);
  });

  it('that are too long are refused without being kept', async () => {
    const { input, got, sent } = await wired();
    const piece = Buffer.alloc(1024 * 1024, 'x');
    for (let sum = 0; sum <= 3 * MESSAGE_BYTES_MAX; sum += piece.length) {
      input.write(piece);
      await turn();
    }
    input.write(`\n${JSON.stringify(ping(1))}\n`);
    await turn();
    expect(sent()).toEqual([refused(-32600)]);
    expect(got).toEqual([ping(1)]);
  });

  it('take a call that is as long as may be', async () => {
    const { input, got } = await wired();
    const empty = JSON.stringify({ ...ping(1), params: { text: '' } });
    const text = 'x'.repeat(MESSAGE_BYTES_MAX - empty.length);
    input.write(`${JSON.stringify({ ...ping(1), params: { text } })}\n`);
    while (got.length === 0) await turn();
    expect(got).toMatchObject([{ id: 1 }]);
  });
});

describe('a client that hangs up', () => {
  it('gets the answers that are nearly there', async () => {
    const { wire, input, got, sent } = await wired();
    let gone = false;
    wire.gone.then(() => {
      gone = true;
    });
    input.end(JSON.stringify(ping(1))); // not even a newline
    while (got.length === 0) await turn();
    await turn();
    expect(gone).toBe(false);
    wire.send({ jsonrpc: '2.0', id: 1, result: {} });
    await wire.gone;
    expect(sent()).toEqual([{ jsonrpc: '2.0', id: 1, result: {} }]);
  });

  it('is not waited for long, nor for what was cancelled', async () => {
    const { wire, input } = await wired();
    input.end(`${JSON.stringify(ping(1))}\n`);
    await wire.gone;
    const other = await wired();
    const params = { requestId: 1 };
    const cancel = { jsonrpc: '2.0', method: 'notifications/cancelled', params };
    other.input.end(`${JSON.stringify(ping(1))}\n${JSON.stringify(cancel)}\n`);
    await other.wire.gone;
  });

  it('is gone when it does not read any more, which is no crash', async () => {
    const broken = new Writable({
      write: (_, __, done) => done(Object.assign(new Error('write EPIPE'), { code: 'EPIPE' })),
    });
    const { wire } = await wired(broken);
    await wire.send(ping(1));
    await wire.gone;
    await wire.send(ping(2));
    await wire.close();
  });
});

describe('a client that does not read', () => {
  it('gets no more calls done until it does', async () => {
    let release: (() => void) | undefined;
    const slow = new Writable({
      write: (_, __, done) => {
        release = done;
      },
    });
    const { wire, input, got } = await wired(slow);
    const text = 'x'.repeat(1024 * 1024);
    for (let n = 0; n < 20; n += 1) wire.send({ jsonrpc: '2.0', id: n, result: { text } });
    expect(input.isPaused()).toBe(true);
    input.write(`${JSON.stringify(ping(1))}\n`);
    await turn();
    expect(got).toEqual([]);
    while (got.length === 0) {
      release?.();
      await turn();
    }
    expect(got).toEqual([ping(1)]);
  });
});
