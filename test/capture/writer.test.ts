import * as fs from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { decodeIndex, encodeIndex } from '../../src/capture/format.ts';
import type { FileOps } from '../../src/capture/paths.ts';
import { readOutput } from '../../src/capture/reader.ts';
import { createCapture, openCapture, readEvents } from '../../src/capture/store.ts';
import { streamChunks } from '../../src/capture/stream.ts';
import { openWriter } from '../../src/capture/writer.ts';
import { readLines } from '../../src/text/line-reader.ts';
import {
  finalOf,
  indexOf,
  metaOf,
  NOW,
  type Part,
  RUNNER,
  streamOf,
  type TestStore,
  testStore,
  totals,
} from './helper.ts';

const GIVEN: readonly Part[] = Array.from({ length: 12 }, (_, n) => ({
  bytes: `${'ABCDEFGHIJKL'[n]}${'xyz\n'.repeat(n % 4)}.`, // each starts like no other
  channel: n % 3 === 1 ? 'stderr' : 'stdout',
}));

const nodeFs: FileOps = { ...fs };
type Fail = (operation: number, name: string, part: number) => string | 'short' | undefined;

type Counting = FileOps & { count: number; part: number };

/** The real file system, whose nth call fails as told; `after` sees the disk after each call. */
function faulty(fail: Fail, after: () => void = () => {}): Counting {
  const names = [
    'openSync',
    'closeSync',
    'writeSync',
    'fsyncSync',
    'fstatSync',
    'lstatSync',
    'fchmodSync',
    'renameSync',
  ] as const;
  const io = { count: 0, part: 0 } as Record<string, unknown> & { count: number; part: number };
  for (const name of names) {
    const real = nodeFs[name] as (...args: unknown[]) => unknown;
    io[name] = (...args: unknown[]): unknown => {
      io.count += 1;
      const fault = fail(io.count, name, io.part);
      if (fault === 'short' && name === 'writeSync') {
        return real(args[0], args[1], args[2], Math.ceil(Number(args[3]) / 2));
      }
      if (fault !== undefined && fault !== 'short') {
        if (name === 'closeSync') real(...args); // a close that fails has closed all the same
        throw Object.assign(new Error(fault), { code: fault });
      }
      const result = real(...args);
      after();
      return result;
    };
  }
  return io as unknown as Counting;
}

type Outcome = { store: TestStore; dir: string; lost: number; ops: number; finished: boolean };

function write(
  parts: readonly Part[],
  fail: Fail,
  after?: (dir: string, store: TestStore) => void,
): Outcome {
  const store = testStore();
  const meta = metaOf('one', { runner: RUNNER });
  const dir = createCapture(store, meta, ['x']);
  const io = faulty(fail, () => after?.(dir, store));
  const writer = openWriter(dir, meta, { fs: io, now: () => NOW });
  for (const { channel = 'stdout', bytes, pid } of parts) {
    writer.append(channel, Buffer.from(bytes), pid);
    io.part += 1;
  }
  const finished = writer.finish(finalOf());
  const size = fs.lstatSync(join(dir, 'output.bin'), { throwIfNoEntry: false })?.size ?? 0;
  expect(writer.outputBytes).toBe(size);
  expect(writer.outputBytes + writer.lostBytes).toBe(streamOf(parts, 'all').length);
  return { store, dir, lost: writer.lostBytes, ops: io.count, finished };
}

/** The start of each part that is in the file, in order; throws if the file has anything else. */
function keptOf(parts: readonly Part[], bytes: Buffer): Part[] {
  let at = 0;
  const kept = parts.map((part) => {
    const data = Buffer.from(part.bytes);
    let length = 0;
    while (
      length < data.length &&
      at + length < bytes.length &&
      bytes[at + length] === data[length]
    ) {
      length += 1;
    }
    at += length;
    return { ...part, bytes: data.subarray(0, length) };
  });
  expect(at).toBe(bytes.length);
  return kept;
}

/** What must hold after any trouble: the reader sees what was kept, and every gap is marked. */
function check({ store, dir, lost }: Outcome, parts: readonly Part[] = GIVEN): void {
  const output = join(dir, 'output.bin');
  const bytes = fs.existsSync(output) ? fs.readFileSync(output) : Buffer.alloc(0);
  const kept = keptOf(parts, bytes);
  const capture = openCapture(store, 'one');
  const read = readOutput(capture, 0, 1 << 20);
  expect(Buffer.concat(read.chunks.map((one) => one.bytes))).toEqual(bytes);
  for (const channel of ['stdout', 'stderr'] as const) {
    expect(Buffer.concat([...streamChunks(capture, channel)])).toEqual(streamOf(kept, channel));
  }
  const gaps = readEvents(capture).filter((event) => event.type === 'gap');
  expect(gaps.reduce((sum, gap) => sum + gap.lostBytes, 0)).toBe(lost);
  for (const gap of gaps) expect(gap.offset).toBeLessThanOrEqual(bytes.length);
  if (capture.final !== undefined) {
    expect(capture.final).toMatchObject({ outputBytes: bytes.length, lostBytes: lost });
  }
}

describe('writing a capture', () => {
  it('gives the files of the format, byte for byte', () => {
    const parts: Part[] = [...GIVEN, { bytes: 'by 42\n', pid: 42 }, { bytes: '' }];
    const outcome = write(parts, () => undefined);
    const { dir } = outcome;
    expect(fs.readFileSync(join(dir, 'output.bin'))).toEqual(streamOf(parts, 'all'));
    expect(fs.readFileSync(join(dir, 'index.jsonl'), 'utf8')).toBe(
      indexOf(parts).map(encodeIndex).join(''),
    );
    const names = [
      'append.lock',
      'events.jsonl',
      'final.json',
      'index.jsonl',
      'meta.json',
      'output.bin',
    ];
    expect(fs.readdirSync(dir).sort()).toEqual(names);
    expect(names.map((name) => fs.statSync(join(dir, name)).mode & 0o777)).toEqual(
      names.map(() => 0o600),
    );
    expect([outcome.finished, outcome.lost]).toEqual([true, 0]);
    check(outcome, parts);
  });

  it('never puts a record before its bytes, and can be read after every single step', () => {
    let steps = 0;
    write(
      GIVEN,
      () => undefined,
      (dir, store) => {
        steps += 1;
        const size = (name: string): number =>
          fs.lstatSync(join(dir, name), { throwIfNoEntry: false })?.size ?? 0;
        const index =
          size('index.jsonl') > 0 ? fs.readFileSync(join(dir, 'index.jsonl')) : Buffer.alloc(0);
        for (const record of readLines(index, { decode: decodeIndex }).records) {
          expect(record.offset + record.length).toBeLessThanOrEqual(size('output.bin'));
        }
        const capture = openCapture(store, 'one');
        expect(readOutput(capture, 0, 1 << 20).nextCursor).toBe(size('output.bin'));
      },
    );
    expect(steps).toBeGreaterThan(40);
  });

  it('goes on after an end with survivors, and says the end again', () => {
    const store = testStore();
    const meta = metaOf('one', { runner: RUNNER });
    const dir = createCapture(store, meta, ['x']);
    const writer = openWriter(dir, meta, { now: () => NOW });
    writer.append('stdout', Buffer.from('a'));
    const survivors = [{ pid: 9, startTime: 9, command: 'sleep', holdsOutput: true }];
    expect(writer.finish(finalOf({ outputClosed: false, survivors }))).toBe(true);
    expect(openCapture(store, 'one').final).toEqual(
      finalOf({ outputBytes: 1, outputClosed: false, survivors }),
    );
    writer.append('stdout', Buffer.from('b'));
    writer.event({ type: 'resize', at: NOW, cols: 1, rows: 1 });
    expect(writer.finish(finalOf())).toBe(true);
    expect(openCapture(store, 'one').final).toEqual(finalOf({ outputBytes: 2 }));
    writer.append('stdout', Buffer.from('too late'));
    writer.event({ type: 'resize', at: NOW, cols: 2, rows: 2 });
    expect(writer.finish(finalOf())).toBe(false);
    expect(fs.readFileSync(join(dir, 'output.bin'), 'utf8')).toBe('ab');
    expect(readEvents({ dir })).toEqual([{ type: 'resize', at: NOW, offset: 2, cols: 1, rows: 1 }]);
  });
});

describe('a disk that fails', () => {
  const total = (): number => write(GIVEN, () => undefined).ops;

  it.each(['ENOSPC', 'EIO', 'EACCES', 'EFBIG'])(
    'once, at any call, with %s, loses only that',
    (errno) => {
      const calls = total();
      for (let n = 1; n <= calls; n += 1) {
        const outcome = write(GIVEN, (operation) => (operation === n ? errno : undefined));
        check(outcome);
        const longest = Math.max(...GIVEN.map(({ bytes }) => bytes.length));
        expect(outcome.lost).toBeLessThanOrEqual(longest);
        fs.rmSync(outcome.store.root, { recursive: true });
      }
    },
  );

  it('from any call on loses the rest, and stops nobody', () => {
    const calls = total();
    for (let n = 1; n <= calls; n += 1) {
      const outcome = write(GIVEN, (operation) => (operation >= n ? 'ENOSPC' : undefined));
      expect(outcome.finished).toBe(fs.existsSync(join(outcome.dir, 'final.json')));
      // No room for the gap either: then the missing end of the story is all there is to see.
      const bytes = fs.existsSync(join(outcome.dir, 'output.bin'))
        ? fs.readFileSync(join(outcome.dir, 'output.bin'))
        : Buffer.alloc(0);
      expect(streamOf(GIVEN, 'all').subarray(0, bytes.length)).toEqual(bytes);
      const { chunks } = readOutput(openCapture(outcome.store, 'one'), 0, 1 << 20);
      expect(Buffer.concat(chunks.map((one) => one.bytes))).toEqual(bytes);
      fs.rmSync(outcome.store.root, { recursive: true });
    }
  });

  it('for a while marks the gap and goes on recording when there is room', () => {
    const calls = total();
    for (let n = 1; n <= calls; n += 3) {
      for (const length of [2, 5, 11]) {
        const outcome = write(GIVEN, (operation, _, part) =>
          part < 10 && operation >= n && operation < n + length ? 'ENOSPC' : undefined,
        );
        check(outcome);
        fs.rmSync(outcome.store.root, { recursive: true });
      }
    }
  });

  it('that takes only half of every write loses nothing', () => {
    const outcome = write(GIVEN, () => 'short');
    check(outcome);
    expect(outcome.lost).toBe(0);
  });

  it('in any way at any time never makes the reader lie', () => {
    const fault = fc.constantFrom<(string | undefined)[]>(
      'ENOSPC',
      'EIO',
      'short',
      undefined,
      undefined,
    );
    fc.assert(
      fc.property(fc.array(fault, { minLength: 5, maxLength: 150 }), (faults) => {
        const outcome = write(GIVEN, (operation, _, part) =>
          part < 10 ? faults[operation] : undefined,
        );
        check(outcome);
        fs.rmSync(outcome.store.root, { recursive: true });
      }),
      { numRuns: 150 },
    );
  });

  it('says where, how much and why', () => {
    const full = { now: false };
    const store = testStore();
    const meta = metaOf('one', { runner: RUNNER });
    const dir = createCapture(store, meta, ['x']);
    const io = faulty((_, name) => (full.now && name === 'writeSync' ? 'ENOSPC' : undefined));
    const writer = openWriter(dir, meta, { fs: io, now: () => NOW });
    writer.append('stdout', Buffer.from('kept'));
    full.now = true;
    writer.append('stdout', Buffer.from('lost 1'));
    writer.append('stderr', Buffer.from('lost 2'));
    expect([writer.outputBytes, writer.lostBytes]).toEqual([4, 12]);
    full.now = false;
    writer.append('stderr', Buffer.from(' again'));
    expect(writer.finish(finalOf())).toBe(true);
    expect(fs.readFileSync(join(dir, 'output.bin'), 'utf8')).toBe('kept again');
    expect(readEvents({ dir })).toEqual([
      { type: 'gap', at: NOW, offset: 4, lostBytes: 12, reason: 'ENOSPC' },
    ]);
    expect(openCapture(store, 'one').final).toMatchObject({ outputBytes: 10, lostBytes: 12 });
  });

  it('a write that failed after it wrote is found out', () => {
    const store = testStore();
    const meta = metaOf('one', { runner: RUNNER });
    const dir = createCapture(store, meta, ['x']);
    const io = faulty(() => undefined);
    const liar: FileOps = {
      ...io,
      writeSync: ((fd: number, bytes: Uint8Array, from: number, length: number) => {
        fs.writeSync(fd, bytes, from, Math.min(length, 3));
        if (String(bytes) === 'lies') throw Object.assign(new Error('EIO'), { code: 'EIO' });
        return Math.min(length, 3);
      }) as FileOps['writeSync'],
    };
    const writer = openWriter(dir, meta, { fs: liar, now: () => NOW });
    writer.append('stdout', Buffer.from('lies'));
    writer.append('stderr', Buffer.from('true\n'));
    expect([writer.outputBytes, writer.lostBytes]).toEqual([8, 1]);
    store.now = () => NOW + 1e12;
    expect(totals(openCapture(store, 'one'))).toEqual({
      stdout: { bytes: 3, lines: 0 },
      stderr: { bytes: 5, lines: 1 },
    });
  });

  it('a directory that is deleted meanwhile stops nobody', () => {
    const store = testStore();
    const dir = createCapture(store, metaOf('one'), ['x']);
    const writer = openWriter(dir, metaOf('one'), { now: () => NOW });
    writer.append('stdout', Buffer.from('a'));
    fs.rmSync(store.root, { recursive: true });
    writer.append('stdout', Buffer.from('b'));
    writer.event({ type: 'resize', at: NOW, cols: 1, rows: 1 });
    expect(writer.finish(finalOf())).toBe(false);
  });
});

describe('the cap of a capture', () => {
  it('keeps what fits, and marks what does not as a gap at once and at the end', () => {
    const store = testStore();
    const meta = metaOf('one', { runner: RUNNER, outputBytesMax: 10 });
    const dir = createCapture(store, meta, ['x']);
    const writer = openWriter(dir, meta, { now: () => NOW });
    writer.append('stdout', Buffer.from('12345'));
    writer.append('stderr', Buffer.from('67890abc'));
    const first = { type: 'gap', at: NOW, offset: 10, lostBytes: 3, reason: 'cap' };
    expect(readEvents({ dir })).toEqual([first]);
    writer.append('stdout', Buffer.from('de'));
    writer.append('stdout', Buffer.from('f'));
    expect(writer.finish(finalOf())).toBe(true);
    const second = { type: 'gap', at: NOW, offset: 10, lostBytes: 3, reason: 'cap' };
    expect(fs.readFileSync(join(dir, 'output.bin'), 'utf8')).toBe('1234567890');
    expect(openCapture(store, 'one').final).toMatchObject({ outputBytes: 10, lostBytes: 6 });
    expect(fs.readFileSync(join(dir, 'events.jsonl'), 'utf8').split('\n').length).toBe(3);
    expect(readEvents({ dir })).toEqual([second]);
  });
});

describe('a place that is not the writer’s', () => {
  const files = ['output.bin', 'index.jsonl', 'events.jsonl', 'append.lock'];

  it.each(files)('a symlink in the place of %s is refused, dangling or not', (name) => {
    for (const target of ['../../secret', '../../none']) {
      const store = testStore();
      const dir = createCapture(store, metaOf('one'), ['x']);
      fs.writeFileSync(join(store.root, 'secret'), 'secret');
      fs.symlinkSync(target, join(dir, name));
      expect(() => openWriter(dir, metaOf('one'), { now: () => NOW })).toThrow(
        expect.objectContaining({ code: 'path_unsafe' }),
      );
      expect(fs.readFileSync(join(store.root, 'secret'), 'utf8')).toBe('secret');
      expect(fs.existsSync(join(store.root, 'none'))).toBe(false);
    }
  });

  it('a symlink in the place of final.json is not written through', () => {
    const store = testStore();
    const dir = createCapture(store, metaOf('one'), ['x']);
    const writer = openWriter(dir, metaOf('one'), { now: () => NOW });
    fs.symlinkSync('../../none', join(dir, 'final.json'));
    expect(writer.finish(finalOf())).toBe(false);
    expect(fs.existsSync(join(store.root, 'none'))).toBe(false);
  });

  it('there is one writer for all the life of a capture', () => {
    const store = testStore();
    const dir = createCapture(store, metaOf('one'), ['x']);
    openWriter(dir, metaOf('one'), { now: () => NOW }).append('stdout', Buffer.from('a'));
    const again = (): unknown => openWriter(dir, metaOf('one'), { now: () => NOW });
    expect(again).toThrow(expect.objectContaining({ code: 'session_exists' }));
    fs.rmSync(join(dir, 'append.lock'));
    expect(again).toThrow(expect.objectContaining({ code: 'session_exists' }));
    expect(fs.readFileSync(join(dir, 'output.bin'), 'utf8')).toBe('a');
  });
});
