// A machine with runs on it and a server beside them: the built programs, a state root and a
// project directory of their own. Whatever a test leaves is ended by its id and removed.
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { alive, binary, Cli, until } from '../cli/helper.ts';
import type { Answer, Connect, TestClient } from './clients.ts';

type Shape = Readonly<Record<string, unknown>>;

// Whether runs can be traced is tested once for all: each server would test it anew in a home of
// its own, and one test in hundreds that takes too long is enough to lose.
const CACHE = join(homedir(), '.cache');

export class Life {
  readonly cli = new Cli();
  readonly #clients: TestClient[] = [];
  readonly #children: ChildProcess[] = [];

  constructor() {
    mkdirSync(this.project);
    onTestFinished(() => this.close());
  }

  /** Where the server runs: its settings and its journal are here. */
  get project(): string {
    return `${this.cli.root}-project`;
  }

  get env(): Record<string, string> {
    const { CUFF_SETTINGS: _, ...env } = this.cli.env;
    const { project: HOME, project: XDG_CONFIG_HOME } = this;
    return { XDG_CACHE_HOME: CACHE, ...env, HOME, XDG_CONFIG_HOME } as Record<string, string>;
  }

  /** What starts a server. The shell only changes the directory: its pid becomes the server's. */
  command(program: 'cuff' | 'derun', ...args: readonly string[]): [string, string[]] {
    // What a test writes into its project was written by a person.
    const trust = program === 'cuff' ? ['--trust'] : [];
    const words = [process.execPath, binary(program), 'mcp', ...trust, ...args];
    return ['/bin/sh', ['-c', 'cd "$0" && exec "$@"', this.project, ...words]];
  }

  async connect(
    connect: Connect,
    program: 'cuff' | 'derun' = 'derun',
    ...args: readonly string[]
  ): Promise<TestClient> {
    const [file, words] = this.command(program, ...args);
    const client = await connect(file, words, this.env);
    this.#clients.push(client);
    return client;
  }

  /** A server whose client is somebody else. */
  start(
    [file, args]: readonly [string, readonly string[]],
    env: Readonly<Record<string, string>> = {},
  ): { readonly child: ChildProcess; readonly stderr: () => string } {
    const stdio = ['ignore', 'pipe', 'pipe'] as const;
    const child = spawn(file, args, { env: { ...this.env, ...env }, stdio: [...stdio] });
    let said = '';
    child.stderr?.on('data', (piece: Buffer) => {
      said += piece;
    });
    return { child: this.track(child), stderr: () => said };
  }

  /** Ends with the test. */
  track<T extends ChildProcess>(child: T): T {
    this.#children.push(child);
    return child;
  }

  settings(text: string): void {
    writeFileSync(join(this.project, 'settings.yml'), text);
  }

  async close(): Promise<void> {
    for (const client of this.#clients) {
      if (client.pid > 0 && alive(client.pid)) process.kill(client.pid, 'SIGKILL');
      await client.close().catch(() => undefined);
    }
    for (const child of this.#children) child.kill('SIGKILL');
    await this.cli.close();
    rmSync(this.project, { recursive: true, force: true, maxRetries: 5 });
  }
}

/** The facts of an answer that must have some. */
export function facts({ isError, text, structured }: Answer): Shape {
  if (isError || structured === undefined) throw new Error(text);
  return structured;
}

/** What the chunks of an answer printed. */
export function printed(answer: Answer): string {
  const chunks = facts(answer).chunks as readonly { data?: string; text?: string }[];
  return chunks
    .map(({ data, text }) => text ?? Buffer.from(data ?? '', 'base64').toString())
    .join('');
}

/** How many directories a process watches: what a wait that is over has stopped doing. */
export function watches(pid: number): number {
  const dir = `/proc/${pid}/fdinfo`;
  const infos = readdirSync(dir).map((fd) => {
    try {
      return readFileSync(join(dir, fd), 'utf8');
    } catch {
      return ''; // closed meanwhile
    }
  });
  return infos.join('\n').match(/^inotify wd:/gm)?.length ?? 0;
}

export function dead(pid: number): Promise<void> {
  return until(() => !alive(pid), `${pid} ends`);
}
