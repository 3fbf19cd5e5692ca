// A host as MCP clients see it: its tools and resources, calls with their limits, and failures as
// results. Serves it over two streams; `http.ts` does the same over HTTP.

import type { Readable, Writable } from 'node:stream';
import { messageOf } from '../errors.ts';
import type { Host, MountedTool } from '../host/host.ts';
import type { Resource, ToolDefinition } from '../host/plugin.ts';
import { printable } from '../text/printable.ts';
import type { Face, FaceCall, FaceResult, FaceTool } from './face.ts';
import type { HandOver } from './front.ts';
import { instructionsFor } from './instructions.ts';
import { throttled } from './progress.ts';
import type { ReadyAnswers } from './ready.ts';
import { isMessage, serveWire } from './sdk.ts';
import { LineWire } from './stdio.ts';

// Clients hang up at 10 MiB, and each of them counts differently.
export const RESULT_BYTES_MAX = 4 * 1024 * 1024;

// Clients give up on a call after a minute, some after 45 s: the refusal has to come before that,
// with the id in it that a person can approve later.
const ASK_MS = 40_000;

export type ServerOptions = {
  readonly name: string;
  readonly version: string;
  /** How long a person has for an answer, where the client is known to wait longer than usual. */
  readonly askMs?: number | undefined;
  readonly onerror: (error: Error) => void;
};

export type ServerHandle = {
  /** Resolves when the client has hung up; calls may still be under way. */
  readonly hungUp: Promise<void>;
  /** Resolves when there is no client left to serve. */
  readonly gone: Promise<void>;
  /** Aborts the calls that are still running. */
  close(): Promise<void>;
};

export type StdioOptions = ServerOptions & {
  readonly input: Readable;
  readonly output: Writable;
  /** The answers that were given before this server was loaded. */
  readonly before?: Pick<HandOver, 'answered' | 'listed'> | undefined;
};

/** Uses these two streams alone. */
export function serveStdio(host: Host, options: StdioOptions): ServerHandle {
  const { input, output, before } = options;
  const wire = new LineWire(input, output, isMessage, before?.answered);
  const handle = serveWire(faceOf(host, options), wire, options.onerror);
  if (before?.listed !== undefined && before.listed !== answersOf(host.tools()).tools) {
    void wire.send({ jsonrpc: '2.0', method: 'notifications/tools/list_changed' });
  }
  return { hungUp: wire.hungUp, gone: wire.gone, close: () => handle.close() };
}

/** The answers to `initialize` and `tools/list`. */
export function answersOf(
  mounted: readonly MountedTool[],
  notices: readonly string[] = [],
): ReadyAnswers {
  const tools = mounted.map(({ name, definition }) => faceTool(name, definition));
  return { instructions: instructionsOf(mounted, notices), tools: JSON.stringify({ tools }) };
}

function instructionsOf(mounted: readonly MountedTool[], notices: readonly string[]): string {
  const about = instructionsFor(mounted.map(({ name }) => name));
  return [about, ...notices].filter((words, at) => at === 0 || words !== '').join('\n');
}

export function faceOf(host: Host, { name, version, askMs = ASK_MS }: ServerOptions): Face {
  let told = '';
  /** With the first answer, and again when there is something else to say. */
  const news = (): string | undefined => {
    const notice = host.notices().join('\n');
    if (notice === told) return undefined;
    told = notice;
    return notice === '' ? undefined : notice;
  };
  return {
    name,
    version,
    asking: { waitMs: askMs, minMs: () => host.askMinMs(), now: () => performance.now() },
    instructions: () => instructionsOf(host.tools(), [host.brief(), ...host.notices()]),
    tools: () => host.tools().map((tool) => faceTool(tool.name, tool.definition)),
    async call(call) {
      const result = await callTool(host, call);
      const notice = news();
      return notice === undefined ? result : { ...result, notice };
    },
    templates: () => host.resources(),
    read: (uri) => readResource(host, uri),
    onToolsChanged: (listener) => host.onToolsChanged(listener),
  };
}

function faceTool(name: string, definition: ToolDefinition): FaceTool {
  const { title, description, parameters, outputSchema, annotations } = definition;
  return {
    name,
    ...(title !== undefined && { title }),
    description,
    inputSchema: parameters,
    ...(outputSchema !== undefined && { outputSchema }),
    ...(annotations !== undefined && { annotations }),
  };
}

async function callTool(host: Host, call: FaceCall): Promise<FaceResult> {
  const { name, args, meta, client, signal, connection, ask } = call;
  const progress = call.progress === undefined ? undefined : throttled(call.progress);
  try {
    const context = {
      meta,
      client,
      signal,
      ...(connection !== undefined && { connection }),
      ...(ask !== undefined && { ask }),
    };
    const { success, text, structured } = await host.call(
      name,
      args,
      progress === undefined ? context : { ...context, progress: progress.report },
    );
    const result = { text, isError: !success };
    return limited(structured === undefined ? result : { ...result, structured });
  } catch (error) {
    return { text: printable(messageOf(error)), isError: true };
  } finally {
    progress?.end();
  }
}

/** Text is cut and says so; facts that do not fit would be wrong facts if they were cut. */
function limited(result: FaceResult): FaceResult {
  const { text, structured, isError } = result;
  // Most answers are far too short to be worth counting.
  if (structured === undefined && text.length * 6 <= RESULT_BYTES_MAX) return result;
  const size = jsonBytes(text) + (structured === undefined ? 0 : jsonBytes(structured));
  if (size <= RESULT_BYTES_MAX) return result;
  if (structured !== undefined) {
    return { text: `the answer has ${size} bytes, ask for less of it at a time`, isError: true };
  }
  const notice = `\n[Cut: the answer has ${size} bytes, and ${RESULT_BYTES_MAX} can be sent.]`;
  const kept = cutTo(text, RESULT_BYTES_MAX - jsonBytes(notice));
  return { text: kept + notice, isError };
}

/** As much of the start as has at most so many bytes as JSON. */
function cutTo(text: string, bytesMax: number): string {
  let low = 0;
  let high = text.length;
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if (jsonBytes(text.slice(0, middle)) <= bytesMax) low = middle;
    else high = middle - 1;
  }
  return text.slice(0, low).replace(/[\ud800-\udbff]$/, ''); // no half character
}

function jsonBytes(value: unknown): number {
  return Buffer.byteLength(JSON.stringify(value));
}

async function readResource(host: Host, uri: string): Promise<Resource | undefined> {
  const resource = await host.readResource(uri);
  if (resource === undefined) return undefined;
  return { ...resource, text: limited({ text: resource.text, isError: false }).text };
}
