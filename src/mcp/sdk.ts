// The one file that knows the MCP SDK. It shows a face to clients of the 2025 and of the 2026
// protocol: over a wire, or request by request over HTTP. Schemas of tools pass through untouched.

import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import {
  type CallToolRequest,
  type CallToolResult,
  CLIENT_CAPABILITIES_META_KEY,
  CLIENT_INFO_META_KEY,
  createMcpHandler,
  type InputRequiredResult,
  inputRequired,
  isJSONRPCNotification,
  isJSONRPCRequest,
  isJSONRPCResponse,
  isLegacyRequest,
  ResourceNotFoundError,
  Server,
  type ServerContext,
  SUPPORTED_PROTOCOL_VERSIONS,
  type Tool,
  type Transport,
  WebStandardStreamableHTTPServerTransport,
} from '@modelcontextprotocol/server';
import { serveStdio } from '@modelcontextprotocol/server/stdio';
import { asObject, asString } from '../text/json.ts';
import { askByRequest, formOf, showsForms, WaitingCalls } from './asking.ts';
import type { Face, FaceCall, FaceResult } from './face.ts';
import type { Message, Wire } from './stdio.ts';

export const CAPABILITIES = { tools: { listChanged: true }, resources: {} } as const;

/** The versions of clients that begin with `initialize`. */
export const PROTOCOLS: readonly string[] = SUPPORTED_PROTOCOL_VERSIONS.filter(
  (version) => version < '2026',
);

type OnError = (error: Error) => void;

/** Serves one client, in the protocol it opens with, until the wire closes. */
export function serveWire(face: Face, wire: Wire, onerror: OnError): { close(): Promise<void> } {
  return serveStdio(() => connectionServer(face), { transport: wire as Transport, onerror });
}

export function isMessage(message: Message): boolean {
  if (!('method' in message)) return isJSONRPCResponse(message);
  return isJSONRPCRequest(message) || isJSONRPCNotification(message);
}

export type Fetch = (request: Request) => Promise<Response>;

export type NodeHandler = (request: IncomingMessage, response: ServerResponse) => Promise<void>;

/** For Node's HTTP server. A caller that hangs up aborts the request. */
export async function nodeHandler(fetch: Fetch, bytesMax: number): Promise<NodeHandler> {
  const { toNodeHandler } = await import('@modelcontextprotocol/node');
  return toNodeHandler({ fetch }, { maxRequestBodySize: bytesMax }) as NodeHandler;
}

export type HttpPart = { readonly fetch: Fetch; close(): Promise<void> };

/** Clients of the 2026 protocol: each request stands for itself. */
export function openHandler(face: Face, bytesMax: number, onerror: OnError): HttpPart {
  const options = { legacy: 'reject', maxRequestBodySize: bytesMax, onerror } as const;
  const waiting = new WaitingCalls(face.asking); // the answer comes with another request
  const handler = createMcpHandler(() => newServer(face, waiting), options);
  const unsubscribe = face.onToolsChanged(() => handler.notify.toolsChanged());
  return {
    fetch: (request) => handler.fetch(request),
    async close() {
      unsubscribe();
      await handler.close();
    },
  };
}

export function speaks2025(request: Request, bytesMax: number): Promise<boolean> {
  return isLegacyRequest(request, undefined, { maxRequestBodySize: bytesMax });
}

/** One client of the 2025 protocol. `onopen` is called once it has said `initialize`. */
export async function openSession(
  face: Face,
  options: {
    readonly id: string;
    readonly bytesMax: number;
    readonly onopen: () => void;
    readonly onclose: () => void;
  },
): Promise<HttpPart> {
  const server = connectionServer(face);
  const transport = new WebStandardStreamableHTTPServerTransport({
    sessionIdGenerator: () => options.id,
    onsessioninitialized: options.onopen,
    maxRequestBodySize: options.bytesMax,
  });
  const unsubscribe = server.onclose;
  server.onclose = () => {
    unsubscribe?.();
    options.onclose();
  };
  await server.connect(transport as Transport);
  return { fetch: (request) => transport.handleRequest(request), close: () => server.close() };
}

/** A server that tells its client when the tools change. */
function connectionServer(face: Face): Server {
  const server = newServer(face, new WaitingCalls(face.asking), randomUUID());
  server.onclose = face.onToolsChanged(() => {
    server.sendToolListChanged().catch(() => undefined); // it hung up meanwhile
  });
  return server;
}

// A validator is for what clients are asked to fill in, and that is checked by `asking.ts`. The
// SDK's own would take longer to make than everything else.
const NO_VALIDATOR = {
  getValidator: () => () => {
    throw new Error('no answer of a client is checked here');
  },
};

function newServer(face: Face, waiting: WaitingCalls, connection?: string): Server {
  const { name, version } = face;
  const server = new Server(
    { name, version },
    {
      instructions: face.instructions(),
      capabilities: CAPABILITIES,
      jsonSchemaValidator: NO_VALIDATOR,
      debouncedNotificationMethods: ['notifications/tools/list_changed'],
    },
  );
  server.setRequestHandler('tools/list', () => ({ tools: [...face.tools()] as Tool[] }));
  server.setRequestHandler('tools/call', (request, context) => {
    const call = { ...callOf(server, request, context), connection };
    if (!canAsk(server, context)) return face.call(call).then(toolResult);
    if (context.mcpReq.envelope !== undefined) return inTurns(face, waiting, call, context);
    return face.call({ ...call, ask: asking(face, call, context) }).then(toolResult);
  });
  server.setRequestHandler('resources/list', () => ({ resources: [] }));
  server.setRequestHandler('resources/templates/list', () => ({
    resourceTemplates: [...face.templates()],
  }));
  server.setRequestHandler('resources/read', async ({ params }) => {
    const resource = await face.read(params.uri);
    if (resource === undefined) throw new ResourceNotFoundError(params.uri);
    return { contents: [resource] };
  });
  return server;
}

function callOf(
  server: Server,
  { params }: CallToolRequest,
  context: ServerContext,
): Omit<FaceCall, 'connection'> {
  const { _meta: meta = {}, envelope, signal } = context.mcpReq;
  const { progressToken } = meta;
  // The answer to a request that is gone cannot be delivered: a client cannot ask for it again.
  const gone = context.http?.req?.signal;
  const call = {
    name: params.name,
    args: params.arguments ?? {},
    meta,
    client: clientOf(envelope) ?? server.getClientVersion(),
    signal: gone === undefined ? signal : AbortSignal.any([signal, gone]),
  };
  if (progressToken === undefined) return call;
  const progress = (step: number, message: string): void => {
    const values = { progressToken, progress: step, message };
    const notification = { method: 'notifications/progress', params: values };
    context.mcpReq.notify(notification).catch(() => undefined); // it hung up meanwhile
  };
  return { ...call, progress };
}

/** The 2026 protocol says with each request what its client can, the 2025 one at the start. */
function canAsk(server: Server, { mcpReq: { envelope } }: ServerContext): boolean {
  if (envelope === undefined) return showsForms(server.getClientCapabilities());
  return showsForms(asObject(envelope)?.[CLIENT_CAPABILITIES_META_KEY]);
}

/** Only clients of the 2025 protocol take requests. */
function asking(
  { asking: terms }: Pick<Face, 'asking'>,
  { signal }: Pick<FaceCall, 'signal'>,
  { mcpReq }: ServerContext,
) {
  return askByRequest(
    (params, timeout) => mcpReq.send({ method: 'elicitation/create', params }, { timeout, signal }),
    terms,
  );
}

const QUESTION = 'approval';

/** A client of the 2026 protocol gets the question as the answer, and calls again with its own. */
async function inTurns(
  face: Face,
  waiting: WaitingCalls,
  call: FaceCall,
  { mcpReq }: ServerContext,
): Promise<CallToolResult | InputRequiredResult> {
  const back = { state: mcpReq.requestState(), answer: mcpReq.inputResponses?.[QUESTION] };
  const turn = await waiting.turn(call, back, (around) => face.call({ ...call, ...around }));
  if (turn.kind === 'done') return toolResult(turn.result);
  const inputRequests = { [QUESTION]: inputRequired.elicit(formOf(turn.question)) };
  return inputRequired({ inputRequests, requestState: turn.state });
}

/** The 2026 protocol names the client in each request, the 2025 one at the start. */
function clientOf(envelope: Readonly<Record<string, unknown>> = {}): FaceCall['client'] {
  const info = asObject(envelope[CLIENT_INFO_META_KEY]);
  const name = asString(info?.name);
  return name === undefined ? undefined : { name, version: asString(info?.version) ?? '' };
}

function toolResult({ text, structured, isError, notice }: FaceResult): CallToolResult {
  const texts = notice === undefined ? [text] : [text, notice];
  return {
    content: texts.map((one) => ({ type: 'text', text: one })),
    ...(structured !== undefined && { structuredContent: structured }),
    ...(isError && { isError }),
  };
}
