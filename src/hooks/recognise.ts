// Who calls. One event may reach us through another agent's file (VS Code, Cursor and Copilot read
// files of Claude's), so the payload tells, and an argument only decides between agents that the
// payload leaves open.

import type { AgentId } from '../text/agents.ts';
import { asObject, asString, type JsonObject } from '../text/json.ts';
import type { Env } from '../types.ts';
import type { HookCall, Protocol } from './call.ts';
import { CLAUDE_PROTOCOL, claudeCaller } from './protocol-claude.ts';
import { CLINE_PROTOCOL } from './protocol-cline.ts';
import { COPILOT_PROTOCOL } from './protocol-copilot.ts';
import { CURSOR_PROTOCOL } from './protocol-cursor.ts';
import { GEMINI_PROTOCOL } from './protocol-gemini.ts';
import { PLUGIN_PROTOCOL } from './protocol-plugin.ts';

type Caller = { readonly agent: AgentId; readonly protocol: Protocol };

export type RecognisedCall = { readonly call: HookCall; readonly protocol: Protocol };

/** Undefined: no agent that we know sends this. */
export function recognise(
  payload: JsonObject,
  env: Env,
  named: AgentId | undefined,
): RecognisedCall | undefined {
  const caller = callerOf(payload, env, named);
  const call = caller?.protocol.read(payload, caller.agent);
  return caller === undefined || call === undefined
    ? undefined
    : { call, protocol: caller.protocol };
}

function callerOf(payload: JsonObject, env: Env, named: AgentId | undefined): Caller | undefined {
  const has = (...names: readonly string[]): boolean =>
    names.every((name) => Object.hasOwn(payload, name));
  if (has('cursor_version')) return { agent: 'cursor', protocol: CURSOR_PROTOCOL };
  if (has('hookName', 'taskId')) return { agent: 'cline', protocol: CLINE_PROTOCOL };
  const event = asString(payload.hook_event_name);
  if (event === undefined) return withoutEvent(payload, has);
  if (event === 'BeforeTool' || event === 'AfterTool') {
    return { agent: 'gemini', protocol: GEMINI_PROTOCOL };
  }
  const transcript = asString(payload.transcript_path) ?? '';
  if (/\/chats\/session-[^/]*$/.test(transcript)) {
    return { agent: 'gemini', protocol: GEMINI_PROTOCOL };
  }
  if (!has('session_id') && !has('sessionId') && !has('tool_use_id') && !has('tool_name')) {
    return undefined;
  }
  return { agent: claudeCaller(payload, env, named), protocol: CLAUDE_PROTOCOL };
}

/** Copilot's own form and our plugins': the event is told by the fields. */
function withoutEvent(
  payload: JsonObject,
  has: (...names: readonly string[]) => boolean,
): Caller | undefined {
  if (has('sessionId', 'timestamp') && typeof payload.sessionId === 'string') {
    return { agent: 'copilot', protocol: COPILOT_PROTOCOL };
  }
  if (asObject(payload.before) !== undefined || asObject(payload.after) !== undefined) {
    return { agent: 'opencode', protocol: PLUGIN_PROTOCOL };
  }
  if (has('toolName', 'toolCallId')) return { agent: 'pi', protocol: PLUGIN_PROTOCOL };
  return undefined;
}
