// Servers that are killed: whatever was answered is in the journal, whatever was under way gets its
// entry from whoever starts next, and nothing is entered twice.
import * as fs from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { alive, until } from '../cli/helper.ts';
import { FACT_MS_MAX } from '../pace.ts';
import { World } from './helper.ts';
import { Server } from './server.ts';

const ROUNDS = 100; // each kills a server in the middle of its work
const LANES = 4;

/** The runs that are meant to be entries: their captures say so. */
function intended(world: World): string[] {
  const ids = world.shell.list().filter(({ meta }) => meta?.journal !== undefined);
  return ids.map(({ id }) => id).sort();
}

function entered(world: World): string[] {
  return world
    .entries()
    .map((entry) => entry.run_id ?? '')
    .sort();
}

/** Executes on several lanes until the server is gone; the ids of the answered entries. */
function traffic(server: Server, answered: string[]): void {
  const lane = async (name: number): Promise<never> => {
    for (let n = 0; ; n += 1) {
      const { recording_id } = await server.execute(`echo ${name}-${n}`);
      if (recording_id !== null) answered.push(recording_id);
    }
  };
  for (let name = 0; name < LANES; name += 1) void lane(name);
}

describe('a server that is killed', () => {
  it('at any moment has answered nothing that is not in the journal', async () => {
    const world = new World();
    const answered: string[] = [];
    for (let round = 0; round < ROUNDS; round += 1) {
      const server = await Server.start(world);
      const before = answered.length;
      traffic(server, answered);
      const enough = before + 1 + Math.floor(Math.random() * 20);
      await until(() => answered.length >= enough, 'some are answered');
      await server.kill();
    }
    expect(world.entries().map((entry) => entry.entry_id)).toEqual(
      expect.arrayContaining(answered),
    );
    const last = await Server.start(world);
    await until(() => entered(world).length >= intended(world).length, 'all have their entry');
    await last.stop();
    expect(entered(world)).toEqual(intended(world));
    // Every server went on with the session of the one before.
    expect(world.sessions()).toMatchObject([{ metadata: { status: 'shutdown' } }]);
    for (const { entries } of world.sessions()) {
      expect(entries.map((entry) => entry.sequence_number)).toEqual(entries.map((_, i) => i + 1));
    }
  }, 900_000);

  it('leaves its runs running, and they become entries when they end', async () => {
    const world = new World();
    const go = join(world.dir, 'go');
    const first = await Server.start(world);
    void first.execute(`echo begun; while ! test -e ${go}; do sleep 0.05; done; echo over; exit 6`);
    await until(() => world.filesWith('begun\n').length > 0, 'it runs');
    await first.kill();
    const second = await Server.start(world);
    const [run] = intended(world);
    const told = await earlierRuns(async () => (await second.call('session_info')).structured);
    expect(told.earlier_runs).toEqual([
      { run_id: run, command: expect.stringContaining('echo begun'), state: 'running' },
    ]);
    expect(world.entries()).toEqual([]);
    fs.writeFileSync(go, '');
    await until(() => world.entries().length > 0, 'it has its entry');
    expect(world.entry()).toMatchObject({
      run_id: run,
      exit_code: 6,
      stdout: 'begun\nover\n',
      end_reason: 'itself',
      timed_out: false,
    });
    // The second server goes on with the session of the first.
    expect(world.metadata()).toMatchObject({ status: 'active', entry_count: 1 });
    await second.stop();
    expect(world.metadata()).toMatchObject({ status: 'shutdown', entry_count: 1 });
  });

  it('gets an entry for every run, also for one whose output cannot be read', async () => {
    const world = new World();
    const first = await Server.start(world);
    const go = join(world.dir, 'go');
    for (const name of ['one', 'two', 'three']) {
      void first.execute(`echo ${name}; while ! test -e ${go}; do sleep 0.05; done`);
    }
    await until(
      () => ['one', 'two', 'three'].every((name) => world.filesWith(`${name}\n`).length),
      'all run',
    );
    await first.kill();
    fs.writeFileSync(go, ''); // not before: the entries are to be missing
    const ended = (): boolean => world.shell.list().every(({ final }) => final !== undefined);
    await until(ended, 'all have ended');
    const [spoilt = ''] = intended(world);
    const output = join(world.stateRoot, 'sessions', spoilt, 'output.bin');
    fs.rmSync(output);
    fs.symlinkSync('/etc/hostname', output);
    const second = await Server.start(world);
    await until(() => world.entries().length === 3, 'all have their entry');
    expect(entered(world)).toEqual(intended(world));
    const found = world.entries().map(({ run_id, stdout }) => [run_id === spoilt, stdout !== null]);
    expect(found.sort()).toEqual([
      [false, true],
      [false, true],
      [true, false],
    ]);
    await second.stop();
  });

  it('keeps no output of a run whose secrets the next server does not know', async () => {
    const world = new World();
    for (const redact of [true, false]) {
      const first = await Server.start(world, { recording: { redact: true } });
      const count = world.entries().length;
      const go = join(world.dir, `go-${redact}`);
      void first.execute(`echo maybe secret; while ! test -e ${go}; do sleep 0.05; done`);
      await until(() => world.filesWith('maybe secret\n').length > count, 'it prints');
      await first.kill();
      fs.writeFileSync(go, '');
      const second = await Server.start(world, { recording: { redact } });
      await until(() => world.entries().length > count, 'it has its entry');
      await second.stop();
    }
    const outputs = world.entries().map(({ stdout }) => stdout);
    expect(outputs).toEqual(['maybe secret\n', null]);
  });

  it('is recovered once by two that start at the same time', async () => {
    const world = new World();
    const go = join(world.dir, 'go');
    const first = await Server.start(world);
    for (let n = 0; n < 3; n += 1) {
      void first.execute(`echo begun-${n}; while ! test -e ${go}; do sleep 0.05; done`);
    }
    await until(() => [0, 1, 2].every((n) => world.filesWith(`begun-${n}\n`).length > 0), 'runs');
    await first.kill();
    const pair = await Promise.all([Server.start(world), Server.start(world)]);
    fs.writeFileSync(go, '');
    await until(() => entered(world).length >= 3, 'all have their entry');
    await Promise.all(pair.map((server) => server.stop()));
    expect(entered(world)).toEqual(intended(world));
  });

  it('whose runner was killed, too, has an entry that says that nobody knows', async () => {
    const world = new World();
    const server = await Server.start(world);
    void server.execute('echo begun; sleep 60');
    await until(() => world.filesWith('begun\n').length > 0, 'it runs');
    await server.kill();
    // Output may be there before the runner has told who it is.
    const known = (): (number | undefined)[] => {
      const [capture] = world.shell.list();
      return [capture?.meta?.runner?.pid, capture?.meta?.child?.pid];
    };
    await until(() => !known().includes(undefined), 'its processes are known');
    const pids = known().map(Number);
    for (const pid of pids) process.kill(pid, 'SIGKILL');
    await until(() => !pids.some(alive), 'they are gone');
    await world.plugin();
    await until(() => world.entries().length > 0, 'it has its entry');
    expect(world.entry()).toMatchObject({
      exit_code: null,
      end_reason: 'interrupted',
      stdout: 'begun\n',
    });
  });
});

describe('a server that stops', () => {
  const config = (on_shutdown: string) => ({ execution: { on_shutdown } });

  it('ends its runs, survivors included, and the next one tells', async () => {
    const world = new World();
    const server = await Server.start(world);
    const { survivors = [] } = await server.execute('sleep 61 & echo left');
    void server.call('execute', { command: 'echo begun; sleep 62' });
    await until(() => world.filesWith('begun\n').length > 0, 'it runs');
    await server.stop();
    expect(survivors.map(({ pid }) => alive(pid))).toEqual([false]);
    expect(world.entries()).toMatchObject([
      { exit_code: 0, end_reason: 'itself' },
      { exit_code: null, end_reason: 'shutdown' },
    ]);
    expect(world.sessions()[0]?.metadata).toMatchObject({ status: 'shutdown', entry_count: 2 });
    const next = await Server.start(world);
    const told = await earlierRuns(async () => (await next.call('session_info')).structured);
    expect(told.earlier_runs).toEqual([
      { run_id: expect.any(String), command: 'echo begun; sleep 62', state: 'killed' },
    ]);
  });

  it('leaves its runs alone when the settings say so', async () => {
    const world = new World();
    const go = join(world.dir, 'go');
    const server = await Server.start(world, config('leave'));
    void server.execute(`echo begun; while ! test -e ${go}; do sleep 0.05; done`);
    await until(() => world.filesWith('begun\n').length > 0, 'it runs');
    await server.stop();
    expect(world.entries()).toEqual([]);
    const next = await Server.start(world);
    fs.writeFileSync(go, '');
    await until(() => world.entries().length > 0, 'it has its entry');
    expect(world.entry()).toMatchObject({ exit_code: 0, end_reason: 'itself' });
    await next.stop();
    expect(world.metadata()).toMatchObject({ status: 'shutdown', entry_count: 1 });
  });
});

/** Asks until there are earlier runs: they are looked for beside the first calls. */
async function earlierRuns(
  ask: () => Promise<Readonly<Record<string, unknown>> | undefined>,
): Promise<Readonly<Record<string, unknown>>> {
  const deadline = Date.now() + FACT_MS_MAX;
  while (Date.now() < deadline) {
    const told = await ask();
    if (told?.earlier_runs !== undefined) return told;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  throw new Error('no earlier runs');
}
