// Edges of the runner that no ordinary run comes near: system calls that fail, a starter that does
// not read, a machine that has just booted. strace makes the calls fail, the kernel does the rest.
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, describe, expect, it } from 'vitest';
import { findRunner } from '../../src/run/binary.ts';
import { until } from '../cli/helper.ts';
import { lacking } from '../requirements.ts';

const runner = findRunner();
const path = runner.kind === 'native' ? runner.path : '';
const root = mkdtempSync(join(tmpdir(), 'cuff-edges-'));
afterAll(() => rmSync(root, { recursive: true, force: true }));

const none = runner.kind === 'none';
const strace = spawnSync('strace', ['-f', '-o', '/dev/null', 'true']).status === 0;
const noStrace = lacking(none || !strace, 'there is no native runner, or no strace, here');
const young = spawnSync('unshare', ['--time', '--monotonic=0', 'true']).status === 0;
const noTime = lacking(
  none || !young,
  'no native runner, or no `unshare --time` (root, Linux 5.6)',
);

/** The words of a run whose capture is in a new directory. */
function run(id: string, ...command: readonly string[]): string[] {
  mkdirSync(dirOf(id), { mode: 0o700 });
  writeFileSync(join(dirOf(id), 'meta.json'), `{"session_id":"${id}"}\n`);
  return [path, 'run', id, '--dir', dirOf(id), '--session', 'own', '--', ...command];
}

function dirOf(id: string): string {
  return join(root, id);
}

function linesIn(id: string, name: string): Record<string, unknown>[] {
  const lines = readFileSync(join(dirOf(id), name), 'utf8')
    .split('\n')
    .slice(0, -1);
  return lines.map((line) => JSON.parse(line));
}

/** With a socket of its own as fd 3, as a starter has it. */
function start([program = '', ...args]: readonly string[]): {
  readonly child: ChildProcess;
  readonly said: Promise<string>;
} {
  const child = spawn(program, args, { stdio: ['ignore', 'ignore', 'inherit', 'pipe'] });
  const socket = child.stdio[3];
  if (socket === null || socket === undefined) throw new Error('no socket');
  return { child, said: text(socket as NodeJS.ReadableStream) };
}

function failing(call: string, error: string): string[] {
  return ['strace', '-f', '-qq', '-o', '/dev/null', '-e', `inject=${call}:error=${error}`];
}

describe.skipIf(noStrace)('a system call that fails', () => {
  it('signalfd: the command is not started, and that is said', async () => {
    const { child, said } = start([...failing('signalfd4', 'EMFILE'), ...run('deaf', 'true')]);
    expect(await said).toMatch(/^deaf failed signals EMFILE .*\n$/);
    expect([child.exitCode ?? (await once(child, 'exit'))[0]]).toEqual([126]);
  });

  it('signalfd: a serving process ends instead of missing the end of its runners', async () => {
    const { child } = start([...failing('signalfd4', 'EMFILE'), path, 'serve']);
    expect((await once(child, 'exit'))[0]).toBe(1);
  });

  it('kill: a signal to every process of a run is sent to processes, not to numbers', async () => {
    const fifo = join(root, 'never');
    spawnSync('mkfifo', [fifo]);
    const command = `read <${fifo} & read <${fifo}; exit 3`;
    const { said } = start([...failing('kill', 'ESRCH'), ...run('all', 'bash', '-c', command)]);
    await until(() => metaOf('all').pid !== undefined, 'the command has a pid');
    await until(() => childrenOf(Number(metaOf('all').pid)) > 0, 'it has a child');
    writeFileSync(join(dirOf('all'), 'control'), 'signal-all KILL\n');
    expect(await said).toMatch(/^all signaled SIGKILL /m);
    expect(linesIn('all', 'final.json')[0]?.survivors).toEqual([]);
  });
});

function metaOf(id: string): Record<string, unknown> {
  return linesIn(id, 'meta.json')[0] ?? {};
}

function childrenOf(pid: number): number {
  const children = `/proc/${pid}/task/${pid}/children`;
  return existsSync(children) ? readFileSync(children, 'utf8').split(' ').length - 1 : 0;
}

const fullSocket = join(root, 'full-socket');
const source = join(import.meta.dirname, 'programs', 'full-socket.c');
const built = spawnSync('cc', ['-O1', '-o', fullSocket, source]).status === 0;
const noCompiler = lacking(none || !built, 'there is no native runner, or no compiler, here');

const STOPS = 80;

describe.skipIf(noCompiler)('a starter that reads nothing for long', () => {
  it('still learns how the run ended', async () => {
    const id = 'x'.repeat(128); // 60 lines with it are more than the runner keeps
    const fifo = join(root, 'go');
    spawnSync('mkfifo', [fifo]);
    const words = run(id, 'bash', '-c', `read <${fifo}; exit 7`);
    const child = spawn(fullSocket, words, { stdio: ['pipe', 'pipe', 'inherit'] });
    const said = text(child.stdout);
    await until(() => metaOf(id).pid !== undefined, 'the command has a pid');
    const pid = Number(metaOf(id).pid);
    const owner = Number(metaOf(id).runner_pid);
    for (let i = 0; i < STOPS; i++) {
      process.kill(pid, 'SIGSTOP');
      await until(() => stateOf(pid) === 'T' && heard(owner), 'the runner has seen it stop');
      process.kill(pid, 'SIGCONT');
      await until(() => stateOf(pid) !== 'T' && heard(owner), 'and go on');
    }
    writeFileSync(fifo, '\n');
    await until(() => existsSync(join(dirOf(id), 'final.json')), 'the run ends');
    child.stdin.end();
    const lines = (await said).split('\n').filter((line) => line !== '');
    expect(lines.filter((line) => line.endsWith(' stopped')).length).toBeLessThan(STOPS);
    expect(lines.at(-2)).toMatch(/^x+ exited 7 /);
    expect(lines.at(-1)).toMatch(/^x+ ended$/);
  });
});

function statusOf(pid: number, key: string): string {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  return new RegExp(`^${key}:\\s*(\\S+)`, 'm').exec(status)?.[1] ?? '';
}

function stateOf(pid: number): string {
  return statusOf(pid, 'State');
}

const SIGCHLD = 1n << 16n;

/** It sleeps, and no news of a child waits for it. */
function heard(pid: number): boolean {
  const waiting = BigInt(`0x${statusOf(pid, 'ShdPnd')}`) & SIGCHLD;
  return waiting === 0n && stateOf(pid) === 'S';
}

describe.skipIf(noTime)('in the first second of a machine', () => {
  it('a signal of the starter reaches the command', async () => {
    const uptime = (): number => Number(readFileSync('/proc/uptime', 'utf8').split(' ')[0]);
    await until(() => uptime() % 1 < 0.1, 'a second begins');
    const clock = ['unshare', '--time', `--monotonic=-${Math.floor(uptime())}`];
    const { child, said } = start([...clock, ...run('young', 'sleep', '1000')]);
    const socket = child.stdio[3] as NodeJS.WritableStream;
    // The kill ends the run if the signal before it did not.
    socket.write('signal SIGTERM\nkill KILL 0\n');
    expect(await said).toMatch(/^young signaled /m);
    const signals = linesIn('young', 'events.jsonl').filter(({ type }) => type === 'signal');
    expect(signals).toMatchObject([{ signal: 'SIGTERM', from: 'starter' }]);
  });
});
