// Waiting for output of a capture, from any process: nothing but its directory is needed. Reads
// again on every change, so that a follower is a millisecond or two behind the writer, and sees by
// itself when nobody is left who could write.
import { AppError } from '../errors.ts';
import { READ_BYTES_DEFAULT } from '../limits.ts';
import { captureDir } from './paths.ts';
import { type ReadResult, readOutput } from './reader.ts';
import { openCapture, type Store } from './store.ts';
import { openWatch } from './watch.ts';

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
  let read = readNow(store, id, cursor);
  if (answers(read) || timeoutMs <= 0) return read;
  // A cursor behind the end waits for what comes next, not until the end has passed it.
  const from = read.nextCursor;
  const watch = openWatch(captureDir(store.root, id));
  try {
    while (true) {
      // Once more before the first wait: it may have come before the watch did.
      read = readNow(store, id, from);
      const left = until - performance.now();
      if (answers(read) || left <= 0 || signal?.aborted === true) return read;
      await watch.changed(left, signal);
    }
  } finally {
    watch.close();
  }
}

/** Everything from a cursor on, as it comes; ends when nothing more can come, or on abort. */
export async function* follow(
  store: Store,
  id: string,
  options: { readonly from?: number; readonly signal?: AbortSignal } = {},
): AsyncGenerator<ReadResult, void, undefined> {
  const { signal } = options;
  let cursor = options.from ?? 0;
  const watch = openWatch(openCapture(store, id).dir);
  const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
  try {
    while (signal?.aborted !== true) {
      const read = readUnlessGone(store, id, cursor);
      if (read === undefined) return;
      if (read.chunks.length > 0) yield read;
      cursor = read.nextCursor;
      if (read.final) return;
      // A writer faster than its follower must not keep everything else from running.
      await (read.eof ? watch.changed(Number.POSITIVE_INFINITY, signal) : turn());
    }
  } finally {
    watch.close();
  }
}

function readNow(store: Store, id: string, cursor: number): ReadResult {
  // The state before the bytes: once nobody can write any more, what is read then is all of it.
  return readOutput(openCapture(store, id), cursor, READ_BYTES_DEFAULT);
}

/** A capture that was swept away while somebody followed it has simply ended. */
function readUnlessGone(store: Store, id: string, cursor: number): ReadResult | undefined {
  try {
    return readNow(store, id, cursor);
  } catch (error) {
    if (error instanceof AppError && error.code === 'session_not_found') return undefined;
    throw error;
  }
}

function answers(read: ReadResult): boolean {
  return read.chunks.length > 0 || read.final;
}
