// What a killed runner had not read is gone. Every tool that gives the output of such a run says
// that its end may be missing, the first time and whenever it is read again.
import { readFileSync, truncateSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { ClaudeCode } from '../../src/dialects/claude_code/dialect.ts';
import { Codex } from '../../src/dialects/codex/dialect.ts';
import { CuffShellPlugin } from '../../src/dialects/cuff_shell/dialect.ts';
import { DerunPlugin } from '../../src/dialects/derun/dialect.ts';
import { PhoenixBashPlugin } from '../../src/dialects/phoenix_bash/dialect.ts';
import { PipeBashPlugin } from '../../src/dialects/pipe_bash/dialect.ts';
import { findRunner } from '../../src/run/binary.ts';
import { alive, until } from '../cli/helper.ts';
import { call, World } from '../recorder/helper.ts';
import { lacking } from '../requirements.ts';

const noRunner = lacking(findRunner().kind === 'none', 'there is no native runner here');

const UNREAD = 'Up to 64 KiB of each stream may be missing at the end: its runner was killed';
const UNREAD_MERGED = 'Up to 64 KiB may be missing at the end: its runner was killed';
const HELD = 'echo printed; sleep 100';

/** Kills the runner of the only run, then what the run has left. */
async function killRunner(world: World): Promise<void> {
  const look = () => world.shell.list()[0];
  await until(() => {
    const one = look();
    return one?.meta?.child !== undefined && world.shell.read(one.id, 0, 10).nextCursor > 0;
  }, 'the command has printed');
  const { runner, child } = look()?.meta ?? {};
  if (runner === undefined || child === undefined || runner.pid === process.pid) {
    throw new Error('no runner');
  }
  process.kill(runner.pid, 'SIGKILL');
  await until(() => !alive(runner.pid), 'the runner is gone');
  process.kill(-child.pid, 'SIGKILL');
}

/** The same, and the server has seen it. */
async function loseRun(world: World): Promise<void> {
  await killRunner(world);
  const lost = () => world.logged.some(({ message }) => message === 'Command was lost');
  await until(lost, 'the end of the run is logged');
}

it.skipIf(noRunner)('claude_code: BashOutput and TaskOutput', async () => {
  const world = new World();
  const plugin = await world.open(ClaudeCode);
  const { text } = await call(plugin, 'Bash', { command: HELD, run_in_background: true });
  const id = /ID: (\w+)/.exec(text)?.[1];
  await loseRun(world);
  expect((await call(plugin, 'BashOutput', { bash_id: id })).text).toContain(UNREAD_MERGED);
  const task = await call(plugin, 'TaskOutput', { task_id: id });
  expect(task.text).toContain('printed');
  expect(task.text).toContain(UNREAD_MERGED);
});

it.skipIf(noRunner)('codex: write_stdin', async () => {
  const world = new World();
  const plugin = await world.open(Codex);
  const { text } = await call(plugin, 'exec_command', { cmd: HELD, yield_time_ms: 250 });
  const session_id = Number(/session ID (\d+)/.exec(text)?.[1]);
  await killRunner(world);
  const args = { session_id, chars: '', yield_time_ms: 300_000 };
  expect((await call(plugin, 'write_stdin', args)).text).toContain(UNREAD_MERGED);
});

it.skipIf(noRunner)('cuff_shell: every tool that shows the run', async () => {
  const world = new World();
  const plugin = await world.open(CuffShellPlugin);
  const answering = call(plugin, 'shell_run', { command: HELD });
  await killRunner(world);
  expect((await answering).text).toContain(`[${UNREAD}]`);
  const id = world.shell.list()[0]?.id;
  for (const [tool, args] of [
    ['shell_read', { id }],
    ['shell_read', { id, tail: 1 }],
    ['shell_read', { id, grep: 'printed' }],
    ['shell_wait', { id }],
    ['shell_list', { all: true }],
    ['shell_search', { pattern: 'printed' }],
  ] as const) {
    const { text } = await call(plugin, tool, args);
    expect(text, tool).toContain(UNREAD);
    expect(text, tool).not.toContain('could not be started');
  }
});

it.skipIf(noRunner)('pipe_bash: check_pid', async () => {
  const world = new World();
  const plugin = await world.open(PipeBashPlugin);
  const { text } = await call(plugin, 'bash', { command: HELD, timeout: 1 });
  const check_pid = Number(/pid (\d+)/.exec(text)?.[1]);
  await loseRun(world);
  expect((await call(plugin, 'bash', { check_pid })).text).toContain(UNREAD);
});

it.skipIf(noRunner)('phoenix_bash: the file of a background process', async () => {
  const world = new World();
  const plugin = await world.open(PhoenixBashPlugin);
  const { text } = await call(plugin, 'bash', { command: HELD, background: true });
  const path = /<output_file>(.*)<\/output_file>/.exec(text)?.[1] ?? '';
  await killRunner(world);
  await until(() => readFileSync(path, 'utf8').includes('[background process'), 'its last words');
  expect(readFileSync(path, 'utf8')).toContain(`[${UNREAD_MERGED}]`);
});

it.skipIf(noRunner)('derun: lists, details, output and resource', async () => {
  const world = new World();
  const shell = await world.open(CuffShellPlugin);
  const derun = await world.open(DerunPlugin);
  const answering = call(shell, 'shell_run', { command: HELD });
  await killRunner(world);
  await answering;
  const session_id = world.shell.list()[0]?.id;
  const said = { unread: UNREAD };
  const asked = async (tool: string, args: object) =>
    (await call(derun, tool, { ...args })).structured;
  expect(await asked('list_sessions', {})).toMatchObject({ sessions: [said] });
  expect(await asked('get_session', { session_id })).toMatchObject({ output: said });
  expect(await asked('read_output', { session_id })).toMatchObject({ final: true, ...said });
  expect(await asked('wait_output', { session_id, cursor: '0' })).toMatchObject(said);
  const uri = `cuff://sessions/${session_id}/output`;
  expect((await derun.readResource?.(uri))?.text).toBe(`printed\n[${UNREAD}]\n`);
});

it.skipIf(noRunner)('bytes of an unknown stream that are shown as stdout are named', async () => {
  const world = new World();
  const plugin = await world.open(CuffShellPlugin);
  const answering = call(plugin, 'shell_run', { command: HELD });
  await killRunner(world);
  await answering;
  const { id, dir = '' } = world.shell.list()[0] ?? {};
  truncateSync(join(dir, 'index.jsonl'), 0);
  const unknown = '; 8 bytes are of an unknown stream, shown as stdout';
  expect((await call(plugin, 'shell_read', { id })).text).toContain(`${UNREAD}${unknown}]`);
});

it.skipIf(noRunner)('what a command left behind may have printed more, too', async () => {
  const world = new World();
  const plugin = await world.open(CuffShellPlugin);
  const { text } = await call(plugin, 'shell_run', { command: 'echo printed; sleep 100 &' });
  expect(text).toContain('still alive');
  expect(text).not.toContain('may be missing');
  const id = world.shell.list()[0]?.id;
  await killRunner(world);
  expect((await call(plugin, 'shell_read', { id })).text).toContain(UNREAD);
});

it('a run that ended is not said to miss anything', async () => {
  const world = new World();
  const shell = await world.open(CuffShellPlugin);
  const derun = await world.open(DerunPlugin);
  expect((await call(shell, 'shell_run', { command: 'echo hi' })).text).not.toContain('missing');
  const { text } = await call(derun, 'list_sessions', {});
  expect(text).not.toContain('unread');
});
