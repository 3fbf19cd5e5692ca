// The protocol of Cursor, from its documents: a hook for shells and one for all tools, with other
// names for the answer. Every payload has the e-mail address of the user, which is read nowhere.

import type { AgentId } from '../text/agents.ts';
import { asString, type JsonObject } from '../text/json.ts';
import type { CommandResult, HookCall, HookVerdict, Protocol } from './call.ts';
import { durationOf, eventOf, idOf, inputOf, NO_CALL, pathOf, toolOf } from './fields.ts';

export const CURSOR_PROTOCOL: Protocol = { read, answer };

function read(payload: JsonObject, agent: AgentId): HookCall | undefined {
  const eventName = asString(payload.hook_event_name);
  if (eventName === undefined) return undefined;
  const event = eventOf(eventName);
  const shell = /ShellExecution$/.test(eventName);
  const edit = eventName === 'afterFileEdit';
  const input = shell || edit ? payload : inputOf(payload.tool_input);
  const name = shell ? 'Shell' : edit ? 'Edit' : asString(payload.tool_name);
  const tool = toolOf(agent, name, input);
  const roots = Array.isArray(payload.workspace_roots) ? payload.workspace_roots : [];
  const over = event === 'after' || event === 'failure';
  return {
    ...NO_CALL,
    agent,
    event,
    eventName,
    session: idOf(payload.conversation_id),
    toolCall: idOf(payload.tool_use_id),
    cwd: pathOf(payload.cwd) ?? pathOf(roots[0]),
    transcript: pathOf(payload.transcript_path),
    tool,
    input: shell || edit ? {} : input,
    results:
      over && tool?.kind === 'shell' ? tool.commands.map((one) => resultOf(one, payload)) : [],
    durationMs: durationOf(payload.duration),
  };
}

function resultOf(command: string, payload: JsonObject): CommandResult {
  const output = asString(payload.output) ?? asString(payload.tool_output) ?? null;
  const plain = { truncated: false, interrupted: false, background: false };
  return { command, exitCode: null, output, ...plain };
}

function answer(call: HookCall, verdict: HookVerdict): JsonObject | undefined {
  if (call.event !== 'before') return undefined;
  const shell = call.eventName === 'beforeShellExecution';
  switch (verdict.kind) {
    case 'deny':
    case 'ask': {
      const { kind, text } = verdict;
      // Only the hook for shells can ask.
      const permission = shell ? kind : 'deny';
      const words = { user_message: text, agent_message: text };
      return shell
        ? { permission, ...words }
        : { permission, decision: permission, reason: text, ...words };
    }
    case 'allow':
      return shell ? { permission: 'allow' } : { permission: 'allow', decision: 'allow' };
    case 'rewrite': {
      const [command] = verdict.commands;
      return shell ? undefined : { updated_input: { ...call.input, command } };
    }
    default:
      return undefined;
  }
}
