// The server of the page over a real journal and a real state root, asked by real sockets.
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import WebSocket from 'ws';
import type { Peer } from '../../src/web/access.ts';
import type { ServerMessage, TokenAnswer } from '../../src/web/api.ts';
import { serveUi, type UiServer } from '../../src/web/server.ts';
import { binary } from '../cli/helper.ts';
import { Journal } from '../recordings/helper.ts';

export type Setting = {
  readonly readOnly?: string;
  readonly peer?: Peer;
  readonly retentionDays?: number;
};

/** Answers of any form: a test says what it expects of them. */
// biome-ignore lint/suspicious/noExplicitAny: what it is, is what a test looks at
type Json = any;

export type Reply = {
  readonly status: number;
  readonly headers: Headers;
  readonly json: Json;
  readonly text: string;
};

export class Page {
  readonly journal = new Journal();
  readonly binary = binary('cuff');
  readonly #sockets = new Set<WebSocket>();
  readonly pages = mkdtempSync(join(tmpdir(), 'cuff-pages-'));
  server!: UiServer;
  token = '';
  /** The clock of codes. */
  now = 1_000_000;
  readonly errors: string[] = [];
  peer: Peer = 'other';

  static async open(setting: Setting = {}): Promise<Page> {
    const page = new Page();
    writeFileSync(
      join(page.pages, 'index.html'),
      '<!doctype html><meta name="cuff-nonce" content="__NONCE__"><script src="app.js"></script>',
    );
    writeFileSync(join(page.pages, 'app.js'), 'export {};');
    mkdirSync(join(page.pages, 'deep'));
    writeFileSync(join(page.pages, 'deep', 'part.js'), 'export {};');
    await page.start(setting);
    return page;
  }

  async start({ readOnly, peer = 'other', retentionDays = 30 }: Setting = {}): Promise<void> {
    this.peer = peer;
    const { journal } = this;
    this.server = await serveUi({
      env: { ...journal.cli.env, ...journal.env },
      cwd: journal.project,
      version: '0.0.0',
      port: 0,
      journal: journal.directory,
      readOnly,
      retentionDays: () => retentionDays,
      log: (_, message) => this.errors.push(message),
      peer: () => this.peer,
      now: () => this.now,
      pages: this.pages,
    });
    this.token = await this.trade();
  }

  get url(): string {
    return `http://127.0.0.1:${this.server.port}`;
  }

  code(): string {
    return this.server.link().replace(/^.*#code=/, '');
  }

  async trade(): Promise<string> {
    const { json } = await this.post<TokenAnswer>('token', { code: this.code() }, '');
    return json.token;
  }

  async get(path: string, headers: Record<string, string> = {}): Promise<Reply> {
    return replyOf(
      await fetch(`${this.url}/api/${path}`, {
        headers: { authorization: `Bearer ${this.token}`, ...headers },
      }),
    );
  }

  async bytes(path: string, headers: Record<string, string> = {}): Promise<Response> {
    const authorization = `Bearer ${this.token}`;
    return fetch(`${this.url}/api/${path}`, { headers: { authorization, ...headers } });
  }

  async post<T = Json>(
    path: string,
    body: unknown,
    token = this.token,
  ): Promise<Reply & { readonly json: T }> {
    return replyOf(
      await fetch(`${this.url}/api/${path}`, {
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          ...(token !== '' && { authorization: `Bearer ${token}` }),
        },
        body: typeof body === 'string' ? body : JSON.stringify(body),
      }),
    );
  }

  /** A request whose every header is ours, and what came back, whole. */
  async raw(lines: readonly string[], body = ''): Promise<string> {
    const socket = connect(this.server.port, '127.0.0.1');
    const pieces: Buffer[] = [];
    socket.on('data', (piece) => pieces.push(piece));
    socket.on('error', () => undefined); // the server may close before all of it is written
    socket.write(`${lines.join('\r\n')}\r\n\r\n${body}`);
    await once(socket, 'close');
    return Buffer.concat(pieces).toString('latin1');
  }

  /** A tab, whose first message was the token. */
  async tab(): Promise<Tab> {
    const tab = this.socket();
    await tab.opened;
    tab.say({ token: this.token });
    await tab.message('ready');
    return tab;
  }

  socket(origin = this.url): Tab {
    const address = `${this.url.replace('http', 'ws')}/api/live`;
    const socket = new WebSocket(address, origin === '' ? {} : { origin });
    this.#sockets.add(socket);
    return new Tab(socket);
  }

  async stop(): Promise<void> {
    for (const socket of this.#sockets) socket.terminate();
    await this.server.close();
  }

  async close(): Promise<void> {
    await this.stop();
    await this.journal.close();
    rmSync(this.pages, { recursive: true, force: true });
  }
}

async function replyOf(response: Response): Promise<Reply> {
  const text = await response.text();
  const json = /json/.test(response.headers.get('content-type') ?? '') ? JSON.parse(text) : null;
  return { status: response.status, headers: response.headers, json, text };
}

type MessageOf<T extends ServerMessage['type']> = Extract<ServerMessage, { type: T }>;

export class Tab {
  readonly socket: WebSocket;
  readonly opened: Promise<unknown>;
  readonly closed: Promise<number>;
  readonly messages: ServerMessage[] = [];
  /** By channel, in order. */
  readonly frames: { readonly channel: number; readonly offset: number; readonly bytes: Buffer }[] =
    [];
  #news: (() => void)[] = [];

  constructor(socket: WebSocket) {
    this.socket = socket;
    this.opened = once(socket, 'open');
    this.opened.catch(() => undefined); // a test that expects it says so
    this.closed = new Promise((resolve) => socket.once('close', resolve));
    socket.on('error', () => undefined);
    socket.on('message', (data: Buffer, binary) => {
      if (binary) {
        const [channel, offset] = [data.readUInt16BE(0), data.readUIntBE(2, 6)];
        this.frames.push({ channel, offset, bytes: data.subarray(8) });
      } else this.messages.push(JSON.parse(data.toString()));
      for (const wake of this.#news.splice(0)) wake();
    });
  }

  say(message: unknown): void {
    this.socket.send(typeof message === 'string' ? message : JSON.stringify(message));
  }

  /** The next of this type that fits, among those that came and that will. */
  async message<T extends ServerMessage['type']>(
    type: T,
    fits: (message: MessageOf<T>) => boolean = () => true,
  ): Promise<MessageOf<T>> {
    for (;;) {
      const found = this.messages.find(
        (one): one is MessageOf<T> => one.type === type && fits(one as MessageOf<T>),
      );
      if (found !== undefined) {
        this.messages.splice(this.messages.indexOf(found), 1);
        return found;
      }
      await this.news();
    }
  }

  /** All bytes of a channel, once that is true of them. */
  async output(channel: number, enough: (bytes: Buffer) => boolean): Promise<Buffer> {
    for (;;) {
      const own = this.frames.filter((one) => one.channel === channel);
      const bytes = Buffer.concat(own.map((one) => one.bytes));
      if (enough(bytes)) return bytes;
      await this.news();
    }
  }

  news(): Promise<void> {
    return new Promise((resolve) => this.#news.push(resolve));
  }
}
