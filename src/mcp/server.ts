// A host as MCP clients see it: its tools and resources, calls with their limits, and failures as
// results. Serves it over two streams; `http.ts` does the same over HTTP.

import type { Readable, Writable } from 'node:stream';
import type { Host } from '../host.ts';
import type { Resource, ToolDefinition } from '../plugin.ts';
import { printable } from '../text/printable.ts';
import type { Face, FaceCall, FaceResult, FaceTool } from './face.ts';
import { instructionsFor } from './instructions.ts';
import { throttled } from './progress.ts';
import { isMessage, serveWire } from './sdk.ts';
import { LineWire } from './stdio.ts';

// Clients hang up at 10 MiB, and each of them counts differently.
export const RESULT_BYTES_MAX = 4 * 1024 * 1024;

export type ServerOptions = {
  readonly name: string;
  readonly version: string;
  readonly onerror: (error: Error) => void;
};

export type Served = {
  /** Resolves when there is nobody left to serve. */
  readonly gone: Promise<void>;
  /** Aborts the calls that are still running. */
  close(): Promise<void>;
};

/** Speaks on these two streams, and nobody else may. */
export function serveStdio(
  host: Host,
  options: ServerOptions & { readonly input: Readable; readonly output: Writable },
): Served {
  const wire = new LineWire(options.input, options.output, isMessage);
  const handle = serveWire(faceOf(host, options), wire, options.onerror);
  return { gone: wire.gone, close: () => handle.close() };
}

export function faceOf(host: Host, { name, version }: ServerOptions): Face {
  return {
    name,
    version,
    instructions: () => instructionsFor(host.tools().map((tool) => tool.name)),
    tools: () => host.tools().map((tool) => faceTool(tool.name, tool.definition)),
    call: (call) => callTool(host, call),
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
    return { text: printable(wordsOf(error)), isError: true };
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
  return text.slice(0, low).replace(/[\ud800-\udbff]$/, ''); // half a character is none
}

function jsonBytes(value: unknown): number {
  return Buffer.byteLength(JSON.stringify(value));
}

async function readResource(host: Host, uri: string): Promise<Resource | undefined> {
  const resource = await host.readResource(uri);
  if (resource === undefined) return undefined;
  return { ...resource, text: limited({ text: resource.text, isError: false }).text };
}

function wordsOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
