// The native runner on this process's own streams: what `cuff run` uses. The runner reads and
// writes the terminal itself; this process only passes on signals and waits for the end.

import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { writeSync } from 'node:fs';
import type { Socket } from 'node:net';
import { errnoOf } from '../errors.ts';
import { heldWord, listenTo, runnerWords } from './messages.ts';
import type { Listener, RunMessage, RunSpec } from './spec.ts';

export type Attached = {
  readonly child: ChildProcess;
  /** Any order of native/orders.c, without the newline. */
  order(text: string): void;
  /** Of a held run: its command starts, or the run is withdrawn and says nothing more. */
  permit(starts: boolean): void;
};

/** `held`: the runner prepares the run, and starts the command when that is permitted. */
export function startAttached(
  runner: string,
  spec: RunSpec,
  listener: Listener,
  held = false,
): Attached {
  return launch(runner, spec, listener, ['inherit', 'inherit', 'inherit', 'pipe'], held);
}

/** A runner of its own for one run, with these streams; the last of them is for messages. */
export function launch(
  runner: string,
  spec: RunSpec,
  listener: Listener,
  stdio: readonly ('inherit' | 'ignore' | 'pipe')[],
  held = false,
): Attached {
  const words = ['run', ...runnerWords(spec, held)];
  const child = spawn(runner, words, { stdio: [...stdio], env: spec.env });
  let last = false;
  let told = false;
  child.on('error', (error: NodeJS.ErrnoException) => {
    if (last) return;
    last = true;
    listener({ kind: 'failed', stage: 'runner', ...spawnTrouble(error) });
  });
  const socket = socketOf(child);
  // Without files to spare there are no streams at all; the error follows.
  if (socket === undefined) return { child, order: () => undefined, permit: () => undefined };
  const gone = (): void => {
    if (last) return;
    last = true;
    listener(told ? { kind: 'gone' } : endWithoutWords(child));
  };
  listenTo(socket, (_, message) => {
    told ||= message.kind === 'done' || message.kind === 'failed';
    if (!last) listener(message);
  });
  socket.on('error', () => socket.destroy()); // a dead runner cannot take orders: `gone` follows
  let closed = false;
  const over = (): void => {
    const ended = child.exitCode !== null || child.signalCode !== null;
    if (closed && ended) gone();
  };
  socket.on('close', () => {
    closed = true;
    over();
  });
  child.on('exit', over);
  return {
    child,
    order: (text) => send(socket, Buffer.from(`${text}\n`)),
    permit(starts) {
      last ||= !starts;
      send(socket, heldWord(starts));
    },
  };
}

/**
 * Past the stream: Node destroys one whose write fails, with what has arrived and was not read yet.
 * A runner that has just ended takes no order, but what it said of the end is still to be read.
 */
function send(socket: Socket, bytes: Uint8Array): void {
  if (!socket.writable) return;
  const { _handle } = socket as Socket & { readonly _handle?: { readonly fd?: number } | null };
  const fd = _handle?.fd ?? -1;
  if (fd < 0 || socket.writableLength > 0) {
    socket.write(bytes);
    return;
  }
  try {
    writeSync(fd, bytes);
  } catch (error) {
    const errno = errnoOf(error);
    if (errno === 'EAGAIN') socket.write(bytes);
    else if (errno !== 'EPIPE' && errno !== 'ECONNRESET') throw error; // else it has ended
  }
}

/**
 * A runner ends with the exit code of its command. So that tells the outcome if the runner could
 * not report it, because a sandbox forbids it to send. By a signal it may have been killed itself.
 */
function endWithoutWords({ exitCode }: ChildProcess): RunMessage {
  if (exitCode === null) return { kind: 'gone' };
  const outcome = { kind: 'exited', code: exitCode } as const;
  const unknown = { outputBytes: 0, lostBytes: 0, tookMs: 0, survivors: 0 };
  return { kind: 'done', outcome, ...unknown, endedBy: 'itself' };
}

/** The fourth stream; undefined where Node gives up before it has made any (EMFILE, ENFILE). */
export function socketOf({ stdio }: ChildProcess): Socket | undefined {
  return (stdio as ChildProcess['stdio'] | undefined)?.[3] as Socket | undefined;
}

/** Why a runner could not be started, as a sentence. */
export function spawnTrouble(error: NodeJS.ErrnoException): { error: string; message: string } {
  const code = error.code ?? 'EIO';
  const few = code === 'EMFILE' || code === 'ENFILE';
  const message = few
    ? `the runner could not be started: too many open files (${code}); raise \`ulimit -n\``
    : `the runner could not be started: ${code}`;
  return { error: code, message };
}

/** Puts the terminal back as it was when its runner was killed before it could. */
export function restoreTerminal(runner: string, saved: string): void {
  spawnSync(runner, ['tty-restore', saved], { stdio: 'inherit' });
}
