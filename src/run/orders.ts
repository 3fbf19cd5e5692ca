// Orders to a runner through the FIFO in its capture, from any process of the same user. Opening
// the FIFO is also the test whether the runner lives: ENXIO means that no process reads it.

import { closeSync, constants, fstatSync, openSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { errnoOf } from '../errors.ts';
import type { Handle, KillOrder } from './spec.ts';

const STDIN_PIECE = 1024; // in hexadecimal well below PIPE_BUF, so that an order stays whole
const FULL_MS = 2; // the runner reads 8 KiB at a time

/** How long an order waits for a free descriptor before it is taken to be undeliverable. */
const PATIENCE_MS = 2_000;

/** Shortages of this process or of the system that pass; the runner itself is well. */
const PASSING: readonly (string | undefined)[] = ['EMFILE', 'ENFILE', 'ENOMEM', 'EINTR'];

/**
 * `full` and `short` (of descriptors or memory) pass: try again. `gone`: the order cannot be
 * delivered, because the run is over or its FIFO cannot be reached.
 */
export type Sent = 'sent' | 'full' | 'short' | 'gone';

/**
 * Sends orders one after the other; an order that cannot be sent yet waits. `lost` gets the orders
 * that cannot be delivered at all. No error of one order keeps later ones from being sent.
 */
export function orderQueue(dir: string, lost: (order: string) => void): (order: string) => void {
  const waiting: string[] = [];
  let timer: NodeJS.Timeout | undefined;
  let shortSince: number | undefined;
  const flush = (): void => {
    timer = undefined;
    for (let [next] = waiting; next !== undefined; [next] = waiting) {
      const sent = sendOrder(dir, next);
      shortSince = sent === 'short' ? (shortSince ?? performance.now()) : undefined;
      const patient = shortSince === undefined || performance.now() - shortSince < PATIENCE_MS;
      if (sent === 'full' || (sent === 'short' && patient)) {
        timer = setTimeout(flush, FULL_MS);
        return;
      }
      waiting.shift();
      if (sent !== 'sent') lost(next);
    }
  };
  return (order) => {
    waiting.push(order);
    if (timer === undefined) flush();
  };
}

/** One attempt to send one order. It never throws. */
export function sendOrder(dir: string, order: string): Sent {
  const flags = constants.O_WRONLY | constants.O_NONBLOCK | (constants.O_NOFOLLOW ?? 0);
  let fd: number | undefined;
  try {
    fd = openSync(join(dir, 'control'), flags);
    if (!fstatSync(fd).isFIFO()) return 'gone'; // another file was put in its place
    writeSync(fd, `${order}\n`);
    return 'sent';
  } catch (error) {
    const code = errnoOf(error);
    if (code === 'EAGAIN') return 'full';
    // ENXIO and EPIPE: no runner reads the FIFO. Any other errno: it cannot be reached.
    return PASSING.includes(code) ? 'short' : 'gone';
  } finally {
    if (fd !== undefined) closeSync(fd);
  }
}

export function killOrder(order: KillOrder): string {
  return `kill ${order.signal} ${order.graceMs} ${order.cause}`;
}

function stdinOrders(bytes: Uint8Array): string[] {
  const orders: string[] = [];
  for (let i = 0; i < bytes.length; i += STDIN_PIECE) {
    orders.push(`stdin ${Buffer.from(bytes.subarray(i, i + STDIN_PIECE)).toString('hex')}`);
  }
  return orders;
}

/** A handle on a run through whatever carries its orders. */
export function handleOver(send: (order: string) => void): Handle {
  return {
    kill: (order) => send(killOrder(order)),
    signal: (name) => send(`signal ${name}`),
    write: (bytes) => stdinOrders(bytes).forEach(send),
    endInput: () => send('stdin-end'),
    resize: (cols, rows) => send(`resize ${cols} ${rows}`),
  };
}
