// A shell that persists although every command is a run of its own: each starts where the one
// before it ended, and one that is killed or crashes takes nothing with it. Commands run one after
// the other. The files that carry the state are the user's alone and go with `close`.

import { isUtf8 } from 'node:buffer';
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { AgentRun, AgentShell, Finished } from '../agent/agent-shell.ts';
import type { Caller } from '../agent/caller.ts';
import { AppError } from '../errors.ts';
import { startUpFile, stateIsWhole } from './bash-state.ts';

const WAIT_MS_MAX = 2 ** 31 - 1; // what a timer can; the deadline of the run comes before

export type Ran = {
  readonly run: AgentRun;
  readonly finished: Finished;
  /** The working directory is gone; the command ran in the first one. */
  readonly lostDirectory: string | undefined;
};

/** What a command leaves to the next one. */
type State = {
  readonly file: string;
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
  run(command: string, timeoutMs: number, caller: Caller): Promise<Ran> {
    return this.#next(() => this.#run(command, timeoutMs, caller));
  }

  /** The next command finds a fresh shell. What earlier ones left running goes on. */
  restart(): Promise<void> {
    return this.#next(async () => this.#forget());
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
    this.#last = turn.catch(() => undefined); // whoever asked for it is told
    return turn;
  }

  async #run(command: string, timeoutMs: number, caller: Caller): Promise<Ran> {
    if (this.#closed) throw new AppError('closed', 'The shell was closed.');
    const dir = this.#directory();
    const state = this.#state;
    this.#count += 1;
    const [startUp, saved, cwd] = ['start', 'state', 'cwd'].map((name) =>
      join(dir, `${this.#count}.${name}`),
    ) as [string, string, string];
    writeFileSync(startUp, startUpFile({ state: saved, cwd }, state?.file), { mode: 0o600 });
    for (const file of [saved, cwd]) writeFileSync(file, '', { mode: 0o600 });
    const there = isDirectory(state?.cwd) ? state?.cwd : undefined;
    const where = there ?? this.#shell.workingDirectory;
    try {
      const env = { BASH_ENV: startUp, PWD: where };
      const limits = { waitMs: timeoutMs, killAfterMs: timeoutMs };
      const request = { command, workingDirectory: where, env, ...limits };
      const how = { transport: 'merged' } as const;
      const run = this.#shell.start({ ...request, how }, caller);
      await this.#shell.wait(run, WAIT_MS_MAX, caller);
      const finished = await run.finished;
      this.#adopt(finished, saved, cwd);
      return { run, finished, lostDirectory: there === undefined ? state?.cwd : undefined };
    } finally {
      const kept = this.#state?.file;
      for (const file of [startUp, cwd, saved, state?.file]) {
        if (file !== undefined && file !== kept) rmSync(file, { force: true });
      }
    }
  }

  /** Only a command that came to its own end leaves anything behind. */
  #adopt({ ended }: Finished, file: string, cwd: string): void {
    if (ended.outcome.kind !== 'exited' || ended.endedBy !== 'itself') return;
    if (!stateIsWhole(readFileSync(file, 'utf8'))) return; // `exec`, or no room on the disk
    const name = readFileSync(cwd);
    this.#state = { file, cwd: isUtf8(name) ? name.toString() : undefined };
  }

  #forget(): void {
    if (this.#state !== undefined) rmSync(this.#state.file, { force: true });
    this.#state = undefined;
  }

  #directory(): string {
    this.#dir ??= makeDirectory();
    return this.#dir;
  }
}

/** Those of a program that ends without closing its shells go with it. */
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
