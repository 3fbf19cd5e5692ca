// What a crash, a full disk or two writers can leave behind. The promise: nothing throws, every
// record that is whole is used, and every byte of output.bin is readable, whatever became of the
// index.
import { rmSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { encodeIndex, type IndexRecord } from '../../src/capture/format.ts';
import { readOutput } from '../../src/capture/reader.ts';
import {
  type Capture,
  listCaptures,
  openCapture,
  readEvents,
  type Store,
} from '../../src/capture/store.ts';
import { streamChunks } from '../../src/capture/stream.ts';
import { waitOutput } from '../../src/capture/wait.ts';
import { AppError } from '../../src/errors.ts';
import { rawView } from '../../src/shell/output/raw-view.ts';
import { build, fileOf, indexOf, NOW, type Part, setFile, testStore, totals } from './helper.ts';

const GIVEN: readonly Part[] = [
  { bytes: 'one\ntwo\n' },
  { bytes: 'oops\n', channel: 'stderr', pid: 42 },
  { bytes: 'thr' },
  { bytes: 'ee\n' },
  { bytes: '\0\0\n', channel: 'stderr' },
  { bytes: 'end' },
];
const WHOLE = Buffer.concat(GIVEN.map(({ bytes }) => Buffer.from(bytes)));
const EVENTS = [
  { type: 'resize', at: NOW, cols: 80, rows: 24 },
  { type: 'gap', at: NOW, offset: 3, lostBytes: 4, reason: 'ENOSPC' },
  {
    type: 'survivors',
    at: NOW,
    processes: [{ pid: 1, startTime: 2, command: '{"}', holdsOutput: true }],
  },
] as const;
const FILES = ['meta.json', 'final.json', 'output.bin', 'index.jsonl', 'events.jsonl'] as const;

/** Everything a reader can do, none of which may throw; and the bytes must all be there. */
function readAll(store: Store, id = 'one'): Capture | undefined {
  listCaptures(store);
  let capture: Capture;
  try {
    capture = openCapture(store, id);
  } catch (error) {
    if (error instanceof AppError && error.code === 'session_not_found') return undefined;
    throw error;
  }
  const bytes = fileOf(capture, 'output.bin');
  const read = readOutput(capture, 0, 1 << 20);
  expect(Buffer.concat(read.chunks.map((one) => one.bytes))).toEqual(bytes);
  expect(read).toMatchObject({ nextCursor: bytes.length, eof: true, final: true });
  const sums = totals(capture);
  expect(sums.stdout.bytes + sums.stderr.bytes).toBe(bytes.length);
  for (const channel of ['stdout', 'stderr'] as const) {
    const alone = Buffer.concat([...streamChunks(capture, channel)]);
    expect(alone.length).toBe(sums[channel].bytes);
    for (const kind of ['tail', 'head', 'middle', 'raw'] as const) {
      const shown = rawView(capture, {
        kind,
        channel,
        bytesMax: 7,
        endBytes: 3,
        linesMax: 2,
        offset: 2,
      });
      expect(shown.totals.bytes).toBe(alone.length);
    }
  }
  readEvents(capture);
  return capture;
}

/** The records a reader uses: those of its chunks that have a time. */
function used(capture: Capture): string[] {
  const { chunks } = readOutput(capture, 0, 1 << 20);
  return chunks.filter(({ chunk }) => chunk.at > 0).map(({ chunk }) => JSON.stringify(chunk));
}

function chunkText(record: Omit<IndexRecord, 'pid'> & { pid?: number | undefined }): string {
  const { totalBytes: _, totalLines: __, pid, ...chunk } = record;
  const { offset, length, channel, at, lines } = chunk;
  return JSON.stringify({ offset, length, channel, at, lines, ...(pid !== undefined && { pid }) });
}

describe('a capture whose files are cut short', () => {
  it.each(FILES)('every prefix of %s leaves a capture that can be read', (name) => {
    const store = testStore();
    const capture = build(store, GIVEN, { events: EVENTS });
    const whole = fileOf(capture, name);
    const records = indexOf(GIVEN);
    for (let length = 0; length <= whole.length; length += 1) {
      setFile(capture, name, whole.subarray(0, length));
      const read = readAll(store);
      if (read === undefined) throw new Error(`${name} cut at ${length}: not found`);
      if (name === 'index.jsonl') {
        const lines = whole.subarray(0, length).filter((byte) => byte === 10).length;
        expect(used(read)).toEqual(records.slice(0, lines).map(chunkText));
      }
      if (name === 'events.jsonl') {
        const lines = whole.subarray(0, length).filter((byte) => byte === 10).length;
        expect(readEvents(read)).toEqual(EVENTS.slice(0, lines));
      }
    }
  });

  it('every file missing, one at a time and all at once', () => {
    for (const name of FILES) {
      const store = testStore();
      const capture = build(store, GIVEN, { events: EVENTS });
      setFile(capture, name, Buffer.alloc(0));
      readAll(store);
      if (name === 'output.bin') continue;
      rmSync(`${capture.dir}/${name}`);
      expect(readAll(store)).toBeDefined();
    }
    const store = testStore();
    const capture = build(store, GIVEN);
    for (const name of FILES) rmSync(`${capture.dir}/${name}`);
    expect(readAll(store)).toBe(undefined);
  });
});

/** Ways in which an index or an event file gets damaged. */
const damage = fc.oneof(
  fc.record({
    kind: fc.constant('nul' as const),
    at: fc.nat(2_000),
    length: fc.integer({ min: 1, max: 300 }),
  }),
  fc.record({
    kind: fc.constant('insert' as const),
    at: fc.nat(2_000),
    length: fc.integer({ min: 1, max: 9_000 }),
  }),
  fc.record({
    kind: fc.constant('cut' as const),
    at: fc.nat(2_000),
    length: fc.integer({ min: 1, max: 300 }),
  }),
  fc.record({ kind: fc.constant('newline' as const), at: fc.nat(20), length: fc.constant(0) }),
  fc.record({ kind: fc.constant('repeat' as const), at: fc.nat(20), length: fc.nat(20) }),
);
type Damage = { kind: string; at: number; length: number };

function damaged(bytes: Buffer, { kind, at, length }: Damage): Buffer {
  const place = Math.min(at, bytes.length);
  const lines = bytes.toString('latin1').split(/(?<=\n)/);
  switch (kind) {
    case 'nul':
      return Buffer.from(bytes).fill(0, place, Math.min(place + length, bytes.length));
    case 'insert':
      return Buffer.concat([bytes.subarray(0, place), Buffer.alloc(length), bytes.subarray(place)]);
    case 'cut':
      return Buffer.concat([bytes.subarray(0, place), bytes.subarray(place + length)]);
    case 'newline': // the newline of a line is lost: `}{`
      return Buffer.from(
        lines.map((one, n) => (n === at ? one.trimEnd() : one)).join(''),
        'latin1',
      );
    default: // a line comes again, somewhere else
      lines.splice(Math.min(length, lines.length), 0, lines[at] ?? '');
      return Buffer.from(lines.join(''), 'latin1');
  }
}

const withoutPid = (text: string): string => text.replace(/,"pid":\d+/, '');

describe('a capture whose files are damaged inside', () => {
  it('every intact record of the index is used, in any number of places and ways of damage', () => {
    const records = indexOf(GIVEN);
    fc.assert(
      fc.property(fc.array(damage, { minLength: 1, maxLength: 4 }), (all) => {
        const store = testStore();
        const capture = build(store, GIVEN);
        const bytes = all.reduce(damaged, fileOf(capture, 'index.jsonl'));
        setFile(capture, 'index.jsonl', bytes);
        const read = readAll(store);
        const text = bytes.subarray(0, bytes.lastIndexOf(10) + 1).toString('latin1');
        const intact = records.filter((one) => text.includes(encodeIndex(one).trimEnd()));
        const found = read === undefined ? [] : used(read);
        expect(found).toEqual(expect.arrayContaining(intact.map(chunkText)));
        // It never makes up a chunk. What stands behind the totals, which are the checksum, may be
        // taken away, lose a digit or be that of the next line: that is the pid.
        const known = records.map((one) => withoutPid(chunkText(one)));
        expect(found.filter((one) => !known.includes(withoutPid(one)))).toEqual([]);
        rmSync(store.root, { recursive: true });
      }),
      {
        numRuns: 400,
        examples: [
          [
            [
              { kind: 'insert', at: 675, length: 7119 },
              { kind: 'repeat', at: 0, length: 0 },
              { kind: 'repeat', at: 0, length: 7 },
            ],
          ],
        ],
      },
    );
  });

  it('any damage to any file leaves a capture that can be read, and waited for', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(...FILES),
        fc.array(damage, { maxLength: 3 }),
        async (name, all) => {
          const store = testStore();
          const capture = build(store, GIVEN, { events: EVENTS });
          setFile(capture, name, all.reduce(damaged, fileOf(capture, name)));
          readAll(store);
          const waited = await waitOutput(store, 'one', 0, 10_000);
          expect(waited.final).toBe(true);
          rmSync(store.root, { recursive: true });
        },
      ),
      { numRuns: 300 },
    );
  });

  it('rubbish in the place of any file is read as what it is', () => {
    fc.assert(
      fc.property(fc.constantFrom(...FILES), fc.uint8Array({ maxLength: 300 }), (name, bytes) => {
        const store = testStore();
        setFile(build(store, GIVEN), name, bytes);
        expect(readAll(store)).toBeDefined();
        rmSync(store.root, { recursive: true });
      }),
    );
  });
});

describe('bytes whose record is lost', () => {
  const lost = (...gone: number[]): Capture => {
    const capture = build(testStore(), GIVEN);
    const lines = fileOf(capture, 'index.jsonl')
      .toString()
      .split(/(?<=\n)/);
    const left = lines.filter((_, n) => !gone.includes(n)).join('');
    setFile(capture, 'index.jsonl', Buffer.from(left));
    return capture;
  };

  it('go to the stream that the totals around them leave', () => {
    const chunks = (capture: Capture): unknown[] =>
      readOutput(capture, 0, 100).chunks.map(({ chunk, bytes }) => [
        chunk.channel,
        chunk.at > 0,
        String(bytes),
      ]);
    const known = GIVEN.map(({ bytes, channel = 'stdout' }) => [channel, true, String(bytes)]);
    for (const n of GIVEN.keys()) {
      const last = n === GIVEN.length - 1; // behind it nothing tells
      const expected = known.map(([channel, , bytes], i) => [
        i === n && last ? 'unknown' : channel,
        i !== n,
        bytes,
      ]);
      expect(chunks(lost(n))).toEqual(expected);
    }
    // Two of the same stream in a row cannot be told apart, and need not be.
    expect(chunks(lost(2, 3))).toEqual([
      ...known.slice(0, 2),
      ['stdout', false, 'three\n'],
      ...known.slice(4),
    ]);
  });

  it('are in the right stream and place for a reader of that stream alone', () => {
    for (const gone of [[0], [1], [2], [1, 4], [0, 1], [4]]) {
      const capture = lost(...gone);
      const stdout = Buffer.concat([...streamChunks(capture, 'stdout')]).toString();
      const stderr = Buffer.concat([...streamChunks(capture, 'stderr')]).toString();
      const mixed = gone.includes(0) && gone.includes(1);
      if (!mixed) expect([stdout, stderr]).toEqual(['one\ntwo\nthree\nend', 'oops\n\0\0\n']);
      expect(totals(capture)).toMatchObject({ stdout: { bytes: 17 }, stderr: { bytes: 8 } });
      expect(rawView(capture, { kind: 'tail', channel: 'stdout', linesMax: 2 }).text).toBe(
        'three\nend',
      );
      expect(rawView(capture, { kind: 'raw', channel: 'stderr', offset: 5 }).text).toBe('\0\0\n');
    }
  });

  it('at the end are of an unknown stream, since the writer had no time to say', () => {
    const capture = lost(4, 5);
    const last = readOutput(capture, 0, 100).chunks.at(-1);
    expect([last?.chunk.channel, last?.chunk.at, String(last?.bytes)]).toEqual([
      'unknown',
      0,
      '\0\0\nend',
    ]);
    const none = lost(0, 1, 2, 3, 4, 5);
    expect(readOutput(none, 5, 100).chunks).toEqual([
      {
        chunk: { offset: 5, length: WHOLE.length - 5, channel: 'unknown', at: 0, lines: 4 },
        bytes: WHOLE.subarray(5),
      },
    ]);
  });

  it('an index that promises more than there is is read as far as there is something', () => {
    const capture = build(testStore(), GIVEN);
    for (let size = 0; size <= WHOLE.length; size += 1) {
      setFile(capture, 'output.bin', WHOLE.subarray(0, size));
      const read = readOutput(capture, 0, 100);
      expect(Buffer.concat(read.chunks.map(({ bytes }) => bytes))).toEqual(WHOLE.subarray(0, size));
      expect(totals(capture).stdout.bytes + totals(capture).stderr.bytes).toBe(size);
    }
  });
});
