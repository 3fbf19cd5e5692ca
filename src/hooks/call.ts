// One event of an agent's hook as all protocols have it in common. A protocol makes it out of the
// agent's JSON and turns the verdict into the agent's own form of an answer; everything between is
// the same for all of them.

import type { AgentId } from '../text/agents.ts';
import type { JsonObject } from '../text/json.ts';

export type HookEvent =
  /** A tool is about to run. */
  | 'before'
  /** The agent is about to ask its person. */
  | 'permission'
  | 'after'
  | 'failure'
  | 'start'
  | 'end'
  /** One of the many others: nothing is done about it. */
  | 'other';

/** A file that a tool is about to write. */
export type FileEdit = {
  /** As the agent names it. */
  readonly path: string;
  readonly removes: boolean;
  /** The text that comes in, and the one that goes, as far as the call tells. */
  readonly incoming: string | undefined;
  readonly outgoing: string | undefined;
};

export type ToolUse =
  | {
      readonly kind: 'shell';
      readonly name: string;
      readonly commands: readonly string[];
      readonly description: string | null;
    }
  | { readonly kind: 'file'; readonly name: string; readonly edits: readonly FileEdit[] }
  /** It neither runs a command nor writes a file, as far as we know. */
  | { readonly kind: 'other'; readonly name: string };

/** What a client tells about a command that is over. */
export type CommandResult = {
  readonly command: string;
  /** Null where the client hides it. */
  readonly exitCode: number | null;
  /** Both streams, as the client mixed them; null where it tells nothing. */
  readonly output: string | null;
  readonly truncated: boolean;
  readonly interrupted: boolean;
  /** It still runs. */
  readonly background: boolean;
};

export type HookCall = {
  readonly agent: AgentId;
  readonly event: HookEvent;
  /** The event as the agent calls it: some answers have to name it. */
  readonly eventName: string;
  readonly session: string | null;
  readonly toolCall: string | null;
  readonly cwd: string | null;
  /** When it happened, as the client says; undefined where it does not. */
  readonly at: number | undefined;
  readonly permissionMode: string | null;
  readonly transcript: string | null;
  readonly tool: ToolUse | undefined;
  /** What the tool was given, for answers that change a part of it. */
  readonly input: JsonObject;
  readonly results: readonly CommandResult[];
  readonly durationMs: number | null;
};

/** What an agent's own form is made of. */
export type HookVerdict =
  | { readonly kind: 'silent' }
  | { readonly kind: 'allow' }
  /** The client asks its person: only where that was proven to happen. */
  | { readonly kind: 'ask'; readonly text: string }
  | { readonly kind: 'deny'; readonly text: string }
  /** One line for the model. */
  | { readonly kind: 'context'; readonly text: string }
  /** The commands that run instead of those of the call, in their order. */
  | { readonly kind: 'rewrite'; readonly commands: readonly string[] };

export type Protocol = {
  /** Undefined: the payload is none of this agent's, or has not what it needs. */
  read(payload: JsonObject, agent: AgentId): HookCall | undefined;
  /** Undefined: nothing is printed, which the client takes as "go on". */
  answer(call: HookCall, verdict: HookVerdict): JsonObject | undefined;
};
