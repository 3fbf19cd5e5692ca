import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { alive, binary, Cli, type RunJson, steady, until } from './helper.ts';

let cli: Cli;
beforeEach(() => {
  cli = new Cli();
});
afterEach(() => cli.close());

function holding({ processes }: RunJson): Record<string, boolean> {
  return Object.fromEntries(processes.map((one) => [one.command, one.holds_output]));
}

describe('cuff ps', () => {
  it('says that there is nothing alive', async () => {
    await cli.run('over', 'true');
    const { code, out, err } = await cli.cuff('ps');
    expect([code, out, err]).toEqual([0, '', 'No live runs.\n']);
    expect(await cli.json('ps')).toEqual({ runs: [] });
  });

  it('shows each run with its processes as a tree', async () => {
    const script = '(sleep 1000; true) & sleep 1001 & echo up; wait';
    await cli.running('tree', /up/, 'bash', '-c', script);
    const run = await cli.live('tree', 'sleep 1000', 'sleep 1001');
    expect(run.processes.map(({ command }) => command)).toEqual([
      `bash -c ${script}`,
      `bash -c ${script}`,
      'sleep 1000',
      'sleep 1001',
    ]);
    const [a, b, c, d] = run.processes;
    expect([a, b, c, d].map((one) => one?.parent_pid)).toEqual([
      run.runner_pid,
      a?.pid,
      b?.pid,
      a?.pid,
    ]);
    const { out } = await cli.cuff('ps');
    expect(
      steady(out)
        .split('\n')
        .map((line) => line.replace(/ +/g, ' ')),
    ).toEqual([
      'RUN / PID STATE AGE OUTPUT COMMAND',
      `tree running 0s bash -c '${script}'`,
      `└─ ${a?.pid} 0s holds bash -c ${script}`,
      ` ├─ ${b?.pid} 0s holds bash -c ${script}`,
      ` │ └─ ${c?.pid} 0s holds sleep 1000`,
      ` └─ ${d?.pid} 0s holds sleep 1001`,
      '',
    ]);
  });

  it('gives every run as JSON in the shape of cuff ls, with its processes', async () => {
    await cli.running('json', /up/, 'sh', '-c', 'echo up; exec sleep 1000');
    await cli.live('json', 'sleep 1000');
    const { sessions } = await cli.json<{ sessions: object[] }>('ls');
    expect(await cli.json('ps')).toEqual({
      runs: [
        {
          ...sessions[0],
          runner_pid: expect.any(Number),
          runner_alive: true,
          processes: [
            {
              pid: expect.any(Number),
              parent_pid: expect.any(Number),
              start_time: expect.any(Number),
              age_ms: expect.any(Number),
              command: 'sleep 1000',
              holds_output: true,
            },
          ],
        },
      ],
    });
  });

  it('tells who can still write to the output from who cannot', async () => {
    const script =
      'sleep 1000 & sleep 1001 >/dev/null 2>&1 & sleep 1002 >/dev/null & ' +
      'sleep 1003 3>&1 >/dev/null 2>&1 & echo done';
    await cli.leaving('who', 'sh', '-c', script);
    const sleepers = [1000, 1001, 1002, 1003].map((n) => `sleep ${n}`);
    expect(holding(await cli.live('who', ...sleepers))).toEqual({
      'sleep 1000': true,
      'sleep 1001': false,
      'sleep 1002': true,
      'sleep 1003': true,
    });
  });

  it('does not take somebody who only reads our stdin for a holder', async () => {
    const script = 'echo up; sleep 1000 >/dev/null 2>&1';
    await cli.running('stdin', /up/, 'sh', '-c', script);
    const run = await cli.live('stdin', 'sleep 1000');
    expect(holding(run)).toMatchObject({ 'sleep 1000': false });
  });

  it('knows the holders of a terminal, too', async () => {
    const script = 'sleep 1000 & sleep 1001 </dev/null >/dev/null 2>&1 & echo up; sleep 1002; true';
    const words = ['run', '--tty', '--session-id', 'tty', '--', 'sh', '-c', script];
    await cli.start([process.execPath, binary('cuff'), ...words]).seen(/up/);
    const run = await cli.live('tty', 'sleep 1000', 'sleep 1001', 'sleep 1002');
    expect(holding(run)).toMatchObject({
      'sleep 1000': true,
      'sleep 1001': false,
      'sleep 1002': true,
    });
  });

  it('says when a run is not captured any more', async () => {
    await cli.running('lost', /up/, 'sh', '-c', 'echo up; exec sleep 1000');
    const { runner_pid } = await cli.live('lost', 'sleep 1000');
    if (runner_pid === null) throw new Error('it has no runner');
    process.kill(runner_pid, 'SIGKILL');
    await until(() => !alive(runner_pid), 'the runner is dead');
    const { out, err } = await cli.cuff('ps');
    expect(out).toMatch(/^lost +runner killed/m);
    expect(out).toMatch(/└─ \d+ .* sleep 1000$/m);
    expect(err).toContain('`cuff kill ID` ends its processes');
  });

  it('shows what a process is called without letting it speak to the terminal', async () => {
    const hostile = '\x1b]0;owned\x07\u202e';
    await cli.running('hostile', /up/, 'bash', '-c', 'echo up; exec -a "$0" sleep 1000', hostile);
    await cli.live('hostile', `${hostile} 1000`);
    const { out } = await cli.cuff('ps');
    expect(out).not.toMatch(/[\x1b\x07\u202e]/);
    expect(out).toContain('\\x1b]0;owned\\x07\\u{202e} 1000');
  });
});
