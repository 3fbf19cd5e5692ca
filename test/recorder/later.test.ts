// What processes that a command left running print behind its entry.
import { execFileSync } from 'node:child_process';
import * as fs from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { journalSessionIds } from '../../src/journal/reader.ts';
import { removeSession } from '../../src/journal/retention.ts';
import { sessionEntries } from '../../src/recordings/sessions.ts';
import { until } from '../cli/helper.ts';
import { execute, World } from './helper.ts';
import { Server } from './server.ts';

type Left = { world: World; line: string; id: string; later: string; release: () => void };

/** A command that leaves a process, which prints when it is let go. */
async function leaving(): Promise<Left> {
  const world = new World();
  const plugin = await world.plugin({ recording: { trace: 'off' } });
  const held = join(world.dir, 'held');
  execFileSync('mkfifo', [held]);
  await execute(plugin, `echo now; (read x < ${held}; echo "later $x"; echo bad >&2) &`);
  const { session_id: id } = world.entry();
  const file = (ending: string): string => join(world.journal, 'sessions', `${id}${ending}`);
  const release = (): void => {
    const fd = fs.openSync(held, 'r+');
    fs.writeSync(fd, 'on\n');
    onTestFinished(() => fs.closeSync(fd)); // not before the other side has read it
  };
  const line = fs.readFileSync(file('.jsonl'), 'utf8');
  return { world, line, id, later: file('.later.jsonl'), release };
}

describe('a command that leaves a process running', () => {
  it('has an entry that names it, and its later output beside that', async () => {
    const { world, line, id, later, release } = await leaving();
    const survivors = [{ pid: expect.any(Number), command: expect.any(String) }];
    const before = world.entry();
    expect(before).toMatchObject({ stdout: 'now\n', survivors });
    expect(before.later).toBeUndefined();
    release();
    await until(() => fs.existsSync(later), 'the run has closed');
    await until(() => fs.readFileSync(later, 'utf8').endsWith('\n'), 'it is written');
    const output = { stdout: 'later on\n', stderr: 'bad\n', truncated: false };
    const { entry_id } = before;
    const { salt, ...printed } = JSON.parse(fs.readFileSync(later, 'utf8'));
    expect(printed).toEqual({ entry_id, survivors, output });
    expect(salt).toMatch(/^[\w-]{22}$/);
    expect((fs.statSync(later).mode & 0o777).toString(8)).toBe('600');
    expect(fs.readFileSync(later.replace('.later', ''), 'utf8')).toBe(line);
    expect(world.entry()).toEqual({ ...before, later: output });
    expect([...sessionEntries(world.journal, id)]).toEqual([{ ...before, later: output }]);
    expect(journalSessionIds(world.journal)).toEqual([id]);
    expect(removeSession(world.journal, id)).toBe(true);
    expect(fs.readdirSync(join(world.journal, 'sessions'))).toEqual([]);
  });

  it('is read also when the file beside it was damaged', async () => {
    const { world, later, release } = await leaving();
    fs.writeFileSync(later, '{"entry_id":"e_x","surv', { mode: 0o600 });
    release();
    const whole = (): boolean => fs.readFileSync(later, 'utf8').endsWith('\n');
    await until(whole, 'the run has closed');
    expect(world.entry().later?.stdout).toBe('later on\n');
  });
});

/** Lets a process go that reads from this FIFO. */
function letGo(fifo: string): void {
  const fd = fs.openSync(fifo, 'r+');
  fs.writeSync(fd, 'on\n');
  onTestFinished(() => fs.closeSync(fd)); // not before the other side has read it
}

function fifo(world: World, name: string): string {
  const path = join(world.dir, name);
  execFileSync('mkfifo', [path]);
  return path;
}

const leave = (held: string): string => `(read x < ${held}; echo "later $x"; echo bad >&2) &`;

const LATER = { stdout: 'later on\n', stderr: 'bad\n', truncated: false };

/** The lines of all files beside sessions. */
function laterLines(world: World): { entry_id: string; output: unknown }[] {
  const folder = join(world.journal, 'sessions');
  const names = fs.readdirSync(folder).filter((name) => name.endsWith('.later.jsonl'));
  const texts = names.map((name) => fs.readFileSync(join(folder, name), 'utf8'));
  const lines = texts.flatMap((text) => text.split('\n').slice(0, -1));
  return lines.map((line) => JSON.parse(line));
}

/** The capture says that the run has closed. */
function closed(world: World): boolean {
  return world.shell.list().every(({ final }) => final?.outputClosed === true);
}

/** A capture says that something may come behind its entry. */
function noted(world: World): boolean {
  return world.files().some(({ path }) => path.endsWith('entry-reach'));
}

describe('a server that died before the processes of a command were gone', () => {
  it('leaves what they print to the next one', async () => {
    const world = new World();
    const held = fifo(world, 'held');
    const first = await Server.start(world);
    const { recording_id: id } = await first.execute(`echo now; ${leave(held)}`);
    await first.kill();
    const before = world.entry();
    expect([before.entry_id, before.stdout, before.survivors?.length]).toEqual([id, 'now\n', 1]);
    const second = await Server.start(world);
    letGo(held);
    await until(() => world.entry().later !== undefined, 'the rest is there');
    await second.stop();
    expect(world.entry()).toEqual({ ...before, later: LATER });
    expect(laterLines(world)).toMatchObject([{ entry_id: id, output: LATER }]);
    const third = await Server.start(world);
    await third.execute('echo next');
    await third.stop();
    expect(laterLines(world)).toHaveLength(1);
  });

  it('leaves what they printed before the next one came', async () => {
    const world = new World();
    const held = fifo(world, 'held');
    const first = await Server.start(world);
    const { recording_id: id } = await first.execute(`echo now; ${leave(held)}`);
    await first.kill();
    letGo(held);
    await until(() => closed(world), 'it has closed');
    const pair = await Promise.all([Server.start(world), Server.start(world)]);
    await until(() => world.entry().later !== undefined, 'the rest is there');
    await Promise.all(pair.map((server) => server.stop()));
    expect(laterLines(world)).toMatchObject([{ entry_id: id, output: LATER }]);
  });

  it('leaves the entry and the rest of a command that ended without it', async () => {
    const world = new World();
    const [go, held] = [fifo(world, 'go'), fifo(world, 'held')];
    const first = await Server.start(world);
    void first.execute(`echo begun; read x < ${go}; ${leave(held)}`);
    await until(() => world.filesWith('begun\n').length > 0, 'it runs');
    await first.kill();
    const second = await Server.start(world);
    letGo(go);
    await until(() => world.entries().length > 0, 'it has its entry');
    expect(world.entry()).toMatchObject({ stdout: 'begun\n', survivors: [{}] });
    letGo(held);
    await until(() => world.entry().later !== undefined, 'the rest is there');
    expect(world.entry().later).toEqual(LATER);
    await second.stop();
  });

  it('leaves nothing of it that may hold secrets the next one does not know', async () => {
    const world = new World();
    const held = fifo(world, 'held');
    const first = await Server.start(world, { recording: { redact: true } });
    await first.execute(`echo now; ${leave(held)}`);
    await first.kill();
    letGo(held);
    await until(() => closed(world), 'it has closed');
    const second = await Server.start(world);
    await until(() => !noted(world), 'it is looked after');
    await second.stop();
    expect(laterLines(world)).toEqual([]);
  });

  it('leaves no line for processes that print nothing more', async () => {
    const world = new World();
    const held = fifo(world, 'held');
    const first = await Server.start(world);
    await first.execute(`echo now; (read x < ${held}) &`);
    await first.kill();
    letGo(held);
    await until(() => closed(world), 'it has closed');
    const second = await Server.start(world);
    await until(() => !noted(world), 'it is looked after');
    await second.stop();
    expect([laterLines(world), world.entry().later]).toEqual([[], undefined]);
  });
});
