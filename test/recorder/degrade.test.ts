// A journal that cannot be written: the command goes on, its answer says so, and recording comes
// back by itself. Real disks that are full, gone or in the way, and one whose nth call fails.
import { execFileSync } from 'node:child_process';
import * as fs from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import {
  BashRecorderError,
  ConfigurationError,
  ExecutionError,
  RecordingError,
} from '../../src/recorder/errors.ts';
import { until } from '../cli/helper.ts';
import { faultyDisk } from '../journal/helper.ts';
import { lacking } from '../requirements.ts';
import { call, execute, executeWith, World } from './helper.ts';

/** A small disk of its own for the journal. */
function mounted(dir: string, size: string): boolean {
  fs.mkdirSync(dir, { recursive: true });
  try {
    const options = `size=${size},mode=0700`;
    execFileSync('mount', ['-t', 'tmpfs', '-o', options, 'cuff-test', dir], { stdio: 'ignore' });
    return true;
  } catch {
    return false; // not root, or in a container that may not mount
  }
}

function canMount(): boolean {
  const dir = fs.mkdtempSync('/tmp/cuff-mount-');
  const can = mounted(dir, '64k');
  if (can) execFileSync('umount', ['-l', dir]);
  fs.rmdirSync(dir);
  return can;
}

const noMount = lacking(!canMount(), 'mounting a small tmpfs needs root');

describe('a full disk', () => {
  it.skipIf(noMount)('loses entries and no answers, until there is room again', async () => {
    const world = new World();
    mounted(world.journal, '256k');
    const unmount = (): void => void execFileSync('umount', ['-l', world.journal]);
    onTestFinished(unmount);
    const plugin = await world.plugin();
    const before = await execute(plugin, 'echo before');
    const [{ metadata: old } = { metadata: undefined }] = world.sessions();
    const ballast = join(world.journal, 'ballast');
    try {
      fs.writeFileSync(ballast, Buffer.alloc(1_000_000));
    } catch {
      // That is the point: now it is full.
    }
    const during = await execute(plugin, 'seq 100000; exit 3');
    expect(during).toMatchObject({ exit_code: 3, recording_id: null });
    expect(during.stdout.length).toBe(588895);
    expect(during.notices).toEqual(['This command was not recorded: disk full.']);
    expect(world.log('Recording write failed')).toEqual([
      {
        level: 'warn',
        message: 'Recording write failed',
        fields: {
          plugin: 'bash_recorder',
          session_id: old?.session_id,
          error: 'disk full',
          degraded: true,
        },
      },
    ]);
    expect(await plugin.healthCheck()).toMatchObject({
      recording_enabled: false,
      reasons: expect.arrayContaining(['The last command was not recorded: disk full.']),
    });
    fs.rmSync(ballast);
    const after = await execute(plugin, 'echo after');
    expect(after.recording_id).not.toBeNull();
    expect(after.notices).toBeUndefined();
    const [recovered] = world.log('Recording recovered from disabled state');
    const { session_id } = world.entries().at(-1) ?? {};
    expect(recovered).toMatchObject({ level: 'warn', fields: { session_id } });
    expect(session_id).not.toBe(old?.session_id);
    // There was never room for what was printed; when there is, it goes where it belongs.
    expect(world.entries()).toHaveLength(2);
    execFileSync('mount', ['-o', 'remount,size=8m', world.journal]);
    await execute(plugin, 'echo room');
    await until(() => world.entries().length === 4, 'the command is in the journal');
    await world.stop(plugin);
    const first = world.sessions().find((one) => one.metadata.session_id === old?.session_id);
    expect(first?.metadata.end_reason).toBe('write_failed: ENOSPC, late entries');
    expect(first?.entries).toMatchObject([
      { stdout: 'before\n' },
      { exit_code: 3, sequence_number: 2 },
    ]);
    const statuses = world.sessions().map(({ metadata }) => metadata.status);
    expect(statuses.sort()).toEqual(['interrupted', 'shutdown']);
    const ids = world.entries().map((entry) => entry.entry_id);
    expect(ids).toEqual(expect.arrayContaining([before.recording_id, after.recording_id]));
  });

  it.skipIf(noMount)('for captures loses output, and the answer says how much', async () => {
    const world = new World();
    mounted(world.stateRoot, '256k');
    onTestFinished(() => void execFileSync('umount', ['-l', world.stateRoot]));
    const plugin = await world.plugin();
    const answer = await execute(plugin, 'seq 100000; exit 3');
    expect(answer).toMatchObject({ exit_code: 3, recording_id: expect.stringMatching(/^e_/) });
    const kept = answer.stdout.length;
    expect(kept).toBeLessThan(588895);
    expect(answer.notices).toEqual([
      `${588895 - kept} bytes of output could not be kept and are missing.`,
    ]);
  });

  it.skipIf(noMount)('that is low shows in the health and in the log, once', async () => {
    const world = new World();
    mounted(world.journal, '1m');
    onTestFinished(() => void execFileSync('umount', ['-l', world.journal]));
    const plugin = await world.plugin();
    for (const _ of [1, 2]) {
      expect(await plugin.healthCheck()).toMatchObject({ healthy: false, disk_space_ok: false });
    }
    expect(world.log('Disk space low')).toHaveLength(1);
  });
});

describe('a journal that is not where it should be', () => {
  it('does not stop anything when it cannot be made', async () => {
    const world = new World();
    fs.writeFileSync(join(world.project, '.cuff'), 'a file in its way');
    const plugin = await world.plugin();
    expect(world.log('Recording directory not writable')[0]?.level).toBe('warn');
    expect(await execute(plugin, 'echo works')).toMatchObject({
      stdout: 'works\n',
      recording_id: null,
      notices: [expect.stringMatching(/^This command was not recorded: .+\.$/)],
    });
    expect(await plugin.healthCheck()).toMatchObject({
      healthy: false,
      recording_enabled: false,
      directory_writable: false,
    });
    fs.rmSync(join(world.project, '.cuff'));
    expect(await execute(plugin, 'echo again')).toMatchObject({
      recording_id: expect.stringMatching(/^e_/),
    });
    expect(await plugin.healthCheck()).toMatchObject({ recording_enabled: true });
  });

  it('is made again after somebody removed it', async () => {
    const world = new World();
    const plugin = await world.plugin();
    await execute(plugin, 'echo 1');
    const gone = await execute(plugin, `rm -rf ${world.journal}; echo 2`);
    expect(gone).toMatchObject({ stdout: '2\n', recording_id: null });
    expect(gone.notices).toEqual(['This command was not recorded: the directory is gone.']);
    expect((await execute(plugin, 'echo 3')).recording_id).toMatch(/^e_/);
    const commands = (): string[] => world.entries().map((entry) => entry.command);
    await until(() => commands().length === 2, 'what was not recorded is in the journal');
    expect(commands()).toEqual([`rm -rf ${world.journal}; echo 2`, 'echo 3']);
  });
});

it('captures that cannot be kept are told, and the command is run', async () => {
  const world = new World();
  fs.rmSync(world.stateRoot, { recursive: true, force: true });
  fs.writeFileSync(world.stateRoot, 'a file in its way');
  vi.stubEnv('TMPDIR', world.dir);
  onTestFinished(() => void vi.unstubAllEnvs());
  const plugin = await world.plugin();
  expect(await execute(plugin, 'echo works')).toMatchObject({
    stdout: 'works\n',
    recording_id: expect.stringMatching(/^e_/),
    notices: [expect.stringMatching(/^Its output is not kept: .+\.$/)],
  });
  const elsewhere = (): string[] =>
    fs.readdirSync(world.dir).filter((name) => name.startsWith('cuff-unrecorded-'));
  expect(elsewhere()).toHaveLength(1);
  world.shell.close();
  await until(() => elsewhere().length === 0, 'it is removed');
});

describe('strict recording', () => {
  it('refuses what it cannot write down, and runs it when it can', async () => {
    const world = new World();
    fs.writeFileSync(join(world.project, '.cuff'), 'a file in its way');
    const plugin = await world.plugin({ recording: { strict: true } });
    const marker = join(world.dir, 'executed');
    const refused = await call(plugin, 'execute', { command: `touch ${marker}` });
    expect(refused.success).toBe(false);
    expect(refused.text).toMatch(/^Not executed, because it cannot be recorded: .+ false\.$/);
    expect(fs.existsSync(marker)).toBe(false);
    fs.rmSync(join(world.project, '.cuff'));
    expect((await execute(plugin, `touch ${marker}`)).recording_id).toMatch(/^e_/);
  });

  it.skipIf(noMount)('notices a full disk before it runs anything', async () => {
    const world = new World();
    mounted(world.journal, '64k');
    onTestFinished(() => void execFileSync('umount', ['-l', world.journal]));
    const plugin = await world.plugin({ recording: { strict: true } });
    await execute(plugin, 'echo fits');
    try {
      fs.writeFileSync(join(world.journal, 'ballast'), Buffer.alloc(100_000));
    } catch {
      // Now it is full.
    }
    const marker = join(world.dir, 'executed');
    expect((await call(plugin, 'execute', { command: `touch ${marker}` })).success).toBe(false);
    expect(fs.existsSync(marker)).toBe(false);
  });
});

it('the kinds of errors have one base', () => {
  const errors = [
    new RecordingError('x'),
    new ExecutionError('start_failed', 'x'),
    new ConfigurationError('x'),
  ];
  for (const error of errors) expect(error).toBeInstanceOf(BashRecorderError);
  expect(errors.map(({ code }) => code)).toEqual([
    'journal_unwritable',
    'start_failed',
    'settings_invalid',
  ]);
});

type Life = { readonly ids: (string | null)[]; readonly calls: number };

/** Start, three commands, end, on a disk whose nth call fails, or so many from there on. */
async function life(world: World, failing: number, count = 1): Promise<Life> {
  const disk = faultyDisk((operation) =>
    operation >= failing && operation < failing + count ? 'ENOSPC' : undefined,
  );
  const config = { recording: { directory: `n${failing}` } };
  const recorder = await world.recorder(config, { journal: { fs: disk } });
  const ids: (string | null)[] = [];
  for (const n of [1, 2, 3]) {
    const { ended, findings, receipt } = await executeWith(recorder, `echo ${n}; exit ${n}`);
    const stdout = Buffer.from(findings?.heads.stdout.bytes ?? []).toString();
    expect([stdout, ended?.outcome]).toEqual([`${n}\n`, { kind: 'exited', code: n }]);
    ids.push(receipt.recorded === true ? receipt.entryId : null);
  }
  await recorder.close();
  return { ids, calls: disk.calls.length };
}

it('whichever disk operation fails, every answer is right and every promise kept', async () => {
  const world = new World();
  const { calls } = await life(world, -1);
  expect(calls).toBeGreaterThan(10);
  for (let n = 1; n <= calls; n += 1) {
    const { ids } = await life(world, n);
    const written = world.entries(join(world.project, `n${n}`)).map((entry) => entry.entry_id);
    const promised = ids.filter((id) => id !== null);
    expect(written).toEqual(expect.arrayContaining(promised));
    expect(ids.filter((id) => id === null).length).toBeLessThanOrEqual(1);
    // What was answered without an entry has one now, and nothing has two.
    const codes = world.entries(join(world.project, `n${n}`)).map((entry) => entry.exit_code);
    expect([n, codes.sort()]).toEqual([n, [1, 2, 3]]);
  }
});

it('however long the disk fails, no entry is there twice', async () => {
  const world = new World();
  const { calls } = await life(world, -1);
  for (const count of [4, 12]) {
    for (let n = 1; n <= calls; n += 3) {
      const { ids } = await life(world, n, count);
      const directory = join(world.project, `n${n}`);
      const written = world.entries(directory);
      const promised = ids.filter((id) => id !== null);
      expect(written.map((entry) => entry.entry_id)).toEqual(expect.arrayContaining(promised));
      const codes = written.map((entry) => entry.exit_code);
      expect([count, n, new Set(codes).size]).toEqual([count, n, codes.length]);
      fs.rmSync(directory, { recursive: true, force: true });
    }
  }
});
