import { describe, expect, it } from 'vitest';
import { until } from '../cli/helper.ts';
import { CLIENTS, type TestClient } from './clients.ts';
import { dead, facts, Life, printed, watches } from './life.ts';

/** The cursor behind the first output. What was printed is not yet what is recorded. */
async function behind(client: TestClient, session_id: string): Promise<unknown> {
  const args = { session_id, cursor: '0', timeout_ms: 60_000 };
  return facts(await client.call('derun_wait_output', args)).next_cursor;
}

type Row = { readonly session_id: string; readonly state: string };

describe.each(Object.entries(CLIENTS))('derun mcp and the client %s', (_, connect) => {
  it('shows four tools that read, and says what they are for', async () => {
    const client = await new Life().connect(connect);
    const tools = await client.listTools();
    expect(tools.map(({ name }) => name)).toEqual([
      'derun_list_sessions',
      'derun_get_session',
      'derun_read_output',
      'derun_wait_output',
    ]);
    for (const { annotations, inputSchema } of tools) {
      expect(annotations).toMatchObject({ readOnlyHint: true });
      expect(inputSchema).toMatchObject({ type: 'object', additionalProperties: false });
    }
    expect(client.instructions).toContain('derun_list_sessions');
  });

  it('finds a run that is over, and replays it from cursor 0', async () => {
    const life = new Life();
    await life.cli.run('first', 'sh', '-c', 'echo out; echo err >&2; exit 3');
    const client = await life.connect(connect);
    const { sessions } = facts(await client.call('derun_list_sessions'));
    expect(sessions).toMatchObject([{ session_id: 'first', state: 'exited', exit_code: 3 }]);
    const session = await client.call('derun_get_session', { session_id: 'first' });
    expect(facts(session)).toMatchObject({
      schema_version: 'v1alpha1',
      lifecycle: { state: 'exited', exit_code: 3, ended_by: 'itself' },
      execution: { command: ['sh', '-c', 'echo out; echo err >&2; exit 3'] },
      transport: { transport_mode: 'pipe', tty_attached: false },
      retention: { retention_seconds: 86_400, pinned: false },
    });
    expect(JSON.parse(session.text)).toEqual(session.structured);
    const read = await client.call('derun_read_output', { session_id: 'first', cursor: '0' });
    expect([...printed(read)].sort().join('')).toBe([...'out\nerr\n'].sort().join(''));
    expect(facts(read)).toMatchObject({ next_cursor: '8', eof: true, final: true });
  });

  it('follows a run live while it goes on in another terminal', async () => {
    const life = new Life();
    const client = await life.connect(connect);
    const echo = 'echo ready; while read line; do echo "got $line"; done';
    const run = await life.cli.running('live', /ready/, 'sh', '-c', echo);
    let cursor = '0';
    const next = async (): Promise<string> => {
      const args = { session_id: 'live', cursor, timeout_ms: 60_000, encoding: 'text' };
      const answer = await client.call('derun_wait_output', args);
      expect(facts(answer)).toMatchObject({ state: 'running', final: false });
      cursor = String(facts(answer).next_cursor);
      return printed(answer);
    };
    expect(await next()).toBe('ready\n');
    for (const word of ['one', 'two', 'three']) {
      const waiting = next();
      run.child.stdin?.write(`${word}\n`);
      expect(await waiting).toBe(`got ${word}\n`);
    }
    run.child.stdin?.end();
    await run.result;
    const end = await client.call('derun_wait_output', { session_id: 'live', cursor });
    expect(facts(end)).toMatchObject({ state: 'exited', chunks: [], eof: true, final: true });
    const all = await client.call('derun_read_output', { session_id: 'live' });
    expect(printed(all)).toBe('ready\ngot one\ngot two\ngot three\n');
  });

  it('says in one line what is wrong', async () => {
    const client = await new Life().connect(connect);
    const said = async (name: string, args: object): Promise<string> => {
      const { isError, text } = await client.call(name, { ...args });
      expect(isError).toBe(true);
      return text;
    };
    const none = { session_id: 'none' };
    expect(await said('derun_read_output', none)).toBe('session not found');
    expect(await said('derun_wait_output', { ...none, cursor: '0' })).toBe('session not found');
    expect(await said('derun_get_session', { session_id: '../../etc' })).toBe('session not found');
    expect(await said('derun_get_session', {})).toMatch(/^session_id is required; /);
    expect(await said('derun_read_output', { ...none, max_bytes: 1.5 })).toMatch(
      /^parse max_bytes: /,
    );
    expect(await said('derun_no_such_tool', {})).toContain('derun_no_such_tool');
  });

  it('a wait holds up nobody else, and ends when it is cancelled', async () => {
    const life = new Life();
    const client = await life.connect(connect);
    const run = await life.cli.running('quiet', /ready/, 'sh', '-c', 'echo ready; read line');
    const caller = new AbortController();
    const cursor = await behind(client, 'quiet');
    const args = { session_id: 'quiet', cursor, timeout_ms: 60_000 };
    const waits = Array.from({ length: 8 }, () =>
      client.call('derun_wait_output', args, { signal: caller.signal }).then(
        () => 'answered',
        () => 'cancelled',
      ),
    );
    await until(() => watches(client.pid) > 0, 'the waits have begun');
    const { sessions } = facts(await client.call('derun_list_sessions', { state: 'running' }));
    expect((sessions as Row[]).map((row) => row.session_id)).toEqual(['quiet']);
    caller.abort();
    expect(new Set(await Promise.all(waits))).toEqual(new Set(['cancelled']));
    await until(() => watches(client.pid) === 0, 'the waits are over');
    expect((await client.call('derun_list_sessions')).isError).toBe(false);
    run.child.stdin?.end();
    await run.result;
  });

  it('killed with -9 and started again, it still knows every run', async () => {
    const life = new Life();
    const first = await life.connect(connect);
    await life.cli.run('done', 'echo', 'kept');
    const run = await life.cli.running('open', /ready/, 'sh', '-c', 'echo ready; read line');
    const before = facts(await first.call('derun_list_sessions'));
    process.kill(first.pid, 'SIGKILL');
    await dead(first.pid);
    const second = await life.connect(connect);
    expect(facts(await second.call('derun_list_sessions'))).toEqual(before);
    const kept = await second.call('derun_read_output', { session_id: 'done' });
    expect(printed(kept)).toBe('kept\n');
    const cursor = await behind(second, 'open');
    const waiting = second.call('derun_wait_output', { session_id: 'open', cursor });
    run.child.stdin?.end();
    expect(facts(await waiting)).toMatchObject({ state: 'exited', final: true });
  });

  it('gives output as a resource', async () => {
    const life = new Life();
    await life.cli.run('first', 'printf', '\\033[31mred\\033[0m\\n');
    const client = await life.connect(connect);
    expect(await client.listTemplates()).toEqual(['cuff://sessions/{id}/output']);
    expect(await client.readResource('cuff://sessions/first/output')).toBe('red\n');
    await expect(client.readResource('cuff://sessions/none/output')).rejects.toThrow();
    await expect(client.readResource('file:///etc/passwd')).rejects.toThrow();
  });

  it('ends when its client says goodbye', async () => {
    const client = await new Life().connect(connect);
    await client.close();
    await dead(client.pid);
  });
});
