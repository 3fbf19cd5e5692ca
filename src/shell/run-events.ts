// A run as a stream of events, read from its capture: a slow reader loses nothing, every reader
// gets everything from the start, and a reader that leaves needs no cleanup.

import type { OutputPiece, ReadResult } from '../capture/reader.ts';
import { READ_BYTES_DEFAULT } from '../limits.ts';
import type { Channel, Ended, ProcessId, Survivor } from '../types.ts';

export type RunEvent =
  /** Absent when the command could not be started. */
  | { readonly type: 'started'; readonly process: ProcessId }
  | {
      readonly type: 'output';
      readonly channel: Channel;
      readonly bytes: Uint8Array;
      /** Where the bytes lie in the capture: a cursor for `shell.read`. */
      readonly offset: number;
      /** Epoch milliseconds. */
      readonly at: number;
    }
  /** The shell is done; all it printed came before. Survivors may print more. */
  | { readonly type: 'done'; readonly ended: Ended; readonly survivors: readonly Survivor[] }
  /** Nothing more can come. */
  | { readonly type: 'closed' };

export type EventsOptions = {
  /** The last event: `done` (the default), or `closed`, after the last survivor ended. */
  readonly until?: 'done' | 'closed';
};

/** How a run ended, and how many bytes were captured by then. */
export type Doneness = {
  readonly ended: Ended;
  readonly outputBytes: number;
};

export type EventSource = {
  readonly started: Promise<ProcessId | undefined>;
  readonly done: Promise<Doneness>;
  readonly closed: Promise<void>;
  /** All bytes behind the cursor as they come, until `over` or until no more can come. */
  follow(cursor: number, over?: Promise<unknown>): AsyncIterable<ReadResult>;
  read(cursor: number, maxBytes: number): ReadResult;
  survivors(): readonly Survivor[];
};

/**
 * `return` ends a pending `next` and its wait; the `return` of a generator would queue behind it.
 */
export function runEvents(
  run: EventSource,
  options: EventsOptions = {},
): AsyncIterableIterator<RunEvent, void, undefined> {
  let leave = (_: typeof LEFT): void => undefined;
  const left = new Promise<typeof LEFT>((resolve) => {
    leave = resolve;
  });
  const events = eventsUntil(run, left, options);
  return {
    next: () => events.next(),
    return() {
      leave(LEFT);
      return events.return();
    },
    [Symbol.asyncIterator]() {
      return this;
    },
  };
}

const LEFT = Symbol('the reader has left');

async function* eventsUntil(
  run: EventSource,
  left: Promise<typeof LEFT>,
  { until = 'done' }: EventsOptions,
): AsyncGenerator<RunEvent, void, undefined> {
  const process = await Promise.race([run.started, left]);
  if (process === LEFT) return;
  if (process !== undefined) yield { type: 'started', process };
  let cursor = 0;
  for await (const { chunks, nextCursor } of run.follow(0, Promise.race([run.done, left]))) {
    yield* chunks.map(outputEvent);
    cursor = nextCursor;
  }
  const doneness = await Promise.race([run.done, left]);
  if (doneness === LEFT) return;
  const { ended, outputBytes } = doneness;
  while (cursor < outputBytes) {
    const wanted = Math.min(READ_BYTES_DEFAULT, outputBytes - cursor);
    const { chunks, nextCursor } = run.read(cursor, wanted);
    if (nextCursor <= cursor) break; // another process truncated or removed the file
    yield* chunks.map(outputEvent);
    cursor = nextCursor;
  }
  yield { type: 'done', ended, survivors: run.survivors() };
  if (until === 'done') return;
  for await (const { chunks } of run.follow(cursor, left)) yield* chunks.map(outputEvent);
  if ((await Promise.race([run.closed, left])) === LEFT) return;
  yield { type: 'closed' };
}

function outputEvent({ chunk, bytes }: OutputPiece): RunEvent {
  const { channel, offset, at } = chunk;
  return { type: 'output', channel, bytes, offset, at };
}
