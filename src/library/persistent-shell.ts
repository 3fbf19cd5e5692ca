// A shell that persists although every command is a run of its own: each starts where the one
// before it ended, and one that is killed or crashes takes nothing with it. Commands run one after
// the other. The files that carry the state are the user's alone and go with `close`.

import { isUtf8 } from 'node:buffer';
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { AgentShell, Ending } from '../agent/agent-shell.ts';
import type { Caller } from '../agent/caller.ts';
import { AppError, errnoOf, messageOf } from '../errors.ts';
import { asksForStatus, startUpFile, stateIsWhole } from './bash-state.ts';
import { type FinishedRun, runToEnd } from './command-words.ts';

export type PersistentRun = FinishedRun & {
  /** The working directory is gone; the command ran in the first one. */
  readonly lostDirectory: string | undefined;
  /** It came to its own end, and what it changed could not be saved. */
  readonly stateLost: boolean;
};

/** What a command leaves to the next one. In memory: temporary directories get cleaned. */
type State = {
  readonly script: Uint8Array;
  /** Undefined for a name that is no text: bash finds its way by itself. */
  readonly cwd: string | undefined;
};

export class PersistentShell {
  readonly #shell: AgentShell;
  #dir: string | undefined;
  #count = 0;
  #state: State | undefined;
  #last: Promise<unknown> = Promise.resolve();
  #closed = false;

  constructor(shell: AgentShell) {
    this.#shell = shell;
  }

  /** Rejects with an `AppError` for a command that was not executed. */
  run(command: string, timeoutMs: number, caller: Caller): Promise<PersistentRun> {
    return this.#next(() => this.#run(command, timeoutMs, caller));
  }

  /** The next command finds a fresh shell. What earlier ones left running goes on. */
  restart(): Promise<void> {
    return this.#next(async () => {
      this.#state = undefined;
    });
  }

  /** To be called when nothing runs any more. Commands that still wait for their turn get none. */
  close(): void {
    this.#closed = true;
    if (this.#dir !== undefined) removeDirectory(this.#dir);
    this.#dir = undefined;
    this.#state = undefined;
  }

  #next<T>(work: () => Promise<T>): Promise<T> {
    const turn = this.#last.then(work);
    this.#last = turn.catch(() => undefined); // its caller gets the error
    return turn;
  }

  async #run(command: string, timeoutMs: number, caller: Caller): Promise<PersistentRun> {
    if (this.#closed) throw new AppError('closed', 'The shell was closed.');
    const state = this.#state;
    const there = isDirectory(state?.cwd) ? state?.cwd : undefined;
    const where = there ?? this.#shell.workingDirectory;
    const files = this.#files(state, asksForStatus(command));
    try {
      // bash expands what is in BASH_ENV as if it stood in double quotes.
      const startUp = files.startUp.replace(/[$`"\\]/g, '\\$&');
      const env = { BASH_ENV: startUp, PWD: where };
      const request = { command, workingDirectory: where, env, killAfterMs: timeoutMs };
      const how = { transport: 'merged' } as const;
      const { run, finished } = await runToEnd(this.#shell, { ...request, how }, caller);
      const lostDirectory = there === undefined ? state?.cwd : undefined;
      return { run, finished, lostDirectory, stateLost: !this.#adopt(finished, files) };
    } finally {
      for (const file of Object.values(files)) rmSync(file, { force: true });
    }
  }

  /** Only a command that came to its own end leaves anything behind. */
  #adopt({ ended }: Ending, { saved, cwd }: Files): boolean {
    if (ended.outcome.kind !== 'exited' || ended.endedBy !== 'itself') return true;
    const script = contentOf(saved);
    if (!stateIsWhole(script)) return false; // `exec`, a trap of its own, no room on the disk
    const name = contentOf(cwd).subarray(0, -1); // the newline of `pwd`
    const known = name.length > 0 && isUtf8(name);
    this.#state = { script, cwd: known ? name.toString() : undefined };
    return true;
  }

  #files(state: State | undefined, status: boolean): Files {
    try {
      const dir = this.#directory();
      this.#count += 1;
      const at = (name: string): string => join(dir, `${this.#count}.${name}`);
      const files = {
        startUp: at('start'),
        before: at('before'),
        saved: at('state'),
        cwd: at('cwd'),
      };
      const { startUp, before, saved, cwd } = files;
      const write = (file: string, data: string | Uint8Array): void =>
        writeFileSync(file, data, { mode: 0o600 });
      const known = state === undefined ? undefined : before;
      write(startUp, startUpFile({ saveTo: { state: saved, cwd }, state: known, status }));
      write(before, state?.script ?? '');
      for (const file of [saved, cwd]) write(file, '');
      return files;
    } catch (error) {
      const why = messageOf(error);
      const message = `The state of the shell cannot be written: ${why}.`;
      throw new AppError('state_unwritable', message, { cause: error });
    }
  }

  #directory(): string {
    if (this.#dir !== undefined && !isDirectory(this.#dir)) {
      removeDirectory(this.#dir);
      this.#dir = undefined;
    }
    this.#dir ??= makeDirectory();
    return this.#dir;
  }
}

/** The files of one command; they are removed with it. */
type Files = {
  readonly startUp: string;
  /** The state that the command before has saved. */
  readonly before: string;
  readonly saved: string;
  readonly cwd: string;
};

/** Empty for a file that is gone. */
function contentOf(file: string): Buffer {
  try {
    return readFileSync(file);
  } catch (error) {
    if (errnoOf(error) === undefined) throw error;
    return Buffer.alloc(0);
  }
}

/** Removed at exit if the program did not close its shells. */
const directories = new Set<string>();

function makeDirectory(): string {
  const dir = mkdtempSync(join(tmpdir(), 'cuff-shell-')); // 0700
  if (directories.size === 0) process.on('exit', removeAll);
  directories.add(dir);
  return dir;
}

function removeDirectory(dir: string): void {
  rmSync(dir, { recursive: true, force: true });
  directories.delete(dir);
  if (directories.size === 0) process.off('exit', removeAll);
}

function removeAll(): void {
  for (const dir of directories) rmSync(dir, { recursive: true, force: true });
}

function isDirectory(path: string | undefined): boolean {
  if (path === undefined) return false;
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
}
