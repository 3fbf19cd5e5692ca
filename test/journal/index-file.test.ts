// index.json: its text, when it is written, and that it comes back whatever happens to it.
import * as fs from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { decodeIndex, readIndex } from '../../src/journal/index-file.ts';
import { IndexKeeper } from '../../src/journal/index-keeper.ts';
import { readMetadata } from '../../src/journal/reader.ts';
import { removeSession } from '../../src/journal/retention.ts';
import { Sessions } from '../../src/journal/sessions.ts';
import { startSession } from '../../src/journal/writer.ts';
import {
  contextOf,
  draftOf,
  FACTS,
  faultyDisk,
  mode,
  NOW,
  newJournal,
  OWNER,
  textOf,
  world,
} from './helper.ts';

const SAMPLE = `{
  "version": "1.0",
  "last_updated": "2026-01-18T17:30:00Z",
  "total_sessions": 3,
  "total_entries": 26,
  "sessions": {
    "20260118_143052_a7b3c9d2-e4f5": {
      "session_id": "20260118_143052_a7b3c9d2-e4f5",
      "created_at": "2026-01-18T14:30:52Z",
      "last_updated": "2026-01-18T14:45:00Z",
      "entry_count": 15,
      "status": "complete",
      "file_size_bytes": 45678
    },
    "20260118_160315_b8c4d0e3-f6a7": {
      "session_id": "20260118_160315_b8c4d0e3-f6a7",
      "created_at": "2026-01-18T16:03:15Z",
      "last_updated": "2026-01-18T16:15:00Z",
      "entry_count": 8,
      "status": "complete",
      "file_size_bytes": 23456
    },
    "20260118_171522_c9d5e1f4-g8b9": {
      "session_id": "20260118_171522_c9d5e1f4-g8b9",
      "created_at": "2026-01-18T17:15:22Z",
      "last_updated": "2026-01-18T17:30:00Z",
      "entry_count": 3,
      "status": "active",
      "file_size_bytes": 8901
    }
  }
}
`;

/** A journal with the sessions of the sample: their times, counts, states and sizes. */
async function sampleJournal(): Promise<string> {
  const directory = newJournal();
  const rows = Object.values(decodeIndex(SAMPLE)?.sessions ?? {});
  for (const row of rows) {
    const env = world();
    env.time = Date.parse(row.created_at);
    const hex = row.session_id.slice(16).replace('-', '').replace('g', 'f');
    const random = (): Uint8Array => Buffer.from(hex, 'hex');
    const writer = startSession(directory, FACTS, { ...env, now: () => env.time, random });
    const append = (stdout: string) => writer.append(draftOf({ stdout }));
    for (let n = 1; n < row.entry_count; n += 1) await append('');
    const path = join(directory, 'sessions', `${writer.id}.jsonl`);
    env.time = Date.parse(row.last_updated);
    const bare = draftOf({ stdout: '' });
    const last = JSON.stringify({
      entry_id: `e_20260118_143052_${String(row.entry_count).padStart(3, '0')}_e4f5`,
      session_id: writer.id,
      sequence_number: row.entry_count,
      ...bare,
    });
    const missing = row.file_size_bytes - fs.statSync(path).size - last.length - 1;
    await append('x'.repeat(missing));
    if (row.status !== 'active') await writer.finalize(row.status, 'over');
    env.pass(1000);
    // An id that is not hexadecimal, as the sample has one.
    const name = join(directory, 'sessions', row.session_id);
    fs.renameSync(path, `${name}.jsonl`);
    fs.renameSync(path.replace(/jsonl$/, 'meta.json'), `${name}.meta.json`);
  }
  return directory;
}

describe('the index of the seed', () => {
  it('is understood', () => {
    expect(decodeIndex(SAMPLE)).toEqual(JSON.parse(SAMPLE));
  });

  it('is what such a journal gives, byte for byte', async () => {
    const directory = await sampleJournal();
    expect(readIndex(directory, world())).toEqual(JSON.parse(SAMPLE));
    expect(textOf(directory, 'index.json')).toBe(SAMPLE);
    expect(mode(join(directory, 'index.json'))).toBe('600');
  });

  it.each([
    ['no version', (text: string) => text.replace('"1.0"', '"2.0"')],
    ['a wrong sum of entries', (text: string) => text.replace(': 26', ': 27')],
    ['a wrong number of sessions', (text: string) => text.replace(': 3,', ': 4,')],
    ['an unknown state', (text: string) => text.replace('"active"', '"config_reload"')],
    ['a negative size', (text: string) => text.replace('8901', '-1')],
    ['a row under another key', (text: string) => text.replace('_143052_', '_143053_')],
    ['a row without a size', (text: string) => text.replace('file_size_bytes', 'size')],
    ['half of it missing', (text: string) => text.slice(0, 600)],
    ['nothing in it', () => ''],
    ['another kind of thing', () => '[]'],
  ])('with %s is refused', (_, change) => {
    expect(decodeIndex(change(SAMPLE))).toBeUndefined();
  });
});

describe('index.json', () => {
  it('deleted, damaged or old comes back equal', async () => {
    const directory = await sampleJournal();
    const path = join(directory, 'index.json');
    const index = readIndex(directory, world());
    const good = Buffer.from(textOf(directory, 'index.json'));
    const damage = fc.oneof(
      fc.constant(undefined),
      fc.uint8Array({ maxLength: 100 }),
      fc.nat({ max: good.length }).map((length) => good.subarray(0, length)),
      fc.nat({ max: good.length - 1 }).map((at) => {
        const flipped = Buffer.from(good);
        flipped[at] = (flipped[at] ?? 0) ^ 1;
        return flipped;
      }),
    );
    fc.assert(
      fc.property(damage, (bytes) => {
        fs.rmSync(path, { force: true });
        if (bytes !== undefined) fs.writeFileSync(path, bytes);
        expect(readIndex(directory, world())).toEqual(index);
        expect(textOf(directory, 'index.json')).toBe(good.toString());
      }),
      { numRuns: 150 },
    );
  });

  it('of old answers without the sessions being read', async () => {
    const directory = await sampleJournal();
    const [id] = Object.keys(readIndex(directory, world()).sessions);
    const old = (NOW - 100_000) / 1000;
    for (const suffix of ['jsonl', 'meta.json']) {
      const path = join(directory, 'sessions', `${id}.${suffix}`);
      const { size } = fs.statSync(path);
      fs.writeFileSync(path, '?'.repeat(size)); // would be damage if somebody looked
      fs.utimesSync(path, old, old);
    }
    expect(readIndex(directory, world())).toEqual(JSON.parse(SAMPLE));
  });

  it('notices new sessions, removed ones, and entries added behind its back', async () => {
    const directory = await sampleJournal();
    const before = readIndex(directory, world());
    const [first = '', second = '', third = ''] = Object.keys(before.sessions);
    removeSession(directory, second);
    const { id } = startSession(directory, FACTS, { ...world(), random: () => Buffer.alloc(6) });
    const path = join(directory, 'sessions', `${third}.jsonl`);
    const lines = textOf(directory, `sessions/${third}.jsonl`).split('\n');
    fs.appendFileSync(path, `${lines[0]?.replace('_001', '_004')}\n`);
    const after = readIndex(directory, world());
    expect(Object.keys(after.sessions)).toEqual([id, first, third]);
    expect(after).toMatchObject({ total_sessions: 3, total_entries: 19 });
    expect(after.sessions[third]).toMatchObject({
      entry_count: 4,
      file_size_bytes: fs.statSync(path).size,
    });
  });

  it('is right for readers who may not write it', async () => {
    const directory = await sampleJournal();
    const disk = faultyDisk(() => 'EROFS');
    expect(readIndex(directory, world(disk))).toEqual(JSON.parse(SAMPLE));
    expect(fs.existsSync(join(directory, 'index.json'))).toBe(false);
  });

  it('of no journal is empty and is not written', () => {
    const directory = newJournal();
    expect(readIndex(directory, world())).toEqual({
      version: '1.0',
      last_updated: '2026-01-18T14:30:52Z',
      total_sessions: 0,
      total_entries: 0,
      sessions: {},
    });
    expect(fs.existsSync(directory)).toBe(false);
  });
});

describe('while sessions are written', () => {
  const options = { mode: 'per_conversation', workingDirectory: '/', owner: OWNER } as const;

  it('it is written at most once a second', async () => {
    const directory = newJournal();
    let written = 0;
    const disk = faultyDisk((_, name, path) => {
      if (name === 'renameSync' && path.includes('index.json')) written += 1;
      return undefined;
    });
    const env = world(disk);
    const sessions = new Sessions({ ...options, directory, env });
    const writer = sessions.writerFor(contextOf({ conversationId: 'a' }));
    for (let n = 0; n < 30; n += 1) {
      await writer.append(draftOf());
      env.pass(100);
    }
    await sessions.closeAll('shutdown', 'server_stop');
    expect(written).toBe(4); // in three seconds, and at the end
    const text = textOf(directory, 'index.json');
    fs.unlinkSync(join(directory, 'index.json'));
    expect(Object.values(readIndex(directory, env).sessions)).toMatchObject([
      { status: 'shutdown', entry_count: 30 },
    ]);
    expect(textOf(directory, 'index.json')).toBe(text);
  });

  it('two servers write the same, each with the sessions of both', async () => {
    const directory = newJournal();
    const servers = [1, 2].map((n) => {
      const env = { ...world(), random: () => Buffer.alloc(6, n) };
      return new Sessions({ ...options, directory, env });
    });
    for (const server of servers) {
      await server.writerFor(contextOf({ conversationId: 'x' })).append(draftOf());
    }
    const texts: string[] = [];
    for (const server of servers) {
      await server.closeAll('shutdown', 'server_stop');
      texts.push(textOf(directory, 'index.json'));
    }
    expect(texts.map((text) => JSON.parse(text))).toMatchObject([
      { total_sessions: 2, total_entries: 2 },
      { total_sessions: 2, total_entries: 2 },
    ]);
    expect(readIndex(directory, world())).toEqual(JSON.parse(texts[1] ?? ''));
  });

  it('the keeper follows sessions of others that go on, end and disappear', async () => {
    const directory = newJournal();
    const env = world();
    const other = startSession(directory, FACTS, env);
    const own = startSession(directory, FACTS, env);
    const keeper = new IndexKeeper(directory, env);
    const index = async () => {
      keeper.note(own.metadata, 0);
      await keeper.close();
      return JSON.parse(textOf(directory, 'index.json'));
    };
    expect(await index()).toMatchObject({ total_sessions: 2, total_entries: 0 });
    await other.append(draftOf());
    expect(await index()).toMatchObject({ total_entries: 1 });
    await other.finalize('complete', 'over');
    expect((await index()).sessions[other.id]).toMatchObject({
      status: readMetadata(directory, other.id)?.status,
    });
    removeSession(directory, other.id);
    expect(Object.keys((await index()).sessions)).toEqual([own.id]);
  });
});
