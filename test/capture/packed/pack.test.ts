// A capture that is packed reads as before, through every door, and at every moment of the packing.
import * as fs from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { findSource, keepOpen } from '../../../src/capture/open-source.ts';
import { hasPlainFiles, type PackOps, packCapture } from '../../../src/capture/packed/pack.ts';
import { readOutput } from '../../../src/capture/reader.ts';
import { listCaptures, openCapture, readEvents } from '../../../src/capture/store.ts';
import { follow } from '../../../src/capture/wait.ts';
import { build, NOW, type Part, type TestStore, testStore, totals } from '../helper.ts';

const NAMES = ['output.bin', 'index.jsonl', 'events.jsonl', 'trace.bin'];

const PARTS: readonly Part[] = Array.from({ length: 2_000 }, (_, i) => ({
  bytes: `line ${i} of a long build that goes on and on, ${'.'.repeat(i % 90)}\n`,
  channel: i % 7 === 0 ? 'stderr' : 'stdout',
  t: i,
}));

const EVENTS = Array.from({ length: 100 }, (_, i) => {
  return { type: 'signal', at: NOW + i, offset: i, signal: 'USR1', from: 'user' } as const;
});

function capture(store: TestStore = testStore()) {
  const made = build(store, PARTS, { meta: { transport: 'pipe' }, events: EVENTS });
  return { store, capture: made, dir: made.dir, bytes: contents(made.dir) };
}

// Quicker to compare than bytes.
const latin1 = (bytes: Uint8Array): string => Buffer.from(bytes).toString('latin1');

/** All files, as readers get them. */
function contents(dir: string): Record<string, string | undefined> {
  return Object.fromEntries(
    NAMES.map((name) => {
      const source = findSource(dir, name);
      const bytes = source && latin1(source.read(0, source.size));
      source?.close();
      return [name, bytes];
    }),
  );
}

/** Disk operations of which one fails, or is the last before the process is gone. */
function failing(at: number, errno: string): PackOps & { readonly count: () => number } {
  let count = 0;
  const step = <A extends unknown[], R>(act: (...args: A) => R) => {
    return (...args: A): R => {
      count += 1;
      if (count === at) throw Object.assign(new Error(`${errno}: failed`), { code: errno });
      return act(...args);
    };
  };
  const { openSync, writeSync, fsyncSync, renameSync, unlinkSync } = fs;
  return {
    ...fs,
    openSync: step(openSync),
    writeSync: step(writeSync as (...args: unknown[]) => number) as typeof writeSync,
    fsyncSync: step(fsyncSync),
    renameSync: step(renameSync),
    unlinkSync: step(unlinkSync),
    count: () => count,
  };
}

describe('a packed capture', () => {
  it('has the same bytes, totals, events and list as before, and takes less room', () => {
    const { store, capture: before, dir, bytes } = capture();
    const all = { totals: totals(before), events: readEvents(before), list: listCaptures(store) };
    const read = readOutput(before, 777, 5_000);
    const ofStderr = readOutput(before, 99, 2_000, 'stderr');
    expect(hasPlainFiles(dir)).toBe(true);
    packCapture(dir);
    expect(hasPlainFiles(dir)).toBe(false);
    expect(fs.readdirSync(dir).sort()).toEqual([
      'events.jsonl.gz',
      'final.json',
      'index.jsonl.gz',
      'index.jsonl.gz.gzi',
      'meta.json',
      'output.bin.gz',
      'output.bin.gz.gzi',
    ]);
    expect(fs.statSync(join(dir, 'output.bin.gz')).mode & 0o777).toBe(0o600);
    expect(contents(dir)).toEqual(bytes);
    const after = openCapture(store, before.id);
    expect({
      totals: totals(after),
      events: readEvents(after),
      list: listCaptures(store),
    }).toEqual(all);
    expect(readOutput(after, 777, 5_000)).toEqual(read);
    expect(readOutput(after, 99, 2_000, 'stderr')).toEqual(ofStderr);
    const size = (name: string): number => fs.statSync(join(dir, name)).size;
    expect(size('output.bin.gz') * 4).toBeLessThan(bytes['output.bin']?.length ?? 0);
  });

  it('leaves small files as they are, and no copies of them', () => {
    const store = testStore();
    const { dir } = build(store, [{ bytes: 'x'.repeat(4096) }]);
    fs.mkdirSync(join(dir, 'text'));
    fs.writeFileSync(join(dir, 'text', 'stdout.log'), 'x');
    expect(hasPlainFiles(dir)).toBe(true);
    packCapture(dir);
    expect(hasPlainFiles(dir)).toBe(false);
    expect(fs.readdirSync(dir)).toContain('output.bin');
    expect(fs.readdirSync(dir)).not.toContain('text');
  });

  it('without its table is read all the same', () => {
    const { dir, bytes } = capture();
    packCapture(dir);
    for (const name of fs.readdirSync(dir).filter((one) => one.endsWith('.gzi'))) {
      fs.rmSync(join(dir, name));
    }
    expect(contents(dir)).toEqual(bytes);
  });

  it('goes on under a cursor and under files that are kept open', async () => {
    const { store, capture: made, dir, bytes } = capture();
    const kept = keepOpen(dir);
    kept.open('output.bin').close();
    const pieces: Uint8Array[] = [];
    for await (const { chunks } of follow(store, made.id, { bytesMax: 10_000 })) {
      if (pieces.length === 0) packCapture(dir);
      pieces.push(...chunks.map((chunk) => chunk.bytes));
    }
    expect(latin1(Buffer.concat(pieces))).toBe(bytes['output.bin']);
    for (const name of ['output.bin', 'index.jsonl']) {
      const source = kept.open(name);
      expect(latin1(source.read(0, source.size))).toBe(bytes[name]);
    }
    kept.close();
  });

  it('is whole whichever disk operation fails, and packed by the next call', () => {
    const ops = failing(0, '');
    packCapture(capture().dir, ops);
    expect(ops.count()).toBeGreaterThan(20);
    for (let at = 1; at <= ops.count(); at += 1) {
      const { dir, bytes } = capture();
      expect(() => packCapture(dir, failing(at, at % 2 === 0 ? 'ENOSPC' : 'EIO'))).toThrow('E');
      expect(contents(dir)).toEqual(bytes);
      expect(fs.readdirSync(dir).filter((name) => name.endsWith('.tmp'))).toEqual([]);
      packCapture(dir);
      expect(contents(dir)).toEqual(bytes);
      expect(hasPlainFiles(dir)).toBe(false);
    }
  });

  it('keeps its plain files where what was written does not read back', () => {
    const { dir, bytes } = capture();
    const spoil = (fd: number, data: Uint8Array, from: number, length: number): number => {
      const wrong = Buffer.from(data);
      if (length > 100) wrong[50] = (wrong[50] ?? 0) ^ 1;
      return fs.writeSync(fd, wrong, from, length);
    };
    expect(() => packCapture(dir, { ...fs, writeSync: spoil as never })).toThrow('is damaged');
    expect(contents(dir)).toEqual(bytes);
    expect(hasPlainFiles(dir)).toBe(true);
  });
});
