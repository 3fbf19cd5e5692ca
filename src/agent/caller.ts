// Who asks, as far as runs are concerned: a run belongs to the conversation that started it, and
// nobody else's pid or id finds it. An agent that does not name its conversation is known by its
// connection.

import type { CallContext } from '../host/plugin.ts';
import type { AgentContext, AskPerson, Env } from '../types.ts';
import { agentContext } from './context.ts';

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
