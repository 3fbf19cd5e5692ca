// The built programs as real child processes, each test file in a state root of its own. Whatever
// a test left alive is ended by its id, and the state root is removed.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { FACT_MS_MAX } from '../pace.ts';

const ROOT = join(import.meta.dirname, '..', '..');
const { bin } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));

/** The file behind a bin of the package. */
export function binary(name: 'cuff' | 'derun'): string {
  return join(ROOT, bin[name]);
}

export type Result = {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: Buffer;
  readonly out: string;
  readonly err: string;
};

/** What of `cuff ps --json` tests look at. */
export type RunJson = {
  readonly session_id: string;
  readonly state: string;
  readonly runner_pid: number | null;
  readonly runner_alive: boolean;
  readonly processes: readonly {
    readonly pid: number;
    readonly parent_pid: number;
    readonly command: string;
    readonly holds_output: boolean;
  }[];
};

type Options = { readonly env?: Readonly<Record<string, string>>; readonly cwd?: string };

/** A program that runs; its stdin is open until `child.stdin` is ended. */
export type Live = {
  readonly child: ChildProcess;
  readonly result: Promise<Result>;
  /** Resolves with everything printed so far once that matches. */
  seen(pattern: RegExp): Promise<string>;
};

export class Cli {
  readonly root = mkdtempSync(join(tmpdir(), 'cuff-cli-'));
  readonly #live = new Set<Live>();

  get env(): NodeJS.ProcessEnv {
    const { NO_COLOR: _, ...env } = process.env;
    return { ...env, CUFF_STATE_ROOT: this.root };
  }

  /** Where a capture is. */
  dir(id: string): string {
    return join(this.root, 'sessions', id);
  }

  start(command: readonly string[], options: Options = {}): Live {
    const [file = '', ...args] = command;
    const env = { ...this.env, ...options.env };
    const { cwd } = options;
    const child = spawn(file, args, { env, cwd, stdio: ['pipe', 'pipe', 'pipe'] });
    const pieces: Buffer[] = [];
    const errors: Buffer[] = [];
    child.stdout.on('data', (piece: Buffer) => pieces.push(piece));
    child.stderr.on('data', (piece: Buffer) => errors.push(piece));
    child.stdin.on('error', () => undefined); // it may end without having read its input
    const printed = (): string => Buffer.concat(pieces).toString();
    const result = once(child, 'close').then(([code, signal]) => ({
      code,
      signal,
      stdout: Buffer.concat(pieces),
      out: printed(),
      err: Buffer.concat(errors).toString(),
    }));
    const seen = async (pattern: RegExp): Promise<string> => {
      const over = result.then(({ err }) => err);
      while (!pattern.test(printed())) {
        const more = once(child.stdout, 'data').then(() => undefined);
        const err = await Promise.race([more, over]);
        if (err !== undefined && !pattern.test(printed())) {
          throw new Error(`it ended without ${pattern}: ${printed()}${err}`);
        }
      }
      return printed();
    };
    const live = { child, result, seen };
    this.#live.add(live);
    result.then(() => this.#live.delete(live));
    return live;
  }

  cuff(...args: readonly string[]): Promise<Result> {
    return this.with({}, ...args);
  }

  with(env: Readonly<Record<string, string>>, ...args: readonly string[]): Promise<Result> {
    const live = this.start([process.execPath, binary('cuff'), ...args], { env });
    live.child.stdin?.end();
    return live.result;
  }

  /** A run with a chosen id, to its end. */
  async run(id: string, ...command: readonly string[]): Promise<Result> {
    return this.cuff('run', '--session-id', id, '--', ...command);
  }

  /** A run whose shell is done and that left somebody behind, who holds our streams, too. */
  async leaving(id: string, ...command: readonly string[]): Promise<Live> {
    const words = ['run', '--session-id', id, '--', ...command];
    const live = this.start([process.execPath, binary('cuff'), ...words]);
    live.child.stdin?.end();
    await once(live.child, 'exit');
    return live;
  }

  /** A run that goes on; it has printed what `pattern` wants. */
  async running(id: string, pattern: RegExp, ...command: readonly string[]): Promise<Live> {
    const words = ['run', '--session-id', id, '--', ...command];
    const live = this.start([process.execPath, binary('cuff'), ...words]);
    await live.seen(pattern);
    return live;
  }

  async json<T>(...args: readonly string[]): Promise<T> {
    return JSON.parse((await this.cuff(...args, '--json')).out);
  }

  async ps(): Promise<readonly RunJson[]> {
    return (await this.json<{ runs: RunJson[] }>('ps')).runs;
  }

  /**
   * A live run once it has processes with these commands: a shell prints before the processes it
   * has forked have become what they will be.
   */
  async live(id: string, ...commands: readonly string[]): Promise<RunJson> {
    const deadline = Date.now() + FACT_MS_MAX;
    while (true) {
      const run = (await this.ps()).find((one) => one.session_id === id);
      const there = run?.processes.map(({ command }) => command) ?? [];
      if (run !== undefined && commands.every((command) => there.includes(command))) return run;
      if (Date.now() > deadline) throw new Error(`${id} has only: ${there.join(', ')}`);
    }
  }

  /** The processes of a live run, once those commands are among them. */
  async pids(id: string, ...commands: readonly string[]): Promise<number[]> {
    return (await this.live(id, ...commands)).processes.map(({ pid }) => pid);
  }

  async close(): Promise<void> {
    for (const { session_id } of await this.ps())
      await this.cuff('kill', session_id, '--grace', '0');
    for (const live of [...this.#live]) {
      live.child.kill('SIGKILL');
      // Survivors may hold the streams for longer than anybody wants to wait.
      live.child.stdout?.destroy();
      live.child.stderr?.destroy();
      await live.result;
    }
    rmSync(this.root, { recursive: true, force: true, maxRetries: 5 });
  }
}

export function alive(pid: number): boolean {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
    return !/^[ZX]/.test(stat.slice(stat.lastIndexOf(')') + 2));
  } catch {
    return false; // no such process
  }
}

/** Resolves once `fact` is true; looks again and again, for what tells nobody that it happened. */
export async function until(fact: () => boolean, what: string): Promise<void> {
  const deadline = Date.now() + FACT_MS_MAX;
  while (!fact()) {
    if (Date.now() > deadline) throw new Error(`never came true: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

/** The live processes that have this variable in their environment. */
export function processesWith(variable: string): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .filter((name) => {
      try {
        const block = readFileSync(`/proc/${name}/environ`, 'latin1');
        return alive(Number(name)) && block.split('\0').includes(variable);
      } catch {
        return false; // gone, or not ours
      }
    })
    .map(Number);
}

/** The columns that change from run to run, made equal and of equal width. */
export function steady(text: string): string {
  return text.replace(/ *\b\d+[sm]\b/g, (age) => '0s'.padStart(age.length));
}
