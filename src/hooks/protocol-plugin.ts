// What the plugins for OpenCode and pi send: these agents load a module instead of starting a
// program, so that the shape is ours. The plugin passes on what the agent gave it, and throws or
// blocks with the `reason` of `{"block": true, "reason": TEXT}`.
//
//   OpenCode  {before: {tool, sessionID, callID}, args, cwd?}
//             {after: {tool, sessionID, callID, args}, out: {output, metadata: {exit}}}
//   pi        {toolName, toolCallId, input, cwd?, session?}, and {content, isError} at its end

import type { AgentId } from '../text/agents.ts';
import { asObject, asString, type JsonObject } from '../text/json.ts';
import type { CommandResult, HookCall, HookVerdict, Protocol, ToolUse } from './call.ts';
import { idOf, inputOf, NO_CALL, pathOf, toolOf } from './fields.ts';

export const PLUGIN_PROTOCOL: Protocol = { read, answer };

function read(payload: JsonObject, agent: AgentId): HookCall | undefined {
  return agent === 'pi' ? readPi(payload) : readOpenCode(payload);
}

function readOpenCode(payload: JsonObject): HookCall | undefined {
  const over = asObject(payload.after);
  const call = over ?? asObject(payload.before);
  if (call === undefined) return undefined;
  const input = inputOf(payload.args ?? call.args);
  const tool = toolOf('opencode', asString(call.tool), input);
  const out = asObject(payload.out);
  return {
    ...NO_CALL,
    agent: 'opencode',
    event: over === undefined ? 'before' : 'after',
    eventName: over === undefined ? 'tool.execute.before' : 'tool.execute.after',
    session: idOf(call.sessionID),
    toolCall: idOf(call.callID),
    cwd: pathOf(input.workdir) ?? pathOf(payload.cwd),
    tool,
    input,
    results: over === undefined || tool?.kind !== 'shell' ? [] : [openCodeResult(tool, out)],
  };
}

function openCodeResult(
  { commands: [command = ''] }: Extract<ToolUse, { kind: 'shell' }>,
  out: JsonObject | undefined,
): CommandResult {
  const metadata = asObject(out?.metadata);
  const exit = metadata?.exit;
  return {
    command,
    exitCode: typeof exit === 'number' && Number.isSafeInteger(exit) ? exit : null,
    output: asString(metadata?.output) ?? asString(out?.output) ?? null,
    truncated: metadata?.truncated === true,
    interrupted: false,
    background: false,
  };
}

function readPi(payload: JsonObject): HookCall | undefined {
  const name = asString(payload.toolName);
  if (name === undefined) return undefined;
  const over = 'content' in payload || 'isError' in payload;
  const input = inputOf(payload.input);
  const tool = toolOf('pi', name, input);
  return {
    ...NO_CALL,
    agent: 'pi',
    event: over ? 'after' : 'before',
    eventName: over ? 'tool_result' : 'tool_call',
    session: idOf(payload.session),
    toolCall: idOf(payload.toolCallId),
    cwd: pathOf(payload.cwd),
    tool,
    input,
    results: over && tool?.kind === 'shell' ? [piResult(tool, payload)] : [],
  };
}

function piResult(
  { commands: [command = ''] }: Extract<ToolUse, { kind: 'shell' }>,
  payload: JsonObject,
): CommandResult {
  const parts = Array.isArray(payload.content) ? payload.content : [payload.content];
  const texts = parts.flatMap((part) => asString(part) ?? asString(asObject(part)?.text) ?? []);
  const text = texts.join('');
  const end = /\n*Command exited with code (\d{1,10})\s*$/.exec(text);
  const exitCode = end?.[1] === undefined ? (payload.isError === false ? 0 : null) : Number(end[1]);
  const output = end === null ? text : text.slice(0, end.index);
  return { command, exitCode, output, truncated: false, interrupted: false, background: false };
}

function answer({ event, input }: HookCall, verdict: HookVerdict): JsonObject | undefined {
  if (event !== 'before') return undefined;
  if (verdict.kind === 'deny' || verdict.kind === 'ask')
    return { block: true, reason: verdict.text };
  if (verdict.kind !== 'rewrite') return undefined;
  return { input: { ...input, command: verdict.commands[0] } };
}
