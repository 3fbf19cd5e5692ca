import { rmSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type ReadResult, readOutput } from '../../src/capture/reader.ts';
import { openCapture } from '../../src/capture/store.ts';
import {
  build,
  fileOf,
  indexOf,
  NOW,
  type Part,
  RUNNER,
  setFile,
  streamOf,
  testStore,
  totals,
} from './helper.ts';

const channel = fc.constantFrom('stdout' as const, 'stderr' as const);
const part: fc.Arbitrary<Part> = fc.record({
  bytes: fc.uint8Array({ min: 8, max: 12, minLength: 1, maxLength: 20 }),
  channel,
});
const parts = fc.array(part, { maxLength: 40 });

const bytesOf = (read: ReadResult): Buffer => Buffer.concat(read.chunks.map(({ bytes }) => bytes));

describe('reading by cursor', () => {
  it('from 0 after the end gives every byte with its channel, time and lines', () => {
    const store = testStore();
    const given: Part[] = [
      { bytes: 'one\n' },
      { bytes: 'oops\n', channel: 'stderr', at: NOW + 5 },
      { bytes: 'two', pid: 42, at: NOW + 9 },
    ];
    const read = readOutput(build(store, given), 0, 65_536);
    expect(read).toMatchObject({ nextCursor: 12, eof: true, final: true });
    const shown = read.chunks.map(({ chunk, bytes }) => ({ ...chunk, text: String(bytes) }));
    expect(shown).toEqual([
      { offset: 0, length: 4, channel: 'stdout', at: NOW, lines: 1, text: 'one\n' },
      { offset: 4, length: 5, channel: 'stderr', at: NOW + 5, lines: 1, text: 'oops\n' },
      { offset: 9, length: 3, channel: 'stdout', at: NOW + 9, lines: 0, pid: 42, text: 'two' },
    ]);
  });

  it('any cursor and any size give exactly those bytes of output.bin', () => {
    fc.assert(
      fc.property(parts, fc.nat(900), fc.nat(100), (given, cursor, maxBytes) => {
        const store = testStore();
        const whole = streamOf(given, 'all');
        const capture = build(store, given);
        const from = Math.min(cursor, whole.length);
        const read = readOutput(capture, cursor, maxBytes);
        expect(bytesOf(read)).toEqual(whole.subarray(from, from + maxBytes));
        expect(read.nextCursor).toBe(Math.min(whole.length, from + maxBytes));
        expect([read.eof, read.final]).toEqual(Array(2).fill(read.nextCursor === whole.length));
        let at = from;
        for (const { chunk, bytes } of read.chunks) {
          expect([chunk.offset, chunk.length]).toEqual([at, bytes.length]);
          expect(chunk.lines).toBe(bytes.filter((one) => one === 10).length);
          const { channel: true_ } = indexOf(given).findLast((one) => one.offset <= at) ?? {};
          expect(chunk.channel).toBe(true_);
          at += bytes.length;
        }
        rmSync(store.root, { recursive: true });
      }),
    );
  });

  it('steps of any size through a large output come back to its end without loss', () => {
    const store = testStore();
    const given = Array.from({ length: 5_000 }, (_, n) => ({
      bytes: `line ${n} ${'x'.repeat(n % 97)}\n`,
      channel: n % 3 === 0 ? ('stderr' as const) : ('stdout' as const),
    }));
    const capture = build(store, given);
    const whole = streamOf(given, 'all');
    for (const step of [1_000, 4_097, 65_536, whole.length]) {
      const got: Buffer[] = [];
      let cursor = 0;
      for (let eof = false; !eof; ) {
        const read = readOutput(capture, cursor, step);
        const again = readOutput(capture, cursor, step);
        expect([again.nextCursor, again.chunks.length]).toEqual([
          read.nextCursor,
          read.chunks.length,
        ]);
        expect(bytesOf(again).equals(bytesOf(read))).toBe(true);
        got.push(bytesOf(read));
        expect(read.nextCursor).toBe(Math.min(cursor + step, whole.length));
        ({ nextCursor: cursor, eof } = read);
      }
      expect(Buffer.concat(got).equals(whole)).toBe(true);
    }
  });

  it('a cursor behind the end is brought back to it', () => {
    const capture = build(testStore(), [{ bytes: 'abc' }]);
    for (const cursor of [3, 4, 1e15, Number.POSITIVE_INFINITY]) {
      const expected = { chunks: [], nextCursor: 3, eof: true, final: true };
      expect(readOutput(capture, cursor, 10)).toEqual(expected);
    }
    expect(readOutput(capture, -5, 10).nextCursor).toBe(3);
    expect(readOutput(capture, Number.NaN, 2)).toMatchObject({ nextCursor: 2, eof: false });
    expect(readOutput(capture, 0, 0)).toEqual({
      chunks: [],
      nextCursor: 0,
      eof: false,
      final: false,
    });
  });

  it('no size asked for is more than is held in memory at once', () => {
    const capture = build(testStore(), [{ bytes: Buffer.alloc(9_000_000, 'x') }]);
    const read = readOutput(capture, 0, Number.POSITIVE_INFINITY);
    expect([read.nextCursor, read.eof]).toEqual([8_388_608, false]);
  });

  it('no output at all is an end too', () => {
    const capture = build(testStore(), []);
    for (const name of ['output.bin', 'index.jsonl']) rmSync(join(capture.dir, name));
    expect(readOutput(capture, 0, 10)).toEqual({
      chunks: [],
      nextCursor: 0,
      eof: true,
      final: true,
    });
  });

  it.each(['output.bin', 'index.jsonl'])('a symlink in the place of %s is refused', (name) => {
    for (const target of ['/etc/hostname', '/nowhere/at/all']) {
      const capture = build(testStore(), [{ bytes: 'abc' }]);
      rmSync(join(capture.dir, name));
      symlinkSync(target, join(capture.dir, name));
      expect(() => readOutput(capture, 0, 10)).toThrow(
        expect.objectContaining({ code: 'path_unsafe' }),
      );
    }
  });
});

describe('a capture that is being written', () => {
  const live = { final: 'missing' as const };

  function halfIndexed(meta = {}) {
    const store = testStore();
    store.living.push(RUNNER);
    const given: Part[] = [{ bytes: 'ab' }, { bytes: 'cd', channel: 'stderr' }];
    const capture = build(store, given, { ...live, meta });
    const [first] = fileOf(capture, 'index.jsonl')
      .toString()
      .split(/(?<=\n)/);
    setFile(capture, 'index.jsonl', Buffer.from(first ?? ''));
    const touched = new Date(NOW);
    utimesSync(join(capture.dir, 'output.bin'), touched, touched);
    return { store, capture };
  }

  it('its end is an end for now', () => {
    const store = testStore();
    store.living.push(RUNNER);
    const capture = build(store, [{ bytes: 'abc' }], live);
    expect(readOutput(capture, 3, 10)).toEqual({
      chunks: [],
      nextCursor: 3,
      eof: true,
      final: false,
    });
    store.living.pop();
    expect(readOutput(openCapture(store, 'one'), 3, 10)).toMatchObject({ eof: true, final: true });
  });

  it('bytes whose record is about to come are not given to the wrong stream', () => {
    const { store, capture } = halfIndexed();
    expect(readOutput(capture, 0, 10)).toMatchObject({ nextCursor: 2, eof: true, final: false });
    // When it does not come, they are given out all the same.
    store.now = () => NOW + 1_000;
    const late = readOutput(openCapture(store, 'one'), 0, 10);
    expect(late.nextCursor).toBe(4);
    expect(late.chunks[1]?.chunk).toEqual({
      offset: 2,
      length: 2,
      channel: 'unknown',
      at: 0,
      lines: 0,
    });
    // And when nobody is left to write it.
    store.now = () => NOW;
    store.living.pop();
    expect(readOutput(openCapture(store, 'one'), 0, 10)).toMatchObject({
      nextCursor: 4,
      final: true,
    });
  });

  it('where there is only one stream nobody needs to wait for the record', () => {
    const merged = halfIndexed({ transport: 'merged' });
    expect(readOutput(merged.capture, 0, 10).chunks[1]?.chunk.channel).toBe('stdout');
    const pty = halfIndexed({ transport: 'pty', transportMode: 'posix-pty' });
    expect(readOutput(pty.capture, 0, 10).chunks[1]?.chunk.channel).toBe('pty');
  });
});

describe('totals', () => {
  it('are what wc says about each stream', () => {
    fc.assert(
      fc.property(parts, (given) => {
        const store = testStore();
        const newlines = (one: Buffer): number => one.filter((byte) => byte === 10).length;
        const [out, err] = [streamOf(given, 'stdout'), streamOf(given, 'stderr')];
        expect(totals(build(store, given))).toEqual({
          stdout: { bytes: out.length, lines: newlines(out) },
          stderr: { bytes: err.length, lines: newlines(err) },
        });
        rmSync(store.root, { recursive: true });
      }),
    );
  });

  it('count what the index has not got, and not what the data has not got', () => {
    const capture = build(testStore(), [
      { bytes: 'a\n' },
      { bytes: 'b\nc\n', channel: 'stderr' },
      { bytes: 'd\n' },
    ]);
    const index = fileOf(capture, 'index.jsonl')
      .toString()
      .split(/(?<=\n)/);
    setFile(capture, 'index.jsonl', Buffer.from(index.slice(0, 2).join('')));
    const whole = { stdout: { bytes: 4, lines: 2 }, stderr: { bytes: 4, lines: 2 } };
    expect(totals(capture)).toEqual(whole);
    setFile(capture, 'index.jsonl', Buffer.from(index.join('')));
    setFile(capture, 'output.bin', Buffer.from('a\nb\nc'));
    expect(totals(capture)).toEqual({
      stdout: { bytes: 2, lines: 1 },
      stderr: { bytes: 3, lines: 1 },
    });
    writeFileSync(join(capture.dir, 'output.bin'), '');
    expect(totals(capture).stdout).toEqual({ bytes: 0, lines: 0 });
  });
});
