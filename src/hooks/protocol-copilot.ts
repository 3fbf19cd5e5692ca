// The protocol of Copilot CLI for its own hook files: names in camelCase and no name of the event,
// which is known by the fields that are there. A hook that fails is taken as a denial.

import type { AgentId } from '../text/agents.ts';
import { asObject, asString, type JsonObject } from '../text/json.ts';
import type { CommandResult, HookCall, HookEvent, HookVerdict, Protocol, ToolUse } from './call.ts';
import { durationOf, idOf, inputOf, NO_CALL, pathOf, timeOf, toolOf } from './fields.ts';

export const COPILOT_PROTOCOL: Protocol = { read, answer };

function read(payload: JsonObject, agent: AgentId): HookCall | undefined {
  const input = inputOf(payload.toolArgs);
  const tool = toolOf(agent, asString(payload.toolName), input);
  const event = eventFrom(payload);
  return {
    ...NO_CALL,
    agent,
    event,
    eventName: event,
    session: idOf(payload.sessionId),
    toolCall: idOf(payload.toolCallId),
    cwd: pathOf(payload.cwd),
    at: timeOf(payload.timestamp),
    tool,
    input,
    results: event === 'after' && tool?.kind === 'shell' ? [resultOf(tool, payload)] : [],
    durationMs: durationOf(payload.durationMs),
  };
}

function eventFrom(payload: JsonObject): HookEvent {
  if ('toolResult' in payload || 'error' in payload) return 'after';
  if ('toolName' in payload) return 'before';
  if ('initialPrompt' in payload || 'source' in payload) return 'start';
  return 'reason' in payload ? 'end' : 'other';
}

function resultOf(
  { commands: [command = ''] }: Extract<ToolUse, { kind: 'shell' }>,
  payload: JsonObject,
): CommandResult {
  const text = asString(asObject(payload.toolResult)?.textResultForLlm) ?? null;
  const end =
    text === null ? null : /\n?<shellId: \S+ completed with exit code (-?\d{1,10})>\s*$/.exec(text);
  const output = text === null || end === null ? text : text.slice(0, end.index);
  const exitCode = end === null || end[1] === undefined ? null : Number(end[1]);
  const truncated = output !== null && /\boutput (?:was )?truncated\b/i.test(output);
  return { command, exitCode, output, truncated, interrupted: false, background: false };
}

function answer({ event, input }: HookCall, verdict: HookVerdict): JsonObject | undefined {
  if (event !== 'before') return undefined;
  switch (verdict.kind) {
    case 'deny':
    case 'ask':
      return { permissionDecision: verdict.kind, permissionDecisionReason: verdict.text };
    case 'allow':
      return { permissionDecision: 'allow' };
    case 'rewrite':
      return { modifiedArgs: { ...input, command: verdict.commands[0] } };
    default:
      return undefined;
  }
}
