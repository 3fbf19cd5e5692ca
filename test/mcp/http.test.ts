import { once } from 'node:events';
import { connect as openSocket } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import { type HttpServerHandle, serveHttp } from '../../src/mcp/http.ts';
import { until } from '../cli/helper.ts';
import { HTTP_CLIENTS, type TestClient } from './clients.ts';
import { facts, Life } from './life.ts';
import { PROBE_SETTINGS, probeHost, reloadProbe } from './probe.ts';

const TOKEN = 'a-token-for-tests';

async function served(): Promise<
  HttpServerHandle & { readonly host: Awaited<ReturnType<typeof probeHost>> }
> {
  const host = await probeHost();
  const options = { name: 'cuff', version: '0.0.0', onerror: () => undefined };
  const made = await serveHttp(host, { ...options, port: 0, token: TOKEN });
  onTestFinished(() => made.close());
  return { ...made, host };
}

const INITIALIZE = {
  jsonrpc: '2.0',
  id: 1,
  method: 'initialize',
  params: {
    protocolVersion: '2025-06-18',
    capabilities: {},
    clientInfo: { name: 'fetch', version: '1' },
  },
};

function post(
  url: string,
  body: unknown,
  headers: Readonly<Record<string, string>> = {},
): Promise<Response> {
  return fetch(url, {
    method: 'POST',
    body: typeof body === 'string' ? body : JSON.stringify(body),
    headers: {
      authorization: `Bearer ${TOKEN}`,
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      ...headers,
    },
  });
}

/** A request whose every header is ours: fetch would not send a wrong Host. */
async function raw(url: string, headers: Readonly<Record<string, string>>): Promise<string> {
  const { port, hostname } = new URL(url);
  const socket = openSocket(Number(port), hostname);
  const body = JSON.stringify(INITIALIZE);
  const all = {
    host: `127.0.0.1:${port}`,
    authorization: `Bearer ${TOKEN}`,
    'content-type': 'application/json',
    accept: 'application/json, text/event-stream',
    'content-length': String(body.length),
    connection: 'close',
    ...headers,
  };
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`);
  socket.write(`POST /mcp HTTP/1.1\r\n${lines.join('')}\r\n${body}`);
  const [answer] = await once(socket, 'data');
  socket.destroy();
  return String(answer).split('\r\n')[0] ?? '';
}

describe('the HTTP server', () => {
  it('serves who is here and has the token, and nobody else', async () => {
    const { url } = await served();
    expect(await raw(url, {})).toBe('HTTP/1.1 200 OK');
    expect(await raw(url, { host: 'localhost' })).toBe('HTTP/1.1 200 OK');
    expect(await raw(url, { origin: 'http://localhost:3000' })).toBe('HTTP/1.1 200 OK');
    expect(await raw(url, { host: 'evil.example' })).toBe('HTTP/1.1 403 Forbidden');
    expect(await raw(url, { origin: 'https://evil.example' })).toBe('HTTP/1.1 403 Forbidden');
    expect(await raw(url, { authorization: '' })).toBe('HTTP/1.1 401 Unauthorized');
    expect(await raw(url, { authorization: 'Bearer wrong' })).toBe('HTTP/1.1 401 Unauthorized');
    const response = await fetch(url);
    expect(response.headers.get('www-authenticate')).toBe('Bearer');
    expect(await response.json()).toMatchObject({ jsonrpc: '2.0', id: null });
  });

  it('listens on 127.0.0.1 only, under one path', async () => {
    const { url } = await served();
    expect(url).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/mcp$/);
    expect((await post(url.replace('/mcp', '/other'), INITIALIZE)).status).toBe(404);
    const { port } = new URL(url);
    const other = openSocket(Number(port), '127.0.0.2');
    const [error] = await once(other, 'error');
    expect(error).toMatchObject({ code: 'ECONNREFUSED' });
  });

  it('refuses bodies that are too large, no JSON, or of another kind', async () => {
    const { url } = await served();
    expect((await post(url, `"${'x'.repeat(5 * 1024 * 1024)}"`)).status).toBe(413);
    expect((await post(url, '{"jsonrpc":')).status).toBe(400);
    expect((await post(url, INITIALIZE, { 'content-type': 'text/plain' })).status).toBe(415);
    const call = { jsonrpc: '2.0', id: 1, method: 'tools/list' };
    expect((await post(url, call)).status).toBe(400);
    expect((await post(url, call, { 'mcp-session-id': 'none' })).status).toBe(404);
  });

  it('forgets the session unused for longest when there are too many', async () => {
    const { url } = await served();
    const begin = async (): Promise<string> => {
      const response = await post(url, INITIALIZE);
      await response.text();
      return response.headers.get('mcp-session-id') ?? '';
    };
    const status = async (id: string): Promise<number> => {
      const ping = { jsonrpc: '2.0', id: 2, method: 'ping' };
      const response = await post(url, ping, { 'mcp-session-id': id });
      await response.text();
      return response.status;
    };
    const first = await begin();
    const second = await begin();
    expect(await status(first)).toBe(200);
    for (let n = 0; n < 99; n += 1) await begin();
    expect(await status(second)).toBe(404);
    expect(await status(first)).toBe(200);
  });

  it('forgets no session that waits for an answer', async () => {
    const { url } = await served();
    const begin = async (): Promise<Readonly<Record<string, string>>> => {
      const response = await post(url, INITIALIZE);
      await response.text();
      return { 'mcp-session-id': response.headers.get('mcp-session-id') ?? '' };
    };
    const call = (name: string) => ({
      jsonrpc: '2.0',
      id: 2,
      method: 'tools/call',
      params: { name, arguments: {} },
    });
    const waiting = await post(url, call('probe_wait'), await begin());
    let last = {};
    for (let n = 0; n < 105; n += 1) last = await begin();
    expect(await (await post(url, call('probe_aborted'), last)).text()).toContain('"text":"0"');
    await waiting.body?.cancel();
  });

  it('ends although clients still wait', async () => {
    const made = await served();
    const client = await HTTP_CLIENTS['SDK v1']?.(made.url, TOKEN);
    const waiting = client?.call('probe_wait').catch(() => 'gone');
    await client?.call('probe_echo');
    await made.close();
    await made.gone;
    await client?.close();
    expect(await waiting).toBe('gone');
  });
});

describe.each(Object.entries(HTTP_CLIENTS))('over HTTP, the client %s', (_, connect) => {
  async function connected(): Promise<{
    client: TestClient;
    made: Awaited<ReturnType<typeof served>>;
  }> {
    const made = await served();
    const client = await connect(made.url, TOKEN);
    onTestFinished(() => client.close());
    return { client, made };
  }

  it('lists, calls and reads', async () => {
    const { client } = await connected();
    expect((await client.listTools()).map(({ name }) => name)).toContain('probe_echo');
    const meta = { conversation_id: 'c' };
    expect(facts(await client.call('probe_echo', { a: 1 }, { meta }))).toMatchObject({
      args: { a: 1 },
      meta,
      client: { name: 'cuff-test', version: '1.2.3' },
    });
    expect((await client.call('probe_none')).isError).toBe(true);
    expect(await client.readResource('probe://2')).toBe('xx');
  });

  it('gets progress while it waits', async () => {
    const { client } = await connected();
    const steps: number[] = [];
    const onProgress = (step: number): void => void steps.push(step);
    await client.call('probe_report', { times: 15, pauseMs: 20 }, { onProgress });
    expect(steps.slice(0, 2)).toEqual([1, 2]);
  });

  it('can cancel a call, which holds up no other', async () => {
    const { client } = await connected();
    const caller = new AbortController();
    const waiting = client.call('probe_wait', {}, { signal: caller.signal });
    await client.call('probe_echo');
    caller.abort();
    await expect(waiting).rejects.toThrow();
    let aborted = '0';
    while (aborted === '0') aborted = (await client.call('probe_aborted')).text;
    expect(aborted).toBe('1');
  });

  it('is told when the tools change', async () => {
    const { client, made } = await connected();
    let told = false;
    await client.onToolsChanged(() => {
      told = true;
    });
    // The stream that tells of it opens beside the first calls.
    let round = 0;
    while (!told) {
      round += 1;
      await reloadProbe(made.host, { extra: [`more${round}`] });
      await client.listTools();
    }
    expect((await client.listTools()).map(({ name }) => name)).toContain(`probe_more${round}`);
  });

  it('is turned away without the token', async () => {
    const { url } = await served();
    await expect(connect(url, 'wrong')).rejects.toThrow();
  });
});

describe('a client that hangs up in the middle of a call', () => {
  it('has cancelled it', async () => {
    const { url, host } = await served();
    const begun = await post(url, INITIALIZE);
    await begun.text();
    const headers = { 'mcp-session-id': begun.headers.get('mcp-session-id') ?? '' };
    const caller = new AbortController();
    const call = { jsonrpc: '2.0', id: 2, method: 'tools/call', params: { name: 'probe_wait' } };
    const request = fetch(url, {
      method: 'POST',
      body: JSON.stringify(call),
      signal: caller.signal,
      headers: {
        ...headers,
        authorization: `Bearer ${TOKEN}`,
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
      },
    });
    const context = { meta: {}, client: undefined, signal: new AbortController().signal };
    const once = async (tool: string): Promise<void> => {
      while ((await host.call(tool, {}, context)).text !== '1') {
        await new Promise((resolve) => setImmediate(resolve));
      }
    };
    await once('probe_waiting');
    caller.abort();
    await expect(request).rejects.toThrow();
    await once('probe_aborted');
  });
});

describe('cuff mcp --http', () => {
  it('prints a token once, serves with it, and ends on SIGTERM', async () => {
    const life = new Life();
    life.settings(PROBE_SETTINGS);
    const { child, stderr } = life.start(
      life.command('cuff', '--http', '0', '--metrics-port', '0'),
    );
    await until(() => /token is \S+\n/.test(stderr()), 'it says its token');
    const url = /serving (\S+)/.exec(stderr())?.[1] ?? '';
    const token = /token is (\S+)/.exec(stderr())?.[1] ?? '';
    expect(token.length).toBeGreaterThan(40);
    expect((await post(url, INITIALIZE)).status).toBe(401);
    const client = await HTTP_CLIENTS['SDK v2, 2026']?.(url, token);
    expect((await client?.listTools())?.length).toBeGreaterThan(4);
    await client?.close();
    const metrics = /metrics at (\S+)/.exec(stderr())?.[1] ?? '';
    expect((await fetch(metrics)).status).toBe(401);
    const headers = { authorization: `Bearer ${token}` };
    expect((await fetch(metrics, { headers })).status).toBe(200);
    const health = await fetch(metrics.replace('/metrics', '/health'), { headers });
    expect(await health.json()).toMatchObject({ healthy: true });
    child.kill('SIGTERM');
    expect(await once(child, 'exit')).toEqual([0, null]);
    expect(stderr().match(new RegExp(token, 'g'))?.length).toBe(1);
  });

  it('takes the token of the environment, tells nobody, and hides it from commands', async () => {
    const life = new Life();
    life.settings(PROBE_SETTINGS);
    const command = life.command('cuff', '--http', '0');
    const { child, stderr } = life.start(command, { CUFF_HTTP_TOKEN: TOKEN });
    await until(() => /serving \S+\n/.test(stderr()), 'it says its address');
    const url = /serving (\S+)/.exec(stderr())?.[1] ?? '';
    const client = await HTTP_CLIENTS['SDK v1']?.(url, TOKEN);
    const { text: seen } = (await client?.call('probe_env', { name: 'CUFF_HTTP_TOKEN' })) ?? {};
    expect(seen).toBe('unset');
    await client?.close();
    expect(stderr()).not.toContain(TOKEN);
    child.kill('SIGINT');
    expect(await once(child, 'exit')).toEqual([0, null]);
  });

  it('has a token that only reads metrics and health, and takes no short one', async () => {
    const life = new Life();
    const command = life.command('cuff', '--http', '0', '--metrics-port', '0');
    const reading = 'only-for-prometheus';
    const tokens = { CUFF_HTTP_TOKEN: TOKEN, CUFF_METRICS_TOKEN: reading };
    const { child, stderr } = life.start(command, tokens);
    await until(() => /serving \S+\n/.test(stderr()), 'it says its address');
    const url = /serving (\S+)/.exec(stderr())?.[1] ?? '';
    const metrics = /metrics at (\S+)/.exec(stderr())?.[1] ?? '';
    const status = async (address: string, token: string): Promise<number> =>
      (await fetch(address, { headers: { authorization: `Bearer ${token}` } })).status;
    expect(await status(metrics, reading)).toBe(200);
    expect(await status(metrics, TOKEN)).toBe(200);
    expect(await status(url, reading)).toBe(401);
    expect(stderr()).not.toMatch(/token is/);
    child.kill('SIGTERM');
    expect(await once(child, 'exit')).toEqual([0, null]);
    for (const name of ['CUFF_HTTP_TOKEN', 'CUFF_METRICS_TOKEN']) {
      const short = life.start(command, { [name]: 'fifteen-letters' });
      expect(await once(short.child, 'exit')).toEqual([2, null]);
      expect(short.stderr()).toContain(`${name} has 15 characters, and 16 are needed.`);
    }
  });

  it('says so when the port is taken', async () => {
    const { url } = await served();
    const life = new Life();
    life.settings(PROBE_SETTINGS);
    const { port } = new URL(url);
    const { child, stderr } = life.start(life.command('cuff', '--http', port));
    await once(child, 'close');
    expect(child.exitCode).toBe(2);
    expect(stderr()).toContain(`cuff: --http ${port} cannot be used: EADDRINUSE.\n`);
  });
});
