// Answers a client while the server behind it is still being loaded: `initialize`, `tools/list` and
// `ping`, from answers that are known. Every other message waits for the server, in order. The
// server then reads from here on; it gets `initialize` as well, and its answer to that is dropped.

import { PassThrough, type Readable } from 'node:stream';
import { asObject, type JsonObject, parseObject } from '../text/json.ts';
import type { ReadyAnswers, ShippedAnswers } from './ready.ts';

const NEWLINE = 0x0a;

// A client that is slow to ask for the tools must not wait for its first call later.
const QUIET_MS = 250;

const WAITING_BYTES_MAX = 8 * 1024 * 1024; // two messages of the greatest size

export type HandOver = {
  readonly input: Readable;
  /** Requests that have their answer. */
  readonly answered: Set<unknown>;
  /** The answer to `tools/list`, as JSON. */
  readonly listed: string | undefined;
};

export type FrontOptions = {
  readonly shipped: ShippedAnswers;
  readonly answers: ReadyAnswers | undefined;
  readonly input: Readable;
  readonly write: (line: string) => void;
};

type Request = {
  readonly id: string | number;
  readonly method: string;
  readonly params: JsonObject;
};

export class Front {
  /** Resolves when the server is needed, or nothing holds it up any more. */
  readonly settled: Promise<void>;
  readonly #options: FrontOptions;
  readonly #answered = new Set<unknown>();
  readonly #timer: NodeJS.Timeout;
  #settle: () => void = () => undefined;
  #waiting: Buffer[] = [];
  #waitingBytes = 0;
  #piece: Buffer = Buffer.alloc(0);
  #initialized = false;
  #listed: string | undefined;
  #passing = false;
  #ended = false;

  constructor(options: FrontOptions) {
    this.#options = options;
    this.#passing = options.answers === undefined;
    this.settled = new Promise((resolve) => {
      this.#settle = resolve;
    });
    this.#timer = setTimeout(this.#settle, this.#passing ? 0 : QUIET_MS);
    options.input.on('data', this.#onData).on('end', this.#onEnd).on('error', this.#onEnd);
  }

  handOver(): HandOver {
    const { input } = this.#options;
    clearTimeout(this.#timer);
    input.off('data', this.#onData).off('end', this.#onEnd).off('error', this.#onEnd).pause();
    const rest = Buffer.concat([...this.#waiting, this.#piece]);
    const facts = { answered: this.#answered, listed: this.#listed };
    if (!this.#ended) {
      if (rest.length > 0) input.unshift(rest);
      return { input, ...facts };
    }
    const replay = new PassThrough();
    replay.end(rest);
    return { input: replay, ...facts };
  }

  readonly #onEnd = (): void => {
    this.#ended = true;
    this.#settle();
  };

  readonly #onData = (data: Buffer): void => {
    let rest = this.#piece.length === 0 ? data : Buffer.concat([this.#piece, data]);
    for (let end = rest.indexOf(NEWLINE); end >= 0; end = rest.indexOf(NEWLINE)) {
      this.#line(rest.subarray(0, end + 1));
      rest = rest.subarray(end + 1);
    }
    this.#piece = rest;
    if (this.#waitingBytes + rest.length <= WAITING_BYTES_MAX) return;
    this.#options.input.pause(); // the server resumes it
    this.#settle();
  };

  #line(line: Buffer): void {
    const request = this.#passing ? undefined : requestOf(line);
    if (request !== undefined && this.#answer(request)) {
      if (request.method !== 'initialize') return;
    } else if (!isInitialized(line)) {
      this.#settle();
      // A client that does not begin with `initialize` is left to the server altogether.
      if (!this.#initialized) this.#passing = true;
    }
    this.#waiting.push(line);
    this.#waitingBytes += line.length;
  }

  /** False when it is for the server. */
  #answer({ id, method, params }: Request): boolean {
    const { shipped, answers } = this.#options;
    if (answers === undefined) return false;
    if (method === 'initialize' && !this.#initialized) {
      const { protocolVersion } = params;
      if (!shipped.protocols.some((one) => one === protocolVersion)) return false;
      const { capabilities, serverInfo } = shipped;
      const { instructions } = answers;
      const about = { protocolVersion, capabilities, serverInfo };
      this.#initialized = true;
      this.#answered.add(id);
      return this.#say(id, JSON.stringify({ ...about, ...(instructions && { instructions }) }));
    }
    if (!this.#initialized || Object.keys(params).length > 0) return false;
    if (method === 'ping') return this.#say(id, '{}');
    if (method !== 'tools/list') return false;
    this.#listed = answers.tools;
    this.#say(id, answers.tools);
    setImmediate(this.#settle); // its answer is on the way before anything is loaded
    return true;
  }

  #say(id: string | number, result: string): true {
    this.#options.write(`{"jsonrpc":"2.0","id":${JSON.stringify(id)},"result":${result}}\n`);
    return true;
  }
}

/** Undefined for a line that is no request, or has parts that we do not know. */
function requestOf(line: Buffer): Request | undefined {
  const message = parseObject(line.toString()); // the server says what is wrong with any other
  if (message?.jsonrpc !== '2.0') return undefined;
  const { id, method, params: given = {} } = message;
  const params = asObject(given);
  if (typeof id !== 'string' && typeof id !== 'number') return undefined;
  if (typeof method !== 'string' || params === undefined) return undefined;
  if (method === 'initialize') {
    const client = asObject(params.clientInfo);
    const texts = [params.protocolVersion, client?.name, client?.version];
    const whole = texts.every((one) => typeof one === 'string');
    return whole && asObject(params.capabilities) ? { id, method, params } : undefined;
  }
  // The 2026 protocol names the client there, the 2025 one at most asks for progress.
  const { _meta: meta, ...own } = params;
  const plain = meta === undefined || only(asObject(meta) ?? { meta }, 'progressToken');
  return plain ? { id, method, params: own } : undefined;
}

function isInitialized(line: Buffer): boolean {
  return parseObject(line.toString())?.method === 'notifications/initialized';
}

function only(value: JsonObject, key: string): boolean {
  return Object.keys(value).every((one) => one === key);
}
