// Servers as processes of their own, for tests that kill them. They are ended with their test.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { build } from 'esbuild';
import { onTestFinished } from 'vitest';
import type { ToolResult } from '../../src/host/plugin.ts';
import { runnerPath } from '../shell/backends.ts';
import type { Answer, World } from './helper.ts';

/** The program of a server; made once for each test. */
async function bundle(dir: string): Promise<string> {
  const outfile = join(dir, 'server.mjs');
  const require = 'import{createRequire as __cr}from"node:module";';
  await build({
    entryPoints: [join(import.meta.dirname, '..', 'fixtures', 'recorder-server.ts')],
    outfile,
    bundle: true,
    platform: 'node',
    target: 'node20',
    format: 'esm',
    banner: { js: `${require}const require=__cr(import.meta.url);` },
    external: ['@lydell/node-pty', 'libsql'],
    logLevel: 'silent',
  });
  return outfile;
}

const bundles = new WeakMap<World, Promise<string>>();

export class Server {
  readonly child: ChildProcess;
  readonly #waiting = new Map<number, (result: ToolResult) => void>();
  readonly #ready: Promise<void>;
  #last = 0;

  private constructor(child: ChildProcess) {
    this.child = child;
    let ready: () => void = () => undefined;
    this.#ready = new Promise((resolve) => {
      ready = resolve;
    });
    if (child.stdout === null) throw new Error('no stdout');
    createInterface({ input: child.stdout }).on('line', (line) => {
      const message = JSON.parse(line);
      if (message.ready === true) ready();
      else this.#waiting.get(message.id)?.(message.result);
    });
    child.stdin?.on('error', () => undefined); // it may be killed while somebody asks
  }

  static async start(world: World, config: unknown = {}): Promise<Server> {
    const made = bundles.get(world) ?? bundle(world.dir);
    bundles.set(world, made);
    const { stateRoot, project } = world;
    const child = spawn(
      process.execPath,
      [await made, JSON.stringify({ stateRoot, project, config })],
      { stdio: ['pipe', 'pipe', 'inherit'], env: { ...process.env, CUFF_RUNNER: runnerPath } },
    );
    const server = new Server(child);
    onTestFinished(() => server.kill());
    const dead = once(child, 'exit').then(() => Promise.reject(new Error('it did not start')));
    await Promise.race([server.#ready, dead]);
    return server;
  }

  /** Never resolves when the server is killed first. */
  call(name: string, args: Readonly<Record<string, unknown>> = {}): Promise<ToolResult> {
    this.#last += 1;
    const id = this.#last;
    this.child.stdin?.write(`${JSON.stringify({ id, name, args })}\n`);
    return new Promise((resolve) => this.#waiting.set(id, resolve));
  }

  async execute(command: string): Promise<Answer> {
    const { success, text } = await this.call('execute', { command });
    if (!success) throw new Error(text);
    return JSON.parse(text);
  }

  /** As a crash would: nothing is told to anybody. */
  kill(): Promise<void> {
    return this.#end('SIGKILL');
  }

  stop(): Promise<void> {
    return this.#end('SIGTERM');
  }

  async #end(signal: NodeJS.Signals): Promise<void> {
    if (this.child.exitCode !== null || this.child.signalCode !== null) return;
    const ended = once(this.child, 'exit');
    this.child.kill(signal);
    await ended;
  }
}
