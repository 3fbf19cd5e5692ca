// On a slow disk every operation on the state root counts: strace counts those that a command waits
// for before it is executed.
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { binary, Cli } from '../cli/helper.ts';
import { CLIENTS } from '../mcp/clients.ts';
import { Life } from '../mcp/life.ts';
import { lacking } from '../requirements.ts';

/** Looks at `sessions`, makes the directory of the capture, and makes meta.json. */
const OPERATIONS = ['statx', 'mkdir', 'openat', 'write', 'close'];
const COMMAND = '/bin/true';
const { 'by hand': byHand = unknown } = CLIENTS;

function unknown(): never {
  throw new Error('no such client');
}

const works = spawnSync('strace', ['-f', '-y', '-o', '/dev/null', COMMAND]).status === 0;
const noStrace = lacking(!works, 'strace is not installed, or may not trace here');

describe.skipIf(noStrace)('before a command is executed', () => {
  it('`cuff run` asks at most five things of the state root', async () => {
    const cli = new Cli();
    onTestFinished(() => cli.close());
    await cli.cuff('run', '--', COMMAND); // the first one makes the root
    const calls = join(cli.root, 'calls');
    const words = [process.execPath, binary('cuff'), 'run', '--', COMMAND];
    await cli.start(['strace', ...tracing(calls), ...words]).result;
    const lines = linesOf(calls);
    const runner = lines.findIndex((line) => line.includes('/runner", ['));
    const waited = [...lines.slice(0, runner), ...runnersOf(lines, runner, executedIn(lines))];
    expect(touching(waited, cli.root)).toEqual(OPERATIONS);
  });

  it('a server asks at most five for each run', async () => {
    const life = new Life();
    await life.cli.cuff('run', '--', COMMAND);
    // A trace has files of its own, which the first program finds ready.
    life.settings('plugins: { cuff_shell: { config: { recording: { trace: off } } } }\n');
    const calls = join(life.cli.root, 'calls');
    const [file, words] = life.command('cuff', '--dialect', 'cuff_shell');
    const client = await byHand('strace', [...tracing(calls), file, ...words], life.env);
    onTestFinished(() => client.close());
    await client.call('shell_run', { command: 'echo first' });
    await client.call('shell_run', { command: `exec ${COMMAND}` });
    await client.close();
    const lines = linesOf(calls);
    const executed = executedIn(lines);
    const request = lines.findLastIndex((line, at) => at < executed && ASKS_A_SERVER.test(line));
    const call = lines.findLastIndex((line, at) => at < request && line.includes(' read(0<'));
    expect(call).toBeGreaterThan(0);
    const waited = [...lines.slice(call, request), ...runnersOf(lines, request, executed)];
    expect(touching(waited, life.cli.root)).toEqual(OPERATIONS);
  });

  it.each(OPERATIONS)('a starter killed at its %s leaves nothing that harms', async (call) => {
    const cli = new Cli();
    onTestFinished(() => cli.close());
    await cli.cuff('run', '--', COMMAND);
    const paths = [cli.dir('one'), join(cli.dir('one'), 'meta.json'), join(cli.root, 'sessions')];
    const options = ['-f', '-o', '/dev/null', ...paths.flatMap((path) => ['-P', path])];
    const kill = ['-e', `inject=${call}:signal=KILL:when=1`];
    const words = [process.execPath, binary('cuff'), 'run', '--session-id', 'one', '--', 'touch'];
    const mark = join(cli.root, 'ran');
    const { code } = await cli.start(['strace', ...options, ...kill, ...words, mark]).result;
    expect(code).not.toBe(0);
    expect(existsSync(mark)).toBe(false);
    // What is there of it is listed, and only what is listed keeps its name.
    const { out } = await cli.cuff('ls', '--json');
    const listed = out.includes('"one"');
    const again = await cli.cuff('run', '--session-id', 'one', '--', COMMAND);
    expect(again.code === 0).toBe(!listed);
  });
});

/** Of a request to `runner serve`, the id and its first flag. */
const ASKS_A_SERVER = / writev?\(.*\\0--transport\\0/;

function tracing(calls: string): string[] {
  return ['-f', '-y', '-s', '64', '-o', calls];
}

function linesOf(calls: string): string[] {
  const lines = readFileSync(calls, 'utf8').split('\n');
  return lines.filter((line) => !line.includes(' resumed>'));
}

/** Where the process that became the command, at first perhaps a shell, is executed. */
function executedIn(lines: readonly string[]): number {
  const last = lines.findLast((line) => line.includes(`execve("${COMMAND}", ["${COMMAND}"]`));
  return lines.findIndex((line) => line.startsWith(`${pidOf(last)} `) && / execve\(/.test(line));
}

/** What the process did that starts the command, and the command before it was one. */
function runnersOf(lines: readonly string[], from: number, executed: number): string[] {
  const command = pidOf(lines[executed]);
  const vfork = lines.findIndex((line, at) => at > from && / (v?fork|clone3?)\(/.test(line));
  const own = new Set([command, pidOf(lines[vfork])]);
  return lines.slice(from, executed).filter((line) => own.has(pidOf(line)));
}

function pidOf(line = ''): string {
  return line.split(' ', 1)[0] ?? '';
}

/** The names of the calls on files below this directory. */
function touching(lines: readonly string[], root: string): string[] {
  const below = [`${root}/`, `${root}"`, `${root}>`];
  const calls = lines.filter((line) => !line.includes(' execve('));
  const found = calls.filter((line) => below.some((text) => line.includes(text)));
  return found.map((line) => /^\d+ +(\w+)/.exec(line)?.[1] ?? line);
}
