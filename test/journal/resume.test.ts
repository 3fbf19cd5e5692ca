// The metadata file while a session is written, and sessions that somebody else goes on with.
import * as fs from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { AppError } from '../../src/errors.ts';
import { readSession } from '../../src/journal/reader.ts';
import { resumeSession, startSession } from '../../src/journal/writer.ts';
import { faultySessions } from '../../src/recordings/list.ts';
import { draftOf, FACTS, faultyDisk, NOW, newJournal, textOf, world } from './helper.ts';

const ID = '20260118_143052_a7b3c9d2-e4f5';
const ENTRIES = `sessions/${ID}.jsonl`;
const METADATA = `sessions/${ID}.meta.json`;

describe('the metadata file', () => {
  it('is written at most once a second while entries come', async () => {
    const directory = newJournal();
    const disk = faultyDisk();
    const env = world(disk);
    const writer = startSession(directory, FACTS, env);
    const count = (): number => JSON.parse(textOf(directory, METADATA)).entry_count;
    disk.calls.length = 0;
    for (let n = 0; n < 30; n += 1) {
      await writer.append(draftOf());
      env.pass(100);
    }
    expect(disk.calls.filter((name) => name === 'renameSync')).toHaveLength(3);
    expect(count()).toBe(30);
    await writer.append(draftOf());
    expect(count()).toBe(30);
    env.pass(1000);
    expect([count(), env.timers()]).toEqual([31, 0]);
  });

  it('is written though the clock goes backwards, and never says so', async () => {
    const directory = newJournal();
    const env = world();
    const writer = startSession(directory, FACTS, env);
    env.time = NOW - 86_400_000;
    await writer.append(draftOf());
    env.pass(1000);
    expect(JSON.parse(textOf(directory, METADATA))).toMatchObject({
      entry_count: 1,
      created_at: '2026-01-18T14:30:52Z',
      last_updated: '2026-01-18T14:30:52Z',
    });
    await writer.finalize('complete', 'over');
    expect(writer.metadata.last_updated).toBe('2026-01-18T14:30:52Z');
  });

  it('that cannot be written does not disturb the entries', async () => {
    const directory = newJournal();
    let full = false;
    const disk = faultyDisk((_, name) => (full && name === 'renameSync' ? 'ENOSPC' : undefined));
    const env = world(disk);
    const writer = startSession(directory, FACTS, env);
    full = true;
    await writer.append(draftOf());
    env.pass(2000);
    await writer.append(draftOf());
    await writer.finalize('complete', 'over');
    expect(writer.settled).toBe(false);
    expect(readSession(directory, ID)?.metadata).toMatchObject({
      status: 'active',
      entry_count: 2,
    });
    full = false;
    await writer.finalize('complete', 'over');
    expect(writer.settled).toBe(true);
    expect(readSession(directory, ID)?.metadata).toEqual(writer.metadata);
    expect(fs.readdirSync(join(directory, 'sessions'))).toHaveLength(2);
  });
});

describe('a session of a dead owner', () => {
  it('goes on behind entries that its file has lost, so that the loss stays visible', async () => {
    const directory = newJournal();
    const writer = startSession(directory, FACTS, world());
    for (let n = 0; n < 3; n += 1) await writer.append(draftOf({ run_id: null }));
    await writer.finalize('shutdown', 'over');
    const first = textOf(directory, ENTRIES).indexOf('\n') + 1;
    fs.truncateSync(join(directory, ENTRIES), first);
    const next = resumeSession(directory, ID, world());
    expect(await next.append(draftOf({ run_id: null }))).toMatchObject({ sequence_number: 4 });
    await next.finalize('complete', 'over');
    const faults = { skipped: 2, repeated: 0, backward: 0, missing: 0 };
    expect(faultySessions(directory, [ID])).toEqual([{ id: ID, faults }]);
  });

  it('goes on behind its last entry, and a torn line is ended first', async () => {
    const directory = newJournal();
    const first = startSession(directory, FACTS, world());
    await first.append(draftOf());
    await first.append(draftOf());
    fs.appendFileSync(join(directory, ENTRIES), '{"entry_id":"e_20260118_143052_003","ses');
    const env = world();
    const second = resumeSession(directory, ID, env);
    const entry = await second.append(draftOf({ run_id: 'lost', exit_code: null }));
    await second.append(draftOf({ run_id: null }));
    expect(entry.sequence_number).toBe(3);
    // A run has one entry, though two recoveries may be after it.
    expect((await second.append(draftOf())).sequence_number).toBe(1);
    await second.finalize('interrupted', 'owner_died');
    const session = readSession(directory, ID);
    expect(session?.entries.map(({ sequence_number: n }) => n)).toEqual([1, 2, 3, 4]);
    expect(session?.damagedLines).toBe(1);
    expect(session?.metadata).toEqual(second.metadata);
    expect(JSON.parse(textOf(directory, METADATA))).toMatchObject({
      status: 'interrupted',
      end_reason: 'owner_died',
      entry_count: 4,
      owner: { pid: 4321 },
    });
  });

  it('that had ended keeps its end', async () => {
    const directory = newJournal();
    const first = startSession(directory, FACTS, world());
    await first.append(draftOf());
    await first.finalize('shutdown', 'server_stop');
    const second = resumeSession(directory, ID, world());
    await second.append(draftOf({ run_id: 'another' }));
    await second.finalize('interrupted', 'owner_died');
    expect(JSON.parse(textOf(directory, METADATA))).toMatchObject({
      status: 'shutdown',
      end_reason: 'server_stop, late entries',
      entry_count: 2,
    });
  });

  it('that is gone cannot go on', () => {
    expect(() => resumeSession(newJournal(), ID, world())).toThrow(AppError);
    expect(() => resumeSession(newJournal(), '../../etc/x', world())).toThrow(AppError);
  });
});
