// A session that is packed and encrypted reads as before for those it is for, tells others its
// facts, has no word of a command on the disk, and loses nothing whatever fails.
import * as fs from 'node:fs';
import { basename } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readEdits } from '../../../src/journal/edits.ts';
import { hasEntryOfRun, sequenceOf } from '../../../src/journal/entry-lines.ts';
import { sessionFiles } from '../../../src/journal/files.ts';
import { appendLater } from '../../../src/journal/later.ts';
import { listSessions } from '../../../src/journal/list.ts';
import { packLines } from '../../../src/journal/packed/pack.ts';
import { openLines, readAllLines } from '../../../src/journal/packed/source.ts';
import {
  journalSessionIds,
  readEntries,
  readMetadata,
  readSession,
} from '../../../src/journal/reader.ts';
import { knownSessions } from '../../../src/journal/recovery.ts';
import { removeSession } from '../../../src/journal/retention.ts';
import { scanSearch } from '../../../src/journal/search.ts';
import { metadataSince } from '../../../src/journal/since.ts';
import { scanStats } from '../../../src/journal/stats.ts';
import { resumeSession, startSession } from '../../../src/journal/writer.ts';
import { FACTS, faultyDisk, NOW, newJournal, tempDir, world } from '../helper.ts';
import {
  onDisk,
  packAll,
  RECIPIENTS,
  WORD,
  withMine,
  withNone,
  wordy,
  wordySession,
} from './helper.ts';

function seen(directory: string, id: string) {
  return {
    session: readSession(directory, id),
    entries: [...readEntries(directory, id)],
    edits: readEdits(directory, id),
    hits: scanSearch(directory, { text: WORD, limit: 100 }),
    stats: scanStats(directory, {}),
    ...facts(directory, id),
  };
}

function facts(directory: string, id: string) {
  return {
    ids: journalSessionIds(directory),
    metadata: readMetadata(directory, id),
    list: listSessions(directory, { limit: 9 }, { now: () => NOW }),
    since: metadataSince(directory, id, NOW - 1),
    never: metadataSince(directory, id, NOW + 9e9),
  };
}

async function goOn(directory: string, id: string, i: number): Promise<void> {
  const writer = resumeSession(directory, id, world());
  await writer.append(wordy(i));
  await writer.finalize('complete', 'again');
}

const names = (directory: string): string[] => fs.readdirSync(`${directory}/sessions`).sort();

describe('a packed session', () => {
  it('reads as before for a recipient, and tells others its facts alone', async () => {
    withMine();
    const { directory, id, lines, files } = await wordySession(9);
    const before = seen(directory, id);
    const kept = facts(directory, id);
    expect(onDisk(directory)).toContain(WORD);
    await packAll(lines);
    expect(onDisk(directory)).not.toContain(WORD);
    expect(names(directory)).toEqual(
      [
        `${id}.edits.jsonl`,
        `${id}.edits.jsonl.1.gz.age`,
        `${id}.jsonl`,
        `${id}.jsonl.1.gz.age`,
        `${id}.later.jsonl`,
        `${id}.later.jsonl.1.gz.age`,
        `${id}.meta.json`,
      ].sort(),
    );
    expect(fs.statSync(`${files.entries}.1.gz.age`).mode & 0o777).toBe(0o600);
    expect(seen(directory, id)).toEqual(before);
    const from = before.entries[4]?.offset ?? 0;
    expect([...readEntries(directory, id, from)]).toEqual(before.entries.slice(4));

    withNone();
    expect(facts(directory, id)).toEqual(kept);
    expect(sequenceOf(files.entries, 9)).toBeUndefined();
    expect(sequenceOf(files.entries, 11)).toMatchObject({ missing: 2 });
    expect(hasEntryOfRun(files.entries, wordy(3).run_id ?? '')).toBe(true);
    expect(hasEntryOfRun(files.entries, 'another')).toBe(false);
    const [known] = await knownSessions(directory, [id], () => false);
    expect([known?.whole, known?.runIds.size]).toEqual([true, 9]);
    expect(() => readSession(directory, id)).toThrow(/^The session \S+ is encrypted for age1/);
    expect(() => readEdits(directory, id)).toThrow('is encrypted for age1');
    expect(() => scanSearch(directory, { text: 'x', limit: 1 })).toThrow('is encrypted for');
  });

  it('goes on plain, and is packed again', async () => {
    withNone();
    const { directory, id, lines, files } = await wordySession(3);
    await packAll(lines);
    for (const round of [4, 5]) {
      const writer = resumeSession(directory, id, world());
      expect(writer.metadata.entry_count).toBe(round - 1);
      const entry = await writer.append(wordy(round));
      expect(entry.sequence_number).toBe(round);
      // A run that has its entry gets no second one, also where that cannot be read.
      await expect(writer.append(wordy(1))).rejects.toThrow('is encrypted for');
      await writer.finalize('complete', 'again');
      const later = { entry_id: entry.entry_id, survivors: [] };
      const output = { stdout: `${WORD}\n`, stderr: '', truncated: false };
      await appendLater(directory, id, [{ ...later, output }], world());
      await packAll(lines);
      await appendLater(directory, id, [{ ...later, output }], world()); // known already
      expect(onDisk(directory)).not.toContain(WORD);
    }
    withMine();
    const read = readSession(directory, id);
    expect(read?.entries.map((entry) => entry.sequence_number)).toEqual([1, 2, 3, 4, 5]);
    expect(read?.entries.filter((entry) => entry.later !== undefined)).toHaveLength(3);
    expect(readAllLines(files.later)?.toString().split('\n')).toHaveLength(4);
    expect(names(directory).filter((name) => name.startsWith(`${id}.jsonl.`))).toEqual(
      [1, 2, 3].map((n) => `${id}.jsonl.${n}.gz.age`),
    );
  });

  it('takes a late entry of the writer that ended it before it was packed', async () => {
    withMine();
    const directory = newJournal();
    const writer = startSession(directory, FACTS, world());
    await writer.append(wordy(1));
    await writer.finalize('complete', 'over');
    const { entries } = sessionFiles(directory, writer.id);
    await packAll([entries]);
    await writer.append(wordy(2));
    await writer.finalize('complete', 'over');
    const read = readSession(directory, writer.id);
    expect(read?.entries.map((entry) => entry.sequence_number)).toEqual([1, 2]);
    expect(read?.metadata.entry_count).toBe(2);
    // Another file in its place is not the session that was written.
    // Made beside it: a removed file's inode may be given to the next one.
    fs.writeFileSync(`${entries}.other`, '');
    fs.renameSync(`${entries}.other`, entries);
    await expect(writer.append(wordy(3))).rejects.toThrow('cannot be written: ENOENT');
  });

  it('ends a line that a crash cut off, as going on does', async () => {
    withMine();
    const { directory, id, files } = await wordySession(2);
    fs.appendFileSync(files.entries, '{"entry_id":"e_torn');
    await packLines(files.entries, { recipients: RECIPIENTS });
    await goOn(directory, id, 7);
    const read = readSession(directory, id);
    expect(read?.entries.map((entry) => entry.sequence_number)).toEqual([1, 2, 3]);
    expect(read?.damagedLines).toBe(1);
  });

  it('is removed with all its segments', async () => {
    withNone();
    const { directory, id, lines, files } = await wordySession(2);
    await packAll(lines);
    await goOn(directory, id, 3);
    await packAll(lines);
    fs.writeFileSync(`${files.entries}.3.gz.age`, 'of a packer that was killed');
    expect(removeSession(directory, id)).toBe(true);
    expect(names(directory)).toEqual([]);
  });

  it('is damaged where its segment is, and nowhere else', async () => {
    withMine();
    const { directory, id, lines, files } = await wordySession(3);
    await packAll(lines);
    await goOn(directory, id, 4);
    const segment = `${files.entries}.1.gz.age`;
    const bytes = fs.readFileSync(segment);
    bytes[bytes.length - 40] = (bytes.at(-40) ?? 0) ^ 1;
    fs.writeFileSync(segment, bytes);
    for (const damage of ['changed', 'gone']) {
      const read = readSession(directory, id);
      expect([damage, read?.entries.map((one) => one.sequence_number)]).toEqual([damage, [4]]);
      expect(read?.damagedLines).toBe(1);
      fs.rmSync(segment, { force: true });
    }
  });

  it('believes no stub that names files elsewhere, or more lines than there can be', () => {
    withMine();
    const path = `${tempDir()}/s.jsonl`;
    const stub = (segments: unknown): string =>
      `${JSON.stringify({ cuff_packed: 1, segments, facts: { lines: 1 } })}\n`;
    const whole = (name: string, bytes: number): string => {
      const zero = { entry_count: 0, total_duration_ms: 0, commands_succeeded: 0 };
      const counts = { ...zero, commands_failed: 0, commands_timed_out: 0 };
      const sequence = { last: 0, count: 0, skipped: 0, repeated: 0, backward: 0 };
      const rest = { lines: 1, damaged: 0, highest: 0, lowest: 0, endedAt: 0, newestAt: 0 };
      const facts = { ...rest, ids: [], counts, sequence };
      return `${JSON.stringify({ cuff_packed: 1, segments: [{ name, bytes }], facts })}\n`;
    };
    for (const text of [
      stub([]),
      stub('x'),
      whole('../other.jsonl.1.gz.age', 5),
      whole('t.jsonl.1.gz.age', 5),
      whole('s.jsonl.0.gz.age', 5),
    ]) {
      fs.writeFileSync(path, text);
      expect(readAllLines(path)?.toString()).toBe(text);
    }
    fs.writeFileSync(path, whole('s.jsonl.1.gz.age', Number.MAX_SAFE_INTEGER));
    expect(readAllLines(path)?.length).toBe(2);
  });
});

describe('packing', () => {
  it('loses no line and has none twice, whichever operation of the disk fails', async () => {
    withMine();
    const { directory, id, files } = await wordySession(5);
    const before = readSession(directory, id)?.entries;
    const copy = fs.readFileSync(files.entries);
    let failed = 0;
    for (let at = 1, done = false; !done; at += 1) {
      for (const name of names(directory).filter((one) => one.startsWith(`${id}.jsonl`))) {
        fs.rmSync(`${directory}/sessions/${name}`);
      }
      fs.writeFileSync(files.entries, copy);
      const disk = faultyDisk((operation) => (operation === at ? 'EIO' : undefined));
      const packed = await packLines(files.entries, { recipients: RECIPIENTS, disk }).catch(
        () => undefined,
      );
      done = disk.calls.length < at;
      failed += Number(packed === undefined);
      expect(readSession(directory, id)?.entries).toEqual(before);
      await packLines(files.entries, { recipients: RECIPIENTS });
      expect(readSession(directory, id)?.entries).toEqual(before);
      expect(onDisk(`${directory}/sessions`).split(`echo ${WORD}`)).toHaveLength(1);
      const left = names(directory).filter((one) => one.startsWith(`${id}.jsonl`));
      expect(left).toHaveLength(2);
    }
    expect(failed).toBeGreaterThan(5);
  });

  it('keeps every byte at its offset, wherever it is cut', async () => {
    withMine();
    const line = fc.string({ maxLength: 90_000, unit: 'binary' });
    await fc.assert(
      fc.asyncProperty(
        fc.array(line, { minLength: 1, maxLength: 6 }),
        fc.array(fc.nat(), { maxLength: 4 }),
        fc.array(fc.tuple(fc.nat(), fc.nat()), { minLength: 1, maxLength: 6 }),
        async (texts, cuts, reads) => {
          const path = `${tempDir()}/s.jsonl`;
          const lines = texts.map((text) => Buffer.from(`${JSON.stringify({ text })}\n`));
          const whole = Buffer.concat(lines);
          fs.writeFileSync(path, whole);
          const ends = lines.map((_, i) => Buffer.concat(lines.slice(0, i + 1)).length);
          for (const cut of cuts) {
            const upTo = ends[cut % ends.length];
            await packLines(path, { recipients: RECIPIENTS, upTo });
          }
          expect(readAllLines(path)?.equals(whole)).toBe(true);
          const source = openLines(path);
          for (const [a, b] of reads) {
            const [from, length] = [a % whole.length, b % 70_000];
            const read = Buffer.from(source?.read(from, length) ?? []);
            // As read(2): it may be less, but not nothing.
            expect(read.equals(whole.subarray(from, from + read.length))).toBe(true);
            if (length > 0) expect(read.length).toBeGreaterThan(0);
          }
          source?.close();
        },
      ),
      { numRuns: 25 },
    );
  });

  it('does nothing twice, and nothing to a file that is not there', async () => {
    withMine();
    const { files, directory } = await wordySession(1);
    expect(await packLines(files.entries, { recipients: RECIPIENTS })).toBe(true);
    const before = names(directory);
    expect(await packLines(files.entries, { recipients: RECIPIENTS })).toBe(false);
    expect(names(directory)).toEqual(before);
    const none = { recipients: RECIPIENTS };
    expect(await packLines(`${tempDir()}/none.jsonl`, none)).toBe(false);
    expect(basename(files.entries)).toMatch(/\.jsonl$/);
  });
});
