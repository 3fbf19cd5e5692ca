// The same face over Streamable HTTP, for clients on this machine that have the token. Clients of
// the 2025 protocol have a session from `initialize` on, those of the 2026 one ask request by
// request. A caller that is refused learns nothing but that.

import { randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Host } from '../host/host.ts';
import { refusal } from '../text/http-access.ts';
import type { Face } from './face.ts';
import { type HttpPart, nodeHandler, openHandler, openSession, speaks2025 } from './sdk.ts';
import { faceOf, type ServerHandle, type ServerOptions } from './server.ts';
import { MESSAGE_BYTES_MAX } from './stdio.ts';

const HERE = '127.0.0.1';
const PATH = '/mcp';

// Clients that never say goodbye must not fill the memory: of those that wait for nothing the one
// unused for longest goes.
const SESSIONS_MAX = 100;

export type HttpOptions = ServerOptions & {
  /** 0 takes a free one. */
  readonly port: number;
  readonly token: string;
};

export type HttpServerHandle = ServerHandle & { readonly url: string };

/** Rejects when the port is taken. */
export async function serveHttp(host: Host, options: HttpOptions): Promise<HttpServerHandle> {
  const busy = new Busy();
  const part = router(faceOf(host, options), busy, options.onerror);
  const handle = await nodeHandler(part.fetch, MESSAGE_BYTES_MAX);
  const server = createServer((request, response) => {
    if (refused(request, response, options.token)) return;
    busy.note(request, response);
    handle(request, response).catch(options.onerror);
  });
  await listening(server, options.port);
  const closed = new Promise<void>((resolve) => server.once('close', () => resolve()));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://${HERE}:${port}${PATH}`,
    hungUp: closed,
    gone: closed,
    async close() {
      server.close();
      await part.close();
      server.closeAllConnections();
      await closed;
    },
  };
}

/** How many calls each session waits for. */
class Busy {
  readonly #calls = new Map<string, number>();

  /** A GET only listens, maybe for ever. */
  note({ method, headers }: IncomingMessage, response: ServerResponse): void {
    const id = headers['mcp-session-id'];
    if (method !== 'POST' || typeof id !== 'string') return;
    this.#calls.set(id, (this.#calls.get(id) ?? 0) + 1);
    response.once('close', () => {
      const left = (this.#calls.get(id) ?? 1) - 1;
      if (left > 0) this.#calls.set(id, left);
      else this.#calls.delete(id);
    });
  }

  has(id: string): boolean {
    return this.#calls.has(id);
  }
}

function refused(request: IncomingMessage, response: ServerResponse, token: string): boolean {
  const problem = refusal(request.headers, token) ?? elsewhere(request.url);
  if (problem === undefined) return false;
  const { status, message } = problem;
  // Nothing of its body was read, so the connection is of no more use.
  const headers = { 'content-type': 'application/json', connection: 'close' };
  const challenge = status === 401 ? { 'www-authenticate': 'Bearer' } : {};
  const error = { code: -32000, message };
  response.writeHead(status, { ...headers, ...challenge });
  response.end(`${JSON.stringify({ jsonrpc: '2.0', id: null, error })}\n`);
  return true;
}

function elsewhere(url = ''): { readonly status: 404; readonly message: string } | undefined {
  if (url.split('?')[0] === PATH) return undefined;
  return { status: 404, message: `There is only ${PATH}.` };
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

/** Each request to the session it names, to a new one, or to the handler of the 2026 protocol. */
function router(face: Face, busy: Busy, onerror: (error: Error) => void): HttpPart {
  const handler = openHandler(face, MESSAGE_BYTES_MAX, onerror);
  const sessions = new Map<string, HttpPart>();

  const begin = async (): Promise<HttpPart> => {
    const id = randomUUID();
    const session: HttpPart = await openSession(face, {
      id,
      bytesMax: MESSAGE_BYTES_MAX,
      onopen: () => {
        sessions.set(id, session);
        if (sessions.size <= SESSIONS_MAX) return;
        const idle = [...sessions.keys()].find((one) => one !== id && !busy.has(one));
        sessions
          .get(idle ?? '')
          ?.close()
          .catch(onerror);
      },
      onclose: () => sessions.delete(id),
    });
    return session;
  };

  return {
    async fetch(request) {
      if (!(await speaks2025(request, MESSAGE_BYTES_MAX))) return handler.fetch(request);
      const id = request.headers.get('mcp-session-id');
      if (id !== null) {
        const session = sessions.get(id);
        if (session === undefined) return gone();
        sessions.delete(id); // back in as the one used last
        sessions.set(id, session);
        return session.fetch(request);
      }
      const session = await begin();
      const response = await session.fetch(request);
      // Only `initialize` opens a session; the SDK has refused anything else.
      if (![...sessions.values()].includes(session)) await session.close();
      return response;
    },
    async close() {
      await Promise.all([...sessions.values()].map((session) => session.close()));
      await handler.close();
    },
  };
}

/** Tells a client to begin anew. */
function gone(): Response {
  const error = { code: -32001, message: 'Session not found' };
  return Response.json({ jsonrpc: '2.0', id: null, error }, { status: 404 });
}
