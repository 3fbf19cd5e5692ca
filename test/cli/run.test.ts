// `derun run` and `cuff run` as programs: flags, exits, what they leave on disk and in the log.
import { execFileSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { openStore } from '../../src/shell/store.ts';
import { sweepAtStart } from '../../src/shell/sweep.ts';
import { binary, Cli, until } from './helper.ts';

const cli = new Cli();
afterAll(() => cli.close());

const node = process.execPath;

async function derun(...args: string[]) {
  const live = cli.start([node, binary('derun'), ...args]);
  live.child.stdin?.end();
  return live.result;
}

/** Every file below the state root with its content: nothing may change on a refusal. */
function picture(): Record<string, string> {
  const files = readdirSync(cli.root, { recursive: true, withFileTypes: true });
  const entries = files
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));
  return Object.fromEntries(entries.map((path) => [path, readFileSync(path, 'latin1')]));
}

function json(id: string, name: string): Record<string, unknown> {
  return JSON.parse(readFileSync(join(cli.dir(id), name), 'utf8'));
}

test('pipe mode captures output and exit code, and forwards both streams unchanged', async () => {
  const text = 'printf "out\\033[1m\\n"; printf err >&2; exit 3';
  const ended = await derun('run', '--session-id', 'pipe', '--', 'bash', '-c', text);
  expect(ended).toMatchObject({ code: 3, signal: null, out: 'out\u001b[1m\n', err: 'err' });
  expect(readFileSync(join(cli.dir('pipe'), 'output.bin'), 'utf8')).toBe('out\u001b[1m\nerr');
  expect(json('pipe', 'final.json')).toMatchObject({ state: 'exited', exit_code: 3, signal: null });
});

test('meta.json has the command, its pid and its identity, and nothing else moved', async () => {
  await derun('run', '--session-id', 'meta', '--retention', '90s', '--', 'true');
  const meta = json('meta', 'meta.json');
  expect(Object.keys(meta)).toEqual([
    'schema_version',
    'session_id',
    'command',
    'working_directory',
    'created_at',
    'retention_seconds',
    'transport_mode',
    'transport',
    'tty_attached',
    'starter_pid',
    'starter_start',
    'output_bytes_max',
    'runner_pid',
    'runner_start',
    'pid',
    'pid_start',
    'started_at',
  ]);
  expect(meta).toMatchObject({
    schema_version: 'v1alpha1',
    session_id: 'meta',
    command: ['true'],
    working_directory: process.cwd(),
    retention_seconds: 90,
    transport_mode: 'pipe',
    tty_attached: false,
    output_bytes_max: 1_073_741_824,
  });
});

test.each([
  ['500ms', 'whole seconds'],
  ['1500ms', 'whole seconds'],
  ['0s', 'positive'],
  ['-5s', 'not a duration'],
  ['soon', 'not a duration'],
  ['', 'not a duration'],
])('--retention %s is refused with 2 and nothing is written', async (value, says) => {
  const before = picture();
  const ended = await derun('run', '--retention', value, '--', 'touch', join(cli.root, 'ran'));
  expect(ended).toMatchObject({ code: 2, out: '' });
  expect(ended.err).toContain(says);
  expect(ended.err).toContain('usage: derun run');
  expect(picture()).toEqual(before);
});

test('an id that exists is refused with 2 and its files stay as they are', async () => {
  await derun('run', '--session-id', 'taken', '--', 'echo', 'first');
  const before = picture();
  const again = await derun('run', '--session-id', 'taken', '--', 'echo', 'second');
  expect(again).toMatchObject({ code: 2, out: '' });
  expect(again.err).toContain('taken');
  expect(picture()).toEqual(before);
  mkdirSync(cli.dir('only-final'), { mode: 0o700 });
  writeFileSync(join(cli.dir('only-final'), 'final.json'), '{}');
  expect((await derun('run', '--session-id', 'only-final', '--', 'true')).code).toBe(2);
});

test.each(['.', '..', '', '-x', 'a/b', '../x', 'a b', 'a\nb', 'ä', 'x'.repeat(129)])(
  'the id %j is refused with 2 and nothing is written',
  async (id) => {
    const before = picture();
    const ended = await derun('run', `--session-id=${id}`, '--', 'true');
    expect(ended).toMatchObject({ code: 2, out: '' });
    expect(picture()).toEqual(before);
  },
);

test.each([
  [['run'], "must follow '--'"],
  [['run', 'echo', 'hi'], "Unexpected 'echo'"],
  [['run', '--'], 'no command'],
  [['run', '--tty', '--', 'true'], "Unknown flag '--tty'"],
  [['run', '--session-id'], 'needs a value'],
  [['run', '--session-id', '--', 'true'], 'needs a value'],
])('derun %j is refused with 2 and says %j', async (args, says) => {
  const ended = await derun(...args);
  expect(ended).toMatchObject({ code: 2, out: '' });
  expect(ended.err).toContain(says);
});

test('a command that cannot start gives 127 or 126 and can be found afterwards', async () => {
  const missing = await derun('run', '--session-id', 'no-such', '--', 'no-such-program');
  expect(missing).toMatchObject({ code: 127, out: '' });
  expect(missing.err).toBe('derun: no-such-program: No such file or directory\n');
  expect(json('no-such', 'final.json')).toMatchObject({ state: 'failed', error: 'ENOENT' });
  const denied = await derun('run', '--session-id', 'denied', '--', '/etc/passwd');
  expect(denied).toMatchObject({ code: 126, out: '' });
  expect(json('denied', 'final.json')).toMatchObject({ state: 'failed', error: 'EACCES' });
  expect((await cli.cuff('ls', '--json')).out).toContain('"no-such"');
});

test('a script without a first line runs as a shell would run it', async () => {
  const script = join(cli.root, 'script');
  writeFileSync(script, 'echo from script\n', { mode: 0o755 });
  expect(await derun('run', '--', script)).toMatchObject({ code: 0, out: 'from script\n' });
});

test.each(['SIGTERM', 'SIGINT', 'SIGHUP', 'SIGQUIT', 'SIGUSR1', 'SIGUSR2'] as const)(
  '%s sent to derun reaches the command, and derun ends as it ended',
  async (signal) => {
    const trap = `trap 'echo got ${signal}; exit 9' ${signal.slice(3)}; echo ready; `;
    const live = cli.start([
      ...[node, binary('derun'), 'run', '--', 'bash', '-c'],
      `${trap} while :; do sleep 0.05 & wait $!; done`,
    ]);
    await live.seen(/ready/);
    live.child.kill(signal);
    expect(await live.result).toMatchObject({ code: 9, out: `ready\ngot ${signal}\n` });
  },
);

test.each(['SIGTERM', 'SIGKILL', 'SIGPIPE', 'SIGSEGV'])(
  'a command that dies of %s makes derun die of it',
  async (signal) => {
    const id = `dies-${signal}`;
    const text = `ulimit -c 0; kill -${signal.slice(3)} $$`;
    const ended = await derun('run', '--session-id', id, '--', 'bash', '-c', text);
    expect(ended).toMatchObject({ code: null, signal });
    expect(json(id, 'final.json')).toMatchObject({ state: 'signaled', exit_code: null, signal });
  },
);

test('a command that dies of a real-time signal makes derun die of it', async () => {
  // Node cannot tell such an end from exit code 0; a shell says how its child died.
  const words = [node, binary('derun'), 'run', '--', 'bash', '-c', 'kill -40 $$'];
  const live = cli.start(['bash', '-c', '"$@"; exit $?', 'bash', ...words]);
  live.child.stdin?.end();
  const told = await live.result;
  expect(told).toMatchObject({ code: 168, out: '' });
  expect(told.err).toMatch(/Real-time signal 6/);
});

test('a signal that comes while derun starts is not lost', async () => {
  // The handlers are there before the runner is started, so whenever derun is past its own
  // start-up the command gets the signal: it never survives it.
  for (let i = 0; i < 20; i++) {
    const live = cli.start([node, binary('derun'), 'run', '--', 'sleep', '100']);
    const delay = 20 + i * 3;
    await new Promise((resolve) => setTimeout(resolve, delay)); // the window is the point
    live.child.kill('SIGTERM');
    expect(await live.result).toMatchObject({ code: null, signal: 'SIGTERM' });
  }
  // A derun that ended while it wrote its meta.json counts as starting for two seconds.
  let left = await cli.ps();
  while (left.some(({ state }) => state === 'starting')) left = await cli.ps();
  expect(left).toEqual([]);
});

test('cuff run knows a directory, variables and a deadline', async () => {
  const words = ['--cwd', '/usr', '--env', 'A=1', '--env', 'B=2=3', '--kill-after', '1h'];
  const told = await cli.cuff('run', ...words, '--', 'bash', '-c', 'pwd; echo $A $B');
  expect(told).toMatchObject({ code: 0, out: '/usr\n1 2=3\n' });
  // A bash that gets its turn late may print nothing before its deadline: this one only waits.
  const waits = ['--kill-after', '300ms', '--session-id', 'dl', '--', 'bash', '-c', 'sleep 100'];
  const ended = await cli.cuff('run', ...waits);
  expect(ended).toMatchObject({ code: 124, out: '' });
  expect(json('dl', 'final.json')).toMatchObject({ ended_by: 'timeout', state: 'signaled' });
});

test('stdin is handed on and stored nowhere', async () => {
  const live = cli.start([node, binary('derun'), 'run', '--session-id', 'in', '--', 'wc', '-c']);
  live.child.stdin?.end('planted-typed-secret');
  expect(await live.result).toMatchObject({ code: 0, out: '20\n' });
  for (const content of Object.values(picture())) expect(content).not.toContain('planted-typed');
});

test('every file is 0600 and every directory 0700, whatever the umask', async () => {
  const args = [binary('derun'), 'run', '--session-id', 'modes', '--', 'echo', 'x'];
  execFileSync('bash', ['-c', 'umask 0; exec "$@"', 'bash', node, ...args], { env: cli.env });
  const paths = readdirSync(cli.root, { recursive: true, withFileTypes: true });
  for (const entry of paths) {
    if (entry.name === 'script' || entry.parentPath.includes('only-final')) continue;
    const { mode, uid } = statSync(join(entry.parentPath, entry.name));
    expect([entry.name, (mode & 0o777).toString(8)]).toEqual([
      entry.name,
      entry.isDirectory() ? '700' : '600',
    ]);
    expect(uid).toBe(process.getuid?.());
  }
});

test('the log has the fields of a run and of the sweep, and no secret', async () => {
  await cli.with(
    { MY_TOKEN: 'planted-env-secret' },
    ...['run', '--session-id', 'logged', '--', 'bash', '-c', 'echo $MY_TOKEN; exit 4'],
  );
  const text = readFileSync(join(cli.root, 'logs', 'derun.log'), 'utf8');
  const lines = text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));
  const own = lines.filter((line) => line.session_id === 'logged' && line.state_transition);
  const facts = { session_id: 'logged', transport_mode: 'pipe', tty_attached: false };
  const timestamp = expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/);
  expect(own).toEqual([
    { timestamp, ...facts, state_transition: 'starting' },
    { timestamp, ...facts, state_transition: 'starting->running' },
    {
      timestamp,
      ...facts,
      state_transition: 'running->exited',
      exit_code: 4,
      signal: null,
      chunk_offset: 0,
      chunk_size: 19,
    },
  ]);
  expect(lines).toContainEqual({
    timestamp,
    session_id: 'pipe',
    cleanup_result: 'skip',
    cleanup_reason: 'not_expired',
  });
  expect(text).not.toContain('planted-env-secret');
});

test('a run sweeps what has expired and leaves what has not', async () => {
  const other = new Cli();
  try {
    await other.cuff('run', '--session-id', 'old', '--', 'true');
    // Long enough to be there still when the two below have looked, however long they took.
    await other.cuff('run', '--session-id', 'short', '--retention', '5m', '--', 'true');
    await other.cuff('run', '--session-id', 'young', '--', 'true');
    await other.cuff('run', '--session-id', 'soon', '--', 'true');
    await backdate(other.dir('old'), 25 * 3600);
    await backdate(other.dir('young'), 23 * 3600);
    await backdate(other.dir('short'), 301);
    // One that was started a moment ago has looked: the next short one need not. A process would
    // not be short on every machine, so this is what it does, with a clock that stands still.
    const at = Date.now();
    utimesSync(join(other.root, 'swept'), at / 1000, at / 1000);
    const store = { ...openStore(other.root), now: () => at };
    await sweepAtStart(store, () => undefined, Promise.resolve());
    expect(readdirSync(join(other.root, 'sessions')).sort()).toEqual([
      'old',
      'short',
      'soon',
      'young',
    ]);
    const before = Date.now() / 1000 - 11;
    utimesSync(join(other.root, 'swept'), before, before);
    await other.cuff('run', '--session-id', 'now', '--', 'true');
    expect(readdirSync(join(other.root, 'sessions')).sort()).toEqual(['now', 'soon', 'young']);
  } finally {
    await other.close();
  }
});

/** Moves the end of a capture into the past. */
async function backdate(dir: string, seconds: number): Promise<void> {
  const path = join(dir, 'final.json');
  const final = (): { output_closed: boolean } => JSON.parse(readFileSync(path, 'utf8'));
  await until(() => final().output_closed, 'the runner writes nothing more');
  const ended_at = new Date(Date.now() - seconds * 1000).toISOString();
  writeFileSync(path, `${JSON.stringify({ ...final(), ended_at })}\n`);
}

// A person's Ctrl-Z is in test/shell/terminal.test.ts.
test.each([
  ['CONT', { code: 3, signal: null, out: 'on\n' }],
  ['KILL', { code: null, signal: 'SIGKILL', out: '' }],
])('a command that stops itself and gets SIG%s then ends as it would', async (signal, end) => {
  const loop = "until grep -q '^State:.T' /proc/$$/status; do :; done";
  const text = `(${loop}; kill -${signal} $$) & kill -STOP $$; echo on; exit 3`;
  for (const flags of [[], ['--trace']]) {
    expect(await cli.cuff('run', ...flags, '--', 'bash', '-c', text)).toMatchObject(end);
  }
});
