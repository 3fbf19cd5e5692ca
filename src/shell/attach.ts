// What a run needs from its capture, in any process; and a run of another process, presented as to
// its starter: with promises for its end, its events, and orders.

import { readOutput } from '../capture/reader.ts';
import { type Capture, openCapture, type Store } from '../capture/store.ts';
import { follow } from '../capture/wait.ts';
import { AppError } from '../errors.ts';
import { KILL_GRACE_MS } from '../limits.ts';
import { handleOver, orderQueue } from '../run/orders.ts';
import { endedOf, endRun } from './kill.ts';
import { makeRun, type Run } from './run.ts';

type Parts = Parameters<typeof makeRun>[0];

/** Its events, its state once its runner is silent, and a way to end it by force. */
export function captureParts(at: Store, id: string): Pick<Parts, 'output' | 'look' | 'endByForce'> {
  return {
    output: {
      follow(from, over) {
        const stop = new AbortController();
        void over?.then(() => stop.abort());
        return follow(at, id, { from, signal: stop.signal });
      },
      read: (cursor, maxBytes) => readOutput(openCapture(at, id), cursor, maxBytes),
    },
    look() {
      try {
        return openCapture(at, id);
      } catch (error) {
        if (error instanceof AppError) return undefined; // it was removed, or moved away
        throw error;
      }
    },
    endByForce: async (order) =>
      (await endRun(at, id, order)) ?? endedOf(openCapture(at, id), order.cause),
  };
}

/** A run that another process started. It keeps no process alive. */
export function attachRun(store: Store, { id, dir, meta }: Capture): Run {
  return makeRun({
    id,
    recording: { on: true, dir },
    graceMs: KILL_GRACE_MS,
    now: store.now,
    memory: undefined,
    begin(listener) {
      queueMicrotask(() => {
        if (meta?.child !== undefined) listener({ kind: 'started', child: meta.child });
        listener({ kind: 'gone' }); // its runner does not talk to us: read the capture instead
      });
      // An order that cannot be delivered is lost; `endByForce` does not need one.
      return handleOver(orderQueue(dir, () => undefined));
    },
    ...captureParts(store, id),
  });
}
