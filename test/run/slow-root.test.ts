// On a slow disk every operation on the state root counts: strace counts those that a command waits
// for before it is executed.
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it, onTestFinished } from 'vitest';
import { binary, Cli, until } from '../cli/helper.ts';
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

  it('`cuff run --trace` waits for at most five, one after the other', async () => {
    const cli = new Cli();
    onTestFinished(() => cli.close());
    await cli.cuff('run', '--trace', '--', COMMAND); // the first one tests tracing
    const calls = join(cli.root, 'calls');
    const words = [process.execPath, binary('cuff'), 'run', '--trace', '--session-id', 'one'];
    await cli.start(['strace', ...tracing(calls), ...words, '--', COMMAND]).result;
    const lines = linesOf(calls);
    const starter = pidOf(lines[0]);
    const permit = lines.findIndex((line) => PERMITS.test(line));
    expect(permit).toBeGreaterThan(0);
    const own = lines.slice(0, permit).filter((line) => pidOf(line) === starter);
    expect(touching(own, join(cli.root, 'sessions'))).toEqual(OPERATIONS);
    const made = lines.findIndex((line) => line.includes(`mkdir("${cli.dir('one')}"`));
    const runner = lines.findIndex((line) => line.includes('/runner", ['));
    const written = lines.findIndex((line) => line.includes('meta.json'));
    expect([made, runner, written]).toEqual([made, runner, written].toSorted((a, b) => a - b));
    const prepared = lines.slice(runner, executedIn(lines));
    const others = new Set(prepared.map(pidOf));
    others.delete(starter);
    const busy = [...others].map(
      (pid) =>
        touching(
          prepared.filter((line) => pidOf(line) === pid),
          cli.dir('one'),
        ).length,
    );
    expect(Math.max(...busy)).toBe(OPERATIONS.length - 2); // beside ours, not behind them
  });

  it('a server asks at most five for each run', async () => {
    const { lines, root } = await secondRunOf('trace: off');
    const executed = executedIn(lines);
    const request = lines.findLastIndex((line, at) => at < executed && ASKS_A_SERVER.test(line));
    const waited = [
      ...lines.slice(callBefore(lines, request), request),
      ...runnersOf(lines, request, executed),
    ];
    expect(touching(waited, root)).toEqual(OPERATIONS);
  });

  it('a traced run waits for at most five, one after the other', async () => {
    const { lines, root } = await secondRunOf('trace: on');
    const executed = executedIn(lines);
    const request = lines.findLastIndex((line, at) => at < executed && ASKS_A_SERVER.test(line));
    const permit = lines.findIndex((line, at) => at > request && PERMITS.test(line));
    expect(permit).toBeGreaterThan(request);
    const server = pidOf(lines[request]);
    const by = (pid: string, from: number, to: number): string[] =>
      lines.slice(from, to).filter((line) => pidOf(line) === pid);
    expect(touching(by(server, callBefore(lines, request), request), root)).toEqual(
      OPERATIONS.slice(0, 2),
    );
    const beside = by(server, request, permit);
    expect(touching(beside, root)).toEqual(OPERATIONS.slice(2));
    // The runner begins once the directory is made, while the server makes meta.json. Its two
    // threads wait for neither each other nor the server.
    const [, dir = ''] = /"([^"]+)\/meta\.json"/.exec(beside.join('\n')) ?? [];
    const others = new Set(lines.slice(request, executed).map(pidOf));
    others.delete(server);
    const busy = [...others]
      .map((pid) => touching(by(pid, request, executed), dir).length)
      .filter((count) => count > 0);
    expect(busy.length).toBe(2);
    expect(Math.max(...busy)).toBeLessThanOrEqual(OPERATIONS.length - 2);
    // Once it may start the command, it asks nothing more.
    const runner = pidOf(lines.find((line) => line.includes(`"${dir}/trace.bin", O_RDWR`)));
    const own = by(runner, request, executed);
    const allowed = own.findLastIndex((line) => / read\(3</.test(line));
    expect(touching(own.slice(allowed), dir)).toEqual([]);
  });

  const kills = ['--no-trace', '--trace'].flatMap((how) =>
    OPERATIONS.map((call) => [how, call] as const),
  );

  it.each(kills)('a starter (%s) killed at its %s leaves nothing that harms', async (how, call) => {
    const cli = new Cli();
    onTestFinished(() => cli.close());
    await cli.cuff('run', how, '--', COMMAND);
    const paths = [cli.dir('one'), join(cli.dir('one'), 'meta.json'), join(cli.root, 'sessions')];
    const options = ['-f', '-o', '/dev/null', ...paths.flatMap((path) => ['-P', path])];
    const kill = ['-e', `inject=${call}:signal=KILL:when=1`];
    const words = [
      process.execPath,
      binary('cuff'),
      'run',
      how,
      '--session-id',
      'one',
      '--',
      'touch',
    ];
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

  it.each(['mkdir', 'openat', 'write', 'close'])(
    'a server killed at its %s starts no traced run and leaves nothing that harms',
    async (call) => {
      const cli = new Cli();
      onTestFinished(() => cli.close());
      const dir = cli.dir('one');
      const path = call === 'mkdir' ? dir : join(dir, 'meta.json');
      const { out, ran } = await startedBy(cli, killedAt(call, path));
      expect({ out, ran }).toEqual({ out: '', ran: false });
      // The runner that was asked to prepare takes its files away again.
      await until(() => !existsSync(join(dir, 'trace.bin')), 'the runner withdraws');
      const listed = (await cli.cuff('ls', '--json')).out.includes('"one"');
      const again = await cli.cuff('run', '--session-id', 'one', '--', COMMAND);
      expect(again.code === 0).toBe(!listed);
    },
  );

  it.each([
    ['openat', 'trace.bin'],
    ['/pwrite64|fallocate', 'trace.bin'],
    ['mknodat', 'control'],
    ['openat', 'control'],
  ])(
    'a runner killed at its %s of %s starts nothing, and the next run works',
    async (call, name) => {
      const cli = new Cli();
      onTestFinished(() => cli.close());
      const { out, ran } = await startedBy(cli, killedAt(call, join(cli.dir('one'), name)));
      expect({ out, ran }).toEqual({ out: 'failed runner_lost\nexited 0\n', ran: false });
      // One whose meta.json is gone as well is taken over.
      rmSync(join(cli.dir('one'), 'meta.json'));
      expect((await cli.cuff('run', '--session-id', 'one', '--', COMMAND)).code).toBe(0);
    },
  );

  it('a traced `cuff run` without room for meta.json runs its command once', async () => {
    const cli = new Cli();
    onTestFinished(() => cli.close());
    await cli.cuff('run', '--trace', '--', COMMAND);
    const dir = cli.dir('one');
    const full = ['-P', join(dir, 'meta.json'), '-e', 'inject=write:error=ENOSPC'];
    const words = [process.execPath, binary('cuff'), 'run', '--trace', '--session-id', 'one', '--'];
    const script = ['sh', '-c', 'echo out; echo err >&2; exit 3'];
    const strace = ['strace', '-f', '-o', '/dev/null', ...full, ...words, ...script];
    const { code, out, err } = await cli.start(strace).result;
    expect({ code, out, err }).toEqual({ code: 3, out: 'out\n', err: 'err\n' });
    await until(() => !existsSync(dir), 'the runner withdraws');
  });

  it('a capture that cannot be made withdraws what was prepared', async () => {
    const cli = new Cli();
    onTestFinished(() => cli.close());
    const dir = cli.dir('one');
    const full = ['-P', join(dir, 'meta.json'), '-e', 'inject=write:error=ENOSPC'];
    const { out, ran } = await startedBy(cli, full);
    expect({ out, ran }).toEqual({ out: 'exited 0\nexited 0\n', ran: true });
    await until(() => !existsSync(dir), 'the runner withdraws');
  });
});

const INDEX = fileURLToPath(new URL('../../dist/index.js', import.meta.url));

/** Starts a traced run `one`, and another one behind it; says how each ended. */
const TWO_RUNS = `
  import { createShell } from ${JSON.stringify(INDEX)};
  const [, stateRoot, mark] = process.argv;
  const shell = createShell({ stateRoot, trace: 'on', durability: 'group' });
  const awake = setInterval(() => undefined, 1_000); // a lost run keeps no process alive
  for (const [argv, id] of [[['touch', mark], 'one'], [['true'], 'two']]) {
    const { outcome } = await shell.start({ kind: 'argv', argv }, { id }).done;
    console.log(outcome.kind, outcome.error ?? outcome.code);
  }
  clearInterval(awake);
  shell.close();
`;

async function startedBy(
  cli: Cli,
  options: readonly string[],
): Promise<{ readonly out: string; readonly ran: boolean }> {
  await cli.cuff('run', '--', COMMAND); // makes the root
  const mark = join(cli.root, 'ran');
  const node = [process.execPath, '--input-type=module', '-e', TWO_RUNS, cli.root, mark];
  const words = ['strace', '-f', '-o', '/dev/null', ...options, ...node];
  const { out } = await cli.start(words).result;
  return { out, ran: existsSync(mark) };
}

/** For strace: the first such call on this file is the last thing that a process does. */
function killedAt(call: string, path: string): string[] {
  return ['-P', path, '-e', `inject=${call}:signal=KILL:when=1`];
}

/** Of a request to `runner serve`, the id and its first flag. */
const ASKS_A_SERVER = / writev?\(.*\\0--transport\\0/;
/** The word that lets a held request start. */
const PERMITS = / write\(.*, "(\\0){8}\\1(\\0){3}", 12\b/;

/** What strace saw of a server that runs two commands. */
async function secondRunOf(
  setting: string,
): Promise<{ readonly lines: readonly string[]; readonly root: string }> {
  const life = new Life();
  await life.cli.cuff('run', '--', COMMAND);
  life.settings(`plugins: { cuff_shell: { config: { recording: { ${setting} } } } }\n`);
  const calls = join(life.cli.root, 'calls');
  const [file, words] = life.command('cuff', '--dialect', 'cuff_shell');
  const client = await byHand('strace', [...tracing(calls), file, ...words], life.env);
  onTestFinished(() => client.close());
  await client.call('shell_run', { command: 'echo first' });
  await client.call('shell_run', { command: `exec ${COMMAND}` });
  await client.close();
  return { lines: linesOf(calls), root: life.cli.root };
}

/** Where the server read the call that led to this request. */
function callBefore(lines: readonly string[], request: number): number {
  const call = lines.findLastIndex((line, at) => at < request && line.includes(' read(0<'));
  expect(call).toBeGreaterThan(0);
  return call;
}

function tracing(calls: string): string[] {
  return ['-f', '-y', '-s', '64', '-o', calls];
}

function linesOf(calls: string): string[] {
  return readFileSync(calls, 'utf8').split('\n');
}

/** Where the process that became the command, at first perhaps a shell, is executed. */
function executedIn(lines: readonly string[]): number {
  const last = lines.findLast((line) => line.includes(`execve("${COMMAND}", ["${COMMAND}"]`));
  return lines.findIndex((line) => line.startsWith(`${pidOf(last)} `) && / execve\(/.test(line));
}

/** What the process did that starts the command, and the command before it was one. */
function runnersOf(lines: readonly string[], from: number, executed: number): string[] {
  const command = pidOf(lines[executed]);
  const started = new RegExp(` (<\\.\\.\\. )?(v?fork|clone3?)\\b.* = ${command}$`);
  const own = new Set([command, pidOf(lines.find((line) => started.test(line)))]);
  return lines.slice(from, executed).filter((line) => own.has(pidOf(line)));
}

function pidOf(line = ''): string {
  return line.split(' ', 1)[0] ?? '';
}

/** The names of the calls on files below this directory. */
function touching(lines: readonly string[], root: string): string[] {
  const below = [`${root}/`, `${root}"`, `${root}>`];
  // Flags of an open file are no matter of its file system.
  const calls = lines.filter((line) => !/ (execve|fcntl)\(| resumed>/.test(line));
  const found = calls.filter((line) => below.some((text) => line.includes(text)));
  return found.map((line) => /^\d+ +(\w+)/.exec(line)?.[1] ?? line);
}
