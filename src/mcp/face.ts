// What a protocol serves, without where it comes from: tools, calls, resources. `sdk.ts` shows a
// face to clients, `server.ts` makes one from a host.

import type { JsonSchema, Resource, ResourceTemplate, ToolDefinition } from '../host/plugin.ts';
import type { AskPerson } from '../types.ts';

export type FaceTool = {
  readonly name: string;
  readonly title?: string;
  readonly description: string;
  readonly inputSchema: JsonSchema;
  readonly outputSchema?: JsonSchema;
  readonly annotations?: NonNullable<ToolDefinition['annotations']>;
};

/** One call, as far as the protocol knows it. */
export type FaceCall = {
  readonly name: string;
  readonly args: Readonly<Record<string, unknown>>;
  readonly meta: Readonly<Record<string, unknown>>;
  readonly client: { readonly name: string; readonly version: string } | undefined;
  /** Undefined where each request stands for itself. */
  readonly connection: string | undefined;
  /** Aborted when the call is cancelled or its caller is gone. */
  readonly signal: AbortSignal;
  /** Present when the caller asked for progress. */
  readonly progress?: (step: number, message: string) => void;
  /** Present when the client can ask a person. */
  readonly ask?: AskPerson;
};

export type FaceResult = {
  readonly text: string;
  readonly structured?: Readonly<Record<string, unknown>>;
  readonly isError: boolean;
  /** A notice for the person; it follows the answer as a text of its own. */
  readonly notice?: string;
};

/** The longest and the shortest time for an answer of a person. */
export type AskTerms = {
  readonly waitMs: number;
  /** An answer that comes sooner is the client's own. */
  minMs(): number;
  /** Milliseconds of a clock that is never set. */
  now(): number;
};

export type Face = {
  readonly name: string;
  readonly version: string;
  readonly asking: AskTerms;
  /** For the model: what the tools are for. */
  instructions(): string;
  tools(): readonly FaceTool[];
  /** Never rejects: a failure is a result. */
  call(call: FaceCall): Promise<FaceResult>;
  templates(): readonly ResourceTemplate[];
  /** Undefined when there is no such resource. */
  read(uri: string): Promise<Resource | undefined>;
  /** Returns what ends it. */
  onToolsChanged(listener: () => void): () => void;
};
