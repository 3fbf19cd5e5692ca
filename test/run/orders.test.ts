// Orders that cannot be delivered: whatever is wrong with the FIFO of a run or with the descriptors
// of its starter, later orders are sent, `kill` settles, and an abort breaks nothing.
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  closeSync,
  constants,
  mkdirSync,
  mkdtempSync,
  openSync,
  readSync,
  realpathSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { findRunner } from '../../src/run/binary.ts';
import { orderQueue, sendOrder } from '../../src/run/orders.ts';
import { processAlive } from '../../src/run/processes.ts';
import type { Run } from '../../src/shell/run.ts';
import { createShell, type Shell } from '../../src/shell/shell.ts';
import { lacking } from '../requirements.ts';

const noRunner = lacking(findRunner().kind === 'none', 'there is no native runner here');
const library = join(import.meta.dirname, '..', '..', 'dist', 'index.js');

function directory(): string {
  const dir = realpathSync(mkdtempSync(join(tmpdir(), 'cuff-orders-')));
  onTestFinished(() => rmSync(dir, { recursive: true, force: true, maxRetries: 5 }));
  return dir;
}

function shell(): Shell {
  const made = createShell({ stateRoot: join(directory(), 'state') });
  onTestFinished(() => made.close());
  return made;
}

/** The first lines that a run prints. */
async function lines(run: Run, count: number): Promise<string[]> {
  let text = '';
  for await (const event of run) {
    if (event.type === 'output') text += Buffer.from(event.bytes).toString();
    const found = text.split('\n').slice(0, -1);
    if (found.length >= count) return found;
  }
  throw new Error(`The run ended after ${JSON.stringify(text)}.`);
}

/** A FIFO with a reader, as a runner has it. */
function fifo(path: string): number {
  expect(spawnSync('mkfifo', [path]).status).toBe(0);
  return openSync(path, constants.O_RDWR | constants.O_NONBLOCK);
}

const WRONG: readonly (readonly [string, (path: string) => void])[] = [
  ['a directory', (path) => mkdirSync(path)],
  ['a link to itself', (path) => symlinkSync(path, path)],
  ['a link to a file', (path) => symlinkSync('/etc/passwd', path)],
  ['a regular file', (path) => writeFileSync(path, '')],
  ['missing', () => undefined],
];

test.each(WRONG)('an order is lost where `control` is %s, and the next one arrives', (_, put) => {
  const dir = directory();
  const path = join(dir, 'control');
  const lost: string[] = [];
  const send = orderQueue(dir, (order) => void lost.push(order));
  put(path);
  send('first');
  expect(lost).toEqual(['first']);
  expect(sendOrder(dir, 'one')).toBe('gone');
  rmSync(path, { recursive: true, force: true });
  const reader = fifo(path);
  onTestFinished(() => closeSync(reader));
  send('second');
  const bytes = Buffer.alloc(100);
  const read = bytes.toString('utf8', 0, readSync(reader, bytes));
  expect({ lost, read }).toEqual({ lost: ['first'], read: 'second\n' });
});

test.skipIf(noRunner)(
  'a kill that cannot reach the FIFO ends every process and settles, each time',
  async () => {
    const { start, store } = shell();
    const text = 'setsid sleep 1000 & echo $!; sleep 1000 & echo $!; wait';
    const run = start(text);
    const pids = await lines(run, 2);
    const dir = join(store.root, 'sessions', run.id);
    renameSync(join(dir, 'control'), join(dir, 'moved'));
    mkdirSync(join(dir, 'control'));
    const [first, second] = await Promise.all([
      run.kill({ graceMs: 0 }),
      run.kill({ signal: 'KILL', graceMs: 0 }),
    ]);
    expect([first.outcome.kind, second.outcome.kind]).toEqual(['signaled', 'signaled']);
    expect(pids.filter((pid) => processAlive({ pid: Number(pid), startTime: 0 }))).toEqual([]);
  },
);

test.skipIf(noRunner)('a kill settles although the runner was stopped', async () => {
  const { start, open } = shell();
  const run = start('echo up; sleep 1000');
  await lines(run, 1);
  const runner = open(run.id).meta?.runner?.pid ?? 0;
  process.kill(runner, 'SIGSTOP');
  expect(await run.kill({ graceMs: 0 })).toMatchObject({ endedBy: 'kill' });
});

test.skipIf(noRunner)('a signal that does not exist is refused, and nothing is ended', async () => {
  const run = shell().start('read x', { stdin: 'orders' });
  await expect(run.kill({ signal: 'NONSENSE' })).rejects.toThrow(
    'signal must be the name of a signal, such as TERM, not "NONSENSE".',
  );
  run.endInput();
  expect((await run.done).outcome).toEqual({ kind: 'exited', code: 1 });
});

test.skipIf(noRunner)(
  'an abort whose order cannot be delivered is no unhandled rejection',
  async () => {
    const { start, store } = shell();
    const stop = new AbortController();
    const run = start('echo up; read x', { stdin: 'orders', signal: stop.signal });
    await lines(run, 1);
    rmSync(join(store.root, 'sessions', run.id), { recursive: true, force: true });
    mkdirSync(join(store.root, 'sessions', run.id, 'control'), { recursive: true });
    stop.abort(); // an unhandled rejection would fail this test
    expect((await run.done).outcome).toEqual({ kind: 'signaled', signal: 'SIGTERM' });
  },
);

const STARVED = `
import { closeSync, openSync } from 'node:fs';
import { createShell } from ${JSON.stringify(library)};
const shell = createShell({ stateRoot: process.argv[2] });
const held = [];
const starve = () => {
  try {
    while (true) held.push(openSync('/dev/null'));
  } catch (error) {
    if (error.code !== 'EMFILE') throw error;
  }
};
const cat = shell.start('echo up; cat', { stdin: 'orders' });
const sleeper = shell.start('echo up; sleep 1000');
for (const { id } of [cat, sleeper]) await shell.waitOutput(id, 0, 60_000);
starve();
cat.write('first\\n');
const ended = await sleeper.kill();
for (const fd of held.splice(0)) closeSync(fd);
cat.write('second\\n');
cat.endInput();
await cat.done;
const output = Buffer.concat(shell.read(cat.id).chunks.map(({ bytes }) => bytes)).toString();
console.log(JSON.stringify({ outcome: ended.outcome, output: output.replace('first\\n', '') }));
shell.close();
`;

test.skipIf(noRunner)(
  'a process without free descriptors can kill, and sends orders again when it has some',
  async () => {
    const dir = directory();
    const script = join(dir, 'starved.mjs');
    writeFileSync(script, STARVED);
    const words = ['-c', 'ulimit -n 256; exec "$@"', 'bash', process.execPath, script];
    const child = spawn('bash', [...words, join(dir, 'state')], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    let out = '';
    child.stdout.on('data', (piece: Buffer) => {
      out += piece.toString();
    });
    const [code] = await once(child, 'close');
    // The first order was given up or arrived late; the second one always arrives.
    expect({ code, out: JSON.parse(out) }).toEqual({
      code: 0,
      out: { outcome: { kind: 'signaled', signal: 'SIGTERM' }, output: 'up\nsecond\n' },
    });
  },
);
