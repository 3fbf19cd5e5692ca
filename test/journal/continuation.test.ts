// Going on with the session of another server: after it was stopped or crashed, and not otherwise.
import * as fs from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { joined } from '../../src/journal/join.ts';
import { journalSessionIds, readSession } from '../../src/journal/reader.ts';
import { type SessionMode, Sessions } from '../../src/journal/sessions.ts';
import type { AgentContext, ProcessId, SessionStatus } from '../../src/types.ts';
import { contextOf, draftOf, NOBODY, newJournal, textOf, type World, world } from './helper.ts';

const HOUR = 3_600_000;
const talk = (conversationId: string): AgentContext => contextOf({ conversationId, agentId: 'a' });

/** A project on a machine: servers come and go, each with a pid of its own unless told. */
class Machine {
  readonly directory = newJournal();
  readonly env: World = world();
  readonly living = new Set<string>();
  #last: number;

  constructor(firstPid = 100) {
    this.#last = firstPid;
  }

  server(mode: SessionMode, pid = ++this.#last, workingDirectory = '/projects/demo') {
    const owner: ProcessId = { pid, startTime: ++this.#last };
    this.living.add(nameOf(owner));
    const alive = (one: ProcessId): boolean => this.living.has(nameOf(one));
    const { directory, env } = this;
    const sessions = new Sessions({ directory, mode, workingDirectory, owner, env, alive });
    const run = async (context: AgentContext, command = 'git status'): Promise<string> => {
      const writer = sessions.writerFor(context);
      await writer.append(draftOf({ command, run_id: `${command} ${pid}` }));
      return writer.id;
    };
    const end = async (status: SessionStatus, reason: string): Promise<void> => {
      await sessions.closeAll(status, reason);
      this.living.delete(nameOf(owner));
    };
    return { sessions, run, end, stop: () => end('shutdown', 'shutdown'), owner };
  }

  read(id: string) {
    return readSession(this.directory, id);
  }
}

const nameOf = ({ pid, startTime }: ProcessId): string => `${pid} ${startTime}`;

/** The same journal in another place, where this process writes nothing. */
function elsewhere(machine: Machine): Machine {
  const next = new Machine(200);
  fs.mkdirSync(join(next.directory, '..'), { recursive: true });
  fs.cpSync(machine.directory, next.directory, { recursive: true });
  next.env.time = machine.env.time;
  return next;
}

describe('a session whose server was stopped', () => {
  it('goes on with the next server of the same day', async () => {
    const machine = new Machine();
    const first = machine.server('per_day');
    const id = await first.run(NOBODY);
    await first.stop();
    machine.env.pass(HOUR);
    const second = machine.server('per_day');
    expect(second.sessions.start().id).toBe(id);
    expect(machine.read(id)?.metadata).toMatchObject({
      status: 'active',
      end_reason: null,
      resumed_at: '2026-01-18T15:30:52Z',
      owner: { pid: second.owner.pid },
    });
    expect(await second.run(talk('a'))).toBe(id);
    await second.stop();
    expect(machine.read(id)).toMatchObject({
      metadata: { status: 'shutdown', end_reason: 'shutdown', entry_count: 2 },
      entries: [{ sequence_number: 1 }, { sequence_number: 2 }],
      damagedLines: 0,
    });
    expect(journalSessionIds(machine.directory)).toEqual([id]);
    expect(fs.readdirSync(machine.directory).filter((name) => name.endsWith('.claim'))).toEqual([]);
  });

  it('goes on for its own conversation only', async () => {
    const machine = new Machine();
    const first = machine.server('per_conversation');
    const [a, b, none] = [
      await first.run(talk('a')),
      await first.run(talk('b')),
      await first.run(NOBODY),
    ];
    await first.stop();
    const second = machine.server('per_conversation');
    expect(await second.run(talk('b'))).toBe(b);
    expect(await second.run(talk('a'))).toBe(a);
    expect(await second.run(NOBODY)).toBe(none);
    expect([a, b, none]).not.toContain(await second.run(talk('c')));
  });

  it('is over on the next day, after a silent day, and for another project', async () => {
    const machine = new Machine();
    const first = machine.server('per_day');
    const id = await first.run(NOBODY);
    await first.stop();
    const elsewhere = machine.server('per_day', 7, '/projects/other');
    expect(await elsewhere.run(NOBODY)).not.toBe(id);
    machine.env.pass(24 * HOUR);
    expect(await machine.server('per_day').run(NOBODY)).not.toBe(id);
    expect(await machine.server('continuous').run(NOBODY)).not.toBe(id);
  });

  it.each([
    ['complete', 'config_reload'],
    ['complete', 'recording_disabled'],
    ['complete', 'day_change'],
    ['interrupted', 'write_failed: ENOSPC'],
  ] as const)('%s, %s stays ended', async (status, reason) => {
    const machine = new Machine();
    const first = machine.server('per_day');
    const id = await first.run(NOBODY);
    await first.end(status, reason);
    const next = await machine.server('per_day').run(NOBODY);
    expect(next).not.toBe(id);
    expect(machine.read(next)?.metadata.part_of).toBeUndefined();
  });
});

describe('a session whose server crashed', () => {
  it('goes on behind an unfinished line and after the highest number', async () => {
    const before = new Machine();
    const first = before.server('per_day');
    const id = await first.run(NOBODY);
    await first.run(NOBODY, 'ls');
    const machine = elsewhere(before);
    const path = join(machine.directory, 'sessions', `${id}.jsonl`);
    fs.appendFileSync(path, '{"entry_id":"e_20260118_143052_003-e4f5","sess');
    // The new server has the pid of the dead one, as in a container.
    const second = machine.server('per_day', first.owner.pid);
    expect(await second.run(NOBODY, 'pwd')).toBe(id);
    await second.stop();
    const session = machine.read(id);
    expect(session?.entries.map((entry) => [entry.sequence_number, entry.command])).toEqual([
      [1, 'git status'],
      [2, 'ls'],
      [3, 'pwd'],
    ]);
    expect(session).toMatchObject({ damagedLines: 1, metadata: { status: 'shutdown' } });
    // The one that crashed may have left commands without entries: they are still looked for.
    expect(session?.metadata.end_reason).toBe('shutdown, late entries');
    const third = machine.server('per_day');
    expect(await third.run(NOBODY, 'id')).toBe(id);
    await third.stop();
    expect(machine.read(id)?.metadata.end_reason).toBe('shutdown, late entries');
  });

  it('goes on also while its end is being written', async () => {
    const before = new Machine();
    const id = await before.server('per_day').run(NOBODY);
    const machine = elsewhere(before);
    const { sessions, run, stop } = machine.server('per_day');
    const ending = sessions.recovered(sessions.recover(id), 'complete', 'server_gone');
    expect(await run(NOBODY, 'pwd')).toBe(id);
    await ending;
    expect(await run(NOBODY, 'ls')).toBe(id);
    await stop();
    const { entries, metadata } = machine.read(id) ?? {};
    expect(entries?.map(({ sequence_number }) => sequence_number)).toEqual([1, 2, 3]);
    expect(metadata).toMatchObject({ status: 'shutdown', entry_count: 3 });
  });

  it('knows its agent from its first entry, also if its metadata was behind', async () => {
    const before = new Machine();
    const writer = before.server('per_day').sessions.writerFor(NOBODY);
    await writer.append(draftOf({ agent_id: 'a' }));
    expect(elsewhere(before).read(writer.id)?.metadata).toMatchObject({ agent_id: 'a' });
  });

  it('is claimed by one of those that come next', async () => {
    const before = new Machine();
    const id = await before.server('per_day').run(NOBODY);
    const machine = elsewhere(before);
    const [one, other] = [machine.server('per_day'), machine.server('per_day')];
    expect(await one.run(NOBODY)).toBe(id);
    const part = await other.run(NOBODY);
    expect(part).not.toBe(id);
    expect(machine.read(part)?.metadata).toMatchObject({ part_of: id, entry_count: 1 });
  });

  it('keeps its claim from others even before its metadata says so', async () => {
    const before = new Machine();
    const id = await before.server('per_day').run(NOBODY);
    const machine = elsewhere(before);
    const holder: ProcessId = { pid: 50, startTime: 5 };
    machine.living.add(nameOf(holder));
    fs.writeFileSync(join(machine.directory, `${id}-50-5-0123abcd.claim`), '');
    const part = await machine.server('per_day').run(NOBODY);
    expect(machine.read(part)?.metadata.part_of).toBe(id);
    machine.living.delete(nameOf(holder));
    expect(await machine.server('per_day').run(NOBODY)).toBe(id);
  });
});

describe('two servers at the same time', () => {
  it('have a session each, and a list shows them as one', async () => {
    const machine = new Machine();
    const [first, second] = [machine.server('per_day'), machine.server('per_day')];
    const id = await first.run(NOBODY);
    const part = await second.run(NOBODY);
    expect(JSON.parse(textOf(machine.directory, `sessions/${part}.meta.json`))).toMatchObject({
      part_of: id,
      group: 'day 2026-1-18',
    });
    await first.stop();
    // The first of them goes on, not its part, which still has a server.
    const third = machine.server('per_day');
    expect(await third.run(NOBODY)).toBe(id);
    await Promise.all([second.stop(), third.stop()]);
    const read = (one: string) => machine.read(one)?.metadata;
    const all = [part, id].flatMap((one) => read(one) ?? []);
    const [row, ...rest] = joined(all, read);
    expect(rest).toEqual([]);
    expect(row).toMatchObject({ session_id: id, entry_count: 3, parts: [part] });
    expect(joined(all.slice(0, 1), read)).toMatchObject([{ session_id: id, entry_count: 3 }]);
    expect(joined(all.slice(0, 1), () => undefined)).toMatchObject([{ session_id: part }]);
  });
});
