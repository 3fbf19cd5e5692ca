// Windows of one client, each with a server of its own, and one server is killed: the next server
// that starts goes on with its live runs, once, and no living server loses any.
import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { alive, until } from '../cli/helper.ts';
import { CLIENTS, type TestClient } from './clients.ts';
import { dead, Life } from './life.ts';

class Windows {
  readonly life = new Life();
  readonly fifo = join(this.life.project, 'fifo');
  readonly #dialect: string;

  constructor(dialect: string) {
    this.#dialect = dialect;
    expect(spawnSync('mkfifo', [this.fifo]).status).toBe(0);
  }

  /** A run that says `one`, waits for the test, says `two` and exits with 3. */
  get held(): string {
    return `echo one; read < ${this.fifo}; echo two; exit 3`;
  }

  /** Lets the held run go on. */
  release(): void {
    writeFileSync(this.fifo, '\n');
  }

  /** Waits for the first line of the held run. */
  async begun(): Promise<void> {
    const output = (id: unknown): string =>
      readFileSync(join(this.life.cli.root, 'sessions', String(id), 'output.bin'), 'utf8');
    const [meta] = this.metas('exit 3');
    await until(() => output(meta?.session_id).includes('one'), 'the run has begun');
  }

  async open(): Promise<TestClient> {
    const connect = CLIENTS['SDK v1'];
    if (connect === undefined) throw new Error('there is no such client');
    return this.life.connect(connect, 'cuff', '--dialect', this.#dialect);
  }

  async crash({ pid }: TestClient): Promise<void> {
    process.kill(pid, 'SIGKILL');
    await dead(pid);
  }

  /** The captures of commands with these words. */
  metas(words: string): Record<string, unknown>[] {
    const dir = join(this.life.cli.root, 'sessions');
    return readdirSync(dir)
      .map((id) => JSON.parse(readFileSync(join(dir, id, 'meta.json'), 'utf8')))
      .filter(({ shell_text: text }) => String(text).includes(words));
  }

  /** The files with what the client calls them. */
  handles(words: string): string[] {
    const dir = join(this.life.cli.root, 'sessions');
    const ids = this.metas(words).map(({ session_id: id }) => String(id));
    return ids.map((id) => readFileSync(join(dir, id, 'handle'), 'utf8'));
  }

  /** The entries of the journal whose command has these words. */
  entries(words: string): Record<string, unknown>[] {
    const dir = join(this.life.project, '.cuff', 'recordings', 'sessions');
    const files = readdirSync(dir).filter((name) => name.endsWith('.jsonl'));
    return files
      .flatMap((name) => readFileSync(join(dir, name), 'utf8').trim().split('\n'))
      .flatMap((line) => (line === '' ? [] : [JSON.parse(line)]))
      .filter(({ command }) => String(command).includes(words));
  }
}

async function text(
  client: TestClient,
  tool: string,
  args: object,
  meta?: object,
): Promise<string> {
  const options = meta === undefined ? {} : { meta: { ...meta } };
  return (await client.call(tool, { ...args }, options)).text;
}

const bash = (client: TestClient, command: string, meta?: object): Promise<string> =>
  text(client, 'Bash', { command, run_in_background: true }, meta);

describe('claude_code', () => {
  it('goes on with the runs of the window that crashed, and with no others', async () => {
    const windows = new Windows('claude_code');
    const [crashing, living] = [await windows.open(), await windows.open()];
    // A server looks for older runs when it is loaded, which its first call waits for.
    expect((await living.call('BashOutput', { bash_id: 'bash_1' })).isError).toBe(true);
    expect(await bash(crashing, windows.held)).toContain('ID: bash_1.');
    expect(await bash(crashing, 'sleep 1001')).toContain('ID: bash_2.');
    await windows.begun();
    expect(await bash(living, 'sleep 1002')).toContain('ID: bash_1.');
    await windows.crash(crashing);
    // The window that was there before does not start, so it takes nothing.
    expect(await text(living, 'BashOutput', { bash_id: 'bash_2' })).toContain('bash_2');
    expect((await living.call('BashOutput', { bash_id: 'bash_2' })).isError).toBe(true);

    const next = await windows.open();
    const first = await text(next, 'BashOutput', { bash_id: 'bash_1' });
    expect(first).toContain('<status>running</status>');
    expect(first).toContain('<stdout>\none\n');
    expect(first).toMatch(/^\[Still running since an earlier server: bash_1 \(pid \d+\): echo/m);
    expect(first).toMatch(/^\[Still running since an earlier server: bash_2 .*sleep 1001\]$/m);
    expect(first).not.toContain('sleep 1002');
    expect(await bash(next, 'sleep 1003')).toContain('ID: bash_3.');
    expect(await text(next, 'KillShell', { shell_id: 'bash_2' })).toContain('bash_2');
    expect(windows.handles('sleep 1001')).toEqual(['"bash_2"\n']);

    windows.release();
    const waited = await text(next, 'TaskOutput', { task_id: 'bash_1', block: true });
    expect(waited).toContain('<exit_code>3</exit_code>');
    expect(waited).toContain('two');
    expect(windows.entries('exit 3')).toMatchObject([{ exit_code: 3, stdout: 'one\ntwo\n' }]);
    expect(await text(living, 'BashOutput', { bash_id: 'bash_1' })).toContain('running');

    const last = await windows.open();
    expect((await last.call('BashOutput', { bash_id: 'bash_3' })).isError).toBe(true);
  });

  it('gives a run to one of two servers that start at once', async () => {
    const windows = new Windows('claude_code');
    const crashing = await windows.open();
    await bash(crashing, 'sleep 1001');
    await windows.crash(crashing);
    const both = await Promise.all([windows.open(), windows.open()]);
    const answers = await Promise.all(
      both.map((client) => client.call('BashOutput', { bash_id: 'bash_1' })),
    );
    expect(answers.map(({ isError }) => isError).sort()).toEqual([false, true]);
  });

  it('goes on after a second crash, and counts on above handles of the past', async () => {
    const windows = new Windows('claude_code');
    const first = await windows.open();
    await bash(first, 'sleep 1001');
    await bash(first, 'echo over');
    await until(() => windows.entries('echo over').length === 1, 'it is over');
    await windows.crash(first);
    const second = await windows.open();
    expect(await text(second, 'BashOutput', { bash_id: 'bash_1' })).toContain('running');
    await windows.crash(second);
    const third = await windows.open();
    expect(await text(third, 'BashOutput', { bash_id: 'bash_1' })).toContain('running');
    expect(await bash(third, 'true')).toContain('ID: bash_3.');
  });

  it('leaves runs of another conversation alone', async () => {
    const windows = new Windows('claude_code');
    const crashing = await windows.open();
    await bash(crashing, 'sleep 1001', { conversation_id: 'a' });
    await windows.crash(crashing);
    const next = await windows.open();
    const of = async (meta: Record<string, unknown> = {}) =>
      (await next.call('BashOutput', { bash_id: 'bash_1' }, { meta })).isError;
    expect([await of({ conversation_id: 'b' }), await of()]).toEqual([true, true]);
    expect(await of({ conversation_id: 'a' })).toBe(false);
  });
});

describe('codex', () => {
  it('goes on with a session by its number, and interrupts it', async () => {
    const windows = new Windows('codex');
    const start = (client: TestClient, cmd: string): Promise<string> =>
      text(client, 'exec_command', { cmd, yield_time_ms: 250 });
    const crashing = await windows.open();
    expect(await start(crashing, windows.held)).toContain('session ID 1000');
    expect(await start(crashing, 'exec sleep 1001')).toContain('session ID 1001');
    await windows.crash(crashing);
    const next = await windows.open();
    expect(await start(next, 'sleep 1002')).toContain('session ID 1002');
    windows.release();
    const poll = { session_id: 1000, yield_time_ms: 30_000 };
    const over = await text(next, 'write_stdin', poll);
    expect(over).toContain('exited with code 3');
    expect(over).toContain('one\ntwo');
    const interrupt = { session_id: 1001, chars: '\u0003', yield_time_ms: 30_000 };
    expect(await text(next, 'write_stdin', interrupt)).toContain('exited with code 130');
  });
});

describe('pipe_bash', () => {
  it('goes on with a run by its pid', async () => {
    const windows = new Windows('pipe_bash');
    const crashing = await windows.open();
    const left = await text(crashing, 'bash', { command: windows.held, timeout: 1 });
    const pid = Number(/PID:? (\d+)/i.exec(left)?.[1]);
    await windows.begun();
    await windows.crash(crashing);
    const next = await windows.open();
    const checked = await text(next, 'bash', { check_pid: pid });
    expect(checked).toContain('one');
    expect(checked).toContain(`[Still running since an earlier server: pid ${pid}: echo one`);
    expect(await text(next, 'bash', { kill_pid: pid })).toContain(`Process ${pid}`);
    expect(alive(pid)).toBe(false);
  });
});

describe('phoenix_bash', () => {
  it('goes on with the file of a run', async () => {
    const windows = new Windows('phoenix_bash');
    const crashing = await windows.open();
    const started = await text(crashing, 'bash', { command: windows.held, background: true });
    const file = /<output_file>(.*)<\/output_file>/.exec(started)?.[1] ?? '';
    const content = (): string => readFileSync(file, 'utf8');
    await until(() => content() === 'one\n', 'it has begun');
    await windows.crash(crashing);
    const next = await windows.open();
    expect(await text(next, 'bash', { command: 'echo hi' })).toContain('Still running since');
    windows.release();
    await until(() => content().startsWith('one\ntwo\n'), 'the file goes on');
    await until(() => content().includes('3'), 'and has its end');
  });
});

describe('cuff_shell', () => {
  it('lists, reads, waits for and kills what a dead server left', async () => {
    const windows = new Windows('cuff_shell');
    const crashing = await windows.open();
    const run = async (client: TestClient, command: string): Promise<string> =>
      /\b([0-9a-f]{8})\b/.exec(await text(client, 'shell_run', { command, wait_ms: 0 }))?.[1] ?? '';
    const held = await run(crashing, windows.held);
    const sleeper = await run(crashing, 'sleep 1001');
    await windows.crash(crashing);
    const next = await windows.open();
    const listed = await text(next, 'shell_list', {});
    expect(listed).toContain('2 runs alive');
    expect(await text(next, 'shell_kill', { id: sleeper })).toContain('killed');
    windows.release();
    const waited = await text(next, 'shell_wait', { id: held, wait_ms: 60_000 });
    expect(waited).toContain('two');
    expect(waited).toContain('exit 3');
    expect(await text(next, 'shell_read', { id: held })).toContain('one\ntwo\n');
  });
});
