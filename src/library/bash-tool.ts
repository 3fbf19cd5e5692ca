/// <reference lib="esnext.disposable" preserve="true" />
// The types of a tool of the library. Written by hand and free of everything else, so that a
// program needs nothing but these lines to be compiled against it.

import type { AbortSignalLike } from '../shell/run.ts';
import type { Env } from '../types.ts';

export type { AbortSignalLike };

/** A JSON Schema of type object, as model APIs take it. */
export type InputSchema = {
  readonly type: 'object';
  readonly properties?: Readonly<Record<string, unknown>>;
  readonly required?: readonly string[];
  readonly [key: string]: unknown;
};

export type ToolInput = Readonly<Record<string, unknown>>;

export type ToolCallOptions = {
  /** Aborting it ends the command; aborted before, the call rejects with `cancelled`. */
  readonly signal?: AbortSignalLike | undefined;
  /** The model's id of this call, for the journal. */
  readonly toolCallId?: string | undefined;
};

export type ToolAnswer = {
  /** The text for the model. */
  readonly text: string;
  /** What the dialect calls an error: a refused call, in some also a command that failed. */
  readonly isError: boolean;
  /** The same as facts, where a tool gives lists or facts. */
  readonly structured?: Readonly<Record<string, unknown>>;
};

export type BashTool = {
  readonly name: string;
  readonly description: string;
  readonly inputSchema: InputSchema;
  /** The text of `call`. */
  execute(input: ToolInput, options?: ToolCallOptions): Promise<string>;
  /** Rejects with an `AppError`: `cancelled`, `closed`, or what kept the dialect from starting. */
  call(input: ToolInput, options?: ToolCallOptions): Promise<ToolAnswer>;
  /** Ends what the dialect still runs and lets go of it, for all tools made together. */
  close(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
};

export type LibraryLog = (
  level: 'debug' | 'info' | 'warn' | 'error',
  message: string,
  fields?: Readonly<Record<string, unknown>>,
) => void;

/** The options of all tools of the library. */
export type HouseOptions = {
  /** Where commands run, and where relative paths of `config` start. */
  readonly cwd?: string;
  /** Where captures are kept. */
  readonly stateRoot?: string;
  /** In place of `process.env`. */
  readonly env?: Env;
  /** Groups the entries of the journal; a run belongs to the conversation that started it. */
  readonly conversationId?: string;
  /** Which agent calls, for the journal. */
  readonly agentId?: string;
  /** Whether commands are journalled, or how: the section `recording` of the settings. */
  readonly recording?: boolean | Readonly<Record<string, unknown>>;
  /** The settings of the dialect, as `config` in settings.yml. */
  readonly config?: Readonly<Record<string, unknown>>;
  readonly log?: LibraryLog;
};
