// `WS /api/live`: what happens, as it happens. One socket for each tab; its first message is the
// token, and nothing is answered before it. A page that is slow is not written to without end:
// `live-run.ts` says what becomes of the bytes that it cannot take.

import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { type RawData, type WebSocket, WebSocketServer } from 'ws';
import { pageRefusal } from '../text/http-access.ts';
import { asCount, asString, type JsonObject, parseObject } from '../text/json.ts';
import type { Access } from './access.ts';
import { CLOSE, type ServerMessage } from './api.ts';
import { Fault, faultOf } from './fault.ts';
import { LIST_NAMES, type ListName, LiveLists } from './live-lists.ts';
import { followRun } from './live-run.ts';
import type { Ui } from './ui.ts';

const MESSAGE_BYTES_MAX = 16 * 1024; // questions are short
const TOKEN_MS_MAX = 10_000; // from the socket to its first message
const SOCKETS_MAX = 100;
const RUNS_MAX = 64; // that one socket follows
const CHANNEL_MAX = 0xffff;
const PING_MS = 30_000; // a tab whose machine sleeps says nothing

const PATH = '/api/live';

export class LiveSockets {
  readonly #ui: Ui;
  readonly #access: Access;
  readonly #server = new WebSocketServer({ noServer: true, maxPayload: MESSAGE_BYTES_MAX });
  readonly #lists: LiveLists;

  constructor(ui: Ui, access: Access) {
    this.#ui = ui;
    this.#access = access;
    this.#lists = new LiveLists(ui);
  }

  upgrade(request: IncomingMessage, socket: Socket, head: Buffer): void {
    socket.on('error', () => socket.destroy()); // it is gone, and there is no answer to give
    const { origin } = request.headers;
    // A browser always says which page asks.
    const foreign = origin === undefined || pageRefusal(request.headers) !== undefined;
    const full = this.#server.clients.size >= SOCKETS_MAX;
    if (foreign) refuse(socket, '403 Forbidden');
    else if (request.url?.split('?')[0] !== PATH) refuse(socket, '404 Not Found');
    else if (full) refuse(socket, '503 Service Unavailable');
    else this.#server.handleUpgrade(request, socket, head, (opened) => this.#opened(opened));
  }

  close(): void {
    this.#lists.close();
    for (const socket of this.#server.clients) {
      socket.close(CLOSE.over, 'The server is ending.');
      socket.terminate();
    }
    this.#server.close();
  }

  #opened(socket: WebSocket): void {
    let tab: Tab | undefined;
    const late = setTimeout(() => socket.close(CLOSE.unauthorized), TOKEN_MS_MAX).unref();
    const pings = setInterval(() => socket.ping(), PING_MS).unref();
    socket.on('error', () => socket.terminate()); // too long, or no message at all
    socket.on('close', () => {
      clearTimeout(late);
      clearInterval(pings);
      tab?.close();
    });
    socket.on('message', (data, binary) => {
      const message = binary ? undefined : parseObject(textOf(data));
      if (tab !== undefined) return message === undefined ? bad(socket) : tab.asked(message);
      clearTimeout(late);
      const right = this.#access.rightOf(asString(message?.token) ?? '');
      if (right === undefined) return socket.close(CLOSE.unauthorized, 'The token is none.');
      tab = new Tab(socket, this.#ui, this.#lists);
      const read_only = right === 'read' || this.#ui.readOnly !== undefined;
      say(socket, { type: 'ready', server_id: this.#ui.serverId, read_only });
    });
  }
}

/** The subscriptions of one socket. */
class Tab {
  readonly #socket: WebSocket;
  readonly #ui: Ui;
  readonly #lists: LiveLists;
  readonly #runs = new Map<string, AbortController>();
  readonly #ends = new Map<ListName, () => void>();
  #channel = 0;

  constructor(socket: WebSocket, ui: Ui, lists: LiveLists) {
    this.#socket = socket;
    this.#ui = ui;
    this.#lists = lists;
  }

  asked({ sub, unsub, id, from }: JsonObject): void {
    try {
      if ((sub === 'run' || unsub === 'run') && typeof id === 'string') {
        if (unsub === 'run') this.#unfollow(id);
        else this.#follow(id, asCount(from ?? 0));
        return;
      }
      const list = LIST_NAMES.find((name) => name === (sub ?? unsub));
      if (list === undefined) bad(this.#socket);
      else this.#list(list, sub !== undefined);
    } catch (error) {
      this.#tell(error, typeof id === 'string' ? id : undefined);
    }
  }

  #list(name: ListName, wanted: boolean): void {
    this.#ends.get(name)?.();
    this.#ends.delete(name);
    if (!wanted) return;
    const end = this.#lists.add(name, (message) => say(this.#socket, message));
    this.#ends.set(name, end);
  }

  close(): void {
    for (const run of this.#runs.values()) run.abort();
    for (const end of this.#ends.values()) end();
  }

  #follow(id: string, from: number | undefined): void {
    if (from === undefined) throw new Fault(400, "'from' is a whole number.");
    if (this.#runs.size >= RUNS_MAX && !this.#runs.has(id)) {
      throw new Fault(400, `At most ${RUNS_MAX} runs are followed at once.`);
    }
    this.#unfollow(id);
    const abort = new AbortController();
    this.#runs.set(id, abort);
    this.#channel = (this.#channel % CHANNEL_MAX) + 1;
    const { signal } = abort;
    const wish = { id, from, channel: this.#channel, signal };
    followRun(this.#ui.store, wish, this.#socket, (message) => say(this.#socket, message))
      .catch((error) => this.#tell(error, id))
      .finally(() => {
        if (this.#runs.get(id) === abort) this.#runs.delete(id);
      });
  }

  #unfollow(id: string): void {
    this.#runs.get(id)?.abort();
    this.#runs.delete(id);
  }

  #tell(error: unknown, id: string | undefined): void {
    const fault = faultOf(error) ?? new Fault(500, 'This went wrong here.');
    const { code, message } = fault;
    say(this.#socket, { type: 'error', code, message, ...(id !== undefined && { id }) });
  }
}

function say(socket: WebSocket, message: ServerMessage): void {
  if (socket.readyState === socket.OPEN) socket.send(JSON.stringify(message));
}

function bad(socket: WebSocket): void {
  socket.close(CLOSE.badMessage, 'This is no message.');
}

function textOf(data: RawData): string {
  return (Array.isArray(data) ? Buffer.concat(data) : Buffer.from(data as Buffer)).toString('utf8');
}

function refuse(socket: Socket, status: string): void {
  socket.end(`HTTP/1.1 ${status}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`);
}
