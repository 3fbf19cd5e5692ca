// Waiting for output of a capture, from any process: only its directory is needed. Reads again on
// every change, so that a follower is a millisecond or two behind the writer, and notices by itself
// when no writer is left.
import { AppError } from '../errors.ts';
import { READ_BYTES_DEFAULT } from '../limits.ts';
import { keepOpen } from './byte-source.ts';
import { type ReadResult, readOutput } from './reader.ts';
import type { Source } from './snapshot.ts';
import { type Capture, openCapture, type Store } from './store.ts';
import { type Change, openWatch } from './watch.ts';

/**
 * Bytes behind `cursor`, as soon as there are any. An empty answer means that time is up or the
 * caller gave up (`final` false), or that nothing more can come (`final` true). Throws only
 * `session_not_found`, `session_id_invalid` and `path_unsafe`.
 */
export async function waitOutput(
  store: Store,
  id: string,
  cursor: number,
  timeoutMs: number,
  signal?: AbortSignal,
): Promise<ReadResult> {
  const until = performance.now() + timeoutMs;
  let capture = openCapture(store, id);
  let read = readNow(capture, cursor);
  if (answers(read) || timeoutMs <= 0) return read;
  // A cursor behind the end waits for what comes next, not until the end has passed it.
  const from = read.nextCursor;
  const watch = openWatch(capture.dir, silent(capture));
  const files = keepOpen(capture.dir);
  try {
    // Once more before the first wait: it may have come before the watch did.
    let change: Change = 'state';
    while (true) {
      if (change === 'state') capture = openCapture(store, id);
      read = readNow({ ...capture, files }, from);
      const left = until - performance.now();
      if (answers(read) || left <= 0 || signal?.aborted === true) return read;
      change = await watch.changed(left, signal);
    }
  } finally {
    files.close();
    watch.close();
  }
}

/**
 * The capture, once its shell is done or no process is left to see that; undefined when the time is
 * up first. Throws as `waitOutput` does.
 */
export async function waitDone(
  store: Store,
  id: string,
  timeoutMs: number,
): Promise<Capture | undefined> {
  const until = performance.now() + timeoutMs;
  let capture = openCapture(store, id);
  if (isDone(capture)) return capture;
  const watch = openWatch(capture.dir, 'output.bin');
  try {
    while (true) {
      // Once more before the first wait: it may have ended before the watch was there.
      capture = openCapture(store, id);
      if (isDone(capture)) return capture;
      const left = until - performance.now();
      if (left <= 0) return undefined;
      await watch.changed(left);
    }
  } finally {
    watch.close();
  }
}

function isDone({ final, state }: Capture): boolean {
  return final !== undefined || (state !== 'starting' && state !== 'running');
}

/** Everything from a cursor on, as it comes; ends when nothing more can come, or on abort. */
export async function* follow(
  store: Store,
  id: string,
  options: {
    readonly from?: number;
    readonly signal?: AbortSignal;
    /** Of one piece. */
    readonly bytesMax?: number;
  } = {},
): AsyncGenerator<ReadResult, void, undefined> {
  const { signal, bytesMax = READ_BYTES_DEFAULT } = options;
  let cursor = options.from ?? 0;
  let capture: Capture | undefined = openCapture(store, id);
  const watch = openWatch(capture.dir, silent(capture));
  const files = keepOpen(capture.dir);
  capture = openUnlessGone(store, id); // it may have ended before the watch was there
  const turn = (): Promise<Change> => new Promise((next) => setImmediate(next, 'bytes'));
  try {
    while (capture !== undefined && signal?.aborted !== true) {
      const read = readNow({ ...capture, files }, cursor, bytesMax);
      if (read.chunks.length > 0) yield read;
      cursor = read.nextCursor;
      if (read.final) return;
      // A writer faster than its follower must not keep everything else from running.
      const change = read.eof
        ? await watch.changed(Number.POSITIVE_INFINITY, signal)
        : await turn();
      if (change === 'state') capture = openUnlessGone(store, id);
    }
  } finally {
    files.close();
    watch.close();
  }
}

/**
 * The state before the bytes: once no process can write any more, the next read gets everything. A
 * capture opened earlier may say that more can come; then the process that ends it changes its
 * state.
 */
function readNow(capture: Source, cursor: number, bytesMax = READ_BYTES_DEFAULT): ReadResult {
  return readOutput(capture, cursor, bytesMax);
}

/** Bytes of streams that are kept apart count only with their record, so only that is news. */
function silent({ meta }: Capture): string | undefined {
  return meta?.transport === 'pipe' || meta?.transport === 'socket' ? 'output.bin' : undefined;
}

/** A capture that was swept away under a follower has simply ended. */
function openUnlessGone(store: Store, id: string): Capture | undefined {
  try {
    return openCapture(store, id);
  } catch (error) {
    if (error instanceof AppError && error.code === 'session_not_found') return undefined;
    throw error;
  }
}

function answers(read: ReadResult): boolean {
  return read.chunks.length > 0 || read.final;
}
