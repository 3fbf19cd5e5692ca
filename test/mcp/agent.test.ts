// The whole life of an agent's shell, with every client there is: what it runs, what it gets told,
// what the journal says, and what is left when its server is killed.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { FACT_MS_MAX } from '../pace.ts';
import { CLIENTS, type TestClient } from './clients.ts';
import { dead, facts, Life, printed } from './life.ts';
import { clientNamed } from './policy-life.ts';

type Result = Readonly<Record<string, unknown>>;

async function execute(client: TestClient, args: Result): Promise<Result> {
  const { isError, text } = await client.call('bash_recorder_execute', args);
  if (isError) throw new Error(text);
  return JSON.parse(text);
}

/** What a person sees of the same journal. */
async function record(life: Life, ...args: readonly string[]): Promise<string> {
  const directory = join(life.project, '.cuff', 'recordings');
  const { code, out, err } = await life.cli.cuff('record', ...args, '--directory', directory);
  if (code !== 0) throw new Error(err);
  return out;
}

async function entries(life: Life): Promise<readonly Result[]> {
  const text = await record(life, 'export', 'all', '--format', 'jsonl');
  const lines = text.split('\n').filter(Boolean);
  return lines.map((line) => JSON.parse(line));
}

describe.each(Object.entries(CLIENTS))('an agent with %s', (_name, connect) => {
  it('runs commands, is told how they ended, and reads what they printed', async () => {
    const life = new Life();
    const client = await life.connect(connect, 'cuff');
    expect(await execute(client, { command: 'echo out; echo err >&2; exit 3' })).toEqual({
      stdout: 'out\n',
      stderr: 'err\n',
      exit_code: 3,
      timed_out: false,
      duration_ms: expect.any(Number),
      recording_id: expect.stringMatching(/^e_\d{8}_\d{6}_001-[0-9a-f]{4}$/),
      session_id: expect.stringMatching(/^\d{8}_\d{6}_/),
      working_directory: life.project,
    });
    const part = 'echo part; sleep 100';
    const late = await execute(client, { command: part, timeout: 15 });
    expect(late).toMatchObject({ stdout: 'part\n', exit_code: null, timed_out: true });
    const behind = await execute(client, { command: 'sleep 100 & echo "pid $!"' });
    expect(behind).toMatchObject({ exit_code: 0, timed_out: false });
    expect(JSON.stringify(behind)).toContain('sleep 100');
    expect(JSON.stringify(behind.notices)).toContain('Follow its output with derun_wait_output');

    const listed = facts(await client.call('derun_list_sessions'));
    const sessions = listed.sessions as readonly Result[];
    expect(sessions).toHaveLength(3);
    const [first] = sessions.filter((one) => one.exit_code === 3);
    const read = { session_id: first?.session_id, cursor: '0' };
    expect(printed(await client.call('derun_read_output', read))).toMatch(
      /^(out\nerr|err\nout)\n$/,
    );

    await client.close();
    const pid = Number(/pid (\d+)/.exec(String(behind.stdout))?.[1]);
    await dead(pid); // what it left behind is ended with the server
    expect((await entries(life)).map((one) => [one.sequence_number, one.end_reason])).toEqual([
      [1, 'itself'],
      [2, 'timeout'],
      [3, 'itself'],
    ]);
  });

  it('loses no command when its server is killed, not even the one that runs', async () => {
    const life = new Life();
    const client = await life.connect(connect, 'cuff');
    await execute(client, { command: 'echo before' });
    const flag = join(life.project, 'go');
    const waiting = `echo started; while [ ! -e ${flag} ]; do sleep 0.05; done; echo finished`;
    client.call('bash_recorder_execute', { command: waiting }).catch(() => undefined);
    const live = async (): Promise<unknown> =>
      facts(await client.call('derun_list_sessions', { state: 'running' })).sessions;
    await expect.poll(live, { timeout: FACT_MS_MAX }).toHaveLength(1);
    process.kill(client.pid, 'SIGKILL');
    await dead(client.pid);

    const next = await life.connect(connect, 'cuff');
    expect((await execute(next, { command: `touch ${flag}` })).exit_code).toBe(0);
    await expect.poll(() => entries(life), { timeout: FACT_MS_MAX }).toHaveLength(3);
    const found = await entries(life);
    // The session goes on in the next server, which also finishes the entry of the killed one.
    expect(Object.fromEntries(found.map((one) => [one.command, one.stdout]))).toEqual({
      'echo before': 'before\n',
      [`touch ${flag}`]: '',
      [waiting]: 'started\nfinished\n',
    });
    expect(new Set(found.map((one) => one.session_id)).size).toBe(1);
    const list = JSON.parse(await record(life, 'list', '--format', 'json'));
    expect(list.sessions.map((one: Result) => `${one.status} ${one.entry_count}`)).toEqual([
      'active 3',
    ]);
  });
});

describe('what an agent did', () => {
  it('can be read, searched and taken away by others', async () => {
    const life = new Life();
    const [connect] = Object.values(CLIENTS);
    if (connect === undefined) throw new Error('There is no client.');
    const client = await life.connect(connect, 'cuff');
    await execute(client, { command: 'echo needle-in-output' });
    await execute(client, { command: 'true needle-in-command', description: 'nothing' });
    const hits = JSON.parse(await record(life, 'search', 'needle', '--json'));
    expect(JSON.stringify(hits)).toContain('needle-in-output');
    expect(JSON.stringify(hits)).toContain('needle-in-command');
    expect(await record(life, 'stats')).toContain('Total Commands: 2');
    const file = join(life.project, 'artifact.json');
    await record(life, 'export', 'all', '--format', 'json', '--output', file);
    const kept = readFileSync(file, 'utf8');
    expect(JSON.parse(kept)).toBeTypeOf('object');
    expect(kept).toContain('needle-in-output');
  });
});

it('an agent without the tools of derun is told of a command instead', async () => {
  const life = new Life();
  mkdirSync(join(life.project, 'cuff')); // the settings of the user
  writeFileSync(join(life.project, 'cuff', 'settings.yml'), 'plugins: { bash_recorder: }\n');
  const client = await life.connect(clientNamed('SDK v1'), 'cuff');
  const { run_id, notices } = await execute(client, { command: 'sleep 100 & echo begun' });
  expect(notices).toEqual([expect.stringContaining(`with \`cuff tail -f ${run_id}\``)]);
});
