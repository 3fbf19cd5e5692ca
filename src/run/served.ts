// The native backend of a long-lived process: one `runner serve` that forks a runner per run, so
// that starting a run costs neither this process's size nor its event loop. The serving process
// ends with us; the runs go on.

import { spawn } from 'node:child_process';
import { Socket } from 'node:net';
import type { ProcessId } from '../types.ts';
import { socketOf, spawnTrouble } from './attached.ts';
import { startForwarded } from './forwarded.ts';
import { heldWord, listenTo, runnerWords } from './messages.ts';
import { handleOver, orderQueue } from './orders.ts';
import { send } from './portable-group.ts';
import { processAlive } from './processes.ts';
import {
  type Backend,
  type Handle,
  type Listener,
  type RunMessage,
  type RunSpec,
  startsEarly,
} from './spec.ts';

/** Runs that a dead server had started report within this time; other requests are lost. */
const LAST_WORDS_MS = 1_000;

export function servedBackend(runner: string): Backend {
  let server: Server | undefined;
  const serving = (): Server => {
    if (server === undefined || server.gone) server = new Server(runner);
    return server;
  };
  return {
    kind: 'native',
    prepare: (spec) => (startsEarly(spec) ? serving().prepare(spec) : undefined),
    start(spec, listener) {
      const { memory } = spec;
      if (memory !== undefined) return startForwarded(runner, { ...spec, memory }, listener);
      return serving().start(spec, listener);
    },
    close() {
      server?.close();
      server = undefined;
    },
  };
}

type Served = {
  readonly listener: Listener;
  readonly send: (order: string) => void;
  /** Orders given before the runner has made its FIFO; undefined once it has. */
  early: string[] | undefined;
  /** The command, to signal where there is no FIFO. */
  child?: ProcessId;
  /** It has no capture, and so no FIFO. */
  bare?: boolean;
};

class Server {
  readonly #socket: Socket;
  readonly #runs = new Map<string, Served>();
  /** The run that a runner prepares, and that waits for our word. */
  #held: RunSpec | undefined;
  /** No longer there to take requests. Its runs may well be. */
  gone = false;

  constructor(runner: string) {
    const child = spawn(runner, ['serve'], {
      stdio: ['ignore', 'ignore', 'ignore', 'pipe'],
      detached: true,
    });
    const socket = socketOf(child);
    child.on('error', (error) => this.#refuse(spawnTrouble(error)));
    this.#socket = socket ?? new Socket();
    if (socket === undefined) return; // the error follows
    listenTo(socket, (id, message) => this.#deliver(id, message));
    // Runners hold the socket too: it closes only when the last of them is gone as well.
    this.#socket.on('close', () => this.#lose(() => true));
    this.#socket.on('error', () => this.#socket.destroy());
    child.on('exit', () => {
      this.gone = true;
      this.#socket.end(); // the spare it left behind sees the end; runners do not read
      // Asking again could start a command twice: better to say that it was lost.
      setTimeout(() => this.#lose((run) => run.early !== undefined), LAST_WORDS_MS).unref();
    });
    child.unref();
    this.#socket.unref();
  }

  /** Returns what withdraws it. */
  prepare(spec: RunSpec): () => void {
    this.#withdraw();
    this.#write(encodeRequest(runnerWords(spec, true), spec.env));
    this.#held = spec;
    return () => this.#withdraw();
  }

  start(spec: RunSpec, listener: Listener): Handle {
    const direct = (order: string): void => {
      const { child } = run;
      if (child === undefined || !this.#runs.has(spec.id) || !processAlive(child)) return;
      signalDirectly(child.pid, order);
    };
    const queue = spec.dir === undefined ? direct : orderQueue(spec.dir, direct);
    const send = (order: string): void => {
      if (run.early !== undefined) run.early.push(order);
      else if (run.bare === true) direct(order);
      else queue(order);
    };
    const run: Served = { listener, send, early: [] };
    this.#runs.set(spec.id, run);
    this.#socket.ref();
    if (this.#held === spec) {
      this.#held = undefined;
      this.#write(heldWord(true));
    } else {
      this.#withdraw();
      this.#write(encodeRequest(runnerWords(spec), spec.env));
    }
    return handleOver(send);
  }

  #withdraw(): void {
    if (this.#held !== undefined) this.#write(heldWord(false));
    this.#held = undefined;
  }

  #write(bytes: Buffer): void {
    if (this.#socket.writable) this.#socket.write(bytes);
  }

  close(): void {
    this.gone = true;
    this.#socket.destroy();
  }

  #deliver(id: string, message: RunMessage): void {
    const run = this.#runs.get(id);
    if (run === undefined) return;
    if (message.kind === 'uncaptured') run.bare = true;
    else this.#flush(run, message);
    if (message.kind === 'failed' || message.kind === 'ended' || message.kind === 'gone') {
      this.#runs.delete(id);
    }
    // Runs keep this process alive only while someone here waits for them.
    if (this.#runs.size === 0) this.#socket.unref();
    run.listener(message);
  }

  #flush(run: Served, message: RunMessage): void {
    if (message.kind === 'started') run.child = message.child;
    const { early = [] } = run;
    run.early = undefined;
    early.forEach(run.send);
  }

  /** There never was a server: nothing that it was asked for has begun. */
  #refuse(trouble: { readonly error: string; readonly message: string }): void {
    this.gone = true;
    const failed = { kind: 'failed', stage: 'runner', ...trouble } as const;
    for (const id of [...this.#runs.keys()]) this.#deliver(id, failed);
    this.#socket.destroy();
  }

  #lose(which: (run: Served) => boolean): void {
    this.gone = true;
    for (const [id, run] of [...this.#runs]) if (which(run)) this.#deliver(id, { kind: 'gone' });
  }
}

/** The orders that matter, without a runner that could take them: to the command's group. */
function signalDirectly(pid: number, order: string): void {
  const [word, name = 'TERM', graceMs = '0'] = order.split(' ');
  const signal = (name.startsWith('SIG') ? name : `SIG${name}`) as NodeJS.Signals;
  if (word === 'signal') send(pid, signal);
  if (word !== 'kill') return;
  send(-pid, signal);
  setTimeout(send, Number(graceMs), -pid, 'SIGKILL');
}

/** Most runs share one environment object: its block is built once. */
const environments = new WeakMap<object, { count: number; block: Buffer }>();

function environmentBlock(env: Readonly<Record<string, string>>): { count: number; block: Buffer } {
  const known = environments.get(env);
  if (known !== undefined) return known;
  const entries = Object.entries(env);
  const text = entries.map(([name, value]) => `${name}=${value}\0`).join('');
  const made = { count: entries.length, block: Buffer.from(text) };
  environments.set(env, made);
  return made;
}

/** Described in native/serve.c. */
function encodeRequest(words: readonly string[], env: Readonly<Record<string, string>>): Buffer {
  const { count, block } = environmentBlock(env);
  const text = Buffer.from(words.map((word) => `${word}\0`).join(''));
  const head = new Uint32Array([text.length + block.length, words.length, count]);
  return Buffer.concat([Buffer.from(head.buffer), text, block]);
}
