// What only the native runner can do: attribution by the kernel, complete ptys, a serving process
// that may die, and a binary that is built on demand.
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { findRunner } from '../../src/run/binary.ts';
import { descendantsOf } from '../../src/run/processes.ts';
import { createShell, type Shell, type ShellOptions } from '../../src/shell/shell.ts';
import { alive, until } from '../cli/helper.ts';
import { lacking } from '../requirements.ts';

const noRunner = lacking(findRunner().kind === 'none', 'there is no native runner here');
const root = mkdtempSync(join(tmpdir(), 'cuff-native-'));
const shells: Shell[] = [];

function shell(options: ShellOptions = {}): Shell {
  const where = { stateRoot: join(root, 'state'), runner: 'native', cwd: root } as const;
  const made = createShell({ ...where, ...options });
  shells.push(made);
  return made;
}

afterAll(() => {
  for (const made of shells) made.close();
  rmSync(root, { recursive: true, force: true });
});

/** Of our own shells; the runners they fork are called the same. */
function servers(): number[] {
  return descendantsOf(process.pid)
    .filter(({ command, parent }) => / serve$/.test(command) && parent === process.pid)
    .map(({ pid }) => pid);
}

describe.skipIf(noRunner)('the native runner', () => {
  test('1,000 of 1,000 short commands through a pty are complete', async () => {
    const fast = createShell({
      stateRoot: join(root, 'fast'),
      runner: 'native',
      durability: 'group',
    });
    shells.push(fast);
    const text = 'head -c 20000 /dev/zero | tr "\\0" x; exit 7';
    const bad: unknown[] = [];
    for (let i = 0; i < 250; i++) {
      const four = Array.from({ length: 4 }, () => fast.start(text, { transport: 'pty' }));
      for (const run of four) {
        const { outcome } = await run.done;
        const { stdout } = { stdout: fast.view(run.id, { kind: 'raw' }).text };
        const whole = outcome.kind === 'exited' && outcome.code === 7 && stdout.length === 20_000;
        if (!whole) bad.push({ i, outcome, length: stdout.length });
      }
    }
    expect(bad).toEqual([]);
  });

  test('the socket transport names the writer of every byte, also under concurrency', async () => {
    const own = shell();
    const writer = 'for i in {1..300}; do echo $BASHPID line; done';
    const run = own.start(
      `(${writer}) & (${writer}) & sh -c 'echo $$ sh' & (${writer} >&2) & wait`,
      {
        transport: 'socket',
      },
    );
    expect((await run.done).outcome).toEqual({ kind: 'exited', code: 0 });
    let lines = 0;
    let cursor = 0;
    for (;;) {
      const read = own.read(run.id, cursor, 1_000_000);
      for (const { chunk, bytes } of read.chunks) {
        for (const line of Buffer.from(bytes).toString().trimEnd().split('\n')) {
          expect(line.split(' ')[0]).toBe(String(chunk.pid));
          lines++;
        }
      }
      cursor = read.nextCursor;
      if (read.eof) break;
    }
    expect(lines).toBe(901);
  });

  test('merged keeps the true order of both streams', async () => {
    const own = shell();
    const run = own.start('for i in {1..500}; do echo o$i; echo e$i >&2; done', {
      transport: 'merged',
    });
    await run.done;
    const expected = Array.from({ length: 500 }, (_, i) => `o${i + 1}\ne${i + 1}\n`).join('');
    expect(own.view(run.id, { kind: 'raw' }).text).toBe(expected);
  });

  test('keys, size and resize reach a program on a pty without a terminal of ours', async () => {
    const own = shell();
    const text = 'stty size; read -r a; echo "<$a>"; stty size';
    const size = { cols: 91, rows: 17 };
    const run = own.start(text, { transport: 'pty', stdin: 'orders', size });
    await own.waitOutput(run.id, 0, 50_000);
    run.resize(120, 40);
    run.write('typed\n');
    await run.done;
    const { text: shown } = own.view(run.id, { kind: 'raw' });
    expect(shown).toBe('17 91\r\ntyped\r\n<typed>\r\n40 120\r\n');
  });

  test('runs go on when their server is killed, and the next run gets a new one', async () => {
    const own = shell();
    const fifo = join(root, 'serve');
    execFileSync('mkfifo', [fifo]);
    const before = servers();
    const run = own.start(`echo one; read < ${fifo}; echo two; exit 3`);
    await run.started;
    const [server = -1] = servers().filter((pid) => !before.includes(pid));
    expect(server).toBeGreaterThan(0);
    const forked = (): number =>
      descendantsOf(server).filter(({ parent }) => parent === server).length;
    await until(() => forked() === 2, 'beside the runner there is one that waits for a request');
    process.kill(server, 'SIGKILL');
    // Asked before anybody here can know that the server is dead: one is taken by the runner that
    // was waiting for it, the other is lost, and said to be.
    const [taken, lost] = [own.start('echo taken'), own.start('echo lost')];
    expect((await taken.done).outcome).toEqual({ kind: 'exited', code: 0 });
    expect((await lost.done).outcome).toMatchObject({ kind: 'failed', error: 'runner_lost' });
    const next = await own.start('echo next').done;
    expect(next.outcome).toEqual({ kind: 'exited', code: 0 });
    execFileSync('bash', ['-c', `echo > ${fifo}`]);
    expect((await run.done).outcome).toEqual({ kind: 'exited', code: 3 });
    expect(own.view(run.id, { kind: 'raw' }).text).toBe('one\ntwo\n');
  });

  test('a kill right behind the answer reaches what was left behind', async () => {
    const own = shell({ durability: 'group' });
    for (let round = 0; round < 40; round += 1) {
      const run = own.start('sleep 100 >/dev/null 2>&1 &');
      await run.done;
      expect(await run.kill()).toMatchObject({ outcome: { kind: 'exited', code: 0 } });
    }
  });

  test('a NUL in a command or its environment is refused, not cut', () => {
    const own = shell();
    const words = { kind: 'argv', argv: ['/bin/echo', 'x\0y', 'z'] } as const;
    expect(() => own.start('echo a\0b')).toThrow('must not contain a NUL');
    expect(() => own.start(words)).toThrow('must not contain a NUL');
    expect(() => own.start('true', { env: { A: '\0' } })).toThrow('must not contain a NUL');
  });

  test('a run outlives the process that started it through the library', async () => {
    const own = shell();
    const library = join(import.meta.dirname, '../../dist/index.js');
    const program = `
      const { createShell } = await import(${JSON.stringify(library)});
      const run = createShell({ stateRoot: ${JSON.stringify(own.store.root)} })
        .start('echo $PPID; sleep 0.3; echo done');
      await run.started;
      process.stdout.write(run.id);
      process.kill(process.pid, 'SIGKILL');
    `;
    const child = spawn(process.execPath, ['--input-type=module', '-e', program]);
    const pieces: Buffer[] = [];
    child.stdout.on('data', (piece: Buffer) => pieces.push(piece));
    await once(child, 'close');
    const id = Buffer.concat(pieces).toString();
    let cursor = 0;
    for (;;) {
      const read = await own.waitOutput(id, cursor, 10_000);
      cursor = read.nextCursor;
      if (read.final) break;
    }
    expect(own.open(id)).toMatchObject({ state: 'exited', outputOpen: false });
    expect(own.view(id, { kind: 'raw' }).text).toMatch(/^\d+\ndone\n$/);
  });

  test('the end of the input ends what reads a terminal', async () => {
    const own = shell();
    const cat = { kind: 'argv', argv: ['cat'] } as const;
    const run = own.start(cat, { transport: 'pty', stdin: 'orders' });
    run.write('line\n');
    run.endInput();
    expect((await run.done).outcome).toEqual({ kind: 'exited', code: 0 });
    expect(own.view(run.id, { kind: 'raw' }).text).toMatch(/^line\r\n(\^D\b\b)?line\r\n/);
  });

  test('a kill in the same breath as the start is not lost', async () => {
    const own = shell();
    const run = own.start('sleep 100');
    expect((await run.kill()).outcome).toEqual({ kind: 'signaled', signal: 'SIGTERM' });
  });

  test('the server of a shell ends with it', async () => {
    const before = servers();
    const own = shell();
    await own.start('true').done;
    const [server = 0] = servers().filter((pid) => !before.includes(pid));
    own.close();
    await until(() => !alive(server), 'the server is gone');
  });

  test('files of the server are not handed to its commands', async () => {
    const own = shell();
    const run = own.start('for i in {0..40}; do test -e /proc/$$/fd/$i && echo $i; done');
    await run.done;
    expect(own.view(run.id, { kind: 'raw' }).text).toBe('0\n1\n2\n');
  });
});

/** A copy of the package as installed, without a prebuilt runner. */
function unbuilt(): string {
  const home = join(root, `package-${Math.random().toString(16).slice(2)}`);
  const here = join(import.meta.dirname, '../..');
  // Other tests run examples there, which come and go.
  const filter = (path: string): boolean => !path.includes('.example-');
  cpSync(join(here, 'dist'), join(home, 'dist'), { recursive: true, filter });
  mkdirSync(join(home, 'native'));
  for (const name of readdirSync(join(here, 'native')).filter((file) => /\.[ch]$/.test(file))) {
    cpSync(join(here, 'native', name), join(home, 'native', name));
  }
  return home;
}

async function derun(home: string, env: NodeJS.ProcessEnv): Promise<string> {
  const args = [join(home, 'dist/derun.cjs'), 'run', '--', 'bash', '-c', 'ps -o comm= -p $PPID'];
  const child = spawn(process.execPath, args, { env, stdio: ['ignore', 'pipe', 'inherit'] });
  const pieces: Buffer[] = [];
  child.stdout.on('data', (piece: Buffer) => pieces.push(piece));
  await once(child, 'close');
  return Buffer.concat(pieces).toString().trim();
}

const noCompiler = lacking(process.platform !== 'linux', 'the runner is built on Linux only');

test.skipIf(noCompiler)(
  'several first starts at once build one runner and all use it',
  async () => {
    const home = unbuilt();
    const cache = join(home, 'cache');
    const { CUFF_RUNNER: _, ...rest } = process.env;
    const env = { ...rest, XDG_CACHE_HOME: cache, CUFF_STATE_ROOT: join(home, 'state') };
    const all = await Promise.all([1, 2, 3].map(() => derun(home, env)));
    const built = readdirSync(join(cache, 'cuff'));
    expect(built).toHaveLength(1);
    expect(built[0]).toMatch(/^runner-\w+-[0-9a-f]{16}$/);
    expect(all).toEqual(Array(3).fill(built[0]?.slice(0, 15)));
  },
);

test.skipIf(noCompiler)('without a compiler the portable way runs the command', async () => {
  const home = unbuilt();
  const bin = join(home, 'bin');
  mkdirSync(bin);
  for (const name of ['bash', 'ps']) {
    const path = execFileSync('bash', ['-c', `command -v ${name}`], { encoding: 'utf8' }).trim();
    execFileSync('ln', ['-s', path, join(bin, name)]);
  }
  const state = join(home, 'state');
  const env = { PATH: bin, HOME: home, CUFF_STATE_ROOT: state };
  expect(await derun(home, env)).toBe('node');
  const [id = ''] = readdirSync(join(state, 'sessions'));
  const kept = readFileSync(join(state, 'sessions', id, 'output.bin'), 'utf8');
  expect(kept).toBe('node\n');
});
