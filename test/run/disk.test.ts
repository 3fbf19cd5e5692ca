// A disk that is full, read-only or gone: the command does not notice, and the gap is marked.
import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { binary, Cli, until } from '../cli/helper.ts';
import { lacking } from '../requirements.ts';

const cli = new Cli();
const disk = join(cli.root, 'disk');
const noMount = lacking(!canMount(), 'mounting a small tmpfs needs root');

afterAll(async () => {
  if (!noMount) execFileSync('umount', ['-l', disk]);
  await cli.close();
});

function canMount(): boolean {
  mkdirSync(disk);
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=1m,mode=0700', 'cuff-test', disk], {
      stdio: 'ignore',
    });
    return true;
  } catch {
    return false; // not root, or in a container that may not mount
  }
}

const STATE = { CUFF_STATE_ROOT: join(disk, 'state') };

function events(id: string): Record<string, unknown>[] {
  const path = join(disk, 'state', 'sessions', id, 'events.jsonl');
  const lines = readFileSync(path, 'utf8').trimEnd().split('\n');
  return lines.map((line) => JSON.parse(line));
}

function final(id: string): Record<string, unknown> {
  return JSON.parse(readFileSync(join(disk, 'state', 'sessions', id, 'final.json'), 'utf8'));
}

function clear(): void {
  for (const name of readdirSync(disk)) rmSync(join(disk, name), { recursive: true });
}

test.skipIf(noMount)(
  'a full disk loses bytes from the capture, never from the command',
  async () => {
    const words = [
      'run',
      '--session-id',
      'full',
      '--',
      'bash',
      '-c',
      'head -c 3000000 /dev/zero; exit 7',
    ];
    const ended = await cli.with(STATE, ...words);
    expect(ended.code).toBe(7);
    expect(ended.stdout.equals(Buffer.alloc(3_000_000))).toBe(true);
    expect(ended.err).toBe('');
    const { output_bytes: kept, lost_bytes: lost } = final('full');
    expect(Number(kept) + Number(lost)).toBe(3_000_000);
    expect(final('full')).toMatchObject({ state: 'exited', exit_code: 7, output_closed: true });
    const gaps = events('full').filter(({ type }) => type === 'gap');
    const inEvents = gaps.reduce((sum, gap) => sum + Number(gap.lost_bytes), 0);
    expect(inEvents).toBe(lost);
    expect(gaps[0]).toMatchObject({ reason: 'ENOSPC' });
    const size = readFileSync(join(disk, 'state', 'sessions', 'full', 'output.bin')).length;
    expect(size).toBe(kept);
    clear();
  },
);

test.skipIf(noMount)('recording resumes when there is room again', async () => {
  const filler = join(disk, 'filler');
  const fifo = join(cli.root, 'room');
  execFileSync('mkfifo', [fifo]);
  writeFileSync(filler, Buffer.alloc(600_000));
  const text = `head -c 900000 /dev/zero; echo full >&2; read < ${fifo}; echo room again`;
  const words = ['run', '--session-id', 'resume', '--', 'bash', '-c', text];
  const live = cli.start([process.execPath, binary('cuff'), ...words], { env: STATE });
  await live.seen(/^\0{900000}/);
  rmSync(filler);
  writeFileSync(fifo, '\n');
  const ended = await live.result;
  expect(ended.code).toBe(0);
  expect(ended.stdout.length).toBe(900_000 + 'room again\n'.length);
  const kept = readFileSync(join(disk, 'state', 'sessions', 'resume', 'output.bin'));
  expect(kept.subarray(-11).toString()).toBe('room again\n');
  const [gap] = events('resume').filter(({ type }) => type === 'gap');
  expect(gap).toMatchObject({ reason: 'ENOSPC' });
  expect(Number(gap?.lost_bytes)).toBe(final('resume').lost_bytes);
  expect(kept.length + Number(gap?.lost_bytes)).toBe(900_011 + 'full\n'.length);
  clear();
});

test.skipIf(noMount)(
  'with --strict a run that cannot be recorded is ended and says so',
  async () => {
    const text = 'while :; do head -c 100000 /dev/zero; done';
    const words = ['run', '--strict', '--session-id', 'strict', '--', 'bash', '-c', text];
    const ended = await cli.with(STATE, ...words);
    expect(ended.signal).toBe('SIGTERM');
    expect(final('strict')).toMatchObject({ ended_by: 'capture', signal: 'SIGTERM' });
    clear();
  },
);

test.skipIf(noMount)('a read-only state root: the command runs as without us', async () => {
  // What ran before may still be syncing its files.
  const remounted = (): boolean => spawnSync('mount', ['-o', 'remount,ro', disk]).status === 0;
  await until(remounted, 'nobody writes there any more');
  try {
    const text = 'echo out; echo err >&2; exit 5';
    const plain = await cli.with(STATE, 'run', '--', 'bash', '-c', text);
    expect(plain).toMatchObject({ code: 5, out: 'out\n', err: 'err\n' });
    const dev = text.replace('exit', 'echo dev >/dev/stdout; exit');
    const traced = await cli.with(STATE, 'run', '--trace', '--', 'bash', '-c', dev);
    expect(traced).toMatchObject({ code: 5, out: 'out\ndev\n', err: 'err\n' });
    const strict = await cli.with(STATE, 'run', '--strict', '--', 'bash', '-c', text);
    expect(strict).toMatchObject({ code: 1, out: '' });
    expect(strict.err).toContain('cannot be written');
    expect(strict.err).toContain('cuff doctor');
  } finally {
    execFileSync('mount', ['-o', 'remount,rw', disk]);
  }
});

test('a state root that is deleted while the command runs changes nothing for it', async () => {
  const root = join(cli.root, 'gone');
  const fifo = join(cli.root, 'deleted');
  execFileSync('mkfifo', [fifo]);
  const text = `echo before; read < ${fifo}; echo after; exit 8`;
  const words = ['run', '--', 'bash', '-c', text];
  const env = { CUFF_STATE_ROOT: root };
  const live = cli.start([process.execPath, binary('cuff'), ...words], { env });
  await live.seen(/before/);
  const log = join(root, 'logs', 'derun.log');
  const logged = (): string => (existsSync(log) ? readFileSync(log, 'utf8') : '');
  const complete = (): boolean => /running/.test(logged()) && /cleanup/.test(logged());
  await until(complete, 'nothing more is logged before the end');
  // cuff may write to its log at the same moment.
  rmSync(root, { recursive: true, maxRetries: 9 });
  writeFileSync(fifo, '\n');
  expect(await live.result).toMatchObject({ code: 8, out: 'before\nafter\n', err: '' });
});

test('a file size limit is a gap, not the end of the runner', async () => {
  const line = 'ulimit -f 100; "$@"';
  const words = ['run', '--session-id', 'limit', '--', 'bash', '-c', 'head -c 300000 /dev/zero'];
  const command = ['bash', '-c', line, 'bash', process.execPath, binary('cuff'), ...words];
  const ended = await cli.start(command).result;
  expect(ended).toMatchObject({ code: 0, signal: null });
  expect(ended.stdout.length).toBe(300_000);
  const told = readFileSync(join(cli.dir('limit'), 'events.jsonl'), 'utf8');
  const gaps = [...told.matchAll(/"offset":102400,"lost_bytes":(\d+),"reason":"EFBIG"/g)];
  expect(gaps.reduce((sum, [, bytes]) => sum + Number(bytes), 0)).toBe(300_000 - 102_400);
});
