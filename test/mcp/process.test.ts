import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { text } from 'node:stream/consumers';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { until } from '../cli/helper.ts';
import { CLIENTS, type Connect, LineClient, stdioV2 } from './clients.ts';
import { facts, Life, watches } from './life.ts';
import { PROBE_SETTINGS } from './probe.ts';

/** A server and a client that may say anything. */
function lines(life: Life, program: 'cuff' | 'derun' = 'derun'): LineClient {
  const client = new LineClient(...life.command(program), life.env);
  life.track(client.child);
  return client;
}

/** A server to its end, with this for input. */
async function ended(
  life: Life,
  command: [string, string[]],
  input = '',
): Promise<{ code: number | null; out: string; err: string }> {
  const [file, args] = command;
  const child = life.track(spawn(file, args, { env: life.env, stdio: ['pipe', 'pipe', 'pipe'] }));
  child.stdin.on('error', () => undefined); // it may end without having read it
  child.stdin.end(input);
  const closed = once(child, 'close');
  const [out, err] = await Promise.all([text(child.stdout), text(child.stderr)]);
  await closed;
  return { code: child.exitCode, out, err };
}

const TOOL = { name: 'derun_list_sessions', arguments: {} };

describe('a server on stdio', () => {
  it('answers what is wrong and goes on', async () => {
    const client = lines(new Life());
    client.raw('this is no JSON\n[]\n\n');
    client.raw(`{"jsonrpc":"2.0","id":1,"method":"${'x'.repeat(5 * 1024 * 1024)}"}\n`);
    await client.initialize();
    expect(client.orphans).toMatchObject([
      { id: null, error: { code: -32700 } },
      { id: null, error: { code: -32600 } },
      { id: null, error: { code: -32600 } },
    ]);
    const { answer } = client.request('no/such/method');
    expect(await answer).toMatchObject({ error: { code: -32601 } });
    const wrong = client.request('tools/call', { name: 7 });
    expect(await wrong.answer).toMatchObject({ error: { code: -32602 } });
    const late = client.request('tools/call', TOOL);
    expect(await late.answer).toMatchObject({ result: { content: [{ type: 'text' }] } });
    expect(await client.close()).toBe(0);
    expect(client.strange).toEqual([]);
  });

  it('survives calls before a greeting, two greetings, and answers to nothing', async () => {
    const client = lines(new Life());
    client.write({ jsonrpc: '2.0', id: 77, result: {} });
    client.notify('notifications/initialized');
    client.notify('notifications/cancelled', { requestId: 5 });
    expect(await client.request('tools/call', TOOL).answer).toHaveProperty('result');
    await client.initialize();
    await client.initialize();
    expect(await client.request('ping').answer).toMatchObject({ result: {} });
    expect(await client.close()).toBe(0);
  });

  it('survives whatever bytes there are, and values without a bottom', async () => {
    const client = lines(new Life());
    const noise = fc.sample(
      fc.oneof(
        fc.uint8Array(),
        fc.json().map((text) => Buffer.from(text)),
      ),
      {
        numRuns: 500,
        seed: 7,
      },
    );
    for (const bytes of noise) client.raw(Buffer.concat([bytes, Buffer.from('\n')]));
    const deep = '['.repeat(500_000) + ']'.repeat(500_000);
    for (const args of [`{"cursor":${deep},"session_id":"x"}`, `{"x":${deep}}`, deep]) {
      const params = `{"name":"derun_read_output","arguments":${args}}`;
      client.raw(`{"jsonrpc":"2.0","id":"deep","method":"tools/call","params":${params}}\n`);
    }
    client.raw(`${deep}\n{"jsonrpc":"2.0","id":${deep},"method":"ping"}\n`);
    expect(await client.initialize()).toHaveProperty('serverInfo');
    expect(await client.request('tools/call', TOOL).answer).toHaveProperty('result');
    expect(await client.close()).toBe(0);
    expect(client.strange).toEqual([]);
  });

  it('answers those who hang up at once, as a pipe from printf does', async () => {
    const life = new Life();
    const call = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: TOOL };
    const { code, out, err } = await ended(life, life.command('derun'), JSON.stringify(call));
    expect(JSON.parse(out)).toMatchObject({ id: 1, result: { structuredContent: { more: 0 } } });
    expect([code, err]).toEqual([0, '']);
  });

  it.each(['SIGTERM', 'SIGINT', 'SIGHUP'] as const)('ends cleanly on %s', async (signal) => {
    const client = lines(new Life());
    await client.initialize();
    client.child.kill(signal);
    expect(await once(client.child, 'exit')).toEqual([0, null]);
    expect(client.strange).toEqual([]);
  });

  it('ends although a call still waits', async () => {
    const life = new Life();
    const run = await life.cli.running('quiet', /ready/, 'sh', '-c', 'echo ready; read line');
    const client = lines(life);
    await client.initialize();
    const wait = (cursor: string): Promise<object> => {
      const args = { session_id: 'quiet', cursor, timeout_ms: 60_000 };
      return client.request('tools/call', { name: 'derun_wait_output', arguments: args }).answer;
    };
    await wait('0'); // what was printed is not yet what is recorded
    let answered = false;
    void wait('6').then(() => {
      answered = true;
    });
    await until(() => watches(client.child.pid ?? 0) > 0, 'the wait has begun');
    expect(await client.close()).toBe(0);
    expect(answered).toBe(false); // so that the wait was not over
    run.child.stdin?.end();
    await run.result;
  });

  it('ends when nobody reads what it says, without a word', async () => {
    const life = new Life();
    const [file, args] = life.command('derun');
    const child = life.track(spawn(file, args, { env: life.env, stdio: ['pipe', 'pipe', 'pipe'] }));
    const errors = text(child.stderr);
    child.stdout.destroy();
    const ping = `${JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'ping' })}\n`;
    child.stdin.on('error', () => undefined);
    child.stdin.write(ping);
    expect(await once(child, 'exit')).toEqual([0, null]);
    expect(await errors).toBe('');
  });

  it('keeps serving when nobody reads its stderr', async () => {
    const life = new Life();
    life.settings(PROBE_SETTINGS);
    const [file, args] = life.command('cuff');
    const child = life.track(spawn(file, args, { env: life.env, stdio: ['pipe', 'pipe', 'pipe'] }));
    child.stderr.destroy();
    const call = { name: 'probe_print', arguments: {} };
    child.stdin.end(
      `${JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: call })}\n`,
    );
    expect(JSON.parse(await text(child.stdout))).toMatchObject({ id: 1, result: {} });
  });

  it('derun mcp leaves nothing behind in the project, and takes no arguments', async () => {
    const life = new Life();
    const client = lines(life);
    await client.initialize();
    await client.request('tools/call', TOOL).answer;
    await client.close();
    expect(existsSync(`${life.project}/.cuff`)).toBe(false);
    expect(await ended(life, life.command('derun', '--http', '1'))).toEqual({
      code: 2,
      out: '',
      err: 'derun: derun mcp takes no arguments.\n',
    });
  });
});

describe.each(Object.entries(CLIENTS))('cuff mcp and the client %s', (_, connect) => {
  it('shows the tools of plugins of others, whose printing disturbs nobody', async () => {
    const life = new Life();
    life.settings(PROBE_SETTINGS);
    const client = await life.connect(connect, 'cuff');
    const names = (await client.listTools()).map(({ name }) => name);
    expect(names).toContain('probe_echo');
    expect(await client.call('probe_print')).toMatchObject({ isError: false, text: 'printed' });
    expect((await client.call('probe_fail')).isError).toBe(true);
    await client.close();
  });

  it('tells a tool who calls, with what, and takes dotted names', async () => {
    const life = new Life();
    life.settings(PROBE_SETTINGS);
    const client = await life.connect(connect, 'cuff');
    const meta = { agent_id: 'a', 'claudecode/toolUseId': 't', traceparent: '00-1-2-01' };
    expect(facts(await client.call('probe.echo', { x: [1] }, { meta }))).toMatchObject({
      args: { x: [1] },
      meta,
      client: { name: 'cuff-test', version: '1.2.3' },
      progress: false,
    });
  });

  it('reports progress that grows, and stops with the answer', async () => {
    const life = new Life();
    life.settings(PROBE_SETTINGS);
    const client = await life.connect(connect, 'cuff');
    const steps: [number, string | undefined][] = [];
    const onProgress = (step: number, message: string | undefined): void =>
      void steps.push([step, message]);
    const args = { times: 30, pauseMs: 20 };
    const start = performance.now();
    expect((await client.call('probe_report', args, { onProgress })).text).toBe('done');
    const quarters = (performance.now() - start) / 250;
    expect(steps[0]).toEqual([1, 'step 1']);
    expect(steps.map(([step]) => step)).toEqual(steps.map((_, index) => index + 1));
    // One at once, then four a second: pauses that take longer have more of them.
    expect(steps.length).toBeLessThan(quarters + 3);
    await client.call('probe_echo');
    expect(steps.map(([, message]) => message)).not.toContain('too late');
  });

  it('passes a cancellation on, and goes on', async () => {
    const life = new Life();
    life.settings(PROBE_SETTINGS);
    const client = await life.connect(connect, 'cuff');
    const caller = new AbortController();
    const waiting = client.call('probe_wait', {}, { signal: caller.signal });
    await client.call('probe_echo');
    caller.abort();
    await expect(waiting).rejects.toThrow();
    let aborted = '0';
    while (aborted === '0') aborted = (await client.call('probe_aborted')).text;
    expect(aborted).toBe('1');
  });

  it('tells its client when settings bring other tools', async () => {
    const life = new Life();
    life.settings(PROBE_SETTINGS);
    const client = await life.connect(connect, 'cuff');
    const changed = new Promise<void>((resolve) => void client.onToolsChanged(resolve));
    await client.listTools();
    life.settings(`${PROBE_SETTINGS}    config:\n      extra: [more]\n`);
    await changed;
    // The probe itself may have come as a change: a slow module is not waited for.
    const names = async () => (await client.listTools()).map(({ name }) => name);
    while (!(await names()).includes('probe_more')) await changed;
  });
});

describe('both protocols', () => {
  it('are spoken, and a client that can choose gets the newer one', async () => {
    const life = new Life();
    const versions: Record<string, string | undefined> = {};
    for (const [name, connect] of Object.entries({
      ...CLIENTS,
      auto: (...where: Parameters<Connect>) => stdioV2('auto', ...where),
    })) {
      versions[name] = (await life.connect(connect)).protocol;
    }
    expect(versions).toEqual({
      'SDK v1': undefined,
      'SDK v2, 2025': '2025-11-25',
      'SDK v2, 2026': '2026-07-28',
      'by hand': '2025-06-18',
      auto: '2026-07-28',
    });
  });
});

describe('cuff mcp', () => {
  it('refuses to start with wrong ports and dialects', async () => {
    const life = new Life();
    const tried = async (...args: readonly string[]): Promise<string> => {
      const { code, out, err } = await ended(life, life.command('cuff', ...args));
      expect([code, out]).toEqual([2, '']);
      return err;
    };
    expect(await tried('--http', '70000')).toBe(
      "cuff: --http wants a port from 0 to 65535, not '70000'.\n",
    );
    expect(await tried('--metrics-port', 'x')).toContain('--metrics-port wants a port');
    expect(await tried('--ask-timeout', '0')).toBe(
      "cuff: --ask-timeout wants whole seconds from 1 to 3600, not '0'.\n",
    );
    expect(await tried('--dialect', 'none')).toContain("There is no dialect 'none'.");
  });
});
