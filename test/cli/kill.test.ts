import { once } from 'node:events';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { alive, binary, Cli, until } from './helper.ts';

const cli = new Cli();
afterAll(() => cli.close());

// Who gets its turn later than the grace dies of KILL: where TERM is to be seen, nobody may.
const GRACE = ['--grace', '1m'];

const SURVIVORS = 'setsid sleep 1000 & (sleep 1001 &) ; nohup sleep 1002 >/dev/null 2>&1 & echo hi';

/** Kills or stops the runner of a live run, whose pid it gives once it is dead or stopped. */
async function toRunner(id: string, signal: 'SIGKILL' | 'SIGSTOP'): Promise<number> {
  const pid = (await cli.live(id)).runner_pid;
  if (pid === null) throw new Error(`${id} has no runner`);
  process.kill(pid, signal);
  // It takes the signal when it gets its turn, and that may be later than what follows.
  await until(() => (signal === 'SIGKILL' ? !alive(pid) : stopped(pid)), `${pid} got ${signal}`);
  return pid;
}

/** Two processes `sleep 1000` of a run, once there are two besides those. */
async function twoSleepers(id: string, besides: readonly number[]): Promise<number[]> {
  while (true) {
    const { processes } = await cli.live(id, 'sleep 1000');
    const found = processes.filter(({ command }) => command === 'sleep 1000');
    const pids = found.map(({ pid }) => pid).filter((pid) => !besides.includes(pid));
    if (pids.length === 2) return pids;
  }
}

function stopped(pid: number): boolean {
  return /^State:\tT/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'));
}

function finalOf(id: string): Readonly<Record<string, unknown>> {
  return JSON.parse(readFileSync(join(cli.dir(id), 'final.json'), 'utf8'));
}

describe('cuff kill', () => {
  it('ends every survivor of a run that another process started', async () => {
    await cli.leaving('left', 'sh', '-c', SURVIVORS);
    const pids = await cli.pids('left', 'sleep 1000', 'sleep 1001', 'sleep 1002');
    expect(pids).toHaveLength(3);
    const { code, out, err } = await cli.cuff('kill', 'left');
    expect([code, err]).toEqual([0, 'left has ended: exited 0.\n']);
    expect(rows(out)).toEqual([
      ['PID', 'NOW', 'COMMAND'],
      [String(pids[0]), 'ended', 'sleep 1000'],
      [String(pids[1]), 'ended', 'sleep 1001'],
      [String(pids[2]), 'ended', 'sleep 1002'],
    ]);
    expect(pids.filter(alive)).toEqual([]);
    expect(finalOf('left')).toMatchObject({ state: 'exited' });
    // Its runner writes this down after the last of them, and nobody waits long for it.
    await until(() => finalOf('left').output_closed === true, 'the output is closed');
    expect(finalOf('left')).toMatchObject({ state: 'exited', output_closed: true });
  });

  it('ends a running command with TERM and says so in one JSON document', async () => {
    const run = await cli.running('term', /up/, 'sh', '-c', 'echo up; sleep 1000; true');
    const [shell, sleeper] = await cli.pids('term', 'sleep 1000');
    expect(await cli.json('kill', 'term', ...GRACE)).toEqual({
      session_id: 'term',
      result: 'ended',
      state: 'signaled',
      exit_code: null,
      signal: 'SIGTERM',
      ended_by: 'kill',
      processes: [
        { pid: shell, command: 'sh -c echo up; sleep 1000; true', alive: false },
        { pid: sleeper, command: 'sleep 1000', alive: false },
      ],
    });
    expect((await run.result).signal).toBe('SIGTERM');
  });

  it('goes on to KILL after the grace', async () => {
    const script = 'trap "" TERM; echo up; while :; do sleep 1000; done';
    await cli.running('stubborn', /up/, 'sh', '-c', script);
    const pids = await cli.pids('stubborn', 'sleep 1000');
    const { code, err } = await cli.cuff('kill', 'stubborn', '--grace', '50ms');
    expect([code, err]).toEqual([0, 'stubborn has ended: signaled SIGKILL.\n']);
    expect(pids.filter(alive)).toEqual([]);
  });

  it('with --signal sends that one to every process and nothing more', async () => {
    const script = 'trap "echo got" USR1; echo up; while :; do sleep 1000 & wait $!; done';
    const both = `sh -c '${script}' & ${script}`;
    const run = await cli.running('usr', /up\nup/, 'sh', '-c', both);
    const over: number[] = [];
    for (const [i, name] of ['USR1', 'SIGUSR1', 'sigusr1', '10'].entries()) {
      over.push(...(await twoSleepers('usr', over)));
      const { code, err } = await cli.cuff('kill', 'usr', '--signal', name);
      expect([code, err]).toEqual([0, 'usr got SIGUSR1; see what it does with `cuff ps`.\n']);
      await run.seen(new RegExp(`(got\\n.*){${2 * (i + 1)}}`, 's'));
    }
    // A shell that is just about to fork would leave a child that KILL did not reach.
    await twoSleepers('usr', over);
    expect((await cli.pids('usr')).length).toBeGreaterThanOrEqual(2);
    expect(readFileSync(join(cli.dir('usr'), 'events.jsonl'), 'utf8')).not.toContain('"kill"');
    expect(await cli.json('kill', 'usr', '--signal', 'KILL', ...GRACE)).toMatchObject({
      result: 'ended',
      state: 'signaled',
      signal: 'SIGKILL',
    });
    await until(() => finalOf('usr').output_closed === true, 'the output is closed');
    expect((await cli.ps()).filter((run) => run.session_id === 'usr')).toEqual([]);
  });

  it('has nothing to do when the run is over', async () => {
    await cli.run('over', 'true');
    for (const more of [[], ['--signal', 'TERM']]) {
      const { code, out, err } = await cli.cuff('kill', 'over', ...more);
      expect([code, out, err]).toEqual([0, '', 'over was over already: exited 0.\n']);
    }
    expect(await cli.json('kill', 'over')).toMatchObject({ result: 'already_over', processes: [] });
  });

  it('ends a run whose starter was killed', async () => {
    const run = await cli.running('orphan', /up/, 'sh', '-c', 'echo up; sleep 1000; true');
    const pids = await cli.pids('orphan', 'sleep 1000');
    run.child.kill('SIGKILL');
    await once(run.child, 'exit');
    expect(pids.filter(alive)).toEqual(pids);
    expect(await cli.json('kill', 'orphan', ...GRACE)).toMatchObject({
      result: 'ended',
      signal: 'SIGTERM',
    });
    expect(pids.filter(alive)).toEqual([]);
  });
});

describe('cuff kill without a runner that obeys', () => {
  it('ends what is left when the runner was killed', async () => {
    await cli.running('lost', /up/, 'sh', '-c', 'echo up; (sleep 1000 &); sleep 1001; true');
    const pids = await cli.pids('lost', 'sleep 1000', 'sleep 1001');
    expect(pids).toHaveLength(3);
    await toRunner('lost', 'SIGKILL');
    expect((await cli.pids('lost')).sort()).toEqual([...pids].sort());
    const { code, err } = await cli.cuff('kill', 'lost');
    expect([code, err]).toEqual([0, 'lost has ended: failed.\n']);
    expect(pids.filter(alive)).toEqual([]);
    expect(await cli.json('kill', 'lost')).toMatchObject({ result: 'already_over' });
  });

  it('ends the survivors that a killed runner had listed, wherever they went', async () => {
    await cli.leaving('listed', 'sh', '-c', SURVIVORS);
    const pids = await cli.pids('listed', 'sleep 1000', 'sleep 1001', 'sleep 1002');
    await toRunner('listed', 'SIGKILL');
    expect(await cli.json('kill', 'listed')).toMatchObject({ result: 'ended', exit_code: 0 });
    expect(pids.filter(alive)).toEqual([]);
  });

  it('ends a run in a terminal whose runner was killed', async () => {
    const script = 'trap "" HUP; echo up; sleep 1000; true';
    const words = ['run', '--tty', '--session-id', 'tty', '--', 'sh', '-c', script];
    await cli.start([process.execPath, binary('cuff'), ...words]).seen(/up/);
    const pids = await cli.pids('tty', 'sleep 1000');
    await toRunner('tty', 'SIGKILL');
    expect((await cli.cuff('kill', 'tty')).code).toBe(0);
    expect(pids.filter(alive)).toEqual([]);
  });

  it('wakes a runner that was stopped', async () => {
    await cli.running('stopped', /up/, 'sh', '-c', 'echo up; sleep 1000; true');
    const pids = await cli.pids('stopped', 'sleep 1000');
    const runner = await toRunner('stopped', 'SIGSTOP');
    const { code, err } = await cli.cuff('kill', 'stopped', ...GRACE);
    expect([code, err]).toEqual([0, 'stopped has ended: signaled SIGTERM.\n']);
    expect(pids.filter(alive)).toEqual([]);
    await until(() => !alive(runner), 'the runner ends, which has written down how it was');
  });

  it('ends a run of the portable way, which takes no orders', async () => {
    const script = 'echo up; sleep 1000 & sleep 1001; true';
    const words = ['run', '--session-id', 'portable', '--', 'sh', '-c', script];
    const env = { CUFF_RUNNER: 'off' };
    await cli.start([process.execPath, binary('cuff'), ...words], { env }).seen(/up/);
    const pids = await cli.pids('portable', 'sleep 1000', 'sleep 1001');
    expect(pids).toHaveLength(3);
    expect(await cli.json('kill', 'portable', ...GRACE)).toMatchObject({
      result: 'ended',
      state: 'signaled',
      signal: 'SIGTERM',
    });
    expect(pids.filter(alive)).toEqual([]);
  });

  it('waits while a run is only about to start, and no longer than its starter lives', async () => {
    const starter = cli.start(['sh', '-c', 'echo $$; read x']);
    const pid = Number(await starter.seen(/\n/));
    await cli.run('pattern', 'true');
    const known = readFileSync(join(cli.dir('pattern'), 'meta.json'), 'utf8');
    const meta = { ...JSON.parse(known), session_id: 'starting', starter_pid: pid };
    for (const key of ['runner_pid', 'runner_start', 'pid', 'pid_start']) delete meta[key];
    mkdirSync(cli.dir('starting'), { mode: 0o700 });
    const text = `${JSON.stringify({ ...meta, starter_start: 0 })}\n`;
    writeFileSync(join(cli.dir('starting'), 'meta.json'), text, { mode: 0o600 });
    const kill = cli.start([process.execPath, binary('cuff'), 'kill', 'starting']);
    await until(() => watches(kill.child.pid ?? 0), 'it watches the capture');
    expect(kill.child.exitCode).toBeNull();
    starter.child.stdin?.end('go\n');
    const { code, err } = await kill.result;
    expect([code, err]).toEqual([0, 'starting was over already: failed.\n']);
  });
});

/** Whether a process waits for changes of files. */
function watches(pid: number): boolean {
  const names = readdirSync(`/proc/${pid}/fdinfo`);
  return names.some((name) => {
    try {
      return readFileSync(`/proc/${pid}/fdinfo/${name}`, 'utf8').includes('inotify wd:');
    } catch {
      return false; // closed meanwhile
    }
  });
}

function rows(text: string): string[][] {
  const lines = text.trimEnd().split('\n');
  return lines.map((line) => line.trim().split(/ {2,}/));
}
