// Orders to a runner through the FIFO in its capture, from any process of the same user. Opening
// the FIFO is also the test whether the runner lives: ENXIO means that nobody reads it any more.

import { closeSync, constants, fstatSync, openSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { errnoOf } from '../errors.ts';
import type { Handle, KillOrder } from './spec.ts';

const STDIN_PIECE = 1024; // in hexadecimal well below PIPE_BUF, so that an order stays whole
const FULL_MS = 2; // the runner reads 8 KiB at a time

/** Sends one order; false when the runner is gone. */
export function sendOrder(dir: string, order: string): boolean {
  return trySend(dir, order) !== 'gone';
}

/**
 * Sends orders one after the other; what a full FIFO does not take yet waits. `lost` gets those
 * for which there is none: the run is over, or somebody removed its capture under it.
 */
export function orderQueue(dir: string, lost: (order: string) => void): (order: string) => void {
  const waiting: string[] = [];
  const flush = (): void => {
    for (let [next] = waiting; next !== undefined; [next] = waiting) {
      const sent = trySend(dir, next);
      if (sent === 'full') {
        setTimeout(flush, FULL_MS);
        return;
      }
      waiting.shift();
      if (sent === 'gone') lost(next);
    }
  };
  return (order) => {
    if (waiting.push(order) === 1) flush();
  };
}

function trySend(dir: string, order: string): 'sent' | 'full' | 'gone' {
  const flags = constants.O_WRONLY | constants.O_NONBLOCK | (constants.O_NOFOLLOW ?? 0);
  let fd: number;
  try {
    fd = openSync(join(dir, 'control'), flags);
  } catch (error) {
    const code = errnoOf(error);
    if (code === 'ENXIO' || code === 'ENOENT' || code === 'ENOTDIR') return 'gone';
    throw error;
  }
  try {
    if (!fstatSync(fd).isFIFO()) return 'gone'; // somebody put something else there
    writeSync(fd, `${order}\n`);
    return 'sent';
  } catch (error) {
    if (errnoOf(error) === 'EAGAIN') return 'full';
    throw error;
  } finally {
    closeSync(fd);
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
