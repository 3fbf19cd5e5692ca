// Waiting for output of a capture, from any process: only its directory is needed. Reads again on
// every change, so that a follower is a millisecond or two behind the writer, and notices by itself
// when no writer is left.
import { AppError } from '../errors.ts';
import { READ_BYTES_DEFAULT } from '../limits.ts';
import { keepOpen } from './open-source.ts';
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
  let read = readOutput(openCapture(store, id), cursor, READ_BYTES_DEFAULT);
  if (answers(read) || timeoutMs <= 0) return read;
  // A cursor behind the end waits for what comes next, not until the end has passed it.
  const from = read.nextCursor;
  for await (const { source } of changes(store, id, { timeoutMs, signal })) {
    read = readOutput(source, from, READ_BYTES_DEFAULT);
    if (answers(read)) return read;
  }
  return read;
}

/**
 * The capture, once its shell is done or no process is left to see that; undefined when the time is
 * up first. Throws as `waitOutput` does.
 */
export async function waitDone(
  store: Store,
  id: string,
  timeoutMs: number,
  signal?: AbortSignal,
): Promise<Capture | undefined> {
  const now = openCapture(store, id);
  if (isDone(now)) return now;
  const wait = { timeoutMs, signal, ignored: 'output.bin' };
  for await (const { capture } of changes(store, id, wait)) {
    if (isDone(capture)) return capture;
  }
  return undefined;
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
  openCapture(store, id);
  try {
    for await (const { source } of changes(store, id, { signal })) {
      for (let eof = false; !eof && signal?.aborted !== true; ) {
        const read = readOutput(source, cursor, bytesMax);
        if (read.chunks.length > 0) yield read;
        cursor = read.nextCursor;
        if (read.final) return;
        ({ eof } = read);
        // A writer faster than its follower must not keep everything else from running.
        if (!eof) await new Promise((next) => setImmediate(next));
      }
    }
  } catch (error) {
    // A capture that was swept away under a follower has simply ended.
    if (!(error instanceof AppError) || error.code !== 'session_not_found') throw error;
  }
}

type Look = {
  readonly capture: Capture;
  /** The same, with files that stay open between two looks. */
  readonly source: Source;
};

/**
 * The capture as it is, and again after every change, until time is up or the caller gives up. The
 * state is read before the bytes: once no process can write any more, the next read gets
 * everything. A capture opened earlier may say that more can come; then the process that ends it
 * changes its state.
 */
async function* changes(
  store: Store,
  id: string,
  {
    timeoutMs = Number.POSITIVE_INFINITY,
    signal,
    ignored,
  }: {
    readonly timeoutMs?: number;
    readonly signal?: AbortSignal | undefined;
    /** A file whose changes do not matter. */
    readonly ignored?: string;
  },
): AsyncGenerator<Look, void, undefined> {
  const until = performance.now() + timeoutMs;
  let capture = openCapture(store, id);
  let watch = openWatch(capture.dir, ignored ?? silent(capture));
  let files = keepOpen(capture.dir, capture.decrypt);
  try {
    // Once more before the first wait: it may have changed before the watch was there.
    for (let change: Change = 'state'; ; ) {
      const { dir } = capture;
      if (change === 'state') capture = openCapture(store, id);
      if (capture.dir !== dir) {
        // It was in memory until now.
        files.close();
        watch.close();
        watch = openWatch(capture.dir, ignored ?? silent(capture));
        files = keepOpen(capture.dir, capture.decrypt);
      }
      yield { capture, source: { ...capture, files } };
      const left = until - performance.now();
      if (left <= 0 || signal?.aborted === true) return;
      change = await watch.changed(left, signal);
    }
  } finally {
    files.close();
    watch.close();
  }
}

/** Bytes of streams that are kept apart count only with their record, so only that is news. */
function silent({ meta }: Capture): string | undefined {
  return meta?.transport === 'pipe' || meta?.transport === 'socket' ? 'output.bin' : undefined;
}

function answers(read: ReadResult): boolean {
  return read.chunks.length > 0 || read.final;
}
