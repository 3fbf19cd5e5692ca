// Starting a command for the portable backend, over child_process. A started command is the same
// to its run whether pipes or a pty carry it; a command that cannot be started is a value.

import { type ChildProcess, spawn } from 'node:child_process';
import { accessSync, constants, statSync } from 'node:fs';
import type { Socket } from 'node:net';
import { getSystemErrorMap } from 'node:util';
import { errnoOf } from '../errors.ts';
import type { Channel, Outcome } from '../types.ts';
import type { RunSpec } from './spec.ts';

/** One stream of the command. `data` may come until `end`, which comes exactly once. */
export type Output = {
  readonly channel: Channel;
  listen(on: { readonly data: (bytes: Buffer) => void; readonly end: () => void }): void;
  pause(): void;
  resume(): void;
  /** Closes our side: the command's next write fails as it would have without us. */
  close(): void;
};

export type Launched = {
  readonly pid: number;
  readonly outputs: readonly Output[];
  /** Input the command has not taken yet. */
  readonly inputBytes: number;
  write(bytes: Uint8Array): void;
  endInput(): void;
  resize(cols: number, rows: number): void;
  onExit(listener: (outcome: Exited) => void): void;
  /** Stops keeping this process alive. */
  unref(): void;
};

export type Exited = Exclude<Outcome, { kind: 'failed' }>;

export type Failure = {
  readonly stage: 'cwd' | 'exec';
  readonly error: string;
  readonly message: string;
};

/** Exactly one of them is called, once, and never before the launch has returned. */
export type LaunchEvents = {
  readonly launched: (child: Launched) => void;
  readonly failed: (failure: Failure) => void;
};

const STDIN = { null: 'ignore', inherit: 'inherit', orders: 'pipe' } as const;

export function launchPiped(spec: RunSpec, on: LaunchEvents): void {
  const [file = '', ...args] = spec.argv;
  let child: ChildProcess;
  try {
    child = spawn(file, args, {
      cwd: spec.cwd,
      env: spec.env,
      stdio: [STDIN[spec.stdin], 'pipe', 'pipe'],
      // A session, and so a group, of its own. On Windows it would only open a console window.
      detached: process.platform !== 'win32',
      windowsHide: true,
    });
  } catch (error) {
    // Some errors are thrown (E2BIG, ENOTDIR, a NUL in an argument), others are events.
    queueMicrotask(() => on.failed(failureOf(error, spec)));
    return;
  }
  child.on('error', (error) => {
    if (child.pid === undefined) on.failed(failureOf(error, spec));
  });
  child.once('spawn', () => on.launched(overPipes(child)));
}

function overPipes(child: ChildProcess): Launched {
  // A command that ends or closes its stdin without reading all of it is no fault.
  child.stdin?.on('error', () => child.stdin?.destroy());
  const sockets = [child.stdin, child.stdout, child.stderr].filter((one) => one !== null);
  return {
    pid: child.pid ?? 0,
    outputs: [
      ...(child.stdout === null ? [] : [output('stdout', child.stdout as Socket)]),
      ...(child.stderr === null ? [] : [output('stderr', child.stderr as Socket)]),
    ],
    get inputBytes() {
      return child.stdin?.writableLength ?? 0;
    },
    write(bytes) {
      if (child.stdin?.writable) child.stdin.write(bytes);
    },
    endInput() {
      child.stdin?.end();
    },
    resize() {
      // Pipes have no size.
    },
    onExit(listener) {
      child.once('exit', (code, signal) => {
        listener(
          signal === null ? { kind: 'exited', code: code ?? 0 } : { kind: 'signaled', signal },
        );
      });
    },
    unref() {
      child.unref();
      for (const socket of sockets) (socket as Socket).unref();
    },
  };
}

function output(channel: Channel, stream: Socket): Output {
  return {
    channel,
    listen({ data, end }) {
      stream.on('data', data);
      stream.on('error', () => stream.destroy()); // nothing more can be read: `close` follows
      stream.once('close', end);
    },
    pause: () => stream.pause(),
    resume: () => stream.resume(),
    close: () => stream.destroy(),
  };
}

/** Which of the two it was: Node says ENOENT for a missing program and a missing directory. */
export function failureOf(thrown: unknown, spec: RunSpec): Failure {
  const error = cwdError(spec.cwd);
  if (error !== undefined) return failure('cwd', error, spec.cwd);
  const [program = ''] = spec.argv;
  const code = errnoOf(thrown) ?? '';
  // Node refuses an empty name by itself; execve would have said ENOENT.
  if (program === '') return failure('exec', 'ENOENT', program);
  return failure('exec', /^E[A-Z0-9]+$/.test(code) ? code : 'EINVAL', program);
}

export function failure(stage: Failure['stage'], error: string, what: string): Failure {
  const [, words = error] =
    [...getSystemErrorMap().values()].find(([name]) => name === error) ?? [];
  return { stage, error, message: `${what}: ${words.charAt(0).toUpperCase()}${words.slice(1)}` };
}

export function cwdError(cwd: string): string | undefined {
  try {
    if (!statSync(cwd).isDirectory()) return 'ENOTDIR';
    accessSync(cwd, constants.X_OK);
    return undefined;
  } catch (error) {
    return errnoOf(error) ?? 'EACCES';
  }
}
