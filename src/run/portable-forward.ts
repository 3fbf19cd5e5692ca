// Passing captured bytes on to our own stdout and stderr. What the reader has not taken yet is
// counted, so that the command can be held up and the end can wait for the last byte.

import type { Writable } from 'node:stream';

export type Forward = {
  /** The reader is slow: hold the source until `idle`. */
  readonly full: boolean;
  /** Something sent was not taken yet. */
  readonly pending: boolean;
  send(bytes: Buffer): void;
};

export type ForwardEvents = {
  /** Everything sent so far was taken. */
  readonly idle: () => void;
  /** The reader has gone; said once. */
  readonly broken: () => void;
};

/** Streams that have our error listener: without one, EPIPE would end this process. */
const listenedTo = new WeakSet<Writable>();

export function forwardTo(target: Writable, on: ForwardEvents): Forward {
  if (!listenedTo.has(target)) {
    listenedTo.add(target);
    target.on('error', () => undefined); // each write learns of it through its own callback
  }
  let pending = 0;
  let broken = false;
  let full = false;
  return {
    get full() {
      return full;
    },
    get pending() {
      return pending > 0;
    },
    send(bytes) {
      if (broken) return;
      pending += 1;
      const room = target.write(bytes, (error) => {
        pending -= 1;
        if (error && !broken) {
          broken = true;
          on.broken();
        }
        if (pending > 0) return;
        full = false;
        on.idle();
      });
      full = !room && pending > 0;
    },
  };
}
