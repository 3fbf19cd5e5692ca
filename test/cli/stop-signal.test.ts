import { describe, expect, it } from 'vitest';
import { type StopSignal, stopSignal } from '../../src/cli/stop-signal.ts';

/** A process that is sent signals at times of the test's choice. */
function signalled() {
  const listeners = new Map<StopSignal, () => void>();
  const exits: number[] = [];
  let time = 1_000;
  const target = {
    on: (signal: StopSignal, listener: () => void) => listeners.set(signal, listener),
    exit: (code: number) => void exits.push(code),
  };
  const asked = stopSignal(target, () => time);
  const send = (signal: StopSignal, after: number): void => {
    time += after;
    listeners.get(signal)?.();
  };
  return { asked, exits, send };
}

describe('signals that ask a server to stop', () => {
  it('are one request when they come within half a second', async () => {
    const { asked, exits, send } = signalled();
    send('SIGINT', 0);
    send('SIGTERM', 15);
    send('SIGINT', 485);
    expect(await asked).toBe('SIGINT');
    expect(exits).toEqual([]);
  });

  it('end it at once when a person sends another one later', async () => {
    const { asked, exits, send } = signalled();
    send('SIGTERM', 0);
    send('SIGINT', 501);
    expect([await asked, exits]).toEqual(['SIGTERM', [1]]);
  });
});
