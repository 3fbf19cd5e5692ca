// The protocol of Cline: one program for each event, several commands in one call, and an empty
// object for "go on".

import type { AgentId } from '../text/agents.ts';
import { asObject, asString, type JsonObject } from '../text/json.ts';
import type { CommandResult, HookCall, HookEvent, HookVerdict, Protocol } from './call.ts';
import { durationOf, idOf, inputOf, NO_CALL, pathOf, timeOf, toolOf } from './fields.ts';

export const CLINE_PROTOCOL: Protocol = { read, answer };

const EVENTS: { readonly [name: string]: HookEvent } = {
  tool_call: 'before',
  tool_result: 'after',
  agent_start: 'start',
  agent_end: 'end',
};

function read(payload: JsonObject, agent: AgentId): HookCall | undefined {
  const eventName = asString(payload.hookName) ?? '';
  const event = Object.hasOwn(EVENTS, eventName) ? (EVENTS[eventName] ?? 'other') : 'other';
  const call = asObject(payload.tool_call) ?? asObject(payload.tool_result) ?? {};
  const input = inputOf(call.input);
  const tool = toolOf(agent, asString(call.name), input);
  const roots = Array.isArray(payload.workspaceRoots) ? payload.workspaceRoots : [];
  const outputs = event === 'after' && tool?.kind === 'shell' ? call.output : undefined;
  return {
    ...NO_CALL,
    agent,
    event,
    eventName,
    session: idOf(payload.taskId),
    toolCall: idOf(call.id),
    cwd: pathOf(input.cwd) ?? pathOf(roots[0]),
    at: timeOf(payload.timestamp),
    tool,
    input,
    results: Array.isArray(outputs) ? outputs.flatMap(resultOf) : [],
    durationMs: durationOf(call.durationMs),
  };
}

function resultOf(value: unknown): readonly CommandResult[] {
  const one = asObject(value);
  const command = asString(one?.query);
  if (one === undefined || command === undefined) return [];
  const text = asString(one.result) ?? asString(one.error) ?? null;
  const head = text === null ? null : /^\[Command exited with code (\d{1,10})\]\n/.exec(text);
  const said = /^Command exited with code (\d{1,10})$/.exec(asString(one.error) ?? '')?.[1];
  const code = said ?? (one.success === true ? '0' : undefined);
  const output = text === null || head === null ? text : text.slice(head[0].length);
  const exitCode = code === undefined ? null : Number(code);
  const plain = { truncated: false, interrupted: false, background: false };
  return [{ command, exitCode, output, ...plain }];
}

function answer({ event, input }: HookCall, verdict: HookVerdict): JsonObject | undefined {
  if (event !== 'before') return {};
  switch (verdict.kind) {
    case 'deny':
      return { cancel: true, errorMessage: verdict.text };
    case 'ask':
      return { review: true };
    case 'rewrite':
      return { overrideInput: { ...input, commands: verdict.commands } };
    default:
      return {};
  }
}
