// Which agent asks, as it says itself: from the `_meta` of its request, else from its name, else
// from the environment that it gives to the servers it starts. None of it is checked, so every
// value is made short and plain before it is stored or grouped by. A run belongs to the
// conversation that started it: no other one finds it by pid or id. An agent that does not name
// its conversation is known by its connection.

import type { CallContext } from '../host/plugin.ts';
import { asObject, asString, type JsonObject, parseObject } from '../text/json.ts';
import type { AgentContext, AskPerson, Env } from '../types.ts';

export type Caller = {
  /** The same for all calls of one conversation, and for no other. */
  readonly key: string;
  readonly context: AgentContext;
  /** The name that the client gave when it connected. */
  readonly client: string | null;
  readonly signal: AbortSignal;
  readonly progress: ((message: string) => void) | undefined;
  readonly ask: AskPerson | undefined;
  /** Lines that belong into the answer whatever it is about. */
  readonly notes: string[];
};

export function callerOf(call: CallContext, env: Env): Caller {
  const context = agentContext(call, env);
  const { conversationId } = context;
  const key =
    conversationId === null
      ? `connection:${call.connection ?? ''}`
      : `conversation:${conversationId}`;
  const { signal, progress, ask } = call;
  const client = call.client?.name ?? null;
  return { key, context, client, signal, progress, ask, notes: [] };
}

const VALUE_LENGTH_MAX = 200; // an id, not a place to keep things

/** The agent says nothing about itself. */
export const NO_CONTEXT: AgentContext = {
  agentId: null,
  conversationId: null,
  toolCallId: null,
  traceId: null,
};

export function agentContext(call: Pick<CallContext, 'meta' | 'client'>, env: Env): AgentContext {
  const { meta, client } = call;
  const codex = codexTurn(meta['x-codex-turn-metadata']);
  return {
    agentId: first(meta.agent_id, client?.name),
    conversationId: first(
      meta.conversation_id,
      codex.session_id,
      codex.thread_id,
      meta.threadId,
      env.CLAUDE_CODE_SESSION_ID,
      env.CODEX_THREAD_ID,
      env.COPILOT_AGENT_SESSION_ID,
    ),
    // Codex calls it `callId`.
    toolCallId: first(meta.tool_call_id, meta['claudecode/toolUseId'], meta.callId),
    // A turn is what an agent without tracing has to tell which calls belong together.
    traceId: first(traceOf(meta.traceparent), codex.turn_id),
  };
}

/** Codex sends it as an object or as the text of one. */
function codexTurn(value: unknown): JsonObject {
  return (typeof value === 'string' ? parseObject(value) : asObject(value)) ?? {};
}

/** The trace id of a W3C `traceparent`: version, trace, span, flags. All zeros is none. */
function traceOf(value: unknown): string | undefined {
  const match = /^[0-9a-f]{2}-([0-9a-f]{32})-[0-9a-f]{16}-[0-9a-f]{2}/.exec(asString(value) ?? '');
  return match === null || /^0+$/.test(match[1] ?? '') ? undefined : match[1];
}

function first(...values: readonly unknown[]): string | null {
  for (const value of values) {
    const plain = plainText(value);
    if (plain !== '') return plain;
  }
  return null;
}

function plainText(value: unknown): string {
  const text = asString(value) ?? '';
  const visible = text.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/gu, '').trim();
  return [...visible.slice(0, VALUE_LENGTH_MAX * 2)].slice(0, VALUE_LENGTH_MAX).join('');
}
