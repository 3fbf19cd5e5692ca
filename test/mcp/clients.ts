// Real MCP clients behind one small interface, so that every test of a server can be a test with
// each of them: the SDK's v1 client, its v2 client speaking the 2025 and the 2026 protocol, and one
// written by hand that knows nothing but lines of JSON.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import {
  Client as ClientV2,
  StreamableHTTPClientTransport as HttpV2,
} from '@modelcontextprotocol/client';
import { StdioClientTransport as StdioV2 } from '@modelcontextprotocol/client/stdio';
import { Client as ClientV1 } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport as StdioV1 } from '@modelcontextprotocol/sdk/client/stdio.js';
import * as http from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { ToolListChangedNotificationSchema } from '@modelcontextprotocol/sdk/types.js';

type Shape = Readonly<Record<string, unknown>>;

type Listed = {
  readonly name: string;
  readonly inputSchema: Shape;
  readonly annotations?: Shape;
};

export type Answer = {
  readonly isError: boolean;
  readonly text: string;
  readonly structured: Shape | undefined;
};

type CallOptions = {
  readonly meta?: Shape;
  readonly onProgress?: (step: number, message: string | undefined) => void;
  readonly signal?: AbortSignal;
};

export type TestClient = {
  /** Of the server; 0 when it is not a child of ours. */
  readonly pid: number;
  readonly instructions: string | undefined;
  /** The protocol's version, where the client tells. */
  readonly protocol: string | undefined;
  listTools(): Promise<readonly Listed[]>;
  call(name: string, args?: Shape, options?: CallOptions): Promise<Answer>;
  listTemplates(): Promise<readonly string[]>;
  readResource(uri: string): Promise<string>;
  onToolsChanged(listener: () => void): Promise<void>;
  close(): Promise<void>;
};

export type Connect = (
  command: string,
  args: readonly string[],
  env: Readonly<Record<string, string>>,
) => Promise<TestClient>;

const SELF = { name: 'cuff-test', version: '1.2.3' };
const CALL_MS = 120_000;

export const CLIENTS: Readonly<Record<string, Connect>> = {
  'SDK v1': async (command, args, env) => {
    const transport = new StdioV1({ command, args: [...args], env, stderr: 'ignore' });
    return connectV1(transport, () => transport.pid ?? 0);
  },
  'SDK v2, 2025': (command, args, env) => stdioV2('legacy', command, args, env),
  'SDK v2, 2026': (command, args, env) => stdioV2({ pin: '2026-07-28' }, command, args, env),
  'by hand': connectByHand,
};

/** The same clients over HTTP. */
export const HTTP_CLIENTS: Readonly<
  Record<string, (url: string, token: string) => Promise<TestClient>>
> = {
  'SDK v1': (url, token) =>
    connectV1(new http.StreamableHTTPClientTransport(new URL(url), bearer(token)), () => 0),
  'SDK v2, 2025': (url, token) =>
    connectV2('legacy', new HttpV2(new URL(url), bearer(token)), () => 0),
  'SDK v2, 2026': (url, token) =>
    connectV2({ pin: '2026-07-28' }, new HttpV2(new URL(url), bearer(token)), () => 0),
};

function bearer(token: string): { requestInit: RequestInit } {
  return { requestInit: { headers: { authorization: `Bearer ${token}` } } };
}

type V1Transport = Parameters<ClientV1['connect']>[0];

async function connectV1(transport: unknown, pid: () => number): Promise<TestClient> {
  const client = new ClientV1(SELF);
  await client.connect(transport as V1Transport);
  return {
    ...common(client, pid),
    async onToolsChanged(listener) {
      client.setNotificationHandler(ToolListChangedNotificationSchema, () => listener());
    },
    async call(name, args = {}, options = {}) {
      const params = { name, arguments: { ...args }, ...metaOf(options) };
      return answerOf(await client.callTool(params, undefined, requestOf(options)));
    },
  };
}

type V2Mode = 'legacy' | 'auto' | { readonly pin: string };

/** With `auto` the client finds out for itself which of the two a server speaks. */
export async function stdioV2(
  mode: V2Mode,
  command: string,
  args: readonly string[],
  env: Readonly<Record<string, string>>,
): Promise<TestClient> {
  const transport = new StdioV2({ command, args: [...args], env, stderr: 'ignore' });
  return connectV2(mode, transport, () => transport.pid ?? 0);
}

async function connectV2(
  mode: V2Mode,
  transport: Parameters<ClientV2['connect']>[0],
  pid: () => number,
): Promise<TestClient> {
  const client = new ClientV2(SELF, { versionNegotiation: { mode } });
  await client.connect(transport);
  return {
    ...common(client, pid),
    async onToolsChanged(listener) {
      client.setNotificationHandler('notifications/tools/list_changed', () => listener());
      if (mode !== 'legacy') await client.listen({ toolsListChanged: true });
    },
    async call(name, args = {}, options = {}) {
      const params = { name, arguments: { ...args }, ...metaOf(options) };
      return answerOf(await client.callTool(params, requestOf(options)));
    },
  };
}

type Rest = Pick<
  TestClient,
  'pid' | 'instructions' | 'protocol' | 'listTools' | 'listTemplates' | 'readResource' | 'close'
>;

function common(client: ClientV1 | ClientV2, pid: () => number): Rest {
  return {
    pid: pid(),
    instructions: client.getInstructions(),
    protocol: client instanceof ClientV2 ? client.getNegotiatedProtocolVersion() : undefined,
    listTools: async () => (await client.listTools()).tools as readonly Listed[],
    async listTemplates() {
      return (await client.listResourceTemplates()).resourceTemplates.map((one) => one.uriTemplate);
    },
    async readResource(uri) {
      const [content] = (await client.readResource({ uri })).contents;
      return content !== undefined && 'text' in content ? content.text : '';
    },
    close: () => client.close(),
  };
}

function metaOf({ meta }: CallOptions): { _meta?: Record<string, unknown> } {
  return meta === undefined ? {} : { _meta: { ...meta } };
}

function requestOf({ signal, onProgress }: CallOptions) {
  return {
    timeout: CALL_MS,
    ...(signal !== undefined && { signal }),
    ...(onProgress !== undefined && {
      onprogress: ({ progress, message }: { progress: number; message?: string | undefined }) =>
        onProgress(progress, message),
    }),
  };
}

function answerOf(given: unknown): Answer {
  const { content, structuredContent, isError } = given as {
    content: readonly { text?: string }[];
    structuredContent?: Shape;
    isError?: boolean;
  };
  const text = content.map((one) => one.text ?? '').join('');
  return { isError: isError === true, text, structured: structuredContent };
}

/** Lines of JSON on a child's two streams; nothing else is known about the protocol. */
export class LineClient {
  readonly child: ChildProcess;
  /** Every line that was no JSON message. There must be none. */
  readonly strange: string[] = [];
  readonly notifications: Shape[] = [];
  /** Answers that belong to no request. */
  readonly orphans: Shape[] = [];
  #last = 0;
  readonly #waiting = new Map<unknown, (message: Shape) => void>();
  readonly #listeners = new Set<(message: Shape) => void>();

  constructor(command: string, args: readonly string[], env: Readonly<Record<string, string>>) {
    this.child = spawn(command, [...args], { env, stdio: ['pipe', 'pipe', 'ignore'] });
    this.child.stdin?.on('error', () => undefined); // it may be gone already
    const lines = createInterface({ input: this.child.stdout as NodeJS.ReadableStream });
    lines.on('line', (line) => this.#take(line));
  }

  /** The whole answer, `result` or `error`. */
  request(method: string, params?: Shape): { id: number; answer: Promise<Shape> } {
    this.#last += 1;
    const id = this.#last;
    const answer = new Promise<Shape>((resolve) => this.#waiting.set(id, resolve));
    this.write({ jsonrpc: '2.0', id, method, ...(params && { params }) });
    return { id, answer };
  }

  notify(method: string, params?: Shape): void {
    this.write({ jsonrpc: '2.0', method, ...(params && { params }) });
  }

  write(message: unknown): void {
    this.raw(`${JSON.stringify(message)}\n`);
  }

  raw(text: string | Uint8Array): void {
    this.child.stdin?.write(text);
  }

  onNotification(listener: (message: Shape) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  async initialize(): Promise<Shape> {
    const params = { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: SELF };
    const { answer } = this.request('initialize', params);
    const { result } = await answer;
    this.notify('notifications/initialized');
    return result as Shape;
  }

  /** Hangs up and waits for the end of the server. */
  async close(): Promise<number | null> {
    this.child.stdin?.end();
    if (this.child.exitCode === null && this.child.signalCode === null) {
      await once(this.child, 'exit');
    }
    return this.child.exitCode;
  }

  #take(line: string): void {
    let message: Shape;
    try {
      message = JSON.parse(line);
    } catch {
      this.strange.push(line);
      return;
    }
    const waiting = this.#waiting.get(message.id);
    if ('method' in message) {
      this.notifications.push(message);
      for (const listener of this.#listeners) listener(message);
    } else if (waiting === undefined) this.orphans.push(message);
    else waiting(message);
    this.#waiting.delete(message.id);
  }
}

async function connectByHand(
  command: string,
  args: readonly string[],
  env: Readonly<Record<string, string>>,
): Promise<TestClient> {
  const lines = new LineClient(command, args, env);
  const { instructions, protocolVersion } = await lines.initialize();
  const ask = async (method: string, params?: Shape): Promise<Shape> => {
    const { result, error } = await lines.request(method, params).answer;
    if (error !== undefined) throw new Error((error as { message: string }).message);
    return result as Shape;
  };
  return {
    pid: lines.child.pid ?? 0,
    instructions: instructions as string | undefined,
    protocol: protocolVersion as string,
    listTools: async () => (await ask('tools/list')).tools as readonly Listed[],
    call: (name, args = {}, options = {}) => callByHand(lines, { name, arguments: args }, options),
    async listTemplates() {
      const { resourceTemplates } = await ask('resources/templates/list');
      return (resourceTemplates as { uriTemplate: string }[]).map((one) => one.uriTemplate);
    },
    async readResource(uri) {
      const { contents } = await ask('resources/read', { uri });
      return String((contents as { text: string }[])[0]?.text);
    },
    async onToolsChanged(listener) {
      lines.onNotification(({ method }) => {
        if (method === 'notifications/tools/list_changed') listener();
      });
    },
    async close() {
      await lines.close();
      if (lines.strange.length > 0) throw new Error(`not protocol: ${lines.strange.join('\n')}`);
    },
  };
}

async function callByHand(
  lines: LineClient,
  params: Shape,
  { meta = {}, onProgress, signal }: CallOptions,
): Promise<Answer> {
  const progressToken = onProgress === undefined ? undefined : `p${Math.random()}`;
  const _meta = progressToken === undefined ? meta : { ...meta, progressToken };
  const end = lines.onNotification(({ method, params: given = {} }) => {
    const { progressToken: token, progress, message } = given as Shape;
    if (method !== 'notifications/progress' || token !== progressToken) return;
    onProgress?.(progress as number, message as string | undefined);
  });
  const { id, answer } = lines.request('tools/call', { ...params, _meta });
  const aborted = new Promise<never>((_, reject) => {
    signal?.addEventListener('abort', () => {
      lines.notify('notifications/cancelled', { requestId: id });
      reject(new Error('aborted'));
    });
  });
  try {
    const { result, error } = await Promise.race([answer, aborted]);
    if (error !== undefined) throw new Error((error as { message: string }).message);
    return answerOf(result);
  } finally {
    end();
  }
}
