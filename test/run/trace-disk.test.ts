// A disk that is full while a run is traced: the command does not notice, and what could not be
// told is counted.
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { descendantsOf } from '../../src/run/processes.ts';
import { until } from '../cli/helper.ts';
import { bash, framesOf, leftIn, root, run, start, traces } from '../native/runner-helper.ts';
import { lacking } from '../requirements.ts';

const disk = join(root, 'disk');
const noMount = lacking(
  !traces || !canMount(),
  'tracing needs a C compiler, mounting a tmpfs root',
);
const ENOSPC = 28;
const ORPHANS = 300;

afterAll(() => {
  if (!noMount) execFileSync('umount', ['-l', disk]);
});

function canMount(): boolean {
  mkdirSync(disk);
  try {
    const options = ['-t', 'tmpfs', '-o', 'size=1m,mode=0700', 'cuff-test', disk];
    execFileSync('mount', options, { stdio: 'ignore' });
    return true;
  } catch {
    return false; // not root, or in a container that may not mount
  }
}

function newDir(name: string): string {
  const dir = join(disk, name);
  mkdirSync(dir, { mode: 0o700 });
  writeFileSync(join(dir, 'meta.json'), '{"schema_version":"v1alpha1"}\n');
  return dir;
}

function fill(): void {
  const { bavail, bsize } = statfsSync(disk);
  writeFileSync(join(disk, 'filler'), Buffer.alloc(bavail * bsize));
}

test.skipIf(noMount)('frames that found no room are counted, and told when there is', async () => {
  const fifo = join(root, 'go');
  execFileSync('mkfifo', [fifo]);
  const orphans = `for i in {1..${ORPHANS}}; do (setsid sleep 0.5 &); done`;
  const dir = newDir('full');
  const forked = join(root, 'forked'); // where there is room
  const wait = `read < ${fifo}`;
  const live = start(bash(`echo up; ${wait}; ${orphans}; : > ${forked}; ${wait}; exit 3`), { dir });
  await live.shows(/up/);
  fill();
  writeFileSync(fifo, '\n');
  const told = (): number => framesOf(leftIn(dir), 'reap').length;
  const { pid = 0 } = framesOf(leftIn(dir), 'start')[0]?.who ?? {};
  const { runnerPid = 0 } = leftIn(dir).header ?? {};
  const alone = (): boolean => descendantsOf(runnerPid).length === 1;
  const over = (): boolean => existsSync(forked) && told() > 0 && alone();
  await until(over, 'all but the command have ended');
  rmSync(join(disk, 'filler'));
  writeFileSync(fifo, '\n');
  expect(await live.done).toMatchObject({ outcome: { kind: 'exited', code: 3 } });
  await live.over;
  const left = live.left();
  const drops = framesOf(left, 'drop');
  expect(drops).toMatchObject([{ source: 'runner', errno: ENOSPC }]);
  const dropped = drops.reduce((sum, { frames }) => sum + frames, 0);
  expect(dropped).toBeGreaterThan(0);
  expect(told() + dropped).toBe(ORPHANS + 1);
  expect(framesOf(left, 'reap').at(-1)).toMatchObject({ child: pid, status: 3 << 8 });
});

test.skipIf(noMount)('without room for a header it goes on untraced', async () => {
  const dir = newDir('none');
  fill();
  const command = bash('echo "[$CUFF_TRACE]"; echo x > /dev/stdout; exit 4');
  const live = start(command, { dir });
  expect(await live.done).toMatchObject({ outcome: { kind: 'exited', code: 4 } });
  await live.over;
  rmSync(join(disk, 'filler'));
  const left = live.left();
  expect(left.header).toBeUndefined();
  const traced = await run(command, { dir: newDir('room') });
  expect(traced.header?.mode).toBe('socket');
});
