// Reading sessions, whole and damaged. The promise: nothing throws, and every entry whose bytes
// are all there is found.
import { execFileSync } from 'node:child_process';
import * as fs from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { encodeEntry } from '../../src/journal/entry.ts';
import { readIndex } from '../../src/journal/index-file.ts';
import {
  findSessions,
  journalSessionIds,
  readEntries,
  readMetadata,
  readSession,
} from '../../src/journal/reader.ts';
import { resumeSession, startSession } from '../../src/journal/writer.ts';
import { faultySessions } from '../../src/recordings/list.ts';
import type { Entry } from '../../src/types.ts';
import { draftOf, FACTS, NOW, newJournal, tempDir, textOf, world } from './helper.ts';

const ID = '20260118_143052_a7b3c9d2-e4f5';
const OTHER = '20260118_160315_b8c4d0e3-f6a7';

function entryOf(n: number, change: Partial<Entry> = {}): Entry {
  const sequence = String(n).padStart(3, '0');
  return {
    entry_id: `e_20260118_143052_${sequence}`,
    session_id: ID,
    sequence_number: n,
    ...draftOf({ command: `command ${n}`, run_id: null }),
    ...change,
  };
}

/** A session as somebody left it. */
function written(bytes: string | Uint8Array, meta?: string): string {
  const directory = tempDir();
  fs.mkdirSync(join(directory, 'sessions'));
  fs.writeFileSync(join(directory, 'sessions', `${ID}.jsonl`), bytes);
  if (meta !== undefined) fs.writeFileSync(join(directory, 'sessions', `${ID}.meta.json`), meta);
  return directory;
}

function read(bytes: string | Uint8Array): Entry[] {
  return [...readEntries(written(bytes), ID)].map(({ entry }) => entry);
}

const [ONE, TWO, THREE] = [entryOf(1), entryOf(2), entryOf(3)];
const [one, two, three] = [ONE, TWO, THREE].map(encodeEntry) as [string, string, string];

describe('a damaged session', () => {
  it('without the end of its last line has all others', () => {
    for (let length = 0; length < two.length; length += 1) {
      expect(read(one + two.slice(0, length))).toEqual([ONE]);
    }
    expect(read(one + two)).toEqual([ONE, TWO]);
  });

  it.each([
    ['a run of NUL before an entry', `${one}${'\0'.repeat(5000)}${two}`, [ONE, TWO]],
    ['a run of NUL over a newline', `${one.slice(0, -1)}\0\0${two}`, [ONE, TWO]],
    ['a run of NUL in an entry', `${one.slice(0, 90)}\0\0${one.slice(92)}${two}`, [TWO]],
    ['NUL only', '\0'.repeat(100), []],
    ['two entries in one line', `${one.trimEnd()}${two}`, [ONE, TWO]],
    ['half an entry before a whole one', `${one.slice(0, 200)}${two}`, [TWO]],
    ['the last half of an entry before a whole one', `${one.slice(200, -1)}${two}`, [TWO]],
    ['the same line twice', `${one}${one}${two}`, [ONE, TWO]],
    ['a piece of a line twice', `${one}${one.slice(100, 300)}${two}`, [ONE, TWO]],
    ['an older line again', `${one}${two}${one}${three}`, [ONE, TWO, THREE]],
    ['lines that are not JSON', `#!\n${one}<<<<<<< HEAD\n${two}`, [ONE, TWO]],
    ['lines that are other JSON', `{}\n[]\n1\n${one}{"command":"x"}\n${two}`, [ONE, TWO]],
    ['empty lines', `\n\n${one}\n${two}\n`, [ONE, TWO]],
    ['lines that end in CR LF', `${one.trimEnd()}\r\n${two.trimEnd()}\r\n`, [ONE, TWO]],
    ['a line that is not UTF-8', [one, '\u{fffd}', two], [ONE, TWO]],
    ['nothing in it', '', []],
  ])('with %s', (_, content, expected) => {
    const bytes = Array.isArray(content)
      ? Buffer.concat([Buffer.from(one), Buffer.from([0x22, 0xff, 0xfe, 0x0a]), Buffer.from(two)])
      : content;
    expect(read(bytes)).toEqual(expected);
  });

  it('does not show as entries what a command printed', () => {
    const stdout = `${two}{"entry_id":"x"}\n`;
    const [printed, last] = [entryOf(1, { stdout }), entryOf(3)];
    const line = encodeEntry(printed);
    expect(read(line + encodeEntry(last))).toEqual([printed, last]);
    // Nor when the line around it is damaged, wherever that is.
    for (let at = 0; at < line.length; at += 1) {
      const damaged = `${line.slice(0, at)}${line.slice(at + 1)}`;
      for (const { command } of read(damaged + encodeEntry(last))) {
        expect(command).not.toBe('command 2');
      }
    }
  });

  it('with a hole larger than memory should hold has what is around it', () => {
    const directory = written(one);
    const path = join(directory, 'sessions', `${ID}.jsonl`);
    fs.truncateSync(path, 160_000_000);
    fs.appendFileSync(path, two);
    const found = [...readEntries(directory, ID)];
    expect(found.map(({ entry }) => entry)).toEqual([ONE, TWO]);
    expect(found.at(-1)?.end).toBe(160_000_000 + two.length);
  });

  it('counts what is damaged and changes nothing', () => {
    const content = `${one}${'\0'.repeat(10)}\n${two.trimEnd()}${three}{"entry_id":"e`;
    const directory = written(content);
    expect(readSession(directory, ID)).toMatchObject({
      entries: [ONE, TWO, THREE],
      damagedLines: 3,
    });
    expect(textOf(directory, `sessions/${ID}.jsonl`)).toBe(content);
  });
});

type Damage =
  | { kind: 'cut'; at: number }
  | { kind: 'join'; at: number }
  | { kind: 'nul'; at: number; length: number }
  | { kind: 'again'; at: number; length: number; to: number }
  | { kind: 'insert'; at: number; bytes: Uint8Array }
  | { kind: 'remove'; at: number; length: number };

const at = fc.double({ min: 0, max: 1, noNaN: true });
const length = fc.integer({ min: 1, max: 2000 });
const mild: fc.Arbitrary<Damage> = fc.oneof(
  fc.record({ kind: fc.constant('cut'), at }),
  fc.record({ kind: fc.constant('join'), at }),
  fc.record({ kind: fc.constant('nul'), at, length }),
);
const anyDamage: fc.Arbitrary<Damage> = fc.oneof(
  mild,
  fc.record({ kind: fc.constant('again'), at, length, to: at }),
  fc.record({ kind: fc.constant('insert'), at, bytes: fc.uint8Array({ maxLength: 50 }) }),
  fc.record({ kind: fc.constant('remove'), at, length }),
);

function damaged(bytes: Buffer, damage: Damage): Buffer {
  const place = (part: number): number => Math.floor(part * bytes.length);
  const from = place(damage.at);
  const [before, after] = [bytes.subarray(0, from), bytes.subarray(from)];
  if (damage.kind === 'cut') return before;
  if (damage.kind === 'join') {
    const newline = bytes.indexOf(0x0a, from);
    if (newline < 0) return bytes;
    return Buffer.concat([bytes.subarray(0, newline), bytes.subarray(newline + 1)]);
  }
  if (damage.kind === 'insert') return Buffer.concat([before, damage.bytes, after]);
  const piece = after.subarray(0, damage.length);
  const rest = after.subarray(piece.length);
  if (damage.kind === 'remove') return Buffer.concat([before, rest]);
  if (damage.kind === 'nul') return Buffer.concat([before, Buffer.alloc(piece.length), rest]);
  const to = place(damage.to);
  return Buffer.concat([bytes.subarray(0, to), piece, bytes.subarray(to)]);
}

const text = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 300 }),
  fc.constantFrom(one, two.slice(50), '{"entry_id":"', '"}{"', '\\', '\0', '}\n{'),
);
const sessions = fc
  .array(fc.record({ command: text, stdout: fc.option(text), description: fc.option(text) }), {
    minLength: 1,
    maxLength: 8,
  })
  .map((changes) => changes.map((change, n) => entryOf(n + 1, change)));

/** Its bytes are all there, and a line ends behind them. */
function intact(bytes: Buffer, entry: Entry): boolean {
  const found = bytes.indexOf(encodeEntry(entry).trimEnd());
  return found >= 0 && bytes.indexOf(0x0a, found) >= 0;
}

describe('any damage', () => {
  it('leaves every entry whose bytes are there', () => {
    fc.assert(
      fc.property(sessions, fc.array(anyDamage, { maxLength: 4 }), (entries, damages) => {
        const whole = Buffer.from(entries.map(encodeEntry).join(''));
        const bytes = damages.reduce(damaged, whole);
        const directory = written(bytes);
        const found = readSession(directory, ID);
        for (const entry of entries.filter((one) => intact(bytes, one))) {
          expect(found?.entries).toContainEqual(entry);
        }
        expect(found?.metadata.entry_count).toBe(found?.entries.length);
      }),
      { numRuns: 300 },
    );
  });

  it('of a crash leaves those and no others, in their order', () => {
    fc.assert(
      fc.property(sessions, fc.array(mild, { maxLength: 4 }), (entries, damages) => {
        const whole = Buffer.from(entries.map(encodeEntry).join(''));
        const bytes = damages.reduce(damaged, whole);
        expect(read(bytes)).toEqual(entries.filter((entry) => intact(bytes, entry)));
      }),
      { numRuns: 300 },
    );
  });

  it('of the metadata file leaves a session with its entries', () => {
    const directory = newJournal();
    const { metadata } = startSession(directory, FACTS, world());
    const path = join(directory, 'sessions', `${ID}.jsonl`);
    fs.writeFileSync(path, one + two);
    const meta = join(directory, 'sessions', `${ID}.meta.json`);
    const good = Buffer.from(JSON.stringify(metadata));
    fc.assert(
      fc.property(fc.array(anyDamage, { maxLength: 3 }), (damages) => {
        fs.writeFileSync(meta, damages.reduce(damaged, good));
        expect(readSession(directory, ID)?.metadata.entry_count).toBe(2);
        expect(readMetadata(directory, ID)).toEqual(readSession(directory, ID)?.metadata);
      }),
      { numRuns: 200 },
    );
  });
});

describe('reading', () => {
  it('is a stream that can begin at the end of any line', () => {
    const directory = written(one + two + three);
    const all = [...readEntries(directory, ID)];
    expect(all.map(({ offset, end }) => [offset, end])).toEqual([
      [0, one.length],
      [one.length, one.length + two.length],
      [one.length + two.length, one.length + two.length + three.length],
    ]);
    const [, second] = all;
    expect([...readEntries(directory, ID, second?.offset)]).toEqual(all.slice(1));
    expect([...readEntries(directory, ID, second?.end)]).toEqual(all.slice(2));
    expect([...readEntries(directory, ID, 1_000_000)]).toEqual([]);
    for (const { entry } of readEntries(directory, ID)) {
      expect(entry).toEqual(ONE);
      break; // and no file is left open
    }
  });

  it('finds sessions of the older layout and of other writers', () => {
    const directory = written(one);
    fs.writeFileSync(join(directory, `${OTHER}.jsonl`), encodeEntry({ ...TWO, session_id: OTHER }));
    fs.writeFileSync(join(directory, 'imports.jsonl'), '');
    fs.writeFileSync(join(directory, 'sessions', 'theirs.jsonl'), '');
    fs.mkdirSync(join(directory, 'sessions', 'folder.jsonl'));
    fs.symlinkSync('/etc/passwd', join(directory, 'sessions', 'link.jsonl'));
    expect(journalSessionIds(directory)).toEqual([ID, OTHER, 'theirs']);
    expect(readSession(directory, OTHER)?.entries).toEqual([{ ...TWO, session_id: OTHER }]);
    for (const id of ['folder', 'link', 'missing', '../sessions/theirs', '']) {
      expect([id, readSession(directory, id)]).toEqual([id, undefined]);
      expect([...readEntries(directory, id)]).toEqual([]);
    }
  });

  it('of a journal that is not there finds nothing', () => {
    expect(journalSessionIds(newJournal())).toEqual([]);
    expect(readSession(newJournal(), ID)).toBeUndefined();
    expect(readMetadata(newJournal(), ID)).toBeUndefined();
  });

  it('any part of an id finds its sessions, and a whole id only its own', () => {
    const directory = written(one);
    fs.writeFileSync(join(directory, 'sessions', `${OTHER}.jsonl`), '');
    fs.writeFileSync(join(directory, 'sessions', '143052.jsonl'), '');
    expect(findSessions(directory, 'a7b3')).toEqual([ID]);
    expect(findSessions(directory, '20260118')).toEqual([ID, OTHER]);
    expect(findSessions(directory, '143052')).toEqual(['143052']);
    expect(findSessions(directory, '20260118_143052_a7b3c9d2')).toEqual([ID]);
    expect(findSessions(directory, 'nothing')).toEqual([]);
    expect(findSessions(directory, '')).toEqual([]);
  });

  it('never waits for a pipe that lies in the place of a file', () => {
    const directory = written(one);
    const place = (name: string): string => join(directory, 'sessions', name);
    execFileSync('mkfifo', [place(`${ID}.meta.json`), place(`${OTHER}.jsonl`)]);
    execFileSync('mkfifo', [join(directory, 'index.json')]);
    expect(journalSessionIds(directory)).toEqual([ID]);
    expect(readMetadata(directory, ID)).toMatchObject({ entry_count: 1 });
    expect(readSession(directory, OTHER)).toBeUndefined();
    expect(() => resumeSession(directory, OTHER, world())).toThrow(/ENXIO/);
    expect(Object.keys(readIndex(directory, world()).sessions)).toEqual([ID]);
  });
});

describe('an integrity check', () => {
  it('of a whole session finds nothing', () => {
    const directory = written(one + two + three);
    expect(readSession(directory, ID)).toMatchObject({ damagedLines: 0 });
    expect(faultySessions(directory, [ID])).toEqual([]);
  });

  it('finds lines that were changed, taken out, or cut off at the end', async () => {
    const found = (skipped: number, missing: number): unknown => [
      { id: ID, faults: { skipped, repeated: 0, backward: 0, missing } },
    ];
    expect(faultySessions(written(one + three), [ID])).toEqual(found(1, 0));
    const changed = written(one + two.replace('"', '') + three);
    expect(readSession(changed, ID)).toMatchObject({ damagedLines: 1 });
    const directory = newJournal();
    const writer = startSession(directory, FACTS, world());
    for (let n = 0; n < 3; n += 1) await writer.append(draftOf());
    await writer.finalize('complete', 'over');
    const path = join(directory, 'sessions', `${ID}.jsonl`);
    fs.truncateSync(path, textOf(directory, `sessions/${ID}.jsonl`).indexOf('\n') + 1);
    expect(readSession(directory, ID)).toMatchObject({
      damagedLines: 0,
      metadata: { entry_count: 1 },
    });
    expect(faultySessions(directory, [ID])).toEqual(found(0, 2));
  });
});

describe('metadata', () => {
  const stored = {
    session_id: ID,
    created_at: '2026-01-18T14:30:52Z',
    last_updated: '2026-01-18T14:30:53Z',
    entry_count: 1,
    total_duration_ms: 1,
    status: 'active',
    commands_succeeded: 0,
    commands_failed: 1,
    commands_timed_out: 0,
    working_directory: '/projects/demo',
    agent_id: null,
    conversation_id: null,
  };

  it('that is lost is made from the entries and says so', () => {
    const directory = written(one + two);
    expect(readMetadata(directory, ID)).toEqual({
      session_id: ID,
      created_at: '2026-01-18T14:30:52Z',
      last_updated: '2026-01-18T14:30:53Z',
      entry_count: 2,
      total_duration_ms: 3046,
      status: 'interrupted',
      commands_succeeded: 2,
      commands_failed: 0,
      commands_timed_out: 0,
      working_directory: '/projects/demo',
      agent_id: 'claude-code',
      conversation_id: 'conv_abc123',
      end_reason: 'metadata_lost',
      owner: null,
    });
  });

  it('that is behind its entries has their count and its own status', () => {
    const later = encodeEntry(entryOf(4, { timestamp: '2026-01-18T15:00:00Z' }));
    for (const status of ['active', 'interrupted']) {
      const directory = written(one + two + later, JSON.stringify({ ...stored, status }));
      const meta = join(directory, 'sessions', `${ID}.meta.json`);
      fs.utimesSync(meta, NOW / 1000, NOW / 1000);
      const expected = {
        status,
        entry_count: 3,
        commands_succeeded: 3,
        commands_failed: 0,
        created_at: '2026-01-18T14:30:52Z',
        last_updated: '2026-01-18T15:00:01Z',
      };
      expect(readMetadata(directory, ID)).toMatchObject(expected);
      expect(readSession(directory, ID)?.metadata).toMatchObject(expected);
    }
  });

  it('of a session that has ended is believed without its entries being read', () => {
    const directory = written('not read', JSON.stringify({ ...stored, status: 'complete' }));
    const entries = join(directory, 'sessions', `${ID}.jsonl`);
    fs.utimesSync(entries, NOW / 1000, NOW / 1000);
    expect(readMetadata(directory, ID)).toMatchObject({ status: 'complete', entry_count: 1 });
  });

  it('of a session without entries and of an unknown name is dated by its file', () => {
    const directory = tempDir();
    fs.mkdirSync(join(directory, 'sessions'));
    const path = join(directory, 'sessions', 'mine.jsonl');
    fs.writeFileSync(path, '');
    fs.utimesSync(path, NOW / 1000, NOW / 1000);
    expect(readMetadata(directory, 'mine')).toMatchObject({
      created_at: '2026-01-18T14:30:52Z',
      last_updated: '2026-01-18T14:30:52Z',
      entry_count: 0,
      working_directory: '',
    });
  });
});
