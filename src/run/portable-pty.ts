// A pty for the portable backend, through the optional @lydell/node-pty (ConPTY on Windows). The
// library ends its stream when it sees a hang-up, with bytes still unread; so the far end is held
// open here until the command has gone and all it printed has been read. Keys of our own terminal
// are passed on in raw mode.

import { randomInt } from 'node:crypto';
import { closeSync, constants, openSync, statSync, writeSync } from 'node:fs';
import { constants as system } from 'node:os';
import { delimiter, resolve } from 'node:path';
import type { ReadStream } from 'node:tty';
import { errnoOf } from '../errors.ts';
import {
  cwdError,
  type Exited,
  type Failure,
  failure,
  failureOf,
  type LaunchEvents,
  type Launched,
} from './portable-launch.ts';
import { processAlive } from './processes.ts';
import type { RunSpec } from './spec.ts';

/** The part of the library that we use. Its own types say string for bytes. */
type Terminal = {
  readonly pid: number;
  readonly ptsName?: string;
  onData(listener: (data: Buffer | string) => void): unknown;
  onExit(listener: (end: { exitCode: number; signal?: number }) => void): unknown;
  write(data: Uint8Array): void;
  resize(cols: number, rows: number): void;
  pause(): void;
  resume(): void;
};

export type PtyModule = {
  spawn(file: string, args: string[], options: Readonly<Record<string, unknown>>): Terminal;
};

/** Our own terminal, if the run is shown on it: the source of keys, and the size of the screen. */
export type Outer = {
  readonly stdin: NodeJS.ReadStream;
  readonly stdout: NodeJS.WriteStream;
};

const LOOK_MS = 25; // how soon the end of the command is seen; one system call each
const FAR_END = constants.O_RDWR | constants.O_NOCTTY | constants.O_NONBLOCK;
const NOTHING: Buffer = Buffer.alloc(0);
const EOT = new Uint8Array([4]); // Ctrl-D, the end of input in a terminal

/** Undefined if the optional library is not installed or does not load. */
export async function loadPty(): Promise<PtyModule | undefined> {
  try {
    const loaded: unknown = await import('@lydell/node-pty');
    return loaded as PtyModule;
  } catch {
    return undefined; // optional: pipes are used then
  }
}

/** That of our own terminal, if the run is shown on it. */
export function sizeOf({ forward, size }: RunSpec, outer: Outer): RunSpec['size'] {
  const { columns, rows } = forward ? outer.stdout : {};
  return { cols: columns || size.cols, rows: rows || size.rows };
}

export function launchPty(pty: PtyModule, spec: RunSpec, outer: Outer, on: LaunchEvents): void {
  // node-pty forks first and lets the child print why it could not become the command.
  const trouble = startError(spec);
  if (trouble !== undefined) {
    queueMicrotask(() => on.failed(trouble));
    return;
  }
  const [file = '', ...args] = spec.argv;
  let terminal: Terminal;
  try {
    terminal = pty.spawn(file, args, {
      cwd: spec.cwd,
      env: spec.env,
      ...sizeOf(spec, outer),
      encoding: null,
    });
  } catch (error) {
    queueMicrotask(() => on.failed(failureOf(error, spec)));
    return;
  }
  on.launched(overPty(terminal, spec, outer));
}

function overPty(terminal: Terminal, spec: RunSpec, outer: Outer): Launched {
  const keeper = keepOpen(terminal);
  const keys =
    spec.forward && spec.stdin === 'inherit' ? passKeys(outer.stdin, terminal) : () => undefined;
  let end: () => void = () => undefined;
  let exited: (outcome: Exited) => void = () => undefined;
  let data: (bytes: Buffer) => void = () => undefined;
  terminal.onExit(({ exitCode, signal }) => {
    keeper.release();
    data(keeper.rest());
    keys();
    end();
    exited(outcomeOf(exitCode, signal));
  });
  return {
    pid: terminal.pid,
    outputs: [
      {
        channel: 'pty',
        listen(listener) {
          end = listener.end;
          data = (bytes) => bytes.length > 0 && listener.data(bytes);
          terminal.onData((read) => {
            data(keeper.printed(typeof read === 'string' ? Buffer.from(read) : read));
          });
        },
        // After the end of the command the rest is read at once: the library does not wait for us.
        pause: () => keeper.alive() && terminal.pause(),
        resume: () => terminal.resume(),
        close: () => undefined, // as with a terminal without a viewer
      },
    ],
    inputBytes: 0,
    write: (bytes) => terminal.write(bytes),
    endInput: () => terminal.write(Buffer.from([4])), // Ctrl-D: a terminal has no other end
    resize: (cols, rows) => cols > 0 && rows > 0 && terminal.resize(cols, rows),
    onExit(listener) {
      exited = listener;
    },
    unref: () => keeper.unref(),
  };
}

/**
 * Holds the far end of a POSIX pty until the command has gone, then writes a mark to it, and lets
 * go when the mark comes out. Bytes keep their order, so all that the command printed has been
 * read. A pause proves nothing, because the kernel may pass bytes on late.
 */
function keepOpen(terminal: Terminal) {
  let held = openFarEnd(terminal.ptsName);
  const letClose = held >= 0 ? holdSocket(terminal) : () => undefined;
  let quiet = true;
  const mark = new EndMark();
  const command = { pid: terminal.pid, startTime: 0 };
  const alive = (): boolean => processAlive(command);
  const release = (): void => {
    clearInterval(timer);
    letClose();
    if (held >= 0) closeSync(held);
    held = -1;
  };
  const timer = setInterval(() => {
    if (!alive()) {
      terminal.resume();
      // A terminal that was stopped takes no mark: then it is quiet, or there is no end.
      if (!mark.writtenTo(held) && quiet) release();
    }
    quiet = true;
  }, LOOK_MS);
  return {
    alive,
    release,
    /** These bytes without the mark. */
    printed(bytes: Buffer): Buffer {
      quiet = false;
      const { before, found } = mark.take(bytes);
      if (found) release();
      return before;
    },
    rest: () => mark.rest(),
    unref: () => timer.unref(),
  };
}

/**
 * The library closes its end 200 ms after the end of the command, whatever is still unread. It has
 * no option for that, so its socket is told to close when the caller lets it.
 */
function holdSocket(terminal: Terminal): () => void {
  const { _socket: socket } = terminal as { readonly _socket?: { destroy(why?: Error): void } };
  if (socket === undefined) return () => undefined;
  const destroy = socket.destroy.bind(socket);
  let close = (): void => undefined;
  socket.destroy = (why) => {
    close = () => destroy(why);
  };
  return () => {
    socket.destroy = destroy;
    close();
  };
}

/** Digits, which no mode of a terminal changes, behind a byte that hardly ever begins them. */
class EndMark {
  readonly #bytes = Buffer.from(`\0${Array.from({ length: 24 }, () => randomInt(10)).join('')}`);
  #written = 0;
  #found = false;
  #kept: Buffer = NOTHING; // what may be its beginning

  /** Whether it is on its way, now or since before. */
  writtenTo(fd: number): boolean {
    try {
      const missing = this.#bytes.subarray(this.#written);
      if (fd >= 0 && missing.length > 0) this.#written += writeSync(fd, missing);
    } catch {
      // EAGAIN of a terminal that was stopped, EIO of one that is gone
    }
    return this.#written > 0;
  }

  take(bytes: Buffer): { readonly before: Buffer; readonly found: boolean } {
    if (this.#written === 0 || this.#found) return { before: bytes, found: false };
    const all = Buffer.concat([this.rest(), bytes]);
    const at = all.indexOf(this.#bytes);
    this.#found = at >= 0;
    if (this.#found) {
      const behind = all.subarray(at + this.#bytes.length);
      return { before: Buffer.concat([all.subarray(0, at), behind]), found: true };
    }
    const end = all.length - this.#beginningIn(all);
    this.#kept = all.subarray(end);
    return { before: all.subarray(0, end), found: false };
  }

  /** The bytes that looked like its beginning, if the terminal hung up before the rest came. */
  rest(): Buffer {
    const kept = this.#kept;
    this.#kept = NOTHING;
    return kept;
  }

  #beginningIn(all: Buffer): number {
    let length = Math.min(all.length, this.#bytes.length - 1);
    while (length > 0 && !all.subarray(-length).equals(this.#bytes.subarray(0, length)))
      length -= 1;
    return length;
  }
}

function openFarEnd(ptsName: string | undefined): number {
  try {
    return ptsName === undefined ? -1 : openSync(ptsName, FAR_END);
  } catch {
    return -1; // the last bytes may be lost then, as the library would lose them
  }
}

/** Returns a function that stops it and restores the outer terminal. */
function passKeys(stdin: Outer['stdin'], terminal: Terminal): () => void {
  const raw = stdin.isTTY ? (stdin as ReadStream) : undefined;
  const key = (data: Buffer): void => terminal.write(data);
  const end = (): void => terminal.write(EOT);
  raw?.setRawMode(true);
  stdin.on('data', key);
  stdin.once('end', end);
  return () => {
    stdin.off('data', key);
    stdin.off('end', end);
    stdin.pause();
    raw?.setRawMode(false);
  };
}

function outcomeOf(code: number, signal: number | undefined): Exited {
  if (!signal) return { kind: 'exited', code };
  const names = Object.entries(system.signals);
  return { kind: 'signaled', signal: names.find(([, n]) => n === signal)?.[0] ?? `SIG${signal}` };
}

function startError(spec: RunSpec): Failure | undefined {
  const error = cwdError(spec.cwd);
  if (error !== undefined) return failure('cwd', error, spec.cwd);
  if (process.platform === 'win32') return undefined; // there the library throws
  const [program = ''] = spec.argv;
  const code = programError(program, spec);
  return code === undefined ? undefined : failure('exec', code, program);
}

/** The error of execvp(3): it searches PATH, and prefers EACCES over ENOENT. */
function programError(program: string, { cwd, env }: RunSpec): string | undefined {
  if (program === '') return 'ENOENT';
  const path = program.includes('/') ? '' : (env.PATH ?? '/bin:/usr/bin');
  const errors = path.split(delimiter).map((dir) => executeError(resolve(cwd, dir, program)));
  if (errors.includes(undefined)) return undefined;
  if (program.includes('/')) return errors[0];
  return errors.includes('EACCES') ? 'EACCES' : 'ENOENT';
}

function executeError(path: string): string | undefined {
  try {
    const stat = statSync(path);
    return stat.isFile() && (stat.mode & 0o111) !== 0 ? undefined : 'EACCES';
  } catch (error) {
    return errnoOf(error) ?? 'ENOENT';
  }
}
