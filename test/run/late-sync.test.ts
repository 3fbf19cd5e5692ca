// Runs that are told before they are on the disk: they get there soon, many together.
import { spawnSync } from 'node:child_process';
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { findRunner } from '../../src/run/binary.ts';
import { createShell, type Shell } from '../../src/shell/shell.ts';
import { until } from '../cli/helper.ts';
import { lacking } from '../requirements.ts';

const runner = findRunner();
const noStrace = lacking(
  runner.kind === 'none' || spawnSync('strace', ['-o', '/dev/null', 'true']).status !== 0,
  'only strace can see what is synced',
);

/** A shell whose `runner serve` is watched; `log` has every sync, with the path. */
function watched(): { shell: Shell; log: () => string } {
  const dir = mkdtempSync(join(tmpdir(), 'cuff-late-'));
  const [path, log] = [join(dir, 'runner'), join(dir, 'log')];
  const real = runner.kind === 'none' ? '' : runner.path;
  const strace = `strace -f -y -s 1 -e trace=fdatasync,fsync -o ${log}`;
  writeFileSync(path, `#!/bin/sh\nexec ${strace} ${real} "$@"\n`);
  chmodSync(path, 0o755);
  const env = { ...process.env, CUFF_RUNNER: path };
  const shell = createShell({ stateRoot: join(dir, 'state'), env, durability: 'group' });
  onTestFinished(() => {
    shell.close();
    rmSync(dir, { recursive: true, force: true });
  });
  return { shell, log: () => (existsSync(log) ? readFileSync(log, 'utf8') : '') };
}

/** The processes that synced a file of the capture. */
function syncers(log: string, id: string, name: string): string[] {
  const lines = log.split('\n').filter((line) => line.includes(`/${id}${name}>`));
  return lines.map((line) => line.split(' ')[0] ?? '');
}

const FILES = ['', '/meta.json', '/output.bin', '/index.jsonl', '/events.jsonl', '/final.json'];

test.skipIf(noStrace)('short runs are synced together, within about a second', async () => {
  const { shell, log } = watched();
  const runs: string[] = [];
  for (let i = 0; i < 12; i += 1) {
    const run = shell.start('echo kept');
    await run.closed;
    runs.push(run.id);
  }
  const synced = () => runs.every((id) => syncers(log(), id, '').length > 0);
  await until(synced, 'all runs are synced');
  for (const id of runs) {
    const missing = FILES.filter((name) => syncers(log(), id, name).length === 0);
    expect({ id, missing }).toEqual({ id, missing: [] });
  }
  const processes = new Set(runs.flatMap((id) => syncers(log(), id, '/final.json')));
  expect(processes.size).toBeLessThan(runs.length);
});

test.skipIf(noStrace)('what waits for that is synced when the server ends', async () => {
  const { shell, log } = watched();
  const run = shell.start('echo kept');
  await run.closed;
  shell.close();
  await until(() => syncers(log(), run.id, '').length > 0, 'the run is synced');
  expect(syncers(log(), run.id, '/final.json')).toHaveLength(1);
});
