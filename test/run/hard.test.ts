// Hard cases of the native runner, each once a bug: slow readers, busy starters, handed-out
// streams, odd names, closed files, a thousand survivors.
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import type { Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { findRunner } from '../../src/run/binary.ts';
import { createShell } from '../../src/shell/shell.ts';
import { binary, until } from '../cli/helper.ts';
import { lacking } from '../requirements.ts';

const runner = findRunner();
const path = runner.kind === 'native' ? runner.path : '';
const noRunner = lacking(runner.kind === 'none', 'there is no native runner here');
const root = mkdtempSync(join(tmpdir(), 'cuff-review-'));
afterAll(() => rmSync(root, { recursive: true, force: true }));

/** Only what never ends takes this long. */
const HANGS_MS = 150_000;

/** The runner itself, without the TypeScript around it; `said` is what came on fd 3. */
function bare(words: readonly string[]) {
  const dir = mkdtempSync(join(root, 'bare-'));
  writeFileSync(join(dir, 'meta.json'), '{"session_id":"x"}\n');
  const child = spawn(path, ['run', 'x', '--dir', dir, ...words], {
    stdio: ['ignore', 'ignore', 'ignore', 'pipe'],
  });
  let said = '';
  child.stdio[3]?.on('data', (piece: Buffer) => {
    said += piece;
  });
  return { dir, child, said: () => said, ended: once(child, 'close') };
}

/** An order on fd 3, as the starter gives it. */
function order(child: ChildProcess, text: string): void {
  (child.stdio[3] as Socket).write(text);
}

test.skipIf(noRunner)('what follows derun does not overtake its output at a slow reader', () => {
  const derun = `${process.execPath} ${binary('derun')}`;
  const long = `${derun} run -- bash -c 'head -c 110000 /dev/zero | tr "\\0" a'`;
  const text = `{ ${long}; echo AFTER; } | { sleep 1; cat; }`;
  const env = { ...process.env, CUFF_STATE_ROOT: join(root, 'slow') };
  const { stdout } = spawnSync('bash', ['-c', text], { encoding: 'utf8', env });
  expect(stdout).toBe(`${'a'.repeat(110_000)}AFTER\n`);
});

test.skipIf(noRunner)('ends that a busy starter cannot take at once are not lost', async () => {
  const own = createShell({
    stateRoot: join(root, 'busy'),
    runner: 'native',
    durability: 'group',
  });
  const runs = Array.from({ length: 200 }, () => own.start({ kind: 'argv', argv: ['true'] }));
  await runs[0]?.started;
  spawnSync('sleep', ['2']); // the event loop stands still: the socket fills up
  for (const run of runs) expect((await run.done).outcome).toEqual({ kind: 'exited', code: 0 });
  own.close();
});

test.skipIf(noRunner)('a kill sends each process its signal once', async () => {
  const program = `import os, signal, sys, time
r, w = os.pipe(); os.set_blocking(w, False)
signal.set_wakeup_fd(w); signal.signal(signal.SIGTERM, lambda *_: None)
os.write(1, b"ready"); end = time.monotonic() + 0.3
while time.monotonic() < end: time.sleep(0.01)
os.write(1, b" %d" % len(os.read(r, 100)))`;
  for (let i = 0; i < 10; i++) {
    const { dir, child, said, ended } = bare(['--', 'python3', '-S', '-c', program]);
    await until(() => said().includes('started'), 'it started');
    await until(() => readFileSync(join(dir, 'output.bin'), 'utf8') === 'ready', 'it is ready');
    order(child, 'kill TERM 60000\n'); // it ends by itself, however long that takes here
    await ended;
    expect(readFileSync(join(dir, 'output.bin'), 'utf8')).toBe('ready 1');
  }
});

test.skipIf(noRunner)(
  'a kill ends the run although somebody else was handed its output',
  async () => {
    const holder = `import socket, sys, time
s = socket.socket(socket.AF_UNIX); s.bind(sys.argv[1]); s.listen(); print("up", flush=True)
c, _ = s.accept(); socket.recv_fds(c, 1, 1); time.sleep(600)`;
    const giver = `import socket, sys, time
s = socket.socket(socket.AF_UNIX); s.connect(sys.argv[1]); socket.send_fds(s, [b"x"], [1])
print("given", flush=True); time.sleep(600)`;
    const at = join(root, 'holder');
    const other = spawn('python3', ['-c', holder, at]);
    await once(other.stdout, 'data');
    const own = createShell({ stateRoot: join(root, 'held'), runner: 'native' });
    const run = own.start({ kind: 'argv', argv: ['python3', '-c', giver, at] });
    await own.waitOutput(run.id, 0, 40_000);
    expect((await run.kill()).outcome).toEqual({ kind: 'signaled', signal: 'SIGTERM' });
    other.kill('SIGKILL');
    own.close();
  },
);

test.skipIf(noRunner)('a name with a newline is no message of another run', async () => {
  const own = createShell({ stateRoot: join(root, 'names'), runner: 'native' });
  const other = own.start('sleep 1; exit 7');
  await other.started;
  await own.start({ kind: 'argv', argv: [`x\n${other.id} exited 0 0 0 itself`] }).done;
  expect((await other.done).outcome).toEqual({ kind: 'exited', code: 7 });
  own.close();
});

test.skipIf(noRunner)(
  'an unprintable name that does not exist still has a final.json',
  async () => {
    const { dir, ended } = bare(['--', '\u0001'.repeat(250)]);
    expect(await ended).toEqual([127, null]);
    expect(JSON.parse(readFileSync(join(dir, 'final.json'), 'utf8'))).toMatchObject({
      state: 'failed',
    });
    const { dir: long, ended: over } = bare(['--', '\u0001'.repeat(1000)]);
    expect(await over).toEqual([126, null]);
    expect(JSON.parse(readFileSync(join(long, 'final.json'), 'utf8'))).toMatchObject({
      state: 'failed',
    });
  },
);

test.skipIf(noRunner).each(['0<&-', '1>&-', '2>&-', '0<&- 1>&- 2>&-'])(
  'the runner started with %s',
  (closed) => {
    const dir = mkdtempSync(join(root, 'closed-'));
    writeFileSync(join(dir, 'meta.json'), '{"session_id":"x"}\n');
    const line = `exec ${path} run x --dir ${dir} -- echo hi ${closed}`;
    const { status } = spawnSync('bash', ['-c', line], { timeout: HANGS_MS, stdio: 'ignore' });
    expect(status).toBe(0);
    expect(readFileSync(join(dir, 'output.bin'), 'utf8')).toBe('hi\n');
  },
);

test.skipIf(noRunner)('an ignored SIGCHLD does not hide the end of the command', () => {
  const line = `trap '' CHLD; exec ${path} run x -- bash -c 'exit 4'`;
  expect(spawnSync('bash', ['-c', line], { timeout: HANGS_MS }).status).toBe(4);
});

test.skipIf(noRunner)(
  'a thousand survivors are counted, listed and ended by the first signal',
  async () => {
    const program = `import os, time
for i in range(1000):
  if os.fork() == 0: os.setsid(); time.sleep(600); os._exit(0)`;
    const { dir, child, said, ended } = bare(['--', 'python3', '-S', '-c', program]);
    await until(() => said().includes('exited'), 'it answers');
    expect(said()).toContain('exited 0 0 1000 itself');
    order(child, 'kill TERM 600000\n'); // within the test's time only if the first signal is enough
    await ended;
    const last = readFileSync(join(dir, 'events.jsonl'), 'utf8').trimEnd().split('\n').pop() ?? '';
    expect(JSON.parse(last)).toMatchObject({ type: 'kill', signal: 'SIGTERM', alive: [] });
    expect(JSON.parse(last).died).toHaveLength(1000);
  },
);
