// Captures on disk for tests: a state root in a temporary directory, a world whose clock and
// processes the test decides on, and captures built from a list of chunks, with any damage.
import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buildSync } from 'esbuild';
import { onTestFinished } from 'vitest';
import { type CaptureEvent, encodeEvent } from '../../src/capture/event.ts';
import {
  encodeFinal,
  encodeIndex,
  encodeMeta,
  type IndexRecord,
  slotOf,
} from '../../src/capture/format.ts';
import { totalsOf, withSnapshot } from '../../src/capture/snapshot.ts';
import type { Capture } from '../../src/capture/store.ts';
import { openCapture, type Store } from '../../src/capture/store.ts';
import { countNewlines } from '../../src/text/lines.ts';
import type { CaptureFinal, CaptureMeta, Channel, ProcessId } from '../../src/types.ts';
import { CHILD, finalOf, metaOf, NOW, RUNNER } from './meta.ts';

export { CHILD, finalOf, INTENT, metaOf, NOW, RUNNER, STARTER } from './meta.ts';

export type TestStore = Store & {
  now: () => number;
  /** Who lives: pid and start time must both be right. */
  readonly living: ProcessId[];
  readonly sessions: string;
};

export function tempDir(): string {
  const dir = mkdtempSync(join(tmpdir(), 'cuff-capture-'));
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }));
  return dir;
}

export function testStore(root = join(tempDir(), 'state')): TestStore {
  const living: ProcessId[] = [];
  const alive = (one: ProcessId): boolean =>
    living.some(({ pid, startTime }) => pid === one.pid && startTime === one.startTime);
  return { root, living, alive, now: () => NOW, sessions: join(root, 'sessions') };
}

export type Part = {
  readonly bytes: Uint8Array | string;
  readonly channel?: Channel;
  readonly at?: number;
  readonly t?: number;
  readonly pid?: number;
};

export type Built = {
  readonly id?: string;
  readonly meta?: Partial<CaptureMeta> | 'missing';
  readonly final?: Partial<CaptureFinal> | 'missing';
  readonly events?: readonly CaptureEvent[];
};

/** Writes a capture that ended, unless told otherwise, and opens it. */
export function build(store: Store, parts: readonly Part[], built: Built = {}): Capture {
  const id = built.id ?? 'one';
  const dir = join(store.root, 'sessions', id);
  mkdirSync(dir, { recursive: true, mode: 0o700 });
  const bytes = Buffer.concat(parts.map((part) => Buffer.from(part.bytes)));
  const put = (name: string, data: string | Uint8Array): void =>
    writeFileSync(join(dir, name), data, { mode: 0o600 });
  put('output.bin', bytes);
  put('index.jsonl', indexOf(parts).map(encodeIndex).join(''));
  put('events.jsonl', (built.events ?? []).map(encodeEvent).join(''));
  if (built.meta !== 'missing') {
    const meta = metaOf(id, { runner: RUNNER, child: CHILD, startedAt: NOW, ...built.meta });
    put('meta.json', encodeMeta(meta, ['echo', 'hi']));
  }
  if (built.final !== 'missing') {
    put('final.json', encodeFinal(finalOf({ outputBytes: bytes.length, ...built.final }), id));
  }
  return openCapture(store, id);
}

/** The records of these parts, written as the runner would. */
export function indexOf(parts: readonly Part[]): IndexRecord[] {
  const totalBytes: [number, number] = [0, 0];
  const totalLines: [number, number] = [0, 0];
  let offset = 0;
  return parts
    .filter((part) => part.bytes.length > 0)
    .map(({ bytes, channel = 'stdout', at = NOW, t, pid }) => {
      const data = Buffer.from(bytes);
      const lines = countNewlines(data);
      totalBytes[slotOf(channel)] += data.length;
      totalLines[slotOf(channel)] += lines;
      const record: IndexRecord = {
        offset,
        length: data.length,
        channel,
        at,
        lines,
        totalBytes: [...totalBytes],
        totalLines: [...totalLines],
        ...(t !== undefined && { t }),
        ...(pid !== undefined && { pid }),
      };
      offset += data.length;
      return record;
    });
}

/** What a reader of one stream alone would have got. */
export function streamOf(parts: readonly Part[], stream: 'stdout' | 'stderr' | 'all'): Buffer {
  const wanted = parts.filter(
    ({ channel = 'stdout' }) => stream === 'all' || slotOf(channel) === slotOf(stream),
  );
  return Buffer.concat(wanted.map((part) => Buffer.from(part.bytes)));
}

/** The output of a system program, for a view to be compared with. */
export function program(name: string, ...args: string[]): Buffer {
  return execFileSync(name, args, { maxBuffer: 1 << 30 });
}

export function fileOf(capture: Pick<Capture, 'dir'>, name: string): Buffer {
  return readFileSync(join(capture.dir, name));
}

export function setFile(capture: Pick<Capture, 'dir'>, name: string, data: Uint8Array): void {
  writeFileSync(join(capture.dir, name), data);
  chmodSync(join(capture.dir, name), 0o600);
}

/** A program for another process, in TypeScript, that may import what tests import. */
export function compile(source: string): string {
  const outfile = join(tempDir(), 'program.mjs');
  const stdin = { contents: source, resolveDir: import.meta.dirname, loader: 'ts' } as const;
  buildSync({ stdin, outfile, bundle: true, platform: 'node', format: 'esm', logLevel: 'error' });
  return outfile;
}

/** What `wc -c` and `wc -l` say about each stream. */
export function totals(capture: Capture) {
  const { bytes, lines } = withSnapshot(capture, totalsOf);
  return {
    stdout: { bytes: bytes[0], lines: lines[0] },
    stderr: { bytes: bytes[1], lines: lines[1] },
  };
}
