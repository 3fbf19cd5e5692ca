// The server of `cuff ui`: the page, its questions and its deeds, on this machine alone. A caller
// from elsewhere, or from another page, learns nothing; one without a token gets the page, which is
// the same for every user, and no word of what was recorded.

import { randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { messageOf } from '../errors.ts';
import { storeOf } from '../shell/captures.ts';
import { bearerOf, pageRefusal } from '../text/http-access.ts';
import { parseJson } from '../text/json.ts';
import type { Log } from '../types.ts';
import { Access, type Peer, peerOf } from './access.ts';
import type { TokenAnswer } from './api.ts';
import { bodyOf, textOf } from './body.ts';
import { DEEDS } from './deeds.ts';
import { Fault, faultJson, faultOf } from './fault.ts';
import { headersOf } from './headers.ts';
import { type Journal, journalsOf } from './journals.ts';
import { LiveSockets } from './live.ts';
import { LiveRuns } from './live-runs.ts';
import { replyTo } from './routes.ts';
import { RowExtras } from './row-extras.ts';
import { SessionTable } from './session-table.ts';
import { newNonce, pageDirectory, StaticFiles } from './static.ts';
import { QuestionThread } from './thread.ts';
import type { Ui } from './ui.ts';

const HERE = '127.0.0.1';
const BODY_BYTES_MAX = 5 * 1024 * 1024; // a policy may have four
const CODE_BYTES_MAX = 10_000;
const HEADERS_MS_MAX = 10_000; // a caller that sends its headers byte by byte
const REQUEST_MS_MAX = 60_000;

export type UiOptions = {
  readonly env: NodeJS.ProcessEnv;
  readonly cwd: string;
  readonly version: string;
  /** 0 takes a free one. */
  readonly port: number;
  /** The journal of `cwd`. */
  readonly journal: string;
  readonly readOnly?: string | undefined;
  readonly log: Log;
  /** Days that journals are kept; 0: for ever. */
  readonly retentionDays: (project: string) => number;
  readonly peer?: ((socket: Socket) => Peer) | undefined;
  /** Of codes. */
  readonly now?: (() => number) | undefined;
  readonly pages?: string | undefined;
};

export type UiServer = {
  readonly port: number;
  /** Where the page is, with a code that is good for one use within a minute. */
  link(): string;
  /** Called when a page has traded its code. */
  onTraded(listener: () => void): void;
  close(): Promise<void>;
};

/** Rejects when the port is taken. */
export async function serveUi(options: UiOptions): Promise<UiServer> {
  const ui = uiOf(options);
  const { now = Date.now, peer = peerOf } = options;
  const access = new Access({ now, peer, readOnly: options.readOnly !== undefined });
  const files = new StaticFiles(options.pages ?? pageDirectory());
  const traded: (() => void)[] = [];
  const door: Door = { ui, access, files, traded, log: options.log };
  const server = createServer((request, response) => {
    serve(door, request, response).catch((error) => failed(door, response, error));
  });
  server.headersTimeout = HEADERS_MS_MAX;
  server.requestTimeout = REQUEST_MS_MAX;
  const sockets = new LiveSockets(ui, access);
  server.on('upgrade', (request, socket, head) => sockets.upgrade(request, socket as Socket, head));
  await listening(server, options.port);
  const { port } = server.address() as AddressInfo;
  ui.lists.table.warm().catch((error) => options.log('error', messageOf(error)));
  return {
    port,
    link: () => `http://${HERE}:${port}/#code=${access.newCode()}`,
    onTraded: (listener) => traded.push(listener),
    async close() {
      const closed = new Promise((resolve) => server.close(resolve));
      sockets.close();
      server.closeAllConnections();
      ui.lists.table.close();
      await Promise.all([closed, ui.thread.close()]);
    },
  };
}

type Door = {
  readonly ui: Ui;
  readonly access: Access;
  readonly files: StaticFiles;
  readonly traded: readonly (() => void)[];
  readonly log: Log;
};

function uiOf({ env, cwd, version, journal, readOnly, retentionDays }: UiOptions): Ui {
  const store = storeOf(env);
  const journals = (): readonly Journal[] => journalsOf(journal, env);
  const table = new SessionTable({ journals, stateRoot: store.root, env, now: store.now });
  const extras = new RowExtras(store);
  return {
    env,
    cwd,
    version,
    store,
    serverId: randomUUID(),
    readOnly,
    lists: { table, extras, store, retentionDays },
    runs: new LiveRuns(store),
    thread: new QuestionThread({ env: { ...env }, cwd }),
  };
}

async function serve(door: Door, request: IncomingMessage, response: ServerResponse) {
  const problem = pageRefusal(request.headers);
  if (problem !== undefined) throw new Fault(problem.status, problem.message);
  const [path = '', query = ''] = (request.url ?? '').split('?', 2);
  const { method = '' } = request;
  if (!path.startsWith('/api/')) return sendPage(door, path, request, response);
  if (path === '/api/token') return trade(door, request, response);
  const token = bearerOf(request.headers);
  if (door.access.rightOf(token) === undefined) throw noToken();
  if (method !== 'GET' && method !== 'HEAD' && method !== 'POST') {
    throw new Fault(405, 'It is asked with GET or POST.', {
      headers: { allow: 'GET, HEAD, POST' },
    });
  }
  const deed = method === 'POST' ? DEEDS[path] : undefined;
  // Before its body is read: who may not do it need not say what.
  if (deed !== undefined) refuseReaders(door, token, request.socket);
  const body = method === 'POST' ? await bodyIn(request, BODY_BYTES_MAX) : undefined;
  if (deed !== undefined) {
    const { env, cwd, store, lists } = door.ui;
    const { table, extras } = lists;
    return sendJson(
      response,
      200,
      JSON.stringify(await deed({ env, cwd, store, table, extras }, body)),
    );
  }
  for (const [name, value] of Object.entries(headersOf())) response.setHeader(name, value);
  const reply = await replyTo(door.ui, { request, response, path, query, body });
  if (reply === 'sent') return;
  sendJson(response, 200, 'text' in reply ? reply.text : JSON.stringify(reply.value));
}

function noToken(): Fault {
  return new Fault(401, 'This needs a token of this server.', {
    hint: 'Run `cuff ui` and open the address that it prints.',
    headers: { 'www-authenticate': 'Bearer' },
  });
}

function refuseReaders({ access, ui }: Door, token: string, socket: Socket): void {
  if (access.mayChange(token, socket)) return;
  const why = ui.readOnly ?? 'An agent may be asking.';
  throw new Fault(403, `Nothing can be changed from here. ${why}`, {
    hint: 'Start `cuff ui` in a terminal of your own, and open it in a browser of your own.',
  });
}

async function trade(door: Door, request: IncomingMessage, response: ServerResponse) {
  if (request.method !== 'POST') {
    throw new Fault(405, 'It is asked with POST.', { headers: { allow: 'POST' } });
  }
  const code = textOf(bodyOf(await bodyIn(request, CODE_BYTES_MAX), ['code']), 'code');
  const token = door.access.trade(code, request.socket);
  if (token === undefined) {
    throw new Fault(401, 'This link was used before, or is older than a minute.', {
      hint: 'Run `cuff ui` again, or press Enter where it runs, for another.',
    });
  }
  sendJson(response, 200, JSON.stringify({ token } satisfies TokenAnswer));
  for (const listener of door.traded) listener();
}

/** Every path without a file is the page, which shows what its fragment says. */
function sendPage(
  { files }: Door,
  path: string,
  { method = '' }: IncomingMessage,
  response: ServerResponse,
): void {
  if (method !== 'GET' && method !== 'HEAD') {
    throw new Fault(405, 'It is asked with GET.', { headers: { allow: 'GET, HEAD' } });
  }
  const page = path === '/' || path === '/index.html';
  const nonce = page ? newNonce() : undefined;
  const file = nonce === undefined ? files.get(path) : files.page(nonce);
  if (file === undefined) throw new Fault(404, 'There is no such file.');
  response.writeHead(200, {
    ...headersOf(nonce),
    'content-type': file.type,
    'content-length': String(file.bytes.length),
  });
  response.end(method === 'HEAD' ? undefined : file.bytes);
}

function sendJson(response: ServerResponse, status: number, text: string): void {
  const bytes = Buffer.from(text);
  response.writeHead(status, {
    ...headersOf(),
    'content-type': 'application/json; charset=utf-8',
    'content-length': String(bytes.length),
  });
  response.end(response.req.method === 'HEAD' ? undefined : bytes);
}

function failed({ log }: Door, response: ServerResponse, error: unknown): void {
  const known = faultOf(error);
  if (known === undefined) log('error', messageOf(error), { url: response.req.url?.split('?')[0] });
  const fault = known ?? new Fault(500, 'This went wrong here.', { code: 'failed' });
  // Half of an answer is out: only its end can say that something is missing.
  if (response.headersSent) return void response.destroy();
  // Its body may not have been read: the connection is of no more use.
  response.setHeader('connection', 'close');
  for (const [name, value] of Object.entries(fault.headers)) response.setHeader(name, value);
  sendJson(response, fault.status, JSON.stringify(faultJson(fault)));
}

async function bodyIn(request: IncomingMessage, bytesMax: number): Promise<unknown> {
  const type = (request.headers['content-type'] ?? '').split(';')[0]?.trim().toLowerCase();
  if (type !== 'application/json') throw new Fault(415, 'The body must be application/json.');
  const pieces: Buffer[] = [];
  let size = 0;
  for await (const piece of request as AsyncIterable<Buffer>) {
    size += piece.length;
    if (size > bytesMax) throw new Fault(413, `A body has at most ${bytesMax} bytes.`);
    pieces.push(piece);
  }
  const json = parseJson(Buffer.concat(pieces).toString('utf8'));
  if (json === undefined) throw new Fault(400, 'The body is no JSON.');
  return json;
}

function listening(server: Server, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, HERE, () => {
      server.off('error', reject);
      resolve();
    });
  });
}
