// The contract of both backends, fourth part: what a run leaves on disk. Literal, because other
// programs read these files.
import { lstatSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { processAlive, thisProcess } from '../../src/run/processes.ts';
import { FACT_MS_MAX } from '../pace.ts';
import { argv, describeBackends, lacks, type World, world } from './backends.ts';

const TIME = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
const ID = /^\d{8}-\d{6}-[0-9a-f]{8}$/;

function fileOf(home: World, id: string, name: string): string {
  return readFileSync(join(home.root, 'sessions', id, name), 'utf8');
}

/** One line of JSON; its keys in the order they are written in. */
function jsonOf(home: World, id: string, name: string): Record<string, unknown> {
  const text = fileOf(home, id, name);
  expect(text).toMatch(/^\{.*\}\n$/);
  return JSON.parse(text);
}

describeBackends('a capture', (backend) => {
  it('says in meta.json what was started, and by whom', async () => {
    const home = world(backend);
    const run = home.start('echo "a b"; cat', {
      stdin: 'orders',
      killAfterMs: 60_000,
      retentionSeconds: 7,
    });
    expect(run.id).toMatch(ID);
    const intent = fileOf(home, run.id, 'meta.json');
    const child = await run.started;
    const there = (): string => fileOf(home, run.id, 'meta.json');
    await expect.poll(there, { timeout: FACT_MS_MAX }).toContain('"pid":');
    const text = fileOf(home, run.id, 'meta.json');
    const meta = jsonOf(home, run.id, 'meta.json');
    const starter = thisProcess();
    const identity = {
      schema_version: 'v1alpha1',
      session_id: run.id,
      command: ['bash', '--noprofile', '--norc', '-c', 'echo "a b"; cat'],
      shell_text: 'echo "a b"; cat',
      working_directory: home.dir,
      created_at: TIME,
      retention_seconds: 7,
      transport_mode: 'pipe',
      transport: 'pipe',
      tty_attached: false,
      starter_pid: starter.pid,
      starter_start: starter.startTime,
      kill_after_ms: 60_000,
      output_bytes_max: 1_073_741_824,
    };
    const launched = {
      runner_pid: backend === 'portable' ? starter.pid : expect.any(Number),
      runner_start: backend === 'portable' ? starter.startTime : expect.any(Number),
      pid: child?.pid,
      pid_start: child?.startTime,
      started_at: TIME,
    };
    expect(meta).toEqual({ ...identity, ...launched });
    expect(Object.keys(meta)).toEqual(Object.keys({ ...identity, ...launched }));
    // What was said before the launch stays to the byte.
    expect(text.startsWith(intent.slice(0, -2))).toBe(true);
    expect(processAlive({ pid: Number(meta.runner_pid), startTime: 0 })).toBe(true);
    expect(home.shell.open(run.id)).toMatchObject({ state: 'running', outputOpen: true });
    run.endInput();
    await run.closed;
  });

  it('says in final.json how it ended', async () => {
    const home = world(backend);
    const final = (id: string) => ({
      schema_version: 'v1alpha1',
      session_id: id,
      state: 'exited',
      exit_code: 3,
      signal: null,
      error: null,
      message: null,
      ended_by: 'itself',
      ended_at: TIME,
      output_bytes: 5,
      lost_bytes: 0,
      output_closed: true,
      survivors: [],
    });
    const cases = [
      ['echo hey; echo >&2; exit 3', {}],
      ['echo hey; echo; kill -9 $$', { state: 'signaled', exit_code: null, signal: 'SIGKILL' }],
    ] as const;
    for (const [text, changes] of cases) {
      const run = home.start(text);
      const ended = await run.done;
      await run.closed;
      const written = jsonOf(home, run.id, 'final.json');
      expect(written).toEqual({ ...final(run.id), ...changes });
      expect(Object.keys(written)).toEqual(Object.keys(final(run.id)));
      const capture = home.shell.open(run.id);
      expect(capture.final?.outcome).toEqual(ended.outcome);
      expect(capture.state).toBe(written.state);
    }
    const run = home.start(argv('no-such-program'));
    await run.closed;
    expect(jsonOf(home, run.id, 'final.json')).toEqual({
      ...final(run.id),
      state: 'failed',
      exit_code: null,
      error: 'ENOENT',
      message: 'no-such-program: No such file or directory',
      output_bytes: 0,
    });
  });

  it('is complete on disk when the run is said to be done', async () => {
    const home = world(backend);
    for (let i = 0; i < 20; i++) {
      const run = home.start(`echo ${i}`);
      await run.done;
      expect(fileOf(home, run.id, 'output.bin')).toBe(`${i}\n`);
      expect(jsonOf(home, run.id, 'final.json')).toMatchObject({ exit_code: 0 });
      expect(fileOf(home, run.id, 'index.jsonl').split('\n')).toHaveLength(2);
    }
  });

  it('has these files in the end, for nobody else to read', async () => {
    const home = world(backend);
    const before = process.umask(0);
    try {
      const run = home.start('umask; echo hi', { stdin: 'orders' });
      await run.closed;
      const sessions = join(home.root, 'sessions');
      const dir = join(sessions, run.id);
      expect([home.root, sessions, dir].map(modeOf)).toEqual([0o700, 0o700, 0o700]);
      const names = readdirSync(dir).sort();
      expect(names.filter((name) => !name.endsWith('.tmp'))).toEqual([
        'append.lock',
        'events.jsonl',
        'final.json',
        'index.jsonl',
        'meta.json',
        'output.bin',
      ]);
      expect(names.filter((name) => (modeIfThere(join(dir, name)) ?? 0o600) !== 0o600)).toEqual([]);
      // Ours are private whatever the umask, which is the command's own.
      expect(fileOf(home, run.id, 'output.bin')).toBe('0000\nhi\n');
    } finally {
      process.umask(before);
    }
  });

  it('tells in events.jsonl what happened on the way', async () => {
    const home = world(backend);
    const run = home.start('trap "echo got" USR1; echo up; while :; do sleep 0.01; done');
    await home.shell.waitOutput(run.id, 0, 60_000);
    const child = await run.started;
    run.signal('USR1');
    await home.shell.waitOutput(run.id, 3, 60_000);
    await run.kill({ signal: 'KILL' });
    const events = fileOf(home, run.id, 'events.jsonl')
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(events).toEqual([
      { type: 'signal', timestamp: TIME, offset: 3, signal: 'SIGUSR1', from: 'order' },
      { type: 'shell_exited', timestamp: TIME, offset: 7, signal: 'SIGKILL' },
      {
        type: 'kill',
        timestamp: TIME,
        offset: 7,
        signal: 'SIGKILL',
        by: 'order',
        died: expect.arrayContaining([child?.pid]),
        alive: [],
      },
    ]);
  });

  it('keeps the retention of the shell, or of the run, in whole seconds', async () => {
    const retention = async (shell: object, start: object): Promise<unknown> => {
      const home = world(backend, shell);
      const run = home.start('true', start);
      await run.closed;
      return jsonOf(home, run.id, 'meta.json').retention_seconds;
    };
    expect(await retention({}, {})).toBe(86_400);
    expect(await retention({ retentionSeconds: 60 }, {})).toBe(60);
    expect(await retention({ retentionSeconds: 60 }, { retentionSeconds: 5 })).toBe(5);
  });

  it('stops growing at its limit, and says how much is missing', async () => {
    const home = world(backend, { outputBytesMax: 100_000 });
    const run = home.start("head -c 300000 /dev/zero | tr '\\0' x");
    expect((await run.done).outcome).toEqual({ kind: 'exited', code: 0 });
    await run.closed;
    const { final } = home.shell.open(run.id);
    expect(final).toMatchObject({ outputBytes: 100_000, lostBytes: 200_000 });
    expect(fileOf(home, run.id, 'output.bin')).toBe('x'.repeat(100_000));
    const gaps = fileOf(home, run.id, 'events.jsonl').match(/"type":"gap".*"reason":"cap"/g);
    expect(gaps?.length).toBeGreaterThan(0);
  });

  it('keeps the end of too much output, too', async () => {
    const cap = 256 * 1024;
    const home = world(backend, { outputBytesMax: cap });
    const run = home.start("head -c 900000 /dev/zero | tr '\\0' x; echo; echo the last error");
    await run.closed;
    const tail = home.shell.view(run.id, { kind: 'tail', linesMax: 1 }).text;
    const { final } = home.shell.open(run.id);
    if (lacks(backend, 'the end of too much output is kept')) {
      expect(tail).toMatch(/x$/);
      expect(final).toMatchObject({ outputBytes: cap, lostBytes: 900_016 - cap });
    } else {
      expect(tail).toBe('the last error\n');
      expect(final?.outputBytes).toBe(900_016);
    }
  });

  it('is never shared: an id that exists is refused and left as it was', async () => {
    const home = world(backend);
    const run = home.start('echo first', { id: 'mine' });
    await run.closed;
    expect(() => home.start('echo second', { id: 'mine' })).toThrow(
      expect.objectContaining({ code: 'session_exists' }),
    );
    expect(fileOf(home, 'mine', 'output.bin')).toBe('first\n');
  });
});

function modeOf(path: string): number {
  return lstatSync(path).mode & 0o7777;
}

/** One with .tmp at its end may get its name just now. */
function modeIfThere(path: string): number | undefined {
  const found = lstatSync(path, { throwIfNoEntry: false });
  return found === undefined ? undefined : found.mode & 0o7777;
}
