// Newline-delimited JSON-RPC over two streams. A line that is no JSON, no message or too long is
// answered or ignored as the protocol wants it and never ends the connection. A client that hangs
// up still gets the answers that are nearly there.

import type { Readable, Writable } from 'node:stream';
import { asObject, type JsonObject } from '../text/json.ts';

export const MESSAGE_BYTES_MAX = 4 * 1024 * 1024; // one is held in memory as a whole

const ANSWERS_WAITING_MAX = 16 * 1024 * 1024; // more calls wait until the client reads

// `printf ... | cuff mcp` ends its input at once and still wants to see the answers.
const LAST_ANSWERS_MS = 250;
const LAST_BYTES_MS = 1_000; // for a reader that is slow, not for one that is gone

const NEWLINE = 0x0a;

const PARSE_ERROR = -32700;
const INVALID_REQUEST = -32600;

export type Message = JsonObject;

/** A connection in the shape that the SDK wants one. */
export type Wire = {
  onmessage?: ((message: Message) => void) | undefined;
  onclose?: (() => void) | undefined;
  onerror?: ((error: Error) => void) | undefined;
  start(): Promise<void>;
  send(message: object): Promise<void>;
  close(): Promise<void>;
};

export class LineWire implements Wire {
  onmessage: Wire['onmessage'];
  onclose: Wire['onclose'];
  onerror: Wire['onerror'];
  /** Resolves when the other side has hung up. Answers may still be on their way. */
  readonly gone: Promise<void>;
  /** Resolves as soon as the other side has hung up, whatever is still to be answered. */
  readonly hungUp: Promise<void>;
  readonly #input: Readable;
  readonly #output: Writable;
  readonly #recognised: (message: Message) => boolean;
  readonly #answered: Set<unknown>;
  readonly #unanswered = new Set<unknown>();
  #leave: () => void = () => undefined;
  #hangUp: () => void = () => undefined;
  #pieces: Buffer[] = [];
  #length = 0;
  #skipping = false;
  #ended = false;
  #broken = false;
  #closed = false;

  /** `answered`: requests whose answer the client has already. */
  constructor(
    input: Readable,
    output: Writable,
    recognised: (message: Message) => boolean,
    answered: Set<unknown> = new Set(),
  ) {
    this.#input = input;
    this.#output = output;
    this.#recognised = recognised;
    this.#answered = answered;
    this.gone = new Promise((resolve) => {
      this.#leave = resolve;
    });
    this.hungUp = new Promise((resolve) => {
      this.#hangUp = resolve;
    });
  }

  async start(): Promise<void> {
    this.#output.on('error', this.#onBroken); // EPIPE: the client has left
    this.#input.on('error', this.#onEnd);
    this.#input.on('data', this.#onData);
    this.#input.on('end', this.#onEnd);
    this.#input.on('close', this.#onEnd);
    this.#input.resume(); // what read it before has paused it
  }

  async send(message: Message): Promise<void> {
    if (this.#closed || this.#broken) return;
    if (!('method' in message)) this.#unanswered.delete(message.id);
    const known = !('method' in message) && this.#answered.delete(message.id);
    if (!known) this.#output.write(`${JSON.stringify(message)}\n`);
    if (this.#output.writableLength > ANSWERS_WAITING_MAX && !this.#input.isPaused()) {
      this.#input.pause();
      this.#output.once('drain', () => this.#input.resume());
    }
    if (this.#ended && this.#unanswered.size === 0) this.#leave();
  }

  /** Resolves when what was written has left. */
  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    this.#input.off('data', this.#onData);
    this.#input.pause();
    this.onclose?.();
    this.#leave();
    if (this.#output.writableLength > 0 && !this.#broken) await this.#drained();
  }

  readonly #onBroken = (): void => {
    this.#broken = true;
    this.#hangUp();
    this.#leave();
  };

  readonly #onEnd = (): void => {
    if (this.#ended || this.#closed) return;
    this.#ended = true;
    this.#hangUp();
    if (this.#length > 0) this.#line(this.#takeLine());
    if (this.#unanswered.size === 0) this.#leave();
    else setTimeout(this.#leave, LAST_ANSWERS_MS);
  };

  readonly #onData = (piece: Buffer): void => {
    let start = 0;
    let newline = piece.indexOf(NEWLINE);
    while (newline >= 0) {
      this.#keep(piece.subarray(start, newline));
      if (this.#skipping) this.#skipping = false;
      else this.#line(this.#takeLine());
      start = newline + 1;
      newline = piece.indexOf(NEWLINE, start);
    }
    this.#keep(piece.subarray(start));
  };

  #keep(piece: Buffer): void {
    if (this.#skipping || piece.length === 0) return;
    this.#pieces.push(piece);
    this.#length += piece.length;
    if (this.#length <= MESSAGE_BYTES_MAX) return;
    this.#takeLine();
    this.#skipping = true;
    this.#refuse(INVALID_REQUEST, `a message may have ${MESSAGE_BYTES_MAX} bytes`, null);
  }

  #takeLine(): string {
    const text = Buffer.concat(this.#pieces).toString();
    this.#pieces = [];
    this.#length = 0;
    return text;
  }

  #line(text: string): void {
    if (text.trim() === '') return;
    let value: unknown;
    try {
      value = JSON.parse(text);
    } catch {
      this.#refuse(PARSE_ERROR, 'this line is not JSON', null);
      return;
    }
    const message = messageOf(value);
    if (message === undefined || !this.#recognised(message)) {
      const id = message?.id;
      const known = typeof id === 'string' || typeof id === 'number' ? id : null;
      // An answer to nothing would only be answered in turn.
      if (message === undefined || 'method' in message) {
        this.#refuse(INVALID_REQUEST, 'this is no message of the protocol', known);
      }
      return;
    }
    if ('method' in message && 'id' in message) this.#unanswered.add(message.id);
    if (message.method === 'notifications/cancelled') this.#forget(message.params);
    this.onmessage?.(message);
  }

  /** A cancelled call is not answered. */
  #forget(params: unknown): void {
    this.#unanswered.delete(asObject(params)?.requestId);
  }

  #refuse(code: number, message: string, id: string | number | null): void {
    this.onerror?.(new Error(message));
    this.send({ jsonrpc: '2.0', id, error: { code, message } });
  }

  #drained(): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, LAST_BYTES_MS);
      const done = (): void => {
        clearTimeout(timer);
        resolve();
      };
      this.#output.once('close', done);
      this.#output.write('', done); // its turn comes behind everything else
    });
  }
}

/** Only the keys of JSON-RPC: others may be there, and mean nothing. */
function messageOf(value: unknown): Message | undefined {
  const object = asObject(value);
  if (object === undefined) return undefined;
  const keys = ['jsonrpc', 'id', 'method', 'params', 'result', 'error'];
  return Object.fromEntries(Object.entries(object).filter(([key]) => keys.includes(key)));
}
