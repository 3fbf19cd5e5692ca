// A run whose output goes to no file: the runner passes it on to this process, which keeps its head
// in memory. Such a run does not outlive us for long: without a reader, its next write fails with
// EPIPE, as in front of any closed pipe.

import { launch } from './attached.ts';
import type { Memory } from './memory.ts';
import { handleOver } from './orders.ts';
import type { Handle, Listener, RunSpec } from './spec.ts';

// All that the command wrote is in the sockets when the runner reports the end. One turn of the
// event loop reads it; a second reads what found room only then. Survivors may write for ever.
const ROUNDS_MAX = 8;

export function startForwarded(
  runner: string,
  spec: RunSpec & { readonly memory: Memory },
  listener: Listener,
): Handle {
  const { memory } = spec;
  const ends: Parameters<Listener>[0][] = [];
  const settle = (round: number, seen: number): void => {
    const now = memory.totals.stdout + memory.totals.stderr;
    if (round < ROUNDS_MAX && (round < 2 || now > seen)) {
      setImmediate(settle, round + 1, now);
      return;
    }
    for (const message of ends.splice(0)) listener(message);
  };
  const { child, order } = launch(
    runner,
    { ...spec, forward: true },
    (message) => {
      const last = message.kind !== 'started' && message.kind !== 'uncaptured';
      if (!last) {
        listener(message);
        return;
      }
      ends.push(message);
      if (ends.length === 1) settle(0, -1);
    },
    ['ignore', 'pipe', 'pipe', 'pipe'],
  );
  child.stdout?.on('data', (bytes: Buffer) => memory.add('stdout', bytes));
  child.stderr?.on('data', (bytes: Buffer) => memory.add('stderr', bytes));
  return handleOver(order);
}
