// One case: an agent program with a home, a project and a scripted model of its own. What the case
// started is found by a mark in its environment, and ended by its id.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { expect } from 'vitest';
import { journalSessionIds, type ReadSession, readSession } from '../../src/journal/reader.ts';
import type { Entry } from '../../src/types.ts';
import { cacheRoot } from './cache.ts';
import type { AgentClient, Places, Start } from './clients/client.ts';
import { ScriptedModel } from './model/model.ts';
import type { Script } from './model/script.ts';

/** Far beyond what a slow machine needs to end what was told to end. */
const END_MS_MAX = 60_000;

const ROOT = join(import.meta.dirname, '..', '..');

export interface Result {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly out: string;
  readonly err: string;
}

export class AgentCase implements Places {
  readonly home: string;
  readonly project: string;
  readonly #root: string;
  readonly #client: AgentClient;
  readonly model: ScriptedModel;

  private constructor(client: AgentClient, model: ScriptedModel) {
    const cases = join(cacheRoot(), 'cases');
    mkdirSync(cases, { recursive: true });
    this.#root = mkdtempSync(join(cases, `${client.name}-`));
    this.#client = client;
    this.model = model;
    this.home = this.#made('home');
    this.project = this.#made('project');
    this.#made('tmp');
    symlinkSync(join(ROOT, 'dist', 'cuff.cjs'), join(this.#made('bin'), 'cuff'));
    client.prepare(this, model.url);
  }

  static async start(client: AgentClient, script: Script): Promise<AgentCase> {
    const { end } = client;
    const turns = Object.entries(script).map(([mark, all]) => [mark, [...all, { calls: [end] }]]);
    const ended = end === undefined ? script : Object.fromEntries(turns);
    return new AgentCase(client, await ScriptedModel.start(ended));
  }

  get env(): Record<string, string> {
    return {
      PATH: `${join(this.#root, 'bin')}:${process.env.PATH}`,
      HOME: this.home,
      TMPDIR: join(this.#root, 'tmp'),
      LANG: 'C.UTF-8',
      TERM: 'dumb',
      CUFF_AGENT_CASE: this.#root,
      ...this.#client.env(this, this.model.url),
    };
  }

  /** The agent works on the prompt to its end. */
  async agent(prompt: string, start: Partial<Start> = {}): Promise<Result> {
    const command = this.#client.command({ prompt, permissions: 'all', args: [], ...start });
    return await this.run(command);
  }

  /** Gives the program `cuff mcp`, as a person would. */
  async addMcp(): Promise<void> {
    const { addMcp, init } = this.#client;
    if (addMcp !== undefined) addMcp(this);
    else expect(await this.cuff('init', '--client', init, '--yes')).toMatchObject({ code: 0 });
  }

  async cuff(...args: readonly string[]): Promise<Result> {
    return await this.run([join(this.#root, 'bin', 'cuff'), ...args]);
  }

  async run(command: readonly string[]): Promise<Result> {
    return await resultOf(this.spawn(command));
  }

  spawn([file = '', ...args]: readonly string[]): ChildProcess {
    return spawn(file, args, {
      cwd: this.project,
      env: this.env,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
  }

  /** Resolves when every process of the case has ended: some servers end behind their clients. */
  async quiet(): Promise<void> {
    expect(await leftOf(this.#root)).toEqual([]);
  }

  /** What the journal of the project has, in its order. */
  entries(): Entry[] {
    return this.sessions().flatMap(({ entries }) => entries);
  }

  sessions(): ReadSession[] {
    const directory = join(this.project, '.cuff', 'recordings');
    return journalSessionIds(directory).flatMap((id) => readSession(directory, id) ?? []);
  }

  /** Everything the case started has ended by itself; what has not is ended, and is a failure. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.model.close();
    const left = await leftOf(this.#root);
    for (const { pid } of left) endProcess(pid);
    rmSync(this.#root, { recursive: true, force: true });
    expect(left.map(({ command }) => command)).toEqual([]);
  }

  #made(name: string): string {
    const path = join(this.#root, name);
    mkdirSync(path);
    return path;
  }
}

async function resultOf(child: ChildProcess): Promise<Result> {
  const [out, err]: [Buffer[], Buffer[]] = [[], []];
  child.stdout?.on('data', (piece: Buffer) => out.push(piece));
  child.stderr?.on('data', (piece: Buffer) => err.push(piece));
  const [code, signal] = await once(child, 'close');
  return { code, signal, out: Buffer.concat(out).toString(), err: Buffer.concat(err).toString() };
}

interface Left {
  readonly pid: number;
  readonly command: string;
}

/** What does not end by itself: it is given time, because servers end behind their clients. */
async function leftOf(mark: string): Promise<Left[]> {
  const until = performance.now() + END_MS_MAX;
  let left = processesOf(mark);
  while (left.length > 0 && performance.now() < until) {
    await wait(20);
    left = processesOf(mark);
  }
  return left;
}

/** Processes that have the mark of a case in their environment. */
function processesOf(mark: string): Left[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((name) => {
      try {
        if (!readFileSync(`/proc/${name}/environ`).includes(`CUFF_AGENT_CASE=${mark}\0`)) return [];
        const command = readFileSync(`/proc/${name}/cmdline`, 'utf8').replaceAll('\0', ' ');
        return [{ pid: Number(name), command }];
      } catch {
        return []; // it has ended, or is not ours
      }
    });
}

function endProcess(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // It has ended by itself.
  }
}
