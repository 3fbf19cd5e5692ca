// The contract of a plugin. Built-in plugins are dialects; any other is a module whose default
// export is a `PluginClass`. The host calls these methods and nothing else; an error of one of them
// is reported as that plugin's trouble and never ends the server.

import type { PolicyEngine } from '../policies/engine.ts';
import type { Shell } from '../shell/shell.ts';
import type { AskPerson, Env, Health, Log, StopCause } from '../types.ts';

/** A JSON Schema object, without `oneOf`, `anyOf` or `allOf` at its top. */
export type JsonSchema = Readonly<Record<string, unknown>>;

export type ToolDefinition = {
  /** Without the plugin's name: the host puts that in front, unless it is `plain`. */
  readonly name: string;
  /** Its name is known to agents as it is. Only one plugin of a server may claim such a name. */
  readonly plain?: boolean;
  readonly title?: string;
  readonly description: string;
  readonly parameters: JsonSchema;
  readonly outputSchema?: JsonSchema;
  readonly annotations?: {
    readonly readOnlyHint?: boolean;
    readonly destructiveHint?: boolean;
    readonly idempotentHint?: boolean;
    readonly openWorldHint?: boolean;
  };
};

export type ToolResult = {
  /** False for a call that could not be carried out; a command that failed is still a success. */
  readonly success: boolean;
  /** What the model reads; for a failed call, one sentence that says why. */
  readonly text: string;
  /** Only where clients do not drop the text for it: lists and facts, never command output. */
  readonly structured?: Readonly<Record<string, unknown>>;
  /** The same in parts, for programs that call the tool themselves; MCP clients do not get it. */
  readonly parts?: Readonly<Record<string, unknown>>;
};

/** One call, besides its arguments. */
export type CallContext = {
  /** `_meta` of the request, as it came. */
  readonly meta: Readonly<Record<string, unknown>>;
  readonly client: { readonly name: string; readonly version: string } | undefined;
  /** Which connection it came over; undefined where each request stands for itself. */
  readonly connection?: string;
  /** Aborted when the caller cancels the request or hangs up. */
  readonly signal: AbortSignal;
  /** Present when the caller asked for progress. */
  readonly progress?: (message: string) => void;
  /** Present when the client can ask a person. Never rejects, and its time is limited. */
  readonly ask?: AskPerson;
};

export type ResourceTemplate = {
  readonly uriTemplate: string;
  readonly name: string;
  readonly description: string;
  readonly mimeType: string;
};

export type Resource = { readonly uri: string; readonly mimeType: string; readonly text: string };

/** What the server lends to a plugin. */
export type Services = {
  /** The project: relative paths in settings start here. */
  readonly projectDirectory: string;
  readonly stateRoot: string;
  readonly env: Env;
  readonly log: Log;
  /** One shell for all plugins; made when it is first asked for. */
  readonly shell: () => Shell;
  readonly now: () => number;
  /** Whether the server has this tool now; absent where there is no server. */
  readonly mounted?: (tool: string) => boolean;
  /** Decides which commands may run; without it all may. */
  readonly policy?: PolicyEngine | undefined;
  /** What a person should know although nothing is wrong, one sentence each. */
  readonly notices?: () => readonly string[];
  /** Says of the plugin what a person should know, or takes it back. */
  readonly note?: (sentence: string | undefined) => void;
  /** Whether the project's settings may differ from those that plugins follow. */
  readonly settingsWait?: () => boolean;
  /** How long a command waits for a free place; tests do not. */
  readonly roomWaitMs?: number;
};

export type CliCommand = { readonly name: string; readonly help: string };

export type Plugin = {
  initialize(): Promise<void>;
  /**
   * The server will stop and may be killed at any moment: what must not be lost is written when
   * this returns. `shutdown` follows; calls that are under way may still be answered before.
   */
  stopping?(cause: StopCause): void;
  /** Ends what it started and writes what it has; called once, also after a failed initialize. */
  shutdown(): Promise<void>;
  healthCheck(): Promise<Health>;
  /** `config` was found valid by `checkConfig`. In-flight calls have been waited for. */
  onConfigReload(config: unknown): Promise<void>;
  getTools(): readonly ToolDefinition[];
  callTool(
    name: string,
    args: Readonly<Record<string, unknown>>,
    context: CallContext,
  ): Promise<ToolResult>;
  getResources?(): readonly ResourceTemplate[];
  /** Undefined when the uri is not one of its own. */
  readResource?(uri: string): Promise<Resource | undefined>;
};

export type PluginClass = {
  new (config: unknown, services: Services): Plugin;
  readonly pluginVersion: string;
  /**
   * The problems of a config, each with the path of its key. None: it is fine. With a project, also
   * what the config names there and is not there.
   */
  checkConfig?(config: unknown, project?: string): readonly ConfigProblem[];
  /** For the settings' JSON Schema. */
  readonly configSchema?: JsonSchema;
  getCliCommands?(): readonly CliCommand[];
};

export type ConfigProblem = {
  readonly path: readonly (string | number)[];
  readonly message: string;
};
