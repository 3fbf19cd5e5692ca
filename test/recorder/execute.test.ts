// Executing: what a command gets, how it ends, what its answer and its entry say about it.
import * as fs from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { alive, until } from '../cli/helper.ts';
import { withTime } from '../pace.ts';
import { call, execute, World } from './helper.ts';

describe('a command', () => {
  it('is executed, recorded, and only then answered', async () => {
    const world = new World();
    const plugin = await world.plugin({ recording: { trace: 'off' } });
    const answer = await execute(plugin, 'echo out; echo err >&2; exit 3', {
      description: 'Say two things',
    });
    const entry = world.entry();
    expect(answer).toEqual({
      stdout: 'out\n',
      stderr: 'err\n',
      exit_code: 3,
      timed_out: false,
      duration_ms: expect.any(Number),
      recording_id: entry.entry_id,
      session_id: entry.session_id,
      working_directory: world.project,
    });
    expect(entry).toEqual({
      entry_id: expect.stringMatching(/^e_\d{8}_\d{6}_001-[0-9a-f]{4}$/),
      session_id: expect.stringMatching(/^\d{8}_\d{6}_[0-9a-f]{8}-[0-9a-f]{4}$/),
      sequence_number: 1,
      timestamp: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/),
      duration_ms: answer.duration_ms,
      command: 'echo out; echo err >&2; exit 3',
      description: 'Say two things',
      working_directory: world.project,
      shell: '/bin/bash',
      timeout_seconds: 120,
      timed_out: false,
      exit_code: 3,
      stdout: 'out\n',
      stderr: 'err\n',
      output_truncated: false,
      output_truncated_bytes: null,
      environment: null,
      agent_id: null,
      conversation_id: null,
      tool_call_id: null,
      opencuff_version: '0.1.0',
      plugin_version: '1.0.0',
      run_id: expect.stringMatching(/^\d{8}-\d{6}-[0-9a-f]{8}$/),
      end_reason: 'itself',
      signal: null,
      trace_id: null,
      context_source: null,
      processes: null,
      failed_processes: null,
      process_list: null,
      failed_process_list: null,
      decision: null,
    });
  });

  it('behaves as under bash without a recorder', async () => {
    const world = new World();
    const plugin = await world.plugin();
    // biome-ignore lint/suspicious/noTemplateCurlyInString: bash's own
    const text = 'f() { echo "$1-${#2}"; }; f a b | tee /dev/stderr; [[ x == x ]] && false';
    expect(await execute(plugin, text)).toMatchObject({
      stdout: 'a-1\n',
      stderr: 'a-1\n',
      exit_code: 1,
    });
  });

  it('starts afresh each time', async () => {
    const world = new World();
    const plugin = await world.plugin();
    await execute(plugin, 'cd /; X=1; export X');
    expect(await execute(plugin, 'pwd; echo "[$X]"')).toMatchObject({
      stdout: `${world.project}\n[]\n`,
    });
  });

  it('has no terminal and nothing to read', async () => {
    const plugin = await new World().plugin();
    const asked = await execute(plugin, 'cat; for fd in 0 1 2; do test -t $fd && echo tty; done');
    expect(asked).toMatchObject({ stdout: '', exit_code: 1 });
  });

  it('that dies of a signal has no exit code, and says which', async () => {
    const world = new World();
    const plugin = await world.plugin();
    const answer = await execute(plugin, 'kill -9 $$');
    expect(answer).toMatchObject({ exit_code: null, timed_out: false, signal: 'SIGKILL' });
    expect(world.entry()).toMatchObject({ exit_code: null, signal: 'SIGKILL' });
  });

  it('may leave processes behind, which are listed and not waited for', async () => {
    const world = new World();
    const plugin = await world.plugin();
    // Forked is not yet what it will be: it is listed under its own name only then.
    const command = 'sleep 60 & until grep -q ^sleep /proc/$!/cmdline; do :; done; echo hi';
    const { survivors, notices, run_id, exit_code } = await execute(plugin, command);
    expect(exit_code).toBe(0);
    expect(survivors).toEqual([{ pid: expect.any(Number), command: 'sleep 60' }]);
    expect(notices).toEqual([
      '1 process still runs in the background. Follow its output with ' +
        `\`cuff tail -f ${run_id}\`.`,
    ]);
  });

  it('that nobody can start is an error, and recorded as one', async () => {
    const world = new World();
    const plugin = await world.plugin({ execution: { shell: '/no/such/shell' } });
    const { success, text } = await call(plugin, 'execute', { command: 'true' });
    expect(success).toBe(false);
    expect(text).toMatch(/^The command could not be started: .+\. Check execution\.shell\.$/);
    expect(world.entry()).toMatchObject({ end_reason: 'failed', exit_code: null });
    expect(world.log('Command could not be started')[0]?.level).toBe('error');
  });

  it('is run by the shell that the settings name', async () => {
    const world = new World();
    const plugin = await world.plugin({ execution: { shell: '/bin/sh' } });
    const answer = await execute(plugin, 'readlink /proc/$$/exe; echo "$0"');
    expect(answer.stdout).toBe(`${fs.realpathSync('/bin/sh')}\n/bin/sh\n`);
    expect(world.entry().shell).toBe('/bin/sh');
  });
});

it('a command with half a character is stored as it was executed', async () => {
  const world = new World();
  const plugin = await world.plugin({ recording: { trace: 'off' } });
  const { stdout } = await execute(plugin, 'echo "\ud83d|"', { description: '\udfff' });
  expect(stdout).toBe('\ufffd|\n');
  expect(world.entry()).toMatchObject({
    command: 'echo "\ufffd|"',
    description: '\ufffd',
    stdout: '\ufffd|\n',
  });
});

describe('the working directory', () => {
  it('is the project, the settings choice, or the one that is asked for', async () => {
    const world = new World();
    fs.mkdirSync(join(world.project, 'sub', 'deep'), { recursive: true });
    const plugin = await world.plugin({ execution: { working_directory: 'sub' } });
    const asked = async (working_directory?: string): Promise<string> =>
      (await execute(plugin, 'pwd', { working_directory })).stdout.trim();
    expect(await asked()).toBe(join(world.project, 'sub'));
    expect(await asked('deep')).toBe(join(world.project, 'sub', 'deep'));
    expect(await asked('/')).toBe('/');
    expect(world.entries().map((entry) => entry.working_directory)).toEqual([
      join(world.project, 'sub'),
      join(world.project, 'sub', 'deep'),
      '/',
    ]);
  });

  it('must be there and be a directory, or nothing is executed', async () => {
    const world = new World();
    const plugin = await world.plugin();
    const marker = join(world.dir, 'executed');
    fs.writeFileSync(join(world.project, 'file'), '');
    for (const [directory, words] of [
      ['missing', 'Working directory does not exist'],
      ['file', 'Working directory is not a directory'],
      ['../../../../../../../../nowhere', 'Working directory does not exist'],
    ] as const) {
      const args = { command: `touch ${marker}`, working_directory: directory };
      const { success, text } = await call(plugin, 'execute', args);
      expect(success).toBe(false);
      expect(text).toContain(words);
    }
    expect(fs.existsSync(marker)).toBe(false);
    expect(world.entries()).toEqual([]);
  });
});

describe('the environment of a command', () => {
  const env = { PATH: process.env.PATH, HOME: '/home/user', CI: 'false', LANG: 'C' };

  it("is the server's, with what the settings change", async () => {
    const world = new World({ env });
    const plugin = await world.plugin({ execution: { env_overrides: { CI: 'true', NEW: '1' } } });
    const { stdout } = await execute(plugin, 'echo "$HOME $CI $NEW"');
    expect(stdout).toBe('/home/user true 1\n');
  });

  it('is only what the settings say when nothing is inherited', async () => {
    const world = new World({ env });
    const config = { inherit_env: false, env_overrides: { ONLY: 'this' } };
    const plugin = await world.plugin({ execution: config });
    const { stdout } = await execute(plugin, '/usr/bin/env | cut -d= -f1 | sort | xargs');
    const bash = ['PWD', 'SHLVL', '_'];
    expect(
      stdout
        .trim()
        .split(' ')
        .filter((name) => !bash.includes(name)),
    ).toEqual(['ONLY']);
  });

  it('is stored only when that is asked for, and never a secret', async () => {
    const world = new World({ env: { ...env, MY_TOKEN: 'hidden-token', AWS_REGION: 'eu' } });
    const off = await world.plugin();
    await execute(off, 'true');
    await world.stop(off);
    const env_allowlist = ['HOME', 'MY_TOKEN', 'UNSET'];
    const on = await world.plugin({ recording: { capture_env: true, env_allowlist } });
    await execute(on, 'true');
    expect(world.entries().map((entry) => entry.environment)).toEqual([
      null,
      { HOME: '/home/user' },
    ]);
  });
});

describe('a timeout', () => {
  it('ends the whole tree and gives what was printed', async () => {
    const attempt = async (ms: number) => {
      const world = new World();
      const plugin = await world.plugin();
      const [pids, timeout] = [join(world.dir, 'pids'), ms / 1000];
      const child = `setsid sh -c 'echo $$ >> ${pids}; sleep 100'`;
      const tree = `echo $$ > ${pids}; ${child} & echo part; wait`;
      const answer = await execute(plugin, tree, { timeout });
      const text = fs.existsSync(pids) ? fs.readFileSync(pids, 'utf8') : '';
      return { world, answer, timeout, started: (text.match(/\d+\n/g) ?? []).map(Number) };
    };
    const far = ({ started, answer }: Awaited<ReturnType<typeof attempt>>): boolean =>
      started.length === 2 && answer.stdout !== '';
    const { world, answer, timeout, started } = await withTime(3_000, attempt, far);
    expect(answer).toMatchObject({ stdout: 'part\n', exit_code: null, timed_out: true });
    expect(answer.notices).toEqual([
      `Ended with all its processes after ${timeout} seconds; the output is partial.`,
    ]);
    expect(started).toHaveLength(2);
    await until(() => !started.some(alive), 'everybody is gone');
    expect(world.entry()).toMatchObject({
      timed_out: true,
      exit_code: null,
      stdout: 'part\n',
      timeout_seconds: timeout,
      end_reason: 'timeout',
    });
  });

  it('has no exit code even when the command makes one of it', async () => {
    const world = new World();
    const plugin = await world.plugin();
    const answer = await execute(plugin, "trap 'exit 0' TERM; sleep 60 & wait", { timeout: 1 });
    expect(answer).toMatchObject({ exit_code: null, timed_out: true });
  });

  it('is the default of the settings, and at most their maximum, and says so', async () => {
    const world = new World();
    const plugin = await world.plugin({ execution: { default_timeout: 70, max_timeout: 90 } });
    await execute(plugin, 'true');
    const { notices } = await execute(plugin, 'true', { timeout: 900 });
    await execute(plugin, 'true', { timeout: 90 });
    expect(notices).toEqual(['The timeout of 900 seconds was capped at the maximum of 90.']);
    expect(world.entries().map((entry) => entry.timeout_seconds)).toEqual([70, 90, 90]);
  });

  it('that the maximum leaves no room for is the maximum', async () => {
    const world = new World();
    const plugin = await world.plugin({ execution: { max_timeout: 60 } });
    const answer = await execute(plugin, 'true');
    expect(answer.notices).toBeUndefined();
    expect(world.entry().timeout_seconds).toBe(60);
  });
});

describe('a cancelled call', () => {
  it('ends its command with all its processes, and is recorded as cancelled', async () => {
    const world = new World();
    const plugin = await world.plugin();
    const started = join(world.dir, 'started');
    const controller = new AbortController();
    const { signal } = controller;
    const pending = execute(plugin, `setsid sleep 60 & echo $! > ${started}; wait`, {}, { signal });
    await until(() => fs.existsSync(started) && fs.statSync(started).size > 0, 'it runs');
    controller.abort();
    const answer = await pending;
    expect(answer.notices).toEqual([
      'Ended with all its processes because the call was cancelled.',
    ]);
    expect(world.entry()).toMatchObject({ end_reason: 'cancelled', exit_code: null });
    expect(alive(Number(fs.readFileSync(started, 'utf8')))).toBe(false);
  });

  it('that was cancelled before it began executes nothing', async () => {
    const world = new World();
    const plugin = await world.plugin();
    const signal = AbortSignal.abort();
    const { success, text } = await call(plugin, 'execute', { command: 'true' }, { signal });
    expect([success, text]).toEqual([false, 'The call was cancelled before it began.']);
    expect(world.entries()).toEqual([]);
  });
});

it('20 commands at once are numbered in the order of their lines', async () => {
  const world = new World();
  const plugin = await world.plugin();
  const words = Array.from({ length: 20 }, (_, i) => `word-${i}`);
  const answers = await Promise.all(words.map((word) => execute(plugin, `echo ${word}`)));
  expect(answers.map(({ stdout }) => stdout.trim())).toEqual(words);
  const entries = world.sessions()[0]?.entries ?? [];
  expect(entries.map((entry) => entry.sequence_number)).toEqual(words.map((_, i) => i + 1));
  expect(new Set(entries.map((entry) => entry.entry_id)).size).toBe(20);
  const byId = new Map(entries.map((entry) => [entry.entry_id, entry.stdout?.trim()]));
  expect(answers.map((answer) => byId.get(answer.recording_id ?? ''))).toEqual(words);
});
