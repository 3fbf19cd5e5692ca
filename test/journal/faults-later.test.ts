// A disk that fails at every operation there is, while a server goes on with the session of another
// one, and while output is written that came behind an entry.
import * as fs from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { AppError } from '../../src/errors.ts';
import { claimRecovery } from '../../src/journal/claim.ts';
import { appendLater, readLater } from '../../src/journal/later.ts';
import { journalSessionIds, readSession } from '../../src/journal/reader.ts';
import { Sessions } from '../../src/journal/sessions.ts';
import { startSession } from '../../src/journal/writer.ts';
import type { Entry, ProcessId } from '../../src/types.ts';
import { draftOf, FACTS, type Fail, faultyDisk, NOBODY, newJournal, world } from './helper.ts';

const ERRORS = ['ENOSPC', 'EIO', 'EROFS'] as const;

const claims = (directory: string): string[] =>
  fs.readdirSync(directory).filter((name) => name.endsWith('.claim'));

type Story = {
  readonly directory: string;
  readonly acknowledged: readonly Entry[];
  readonly refused: number;
  readonly operations: number;
};

/** A server stops, a second one goes on with its session on a bad disk, a third one follows. */
async function threeServers(fail: Fail): Promise<Story> {
  const directory = newJournal();
  const living = new Set<number>();
  const acknowledged: Entry[] = [];
  let refused = 0;
  let commands = 0;
  const disk = faultyDisk(fail);
  const serve = async (pid: number, env: ReturnType<typeof world>): Promise<void> => {
    living.add(pid);
    const alive = ({ pid: one }: ProcessId): boolean => living.has(one);
    const owner = { pid, startTime: 1 };
    const where = { directory, mode: 'per_day', workingDirectory: '/projects/demo' } as const;
    const sessions = new Sessions({ ...where, owner, alive, env });
    for (let n = 0; n < 2; n += 1) {
      commands += 1;
      const draft = draftOf({ run_id: `run ${commands}` });
      try {
        acknowledged.push(await sessions.writerFor(NOBODY).append(draft));
      } catch (error) {
        if (!(error instanceof AppError)) throw error;
        refused += 1;
      }
    }
    await sessions.closeAll('shutdown', 'shutdown');
    living.delete(pid);
  };
  await serve(1, world());
  await serve(2, world(disk));
  await serve(3, world());
  return { directory, acknowledged, refused, operations: disk.calls.length };
}

/** Every entry once, and numbers that go on without a gap. */
function checkEntries({ directory, acknowledged }: Story, about: unknown): void {
  const sessions = journalSessionIds(directory).flatMap((id) => readSession(directory, id) ?? []);
  const all = sessions.flatMap(({ entries }) => entries);
  const runs = all.map(({ run_id }) => run_id);
  expect([about, new Set(runs).size]).toEqual([about, runs.length]);
  for (const entry of acknowledged)
    expect([about, all]).toEqual([about, expect.arrayContaining([entry])]);
  for (const { entries } of sessions) {
    const numbers = entries.map(({ sequence_number }) => sequence_number);
    expect([about, numbers]).toEqual([about, numbers.map((_, at) => at + 1)]);
  }
}

describe('a server that goes on with a session', () => {
  it('keeps every entry whichever operation fails, and the next one can go on', async () => {
    const { operations, ...whole } = await threeServers(() => undefined);
    expect([whole.refused, journalSessionIds(whole.directory).length]).toEqual([0, 1]);
    for (const error of ERRORS) {
      for (let nth = 1; nth <= operations + 2; nth += 1) {
        const story = await threeServers((one) => (one === nth ? error : undefined));
        expect([nth, story.refused <= 1]).toEqual([nth, true]);
        checkEntries(story, [error, nth]);
      }
    }
  });

  it('harms no entry when everything fails from some operation on', async () => {
    const { operations } = await threeServers(() => undefined);
    for (let nth = 1; nth <= operations; nth += 1) {
      const from: Fail = (one, name) => (one >= nth && name !== 'closeSync' ? 'EROFS' : undefined);
      const story = await threeServers(from);
      checkEntries(story, nth);
      // The third server could write, whatever the second one has left.
      const last = story.acknowledged.slice(-2).map(({ run_id }) => run_id);
      expect([nth, last]).toEqual([nth, ['run 5', 'run 6']]);
    }
  });
});

describe('a claim', () => {
  const owner: ProcessId = { pid: process.pid, startTime: 1 };
  const claim = (directory: string, fail: Fail) =>
    claimRecovery(directory, owner, () => true, Date.now, faultyDisk(fail));

  it('that cannot be made or given back keeps no one away afterwards', async () => {
    for (const name of ['openSync', 'closeSync', 'unlinkSync', 'lstatSync', 'mkdirSync']) {
      for (const error of ERRORS) {
        const directory = newJournal();
        const first = await claim(directory, (_, one) => (one === name ? error : undefined));
        first?.release();
        const second = await claim(directory, () => undefined);
        expect([name, error, second !== undefined]).toEqual([name, error, true]);
        second?.release();
        expect([name, error, claims(directory)]).toEqual([name, error, []]);
      }
    }
  });
});

describe('output that came behind an entry', () => {
  it('is there once, whichever operation fails at first', async () => {
    const output = { stdout: 'later\n'.repeat(10), stderr: '', truncated: false };
    const story = async (fail: Fail): Promise<number> => {
      const directory = newJournal();
      const writer = startSession(directory, FACTS, world());
      const entries = [await writer.append(draftOf()), await writer.append(draftOf())];
      await writer.finalize('complete', 'over');
      const later = entries.map(({ entry_id }) => ({ entry_id, survivors: [], output }));
      const path = join(directory, 'sessions', `${writer.id}.later.jsonl`);
      const disk = faultyDisk(fail);
      let refused = 0;
      for (const one of later) {
        await appendLater(directory, writer.id, [one], { ...world(disk) }).catch(
          (error: unknown) => {
            if (!(error instanceof AppError)) throw error;
            expect(error.code).toBe('journal_unwritable');
            refused += 1;
          },
        );
      }
      // What was written is whole; what was refused is written by the next try.
      expect(readLater(path).found.size).toBeGreaterThanOrEqual(2 - refused);
      for (const one of later) await appendLater(directory, writer.id, [one], world());
      const read = readSession(directory, writer.id);
      expect(read?.entries.map((entry) => entry.later)).toEqual([output, output]);
      const lines = fs.readFileSync(path, 'utf8').split('\n');
      const whole = lines.filter((line) => line.endsWith('}}'));
      expect(whole).toHaveLength(2);
      expect(fs.statSync(path).mode & 0o777).toBe(0o600);
      return disk.calls.length;
    };
    const operations = await story(() => undefined);
    expect(operations).toBeGreaterThanOrEqual(8);
    for (const error of ERRORS) {
      for (let nth = 1; nth <= operations + 1; nth += 1) {
        await story((one) => (one === nth ? error : undefined));
        // Half of the line is written before it fails.
        await story((one) => (one === nth ? 'short' : one === nth + 1 ? error : undefined));
      }
    }
  });
});
