// The gate: a socket at which every traced program asks, before its main, whether it may begin. The
// shim and the runner are the clients (native/shim/gate.c, native/gate.c; native/trace.h has the
// bytes). It settles what a command's text could not tell, and is no sandbox: a program that was
// started without the shim does not ask, and a copy of a program under another name is another
// program. A client may send anything: nothing here throws because of it.

import { randomBytes } from 'node:crypto';
import * as fs from 'node:fs';
import { createConnection, createServer, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { makeDirectories } from '../directories.ts';
import { errnoOf } from '../errors.ts';

export type GateProcess = {
  /** As it gets them; its program may call itself what it likes in the first. */
  readonly argv: readonly string[];
  readonly cwd: string;
  /** The file that is executed, as far as it is known; for a script its interpreter. */
  readonly exe: string;
  readonly pid: number;
  /** There are more arguments than these. */
  readonly cut: boolean;
  /** Its run must not go on unjudged, whatever the policy says of others. */
  readonly strict: boolean;
};

export type GateVerdict =
  | { readonly allow: true }
  | { readonly allow: false; readonly message: string };

export type GateOptions = {
  /** The state root. Sockets are in a directory of their own there, for its user alone. */
  readonly directory: string;
  /** Asked for each name that the program can be known by; one refusal is enough. */
  readonly decide: (process: GateProcess) => GateVerdict;
  /** What could not be judged does not begin. */
  readonly strict: boolean;
  /** Told of each that does not begin. */
  readonly denied?: ((process: GateProcess) => void) | undefined;
};

type GateCounts = {
  readonly asked: number;
  readonly denied: number;
  /** Of those asked: known from before. */
  readonly cached: number;
  /** `decide` threw. */
  readonly failed: number;
  /** Not a question. */
  readonly malformed: number;
};

export type Gate = {
  readonly path: string;
  readonly strict: boolean;
  counts(): GateCounts;
  /** The policy is another one now. */
  forget(): void;
  close(): Promise<void>;
};

const MAGIC = 0x47464643;
const HEAD_BYTES = 24;
const FLAGS = { cut: 1, strict: 4 } as const;
const PATH_BYTES = 4096;
const QUESTION_BYTES_MAX = HEAD_BYTES + 2 * PATH_BYTES + (128 << 10);
const ADDRESS_BYTES_MAX = 107; // of sockaddr_un, without the NUL
const LINE_BYTES_MAX = 300;
const IDLE_MS = 2_000; // no client waits longer for an answer
const CONNECTIONS_MAX = 4_000;
const BACKLOG = 4_000;
const CACHE_MAX = 1_000;
const CACHE_KEY_BYTES_MAX = 8 << 10; // long ones hardly come again
const STALE_MS = 60_000;

/** Opened once for a server; every run that it starts may name it. Keeps no process alive. */
export async function openGate(options: GateOptions): Promise<Gate> {
  const { path, temporary } = addressIn(options.directory);
  const judge = new Judge(options);
  const sockets = new Set<Socket>();
  const server = createServer({ allowHalfOpen: true }, (socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
    attend(socket, judge);
  });
  server.maxConnections = CONNECTIONS_MAX;
  await listening(server, path);
  fs.chmodSync(path, 0o600);
  server.unref();
  return {
    path,
    get strict() {
      return options.strict;
    },
    counts: () => ({ ...judge.counts }),
    forget: () => judge.forget(),
    async close() {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      for (const socket of sockets) socket.destroy();
      await closed;
      if (temporary) fs.rmSync(dirname(path), { recursive: true, force: true });
    },
  };
}

function listening(server: Server, path: string): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen({ path, backlog: BACKLOG }, () => {
      server.off('error', reject);
      server.on('error', () => {}); // a connection could not be accepted: its client goes on
      resolve();
    });
  });
}

/** One question, one answer. */
function attend(socket: Socket, judge: Judge): void {
  const pieces: Buffer[] = [];
  let length = 0;
  socket.unref();
  socket.setTimeout(IDLE_MS, () => socket.destroy());
  socket.on('error', () => socket.destroy()); // it did not wait for the answer
  socket.on('end', () => socket.destroy());
  socket.on('data', (piece) => {
    pieces.push(piece);
    length += piece.length;
    const whole = pieces.length === 1 ? piece : Buffer.concat(pieces);
    pieces.splice(0, pieces.length, whole);
    const wanted = length < HEAD_BYTES ? HEAD_BYTES : questionBytes(whole);
    if (wanted !== undefined && length < wanted) return;
    socket.removeAllListeners('data');
    const answer = wanted === length ? judge.answer(whole) : judge.refuseWords();
    if (answer === undefined) socket.destroy();
    else socket.end(answer);
  });
}

/** How long it says it is; undefined for what is no question. */
function questionBytes(bytes: Buffer): number | undefined {
  const length = bytes.readUInt32LE(4);
  const possible = length > HEAD_BYTES && length <= QUESTION_BYTES_MAX;
  return bytes.readUInt32LE(0) === MAGIC && possible ? length : undefined;
}

const ALLOW = Buffer.from('A');

class Judge {
  readonly #options: GateOptions;
  /** Answers by what was asked, the oldest first. */
  readonly #known = new Map<string, Buffer>();
  readonly counts = { asked: 0, denied: 0, cached: 0, failed: 0, malformed: 0 };

  constructor(options: GateOptions) {
    this.#options = options;
  }

  forget(): void {
    this.#known.clear();
  }

  refuseWords(): undefined {
    this.counts.malformed += 1;
  }

  /** Undefined for what is no question. */
  answer(bytes: Buffer): Buffer | undefined {
    const process = decodeQuestion(bytes);
    if (process === undefined) return this.refuseWords();
    this.counts.asked += 1;
    // All but who asks.
    const key = bytes.length > CACHE_KEY_BYTES_MAX ? undefined : bytes.toString('latin1', 12);
    const known = key === undefined ? undefined : this.#known.get(key);
    if (known !== undefined) this.counts.cached += 1;
    const { answer, certain } =
      known === undefined ? this.#decided(process) : { answer: known, certain: true };
    if (key !== undefined && certain) this.#remember(key, answer);
    if (answer === ALLOW) return answer;
    this.counts.denied += 1;
    this.#options.denied?.(process);
    return answer;
  }

  #decided(process: GateProcess): { readonly answer: Buffer; readonly certain: boolean } {
    const { decide } = this.#options;
    const strict = this.#options.strict || process.strict;
    try {
      for (const argv of namings(process)) {
        const verdict = decide({ ...process, argv });
        if (!verdict.allow) return { answer: denial(verdict.message), certain: true };
      }
    } catch {
      // Its fault must not become the command's, unless that is what was asked for.
      this.counts.failed += 1;
      const answer = strict ? unjudged('it could not be judged', process) : ALLOW;
      return { answer, certain: false };
    }
    if (!strict || !process.cut) return { answer: ALLOW, certain: true };
    return { answer: unjudged('its arguments are too long to be judged', process), certain: true };
  }

  #remember(key: string, answer: Buffer): void {
    this.#known.delete(key);
    this.#known.set(key, answer);
    const [oldest] = this.#known.keys();
    if (this.#known.size > CACHE_MAX && oldest !== undefined) this.#known.delete(oldest);
  }
}

function decodeQuestion(bytes: Buffer): GateProcess | undefined {
  const [exe, cwd, ...rest] = bytes.toString('utf8', HEAD_BYTES).split('\0');
  if (exe === undefined || cwd === undefined || rest.pop() !== '') return undefined;
  if (rest.length !== bytes.readUInt32LE(20)) return undefined;
  const flags = bytes.readUInt32LE(12);
  const has = (flag: keyof typeof FLAGS): boolean => (flags & FLAGS[flag]) !== 0;
  const pid = bytes.readUInt32LE(8);
  return { argv: rest, cwd, exe, pid, cut: has('cut'), strict: has('strict') };
}

/**
 * A program may be called by a path, or by a link (`sh`), and may be told that it is called
 * something else (`exec -a ls rm`): its words under each of these names.
 */
function namings({ argv, exe }: GateProcess): readonly (readonly string[])[] {
  const [first = '', ...rest] = argv;
  const called = basename(first).replace(/^-/, ''); // a login shell
  const file = exe.replace(/ \(deleted\)$/, '');
  const names = new Set([first, called, file, basename(file)].filter((name) => name !== ''));
  return [...names].map((name) => [name, ...rest]);
}

function unjudged(why: string, { strict }: GateProcess): Buffer {
  const because = strict ? 'its command may run only judged' : 'gate: strict';
  return denial(`not started: ${why} (${because})`);
}

/** One line, whatever is in it. */
function denial(message: string): Buffer {
  const line = `cuff: policy: ${message}`.replace(/[\p{Cc}\u2028\u2029]+/gu, ' ');
  const bytes = Buffer.from(`D${line}`);
  if (bytes.length <= LINE_BYTES_MAX) return bytes;
  let end = LINE_BYTES_MAX;
  while (((bytes[end] ?? 0) & 0xc0) === 0x80) end -= 1; // not within a character
  return bytes.subarray(0, end);
}

/** A name for the socket that fits into an address, in a directory that no other user can enter. */
function addressIn(directory: string): { readonly path: string; readonly temporary: boolean } {
  const own = join(directory, 'gates');
  const name = `${process.pid}-${randomBytes(4).toString('hex')}.sock`;
  const path = join(own, name);
  if (Buffer.byteLength(path) <= ADDRESS_BYTES_MAX && isPrivate(own)) {
    sweep(own);
    return { path, temporary: false };
  }
  const roots = [tmpdir(), '/tmp'];
  const fits = (root: string): boolean => Buffer.byteLength(root) + name.length + 20 < 107;
  const made = fs.mkdtempSync(join(roots.find(fits) ?? '/tmp', 'cuff-gate-'));
  return { path: join(made, name), temporary: true };
}

function isPrivate(dir: string): boolean {
  try {
    makeDirectories(dir, 0o700);
    const found = fs.lstatSync(dir);
    return found.isDirectory() && found.uid === process.getuid?.() && (found.mode & 0o077) === 0;
  } catch {
    return false; // a read-only state root: the temporary directory will do
  }
}

/** Sockets of servers that were killed: old, and without a listener. */
function sweep(dir: string): void {
  for (const name of fs.readdirSync(dir)) {
    const path = join(dir, name);
    const found = fs.lstatSync(path, { throwIfNoEntry: false });
    if (found === undefined || !found.isSocket() || Date.now() - found.mtimeMs < STALE_MS) continue;
    const probe = createConnection(path);
    probe.unref();
    probe.on('connect', () => probe.destroy());
    probe.on('error', (error) => {
      if (errnoOf(error) === 'ECONNREFUSED') fs.rmSync(path, { force: true });
    });
  }
}
