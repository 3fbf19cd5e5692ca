// A disk that fails, at every operation there is: what was acknowledged stays, the process goes
// on, no file stays open, and when the disk works again so does the journal.
import * as fs from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { AppError, errnoOf } from '../../src/errors.ts';
import { readIndex } from '../../src/journal/index-file.ts';
import { journalSessionIds, readSession } from '../../src/journal/reader.ts';
import { Sessions } from '../../src/journal/sessions.ts';
import { type SessionWriter, startSession } from '../../src/journal/writer.ts';
import type { Entry, EntryDraft } from '../../src/types.ts';
import { lacking } from '../requirements.ts';
import {
  draftOf,
  FACTS,
  type Fail,
  faultyDisk,
  NOBODY,
  newJournal,
  OWNER,
  tempDir,
  type World,
  world,
} from './helper.ts';

const noProc = lacking(!fs.existsSync('/proc/self/fd'), 'open files are counted in /proc');

/** The files below `directory` that this process has open. */
function openFiles(directory: string): string[] {
  if (noProc) return [];
  return fs.readdirSync('/proc/self/fd').flatMap((fd) => {
    try {
      const path = fs.readlinkSync(`/proc/self/fd/${fd}`);
      return path.startsWith(directory) ? [path] : [];
    } catch {
      return []; // the one that lists the others
    }
  });
}

function isUnwritable(error: unknown, errno: string): void {
  if (!(error instanceof AppError)) throw error;
  expect(error.code).toBe('journal_unwritable');
  expect(error.message).toContain(errno);
  expect(error.hint).toMatch(/\w/);
  expect(errnoOf(error.cause)).toBe(errno);
}

type Story = {
  readonly directory: string;
  readonly env: World;
  readonly entries: Entry[];
  readonly writer: SessionWriter | undefined;
  readonly operations: number;
};

/** Starts, appends alone and together, lets a second pass, ends. */
async function oneSession(fail: Fail, errno: string): Promise<Story> {
  const directory = newJournal();
  const disk = faultyDisk(fail);
  const env = world(disk);
  const entries: Entry[] = [];
  let writer: SessionWriter | undefined;
  const append = async (draft: EntryDraft): Promise<void> => {
    try {
      const entry = await writer?.append(draft);
      if (entry !== undefined) entries.push(entry);
    } catch (error) {
      isUnwritable(error, errno);
    }
  };
  try {
    writer = startSession(directory, FACTS, env);
  } catch (error) {
    isUnwritable(error, errno);
  }
  await append(draftOf());
  env.pass(1000);
  await Promise.all([append(draftOf()), append(draftOf({ exit_code: 1 })), append(draftOf())]);
  env.pass(1000);
  await writer?.finalize('complete', 'over');
  await append(draftOf({ command: 'late' }));
  await writer?.finalize('complete', 'over');
  return { directory, env, entries, writer, operations: disk.calls.length };
}

/** The operations of a story without trouble; `extra` for those that only trouble brings. */
async function operationsOf(story: (fail: Fail, errno: string) => Promise<Story>) {
  const { operations } = await story(() => undefined, '');
  return Array.from({ length: operations + 2 }, (_, n) => n + 1);
}

describe('a failing operation of one session', () => {
  it('keeps every acknowledged entry, whichever it is', async () => {
    for (const errno of ['ENOSPC', 'EIO']) {
      for (const nth of await operationsOf(oneSession)) {
        const { directory, entries, writer } = await oneSession(
          (operation) => (operation === nth ? errno : undefined),
          errno,
        );
        const session = writer && readSession(directory, writer.id);
        if (session === undefined) expect([nth, entries]).toEqual([nth, []]);
        // What was refused may be there, too: it happened, after all.
        for (const entry of entries) expect(session?.entries).toContainEqual(entry);
        await writer?.finalize('complete', 'over');
        if (writer !== undefined) {
          expect([nth, writer.settled]).toEqual([nth, true]);
          expect(readSession(directory, writer.id)?.metadata).toEqual(writer.metadata);
        }
        expect([nth, openFiles(directory)]).toEqual([nth, []]);
      }
    }
  });

  it('and every operation behind it: nothing throws, nothing stays open', async () => {
    for (const nth of await operationsOf(oneSession)) {
      const fail: Fail = (operation, name) =>
        operation >= nth && name !== 'closeSync' ? 'EROFS' : undefined;
      const { directory, entries, writer } = await oneSession(fail, 'EROFS');
      const session = writer && readSession(directory, writer.id);
      for (const entry of entries) expect(session?.entries).toContainEqual(entry);
      expect([nth, openFiles(directory)]).toEqual([nth, []]);
    }
  });

  it('that writes half is finished by the next', async () => {
    const { directory, entries, writer } = await oneSession((_, name) => {
      return name === 'write' ? 'short' : undefined;
    }, '');
    expect(entries).toHaveLength(5);
    expect(readSession(directory, writer?.id ?? '')).toMatchObject({ entries, damagedLines: 0 });
  });

  it('half a line that stays does not spoil what is written later', async () => {
    let writes = 0;
    const fail: Fail = (_, name) => {
      if (name !== 'write') return undefined;
      writes += 1;
      return writes === 2 ? 'short' : writes === 3 ? 'ENOSPC' : undefined;
    };
    const { directory, entries, writer } = await oneSession(fail, 'ENOSPC');
    expect(entries.map(({ sequence_number }) => sequence_number)).toEqual([1]);
    expect(writer?.broken).toBe(true);
    const session = readSession(directory, writer?.id ?? '');
    // Of the three that were written together the first is whole, and only that.
    expect(session?.entries.map(({ sequence_number }) => sequence_number)).toEqual([1, 2]);
    expect(session).toMatchObject({ damagedLines: 1, metadata: writer?.metadata });
    expect(writer?.metadata).toMatchObject({ entry_count: 2 });
  });

  it('of a start leaves nothing behind, and the next start works', async () => {
    const disk = faultyDisk();
    startSession(newJournal(), FACTS, world(disk));
    // The first file is the one for git, which costs nobody a journal.
    const first = disk.calls.indexOf('openSync');
    const ofFile = ['openSync', 'writeSync', 'closeSync'];
    expect(disk.calls.slice(first, first + ofFile.length)).toEqual(ofFile);
    const forGit = (at: number): boolean => at >= first && at < first + ofFile.length;
    for (const [index, name] of disk.calls.entries()) {
      const directory = newJournal();
      const failing = faultyDisk((operation) => (operation === index + 1 ? 'EIO' : undefined));
      const start = (): SessionWriter => startSession(directory, FACTS, world(failing));
      if (forGit(index)) {
        expect([name, start().metadata.status]).toEqual([name, 'active']);
        continue;
      }
      expect(start).toThrow(/EIO/);
      expect([name, journalSessionIds(directory)]).toEqual([name, []]);
      expect([name, openFiles(directory)]).toEqual([name, []]);
      expect(start().metadata.status).toBe('active');
    }
  });
});

describe('the sessions of a server', () => {
  /** Four commands on a disk whose nth operation fails; every failure is answered as it should. */
  async function fourCommands(fail: Fail, errno: string): Promise<Story & { refused: number }> {
    const directory = newJournal();
    const disk = faultyDisk(fail);
    const env = world(disk);
    const workingDirectory = '/projects/demo';
    const sessions = new Sessions({
      directory,
      mode: 'continuous',
      workingDirectory,
      owner: OWNER,
      env,
    });
    const entries: Entry[] = [];
    let refused = 0;
    for (let n = 1; n <= 4; n += 1) {
      let writer: SessionWriter | undefined;
      try {
        writer = sessions.writerFor(NOBODY);
        entries.push(await writer.append(draftOf({ command: `command ${n}` })));
      } catch (error) {
        isUnwritable(error, errno);
        refused += 1;
        if (writer !== undefined) sessions.replaceBroken(writer);
      }
      env.pass(1000);
    }
    await sessions.closeAll('shutdown', 'server_stop');
    return { directory, env, entries, refused, writer: undefined, operations: disk.calls.length };
  }

  it('lose the entry of one command at most, and go on with a new session', async () => {
    for (const nth of await operationsOf(fourCommands)) {
      const { directory, env, entries, refused } = await fourCommands(
        (operation) => (operation === nth ? 'ENOSPC' : undefined),
        'ENOSPC',
      );
      expect([nth, entries.length + refused]).toEqual([nth, 4]);
      expect(refused).toBeLessThanOrEqual(1);
      const all = journalSessionIds(directory).map((id) => readSession(directory, id));
      const found = all.flatMap((session) => session?.entries ?? []);
      for (const entry of entries) expect(found).toContainEqual(entry);
      // The last operations write the ends; one that failed there leaves `active` to recovery.
      const statuses = all.map((session) => session?.metadata.status);
      if (refused > 0 && all.length > 1) {
        expect([nth, statuses]).toEqual([nth, ['interrupted', 'shutdown']]);
        expect(all[0]?.metadata.end_reason).toBe('write_failed: ENOSPC');
      } else expect(statuses).toHaveLength(1);
      expect(readIndex(directory, env).total_entries).toBe(found.length);
      expect(openFiles(directory)).toEqual([]);
    }
  });

  it('refuse while nothing can be written, and mark the old one when it can again', async () => {
    const directory = newJournal();
    let full = false;
    const disk = faultyDisk((_, name) => {
      return full && name !== 'closeSync' && name !== 'lstatSync' ? 'ENOSPC' : undefined;
    });
    const env = world(disk);
    const workingDirectory = '/projects/demo';
    const sessions = new Sessions({
      directory,
      mode: 'per_day',
      workingDirectory,
      owner: OWNER,
      env,
    });
    const first = sessions.writerFor(NOBODY);
    await first.append(draftOf());
    full = true;
    await expect(first.append(draftOf())).rejects.toThrow(/ENOSPC/);
    sessions.replaceBroken(first);
    sessions.replaceBroken(first);
    expect(sessions.active()).toEqual([]);
    for (let n = 0; n < 3; n += 1) expect(() => sessions.writerFor(NOBODY)).toThrow(/ENOSPC/);
    expect(readSession(directory, first.id)?.metadata.status).toBe('active');
    full = false;
    const second = sessions.writerFor(NOBODY);
    expect(second.id).not.toBe(first.id);
    await second.append(draftOf());
    await sessions.closeAll('shutdown', 'server_stop');
    const status = (id: string) => readSession(directory, id)?.metadata;
    expect(status(first.id)).toMatchObject({ status: 'interrupted', entry_count: 1 });
    expect(status(second.id)).toMatchObject({ status: 'shutdown', entry_count: 1 });
  });

  it('notice a broken session by themselves', async () => {
    const directory = newJournal();
    let broken = true;
    const disk = faultyDisk((_, name) => (broken && name === 'sync' ? 'EIO' : undefined));
    const options = { directory, mode: 'continuous', owner: OWNER, env: world(disk) } as const;
    const sessions = new Sessions({ ...options, workingDirectory: '/' });
    const first = sessions.writerFor(NOBODY);
    await expect(first.append(draftOf())).rejects.toThrow(/EIO/);
    await expect(first.append(draftOf())).rejects.toThrow(/EIO/);
    broken = false;
    expect(sessions.writerFor(NOBODY).id).not.toBe(first.id);
    await sessions.closeAll('shutdown', 'server_stop');
    expect(readSession(directory, first.id)?.metadata.status).toBe('interrupted');
  });
});

describe('a file without its name', () => {
  const ways: [string, (directory: string, path: string) => void][] = [
    ['deleted', (_, path) => fs.unlinkSync(path)],
    ['deleted with its directory', (directory) => fs.rmSync(directory, { recursive: true })],
    ['moved away', (directory) => fs.renameSync(directory, `${directory}.old`)],
    [
      'replaced',
      (_, path) => {
        fs.unlinkSync(path);
        fs.writeFileSync(path, 'theirs');
      },
    ],
  ];

  it.each(ways)('%s takes no entry, and its metadata does not come back', async (_, lose) => {
    const directory = join(tempDir(), 'recordings');
    const env = world();
    const writer = startSession(directory, FACTS, env);
    await writer.append(draftOf());
    const path = join(directory, 'sessions', `${writer.id}.jsonl`);
    lose(directory, path);
    await expect(writer.append(draftOf())).rejects.toThrow(/ENOENT/);
    fs.mkdirSync(join(directory, 'sessions'), { recursive: true });
    const before = fs.readdirSync(join(directory, 'sessions'));
    env.pass(5000);
    await writer.finalize('interrupted', 'deleted');
    expect(writer.settled).toBe(true);
    expect(fs.readdirSync(join(directory, 'sessions'))).toEqual(before);
    if (fs.existsSync(path)) expect(fs.readFileSync(path, 'utf8')).toBe('theirs');
    expect(openFiles(directory)).toEqual([]);
  });
});
