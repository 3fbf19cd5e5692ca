// The native runner on this process's own streams: what `cuff run` uses. The runner reads and
// writes the terminal itself; this process only passes on signals and waits for the end.

import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import type { Socket } from 'node:net';
import { Lines, parseMessage, runnerWords } from './messages.ts';
import type { Listener, RunSpec } from './spec.ts';

export type Attached = {
  readonly child: ChildProcess;
  /** Any order of native/orders.c, without the newline. */
  order(text: string): void;
};

export function startAttached(runner: string, spec: RunSpec, listener: Listener): Attached {
  return launch(runner, spec, listener, ['inherit', 'inherit', 'inherit', 'pipe']);
}

/** A runner of its own for one run, with these streams; the last of them is for messages. */
export function launch(
  runner: string,
  spec: RunSpec,
  listener: Listener,
  stdio: readonly ('inherit' | 'ignore' | 'pipe')[],
): Attached {
  const child = spawn(runner, ['run', ...runnerWords(spec)], { stdio: [...stdio], env: spec.env });
  const socket = child.stdio[3] as Socket;
  const lines = new Lines();
  let last = false;
  const gone = (): void => {
    if (!last) listener({ kind: 'gone' });
    last = true;
  };
  socket.on('data', (piece: Buffer) => {
    for (const line of lines.push(piece)) {
      const message = parseMessage(line)?.message;
      if (message !== undefined && !last) listener(message);
    }
  });
  socket.on('error', () => socket.destroy()); // a dead runner cannot take orders: `gone` follows
  socket.on('close', gone);
  child.on('error', (error: NodeJS.ErrnoException) => {
    last = true;
    const code = error.code ?? 'EIO';
    listener({ kind: 'failed', stage: 'runner', error: code, message: error.message });
  });
  return {
    child,
    order(text) {
      if (socket.writable) socket.write(`${text}\n`);
    },
  };
}

/** Puts the terminal back as it was when its runner was killed before it could. */
export function restoreTerminal(runner: string, saved: string): void {
  spawnSync(runner, ['tty-restore', saved], { stdio: 'inherit' });
}
