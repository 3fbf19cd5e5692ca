// One session being written: what is on the disk when, in which order, with which rights.
import * as fs from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { decodeEntry } from '../../src/journal/entry.ts';
import { readSession } from '../../src/journal/reader.ts';
import { startSession } from '../../src/journal/writer.ts';
import type { Entry } from '../../src/types.ts';
import { draftOf, FACTS, faultyDisk, mode, newJournal, tempDir, textOf, world } from './helper.ts';

const ID = '20260118_143052_a7b3c9d2-e4f5';
const ENTRIES = `sessions/${ID}.jsonl`;
const METADATA = `sessions/${ID}.meta.json`;

const METADATA_TEXT = `{
  "session_id": "20260118_143052_a7b3c9d2-e4f5",
  "created_at": "2026-01-18T14:30:52Z",
  "last_updated": "2026-01-18T14:31:02Z",
  "entry_count": 4,
  "total_duration_ms": 6092,
  "status": "shutdown",
  "commands_succeeded": 1,
  "commands_failed": 2,
  "commands_timed_out": 1,
  "working_directory": "/projects/demo",
  "agent_id": "claude-code",
  "conversation_id": "conv_abc123",
  "end_reason": "server_stop",
  "owner": {
    "pid": 4321,
    "start_time": 987654
  }
}
`;

function entriesIn(directory: string): (Entry | undefined)[] {
  return textOf(directory, ENTRIES).trimEnd().split('\n').map(decodeEntry);
}

describe('a session', () => {
  it('is two files in directories that only their owner may enter', () => {
    const directory = newJournal();
    const before = process.umask(0);
    try {
      expect(startSession(directory, FACTS, world()).id).toBe(ID);
    } finally {
      process.umask(before);
    }
    expect(fs.readdirSync(join(directory, 'sessions'))).toEqual([`${ID}.jsonl`, `${ID}.meta.json`]);
    for (const folder of ['..', '.', 'sessions']) {
      expect([folder, mode(join(directory, folder))]).toEqual([folder, '700']);
    }
    expect(mode(join(directory, ENTRIES))).toBe('600');
    expect(mode(join(directory, METADATA))).toBe('600');
  });

  it('that begins is active, empty, and says whose it is', () => {
    const directory = newJournal();
    const { metadata } = startSession(directory, FACTS, world());
    expect(JSON.parse(textOf(directory, METADATA))).toEqual(metadata);
    expect(metadata).toMatchObject({ status: 'active', entry_count: 0, end_reason: null });
    expect(metadata.owner).toEqual({ pid: 4321, start_time: 987_654 });
    expect(textOf(directory, ENTRIES)).toBe('');
  });

  it('that ended has this metadata', async () => {
    const directory = newJournal();
    const env = world();
    const writer = startSession(directory, FACTS, env);
    await writer.append(draftOf());
    await writer.append(draftOf({ exit_code: 2 }));
    await writer.append(draftOf({ exit_code: null, end_reason: 'kill', signal: 'SIGKILL' }));
    await writer.append(draftOf({ exit_code: null, timed_out: true, end_reason: 'timeout' }));
    env.time += 10_000;
    await writer.finalize('shutdown', 'server_stop');
    expect(textOf(directory, METADATA)).toBe(METADATA_TEXT);
    expect(mode(join(directory, METADATA))).toBe('600');
    expect(fs.readdirSync(join(directory, 'sessions'))).toHaveLength(2);
  });

  it('keeps its first end, and the end is written once', async () => {
    const directory = newJournal();
    const disk = faultyDisk();
    const writer = startSession(directory, FACTS, world(disk));
    await writer.append(draftOf());
    await writer.finalize('complete', 'day_change');
    const calls = disk.calls.length;
    await writer.finalize('interrupted', 'never');
    expect(disk.calls.length).toBe(calls);
    expect(writer.metadata).toMatchObject({ status: 'complete', end_reason: 'day_change' });
  });

  it('tells at every change what became of it', async () => {
    const told: [number, string, number][] = [];
    const directory = newJournal();
    const writer = startSession(directory, FACTS, world(), ({ entry_count, status }, size) =>
      told.push([entry_count, status, size]),
    );
    await writer.append(draftOf());
    await writer.finalize('complete', 'over');
    const { size } = fs.statSync(join(directory, ENTRIES));
    expect(told).toEqual([
      [0, 'active', 0],
      [1, 'active', size],
      [1, 'complete', size],
    ]);
  });

  it('takes another name when its name is taken', () => {
    const directory = newJournal();
    const env = world();
    const bytes = ['a7b3c9d2e4f5', 'a7b3c9d2e4f5', '000000000001'];
    const random = (): Uint8Array => Buffer.from(bytes.shift() ?? '', 'hex');
    const first = startSession(directory, FACTS, { ...env, random });
    const second = startSession(directory, FACTS, { ...env, random });
    expect([first.id, second.id]).toEqual([ID, '20260118_143052_00000000-0001']);
  });

  it('never writes through a link that was put in its way', () => {
    const directory = newJournal();
    const victim = join(tempDir(), 'victim');
    fs.mkdirSync(join(directory, 'sessions'), { recursive: true });
    fs.symlinkSync(victim, join(directory, ENTRIES));
    const random = (): Uint8Array => Buffer.from('a7b3c9d2e4f5', 'hex');
    const start = (): unknown => startSession(directory, FACTS, { ...world(), random });
    expect(start).toThrow(/EEXIST/);
    expect(fs.existsSync(victim)).toBe(false);
  });

  it('refuses a link in the place of its directory, and closes an open one', () => {
    const directory = join(tempDir(), 'journal');
    fs.mkdirSync(directory, { recursive: true });
    fs.symlinkSync(tempDir(), join(directory, 'sessions'));
    expect(() => startSession(directory, FACTS, world())).toThrow('is a symbolic link');
    fs.unlinkSync(join(directory, 'sessions'));
    fs.mkdirSync(join(directory, 'sessions'), { mode: 0o755 });
    fs.writeFileSync(join(directory, 'package.json'), '{}');
    fs.chmodSync(directory, 0o755);
    startSession(directory, FACTS, world());
    expect(mode(join(directory, 'sessions'))).toBe('700');
    expect(mode(directory)).toBe('755'); // it may be a whole project
    fs.unlinkSync(join(directory, 'package.json'));
    startSession(directory, FACTS, world());
    expect(mode(directory)).toBe('700');
  });
});

describe('appending', () => {
  it('resolves with the entry, and its line is in the file by then', async () => {
    const directory = newJournal();
    const disk = faultyDisk();
    const writer = startSession(directory, FACTS, world(disk));
    const entry = await writer.append(draftOf());
    expect(entry).toMatchObject({
      entry_id: 'e_20260118_143052_001-e4f5',
      session_id: ID,
      sequence_number: 1,
    });
    expect(entriesIn(directory)).toEqual([entry]);
    disk.calls.length = 0;
    const second = await writer.append(draftOf({ command: 'ls' }));
    expect(disk.calls).toEqual(['write', 'sync', 'lstatSync']);
    expect(entriesIn(directory)).toEqual([entry, second]);
  });

  it('is not done while the disk is not', async () => {
    let release = (): void => {};
    const synced = new Promise<void>((resolve) => {
      release = resolve;
    });
    let syncing = (): void => {};
    const started = new Promise<void>((resolve) => {
      syncing = resolve;
    });
    const sync = (): Promise<void> => {
      syncing();
      return synced;
    };
    const slow = { ...faultyDisk(), sync };
    const writer = startSession(newJournal(), FACTS, world(slow));
    let done = false;
    const append = writer.append(draftOf()).then(() => {
      done = true;
    });
    await started;
    await new Promise((resolve) => setImmediate(resolve));
    expect([done, writer.metadata.entry_count]).toEqual([false, 0]);
    release();
    await append;
    expect(writer.metadata.entry_count).toBe(1);
  });

  it('of 50 at once is one write and one sync, numbered in the order of the file', async () => {
    const directory = newJournal();
    const disk = faultyDisk();
    const writer = startSession(directory, FACTS, world(disk));
    await writer.append(draftOf());
    disk.calls.length = 0;
    const drafts = Array.from({ length: 50 }, (_, n) => draftOf({ command: `command ${n}` }));
    const entries = await Promise.all(drafts.map((draft) => writer.append(draft)));
    expect(disk.calls).toEqual(['write', 'sync', 'lstatSync']);
    expect(entries.map(({ sequence_number }) => sequence_number)).toEqual(
      Array.from({ length: 50 }, (_, n) => n + 2),
    );
    expect(entriesIn(directory).slice(1)).toEqual(entries);
    expect(new Set(entries.map(({ entry_id }) => entry_id)).size).toBe(50);
  });

  it('while the disk is busy gathers for the next write', async () => {
    const directory = newJournal();
    const disk = faultyDisk();
    const gathered: Promise<Entry>[] = [];
    const writes: number[] = [];
    const env = world({
      ...disk,
      write: (fd, bytes) => {
        writes.push(bytes.length);
        if (writes.length === 1) {
          for (let n = 0; n < 7; n += 1) gathered.push(writer.append(draftOf()));
        }
        return disk.write(fd, bytes);
      },
    });
    const writer = startSession(directory, FACTS, env);
    await writer.append(draftOf());
    await Promise.all(gathered);
    expect(writes).toHaveLength(2);
    expect(entriesIn(directory).map((entry) => entry?.sequence_number)).toEqual([
      1, 2, 3, 4, 5, 6, 7, 8,
    ]);
  });

  it('writes 40 MB of entries in pieces and loses nothing', async () => {
    const directory = newJournal();
    const disk = faultyDisk();
    const writer = startSession(directory, FACTS, world(disk));
    const stdout = 'x'.repeat(1_000_000);
    const drafts = Array.from({ length: 40 }, () => draftOf({ stdout }));
    await Promise.all(drafts.map((draft) => writer.append(draft)));
    expect(disk.calls.filter((name) => name === 'write')).toHaveLength(3);
    const session = readSession(directory, ID);
    expect(session?.entries.map(({ sequence_number }) => sequence_number)).toEqual(
      Array.from({ length: 40 }, (_, n) => n + 1),
    );
    expect(session?.entries.every((entry) => entry.stdout === stdout)).toBe(true);
  });

  it('after the end still finds its place: the run was longer than the session', async () => {
    const directory = newJournal();
    const writer = startSession(directory, FACTS, world());
    await writer.append(draftOf());
    await writer.finalize('complete', 'day_change');
    await writer.append(draftOf({ exit_code: 1 }));
    await writer.finalize('complete', 'day_change');
    expect(JSON.parse(textOf(directory, METADATA))).toMatchObject({
      status: 'complete',
      entry_count: 2,
      commands_failed: 1,
    });
    expect(readSession(directory, ID)?.metadata).toEqual(writer.metadata);
  });

  it('under way when the end comes is counted by it', async () => {
    const directory = newJournal();
    const writer = startSession(directory, FACTS, world());
    const appends = Array.from({ length: 9 }, () => writer.append(draftOf()));
    await writer.finalize('shutdown', 'server_stop');
    await Promise.all(appends);
    expect(JSON.parse(textOf(directory, METADATA))).toMatchObject({
      status: 'shutdown',
      entry_count: 9,
    });
  });

  it('makes numbers and times that no reader would take into such as it takes', async () => {
    const directory = newJournal();
    const writer = startSession(directory, FACTS, world());
    const odd = { timestamp: 'when', duration_ms: -3.7, timeout_seconds: Number.NaN };
    await writer.append(draftOf(odd));
    await writer.append(draftOf({ duration_ms: 1.6, timeout_seconds: 0.2 }));
    expect(entriesIn(directory)).toMatchObject([
      { timestamp: '2026-01-18T14:30:52.123000Z', duration_ms: 0, timeout_seconds: 0 },
      { duration_ms: 2, timeout_seconds: 1 },
    ]);
  });
});
