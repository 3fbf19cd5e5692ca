// Commands that were answered with `recording_id: null`, because the journal could not be written:
// they become entries when it can be written again, each once, by the server that answered or by
// the next one.
import * as fs from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { removeSession } from '../../src/journal/retention.ts';
import type { Entry } from '../../src/types.ts';
import { until } from '../cli/helper.ts';
import { conversation, execute, World } from './helper.ts';
import { Server } from './server.ts';

/** A file where the journal's directory would be. */
class Blocked extends World {
  readonly #file = join(this.project, '.cuff');

  constructor() {
    super();
    this.block();
  }

  block(): void {
    fs.rmSync(this.#file, { recursive: true, force: true });
    fs.writeFileSync(this.#file, 'a file in its way');
  }

  mend(): void {
    fs.rmSync(this.#file);
  }

  commands(): string[] {
    return this.entries().map(({ command }) => command);
  }

  async adopted(count: number): Promise<readonly Entry[]> {
    await until(() => this.commands().length >= count, `${count} are in the journal`);
    return this.entries();
  }
}

describe('a journal that can be written again', () => {
  it('gets the entries of all commands that were answered without one', async () => {
    const world = new Blocked();
    const plugin = await world.plugin();
    for (const n of [1, 2]) {
      expect((await execute(plugin, `echo ${n}; exit ${n}`)).recording_id).toBeNull();
    }
    world.mend();
    const after = await execute(plugin, 'echo 3');
    const entries = await world.adopted(3);
    await world.stop(plugin);
    expect(world.entries()).toEqual(entries);
    const facts = entries.map(({ sequence_number: n, stdout, exit_code }) => [
      n,
      stdout,
      exit_code,
    ]);
    expect(facts).toEqual([
      [2, '1\n', 1],
      [3, '2\n', 2],
      [1, '3\n', 0],
    ]);
    const ids = new Set(entries.map(({ entry_id }) => entry_id));
    expect([ids.size, ids.has(after.recording_id ?? '')]).toEqual([3, true]);
    expect(world.sessions()).toMatchObject([{ metadata: { status: 'shutdown', entry_count: 3 } }]);
  });

  it('has each of them in the session of its conversation', async () => {
    const world = new Blocked();
    const plugin = await world.plugin();
    for (const name of ['a', 'b']) {
      await execute(plugin, `echo lost ${name}`, {}, conversation(name));
    }
    world.mend();
    await execute(plugin, 'echo kept a', {}, conversation('a'));
    await world.adopted(3);
    const sessions = world
      .sessions()
      .map(({ metadata, entries }) => [
        metadata.conversation_id,
        entries.map(({ command }) => command),
      ]);
    expect(sessions.sort()).toEqual([
      ['a', ['echo kept a', 'echo lost a']],
      ['b', ['echo lost b']],
    ]);
  });

  it('gets them at the end of the server if no command comes before', async () => {
    const world = new Blocked();
    const plugin = await world.plugin();
    await execute(plugin, 'echo lost');
    world.mend();
    await world.stop(plugin);
    expect(world.commands()).toEqual(['echo lost']);
    expect(world.metadata()).toMatchObject({ status: 'shutdown', entry_count: 1 });
  });

  it('has no output of commands whose output is not to be kept', async () => {
    const world = new Blocked();
    const plugin = await world.plugin({ recording: { capture_output: false } });
    await execute(plugin, 'echo private');
    world.mend();
    await world.stop(plugin);
    expect(world.entry()).toMatchObject({ stdout: null, stderr: null, exit_code: 0 });
    expect(world.filesWith('private\n')).toEqual([]);
  });

  it('never gets a command that the person wanted no record of', async () => {
    const world = new Blocked();
    const off = await world.plugin({ recording: { enabled: false } });
    expect((await execute(off, 'echo unrecorded')).recording_id).toBeNull();
    await world.stop(off);
    world.mend();
    const on = await world.plugin();
    await execute(on, 'echo recorded');
    await world.stop(on);
    expect(world.commands()).toEqual(['echo recorded']);
  });
});

describe('a server that died before the journal could be written', () => {
  /** Answers without an entry, then a crash. */
  async function crashed(world: Blocked, commands: readonly string[]): Promise<void> {
    const server = await Server.start(world);
    for (const command of commands) {
      expect((await server.execute(command)).recording_id).toBeNull();
    }
    await server.kill();
  }

  it('has its commands entered by the next one when that starts', async () => {
    const world = new Blocked();
    await crashed(world, ['echo 1', 'echo 2']);
    world.mend();
    const next = await Server.start(world);
    await world.adopted(2);
    await next.stop();
    expect(world.entries()).toMatchObject([
      { stdout: '1\n', sequence_number: 1, end_reason: 'itself' },
      { stdout: '2\n', sequence_number: 2, end_reason: 'itself' },
    ]);
    const again = await Server.start(world);
    await again.execute('echo 3');
    await again.stop();
    expect(world.commands()).toEqual(['echo 1', 'echo 2', 'echo 3']);
  });

  it('has them entered by one that could not do so when it started', async () => {
    const world = new Blocked();
    await crashed(world, ['echo 1']);
    const next = await Server.start(world);
    expect((await next.execute('echo 2')).recording_id).toBeNull();
    world.mend();
    // Its own first look may still be going on: every success tries again.
    let count = 0;
    while (!world.commands().includes('echo 1')) {
      count += 1;
      await next.execute(`echo try ${count}`);
    }
    await next.stop();
    const commands = world.commands();
    expect(commands).toEqual(expect.arrayContaining(['echo 1', 'echo 2']));
    expect(commands).toHaveLength(2 + count);
  });

  it('has them entered once by two that start at the same time', async () => {
    const world = new Blocked();
    const commands = ['echo 1', 'echo 2', 'echo 3'];
    await crashed(world, commands);
    world.mend();
    const pair = await Promise.all([Server.start(world), Server.start(world)]);
    await world.adopted(3);
    await Promise.all(pair.map((server) => server.stop()));
    expect(world.commands()).toEqual(commands);
  });

  it('has them entered in the session that was chosen by one that died, too', async () => {
    const world = new Blocked();
    await crashed(world, ['echo 1', 'echo 2']);
    world.mend();
    const first = await Server.start(world);
    await world.adopted(2);
    await first.stop();
    const [session] = world.sessions();
    const path = join(world.journal, 'sessions', `${session?.metadata.session_id}.jsonl`);
    // As if it had died when the first of the two was written.
    fs.writeFileSync(path, `${fs.readFileSync(path, 'utf8').split('\n')[0]}\n`);
    const meta = path.replace('.jsonl', '.meta.json');
    fs.writeFileSync(meta, fs.readFileSync(meta, 'utf8').replace('"shutdown"', '"active"'));
    const second = await Server.start(world);
    await world.adopted(2);
    await second.stop();
    expect(world.sessions()).toMatchObject([{ entries: [{ stdout: '1\n' }, { stdout: '2\n' }] }]);
  });

  it('does not bring them back when their session was removed', async () => {
    const world = new Blocked();
    await crashed(world, ['echo 1']);
    world.mend();
    const first = await Server.start(world);
    await world.adopted(1);
    await first.stop();
    for (const { metadata } of world.sessions()) removeSession(world.journal, metadata.session_id);
    const second = await Server.start(world);
    await second.execute('echo 2');
    await second.stop();
    expect(world.commands()).toEqual(['echo 2']);
  });

  it('has a command entered that is still running when the next one starts', async () => {
    const world = new Blocked();
    const go = join(world.dir, 'go');
    const server = await Server.start(world);
    void server.execute(`echo begun; while ! test -e ${go}; do sleep 0.05; done; exit 4`);
    await until(() => world.filesWith('begun\n').length > 0, 'it runs');
    await server.kill();
    world.mend();
    const next = await Server.start(world);
    expect(world.commands()).toEqual([]);
    fs.writeFileSync(go, '');
    const [entry] = await world.adopted(1);
    expect(entry).toMatchObject({ stdout: 'begun\n', exit_code: 4 });
    await next.stop();
  });
});
