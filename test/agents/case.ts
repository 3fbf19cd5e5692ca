// One case: an agent program with a home, a project and a scripted model of its own. What the case
// started is found by a mark in its environment, and ended by its id.
import { type ChildProcess, type SpawnOptions, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { expect, onTestFinished } from 'vitest';
import { journalSessionIds, type ReadSession, readSession } from '../../src/journal/reader.ts';
import type { Entry } from '../../src/types.ts';
import { Terminal } from '../shell/tmux.ts';
import { cacheRoot, programCommand, programDirectory } from './cache.ts';
import type { AgentClient, Places, Start } from './clients/client.ts';
import { ScriptedModel } from './model/model.ts';
import type { Script } from './model/script.ts';
import { PROGRAMS } from './programs.ts';

/** Far beyond what a slow machine needs for the longest script. */
const AGENT_MS_MAX = 500_000;

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
  #closed = false;
  #starter: readonly string[] = [];

  private constructor(client: AgentClient, model: ScriptedModel) {
    const cases = join(cacheRoot(), 'cases');
    mkdirSync(cases, { recursive: true });
    this.#root = mkdtempSync(join(cases, `${client.name}-`));
    this.#client = client;
    this.model = model;
    this.home = this.#made('home');
    this.project = this.#made('project');
    this.#made('tmp');
    this.#made('bin');
    symlinkSync(join(ROOT, 'dist', 'cuff.cjs'), this.cuffProgram);
    const words = programCommand(client.name).map((word) => `'${word}'`);
    const line = `${this.#modules()}exec ${words.join(' ')} "$@"`;
    writeFileSync(this.program, `#!/bin/sh\n${line}\n`, { mode: 0o755 });
    client.prepare(this, model.url);
  }

  /** What the program requires by name, where it looks for it. */
  #modules(): string {
    const { modules } = PROGRAMS[this.#client.name];
    if (modules === undefined) return '';
    const directory = this.#made('modules');
    for (const [name, module] of Object.entries(modules)) {
      symlinkSync(programDirectory(module), join(directory, name));
    }
    return `NODE_PATH='${directory}' `;
  }

  static async start(client: AgentClient, script: Script): Promise<AgentCase> {
    const { end } = client;
    const turns = Object.entries(script).map(([mark, all]) => [mark, [...all, { calls: [end] }]]);
    const ended = end === undefined ? script : Object.fromEntries(turns);
    const one = new AgentCase(client, await ScriptedModel.start(ended));
    onTestFinished(() => one[Symbol.asyncDispose]()); // also when the test failed or took too long
    return one;
  }

  get env(): Record<string, string> {
    return {
      PATH: `${join(this.#root, 'bin')}:${process.env.PATH}`,
      HOME: this.home,
      TMPDIR: join(this.#root, 'tmp'),
      SHELL: '/bin/bash',
      LANG: 'C.UTF-8',
      TERM: 'dumb',
      CUFF_AGENT_CASE: this.#root,
      CUFF_HOOK_DEADLINE_MS: '9000', // the most there is: how soon it answers is not tested here
      ...this.#client.env(this, this.model.url),
    };
  }

  /** The agent works on the prompt to its end. */
  async agent(prompt: string, start: Partial<Start> = {}): Promise<Result> {
    const child = this.startAgent(prompt, start);
    const late = setTimeout(() => child.kill('SIGKILL'), AGENT_MS_MAX);
    const result = await resultOf(child);
    clearTimeout(late);
    if (result.signal === 'SIGKILL') {
      const heard = JSON.stringify(this.model.results('main').slice(-3));
      throw new Error(`${this.#client.name} did not end: ${heard} ${result.out}${result.err}`);
    }
    return result;
  }

  startAgent(prompt: string, start: Partial<Start> = {}): ChildProcess {
    return this.spawn(this.#agentCommand(prompt, start));
  }

  /** As a terminal would start it: in a group of processes that is signaled as one. */
  startAgentGroup(prompt: string): ChildProcess {
    return this.spawn(this.#agentCommand(prompt), { detached: true });
  }

  /** In a terminal, where a person may answer it. */
  openWindow(prompt: string, args: readonly string[] = []): Terminal {
    const { window, name } = this.#client;
    if (window === undefined) throw new Error(`how ${name} is started in a terminal is not known`);
    window.prepare(this);
    const words = window.args({ prompt, permissions: 'rules', args });
    const command = [...this.#starter, this.program, ...words];
    return new Terminal(120, 45, { command, cwd: this.project, env: this.env });
  }

  #agentCommand(prompt: string, start: Partial<Start> = {}): string[] {
    const args = this.#client.args({ prompt, permissions: 'all', args: [], ...start });
    return [...this.#starter, this.program, ...args];
  }

  /** The agent program, under the name that people start it by. */
  get program(): string {
    return join(this.#root, 'bin', this.#client.name);
  }

  /** From now on the program is started so that its commands run in the shell that records. */
  record(): void {
    this.#starter = [this.cuffProgram, 'exec'];
  }

  /** Gives the program `cuff mcp`, as a person would. */
  async addMcp(): Promise<void> {
    const { addMcp, init } = this.#client;
    if (addMcp !== undefined) addMcp(this);
    else expect(await this.cuff('init', '--client', init, '--yes')).toMatchObject({ code: 0 });
  }

  async cuff(...args: readonly string[]): Promise<Result> {
    return await this.run([this.cuffProgram, ...args]);
  }

  get cuffProgram(): string {
    return join(this.#root, 'bin', 'cuff');
  }

  async run(command: readonly string[]): Promise<Result> {
    return await resultOf(this.spawn(command));
  }

  spawn([file = '', ...args]: readonly string[], options: SpawnOptions = {}): ChildProcess {
    return spawn(file, args, {
      ...options,
      cwd: this.project,
      env: this.env,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
  }

  /** A text that the client made, without what differs from one case to the next. */
  neutral(text: string): string {
    return text
      .replaceAll(this.#root, '<case>')
      .replaceAll(this.#root.replaceAll(/[^a-zA-Z0-9]/g, '-'), '<case>')
      .replace(/^Chunk ID: .*$/m, 'Chunk ID: <id>')
      .replace(/^Wall time: .*$/m, 'Wall time: <time>')
      .replace(/^Process Group PGID: \d+$/m, 'Process Group PGID: <pgid>')
      .replaceAll(/y{1000,}|[\d,]+ characters omitted/g, '<much>') // counted with the group
      .replace(/(saved to|Full output): <case>.*$/m, '$1: <file>')
      .replaceAll(/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, '<uuid>');
  }

  /** Resolves when every process of the case has ended: some servers end behind their clients. */
  async quiet(): Promise<void> {
    expect(await leftOf(this.#root)).toEqual([]);
  }

  /** What the journal of the project has, in the order of the commands. */
  entries(): Entry[] {
    const entries = this.sessions().flatMap((session) => session.entries);
    return entries.sort((a, b) => Date.parse(a.timestamp) - Date.parse(b.timestamp));
  }

  sessions(): ReadSession[] {
    const directory = join(this.project, '.cuff', 'recordings');
    return journalSessionIds(directory).flatMap((id) => readSession(directory, id) ?? []);
  }

  /** Everything the case started has ended by itself; what has not is ended, and is a failure. */
  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    this.model.close();
    const left = await leftOf(this.#root);
    for (const { pid } of left) endProcess(pid);
    rmSync(this.#root, { recursive: true, force: true, maxRetries: 5 });
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
