// A helper that stays behind its call, for the next calls of the same world (native/sh-world.c):
// starting Node takes longer than all that a call needs. It listens on `<state root>/helpers/NAME`,
// where NAME is a hash of that world, and does nothing for a client that has not said `go`. It ends
// when the agents it served are gone, after a minute without a call, when it has grown, and when
// its socket is no longer there, but never while a call is open.

import * as fs from 'node:fs';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { join } from 'node:path';
import { ensurePrivateDir, isPrivateDir } from '../../capture/paths.ts';
import { namesIn } from '../../directories.ts';
import { errnoOf } from '../../errors.ts';
import { processAlive, statOf } from '../../run/processes.ts';
import { deferred } from '../../shell/run.ts';
import type { ProcessId } from '../../types.ts';
import { type Channel, channelOver } from './channel.ts';
import { type CallRequest, REQUEST_BYTES_MAX, RequestReader } from './request.ts';

export type ResidentOptions = {
  readonly root: string;
  readonly name: string;
  readonly world: string;
  /** Answers a call; `rest` is what is still to be written behind the answer. */
  readonly serve: (
    request: CallRequest,
    channel: Channel,
  ) => Promise<{ readonly rest: Promise<void> }>;
  readonly now?: () => number;
  /** Bytes of memory that this process takes. */
  readonly memory?: () => number;
  /** How long it stays without a call. */
  readonly idleMs?: number | undefined;
};

const IDLE_MS = 60_000; // an agent that thinks longer pays one start of Node

/** It grows with its calls, to about 110 MB; a new one costs one start of Node in so many. */
const MEMORY_BYTES_MAX = 80 * 1024 * 1024;
const CALLS_MIN = 50;

const LOOK_MS = 200; // Node is told nothing of the end of a process that is not its child

const CONFIRMS = 30; // so many waits for a client fit into one for a call; it gives up after 250 ms

/** Connections that have not said `go`, and the bytes they may bring: clients have one request. */
const WAITING_MAX = 256;
const WAITING_BYTES_MAX = 2 * REQUEST_BYTES_MAX;

const LEFT_OVER_MS = 60_000;

const GO = 'go\n';

const NAME = /^\.?[0-9a-f]{16}(?:\.\d+)?$/;

export class Resident {
  /**
   * When there is nothing more to do, and nothing more comes. `displaced`: it has lost its socket,
   * most likely with the state root around it, where it must leave nothing more.
   */
  readonly ended: Promise<'done' | 'displaced'>;
  readonly #over = deferred<'done' | 'displaced'>();
  readonly #options: ResidentOptions;
  readonly #server: Server;
  readonly #path: string;
  readonly #now: () => number;
  readonly #memory: () => number;
  readonly #idleMs: number;
  readonly #looks: NodeJS.Timeout;
  readonly #waiting = new Map<Socket, RequestReader>();
  readonly #agents = new Map<number, ProcessId>();
  #inode = 0;
  #open = 0;
  #calls = 0;
  #usedAt: number;
  #stopped = false;
  #displaced = false;

  private constructor(options: ResidentOptions, directory: string) {
    this.#options = options;
    this.#now = options.now ?? (() => performance.now());
    this.#memory = options.memory ?? (() => process.memoryUsage.rss());
    this.#idleMs = options.idleMs ?? IDLE_MS;
    this.#usedAt = this.#now();
    this.#path = join(directory, options.name);
    this.#server = createServer((socket) => this.#accept(socket));
    this.#looks = setInterval(() => this.look(), LOOK_MS);
    this.ended = this.#over.promise;
  }

  /** Undefined where another one has the name, or a sandbox lets no process listen. */
  static async open(options: ResidentOptions): Promise<Resident | undefined> {
    const directory = join(options.root, 'helpers');
    try {
      if (!NAME.test(options.name) || !isPrivateDir(options.root)) return undefined;
      ensurePrivateDir(directory);
    } catch {
      return undefined;
    }
    const made = new Resident(options, directory);
    if (await made.#listen(directory)) return made;
    clearInterval(made.#looks);
    made.#server.close();
    return undefined;
  }

  /** Keeps it until then. Never rejects. */
  async during(work: Promise<unknown>): Promise<void> {
    this.#open += 1;
    this.#calls += 1;
    await work.catch(() => undefined); // its client has seen the end of the connection
    this.#open -= 1;
    this.#usedAt = this.#now();
    this.#endIfDone();
  }

  calledBy(pid: number): void {
    const agent = statOf(pid);
    if (agent !== undefined) this.#agents.set(pid, agent);
  }

  /** Whether there is still a reason to stay. */
  look(): void {
    for (const agent of this.#agents.values()) {
      if (!processAlive(agent)) this.#agents.delete(agent.pid);
    }
    const unused = this.#agents.size === 0 || this.#now() - this.#usedAt >= this.#idleMs;
    const over = unused || (this.#calls >= CALLS_MIN && this.#memory() > MEMORY_BYTES_MAX);
    if ((over && this.#open === 0) || !this.#named()) this.stop();
  }

  /** No more calls; those that are open come to their ends. */
  stop(): void {
    if (this.#stopped) return;
    this.#stopped = true;
    this.#displaced = !this.#named();
    clearInterval(this.#looks);
    try {
      if (!this.#displaced) fs.unlinkSync(this.#path);
    } catch {
      // A read-only file system by now: clients are refused.
    }
    this.#server.close();
    for (const socket of this.#waiting.keys()) socket.destroy();
    this.#endIfDone();
  }

  #endIfDone(): void {
    if (!this.#stopped || this.#open > 0) return;
    this.#over.resolve(this.#displaced ? 'displaced' : 'done');
  }

  /** Under a draft's name first, so that a name always has a listener or nothing behind it. */
  async #listen(directory: string): Promise<boolean> {
    const { O_RDONLY, O_DIRECTORY, O_NOFOLLOW } = fs.constants;
    const draft = `.${this.#options.name}.${process.pid}`;
    try {
      // By the descriptor: a path of a socket has room for 107 bytes.
      const at = `/proc/self/fd/${fs.openSync(directory, O_RDONLY | O_DIRECTORY | O_NOFOLLOW)}`;
      fs.rmSync(join(at, draft), { force: true }); // of a process that had our pid
      if (!(await listening(this.#server, join(at, draft)))) return false;
      this.#inode = fs.lstatSync(join(at, draft)).ino;
      const taken = await takeName(join(at, draft), join(at, this.#options.name));
      removeLeftOvers(at, Date.now());
      return taken;
    } catch {
      return false;
    }
  }

  #named(): boolean {
    return fs.lstatSync(this.#path, { throwIfNoEntry: false })?.ino === this.#inode;
  }

  #accept(socket: Socket): void {
    socket.on('error', () => socket.destroy());
    if (this.#stopped || this.#waiting.size >= WAITING_MAX) {
      socket.destroy();
      return;
    }
    const reader = new RequestReader();
    const timer = setTimeout(() => socket.destroy(), this.#idleMs / CONFIRMS);
    const settled = (): void => {
      clearTimeout(timer);
      this.#waiting.delete(socket);
    };
    this.#waiting.set(socket, reader);
    socket.once('close', settled);
    let request: CallRequest | undefined;
    let word = '';
    const heard = (piece: Buffer): void => {
      if (request === undefined) {
        const got = this.#hasRoom() ? reader.add(piece) : 'wrong';
        if (got === 'more') return;
        if (got === 'wrong' || got.world !== this.#options.world) socket.destroy();
        else request = got;
        if (request !== undefined) socket.write('hello\n');
        return;
      }
      word += piece.toString('latin1');
      if (word.length < GO.length) return;
      settled();
      socket.off('data', heard);
      if (word === GO) void this.during(this.#serve(request, socket));
      else socket.destroy();
    };
    socket.on('data', heard);
  }

  #hasRoom(): boolean {
    let bytes = 0;
    for (const { length } of this.#waiting.values()) bytes += length;
    return bytes <= WAITING_BYTES_MAX;
  }

  async #serve(request: CallRequest, socket: Socket): Promise<void> {
    this.calledBy(request.parent);
    try {
      const { rest } = await this.#options.serve(request, channelOver(socket));
      socket.end();
      await rest;
    } finally {
      // It may not read its answer.
      setTimeout(() => socket.destroy(), this.#idleMs / CONFIRMS).unref();
      socket.end();
    }
  }
}

function listening(server: Server, path: string): Promise<boolean> {
  const settled = deferred<boolean>();
  server.once('error', () => settled.resolve(false));
  server.listen(path, () => settled.resolve(true));
  return settled.promise;
}

/** One of several wins; a name whose helper was killed is free. */
async function takeName(draft: string, path: string): Promise<boolean> {
  try {
    fs.linkSync(draft, path);
    fs.unlinkSync(draft);
    return true;
  } catch (error) {
    if (errnoOf(error) !== 'EEXIST' || !(await isDead(path))) {
      fs.rmSync(draft, { force: true });
      return false;
    }
  }
  fs.renameSync(draft, path);
  return true;
}

/** Of killed helpers of other worlds. A draft is young: its helper may not listen yet. */
function removeLeftOvers(directory: string, now: number): void {
  for (const name of namesIn(directory).filter((one) => NAME.test(one))) {
    const path = join(directory, name);
    const at = fs.lstatSync(path, { throwIfNoEntry: false })?.mtimeMs ?? now;
    if (now - at < LEFT_OVER_MS) continue;
    void isDead(path).then((dead) => {
      if (dead) fs.rmSync(path, { force: true });
    });
  }
}

/** A socket that no process listens on. */
function isDead(path: string): Promise<boolean> {
  const settled = deferred<boolean>();
  const socket = connect(path);
  socket.once('connect', () => settled.resolve(false));
  socket.once('error', (error) => settled.resolve(errnoOf(error) === 'ECONNREFUSED'));
  void settled.promise.then(() => socket.destroy());
  return settled.promise;
}
