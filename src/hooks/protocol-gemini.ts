// The protocol of Gemini CLI: BeforeTool and AfterTool, no id of the call. What is printed and is
// no JSON it shows as a message, and goes on.

import type { AgentId } from '../text/agents.ts';
import { asObject, asString, type JsonObject } from '../text/json.ts';
import type { CommandResult, HookCall, HookVerdict, Protocol, ToolUse } from './call.ts';
import { eventOf, idOf, inputOf, NO_CALL, pathOf, timeOf, toolOf } from './fields.ts';

export const GEMINI_PROTOCOL: Protocol = { read, answer };

function read(payload: JsonObject, agent: AgentId): HookCall | undefined {
  const eventName = asString(payload.hook_event_name);
  if (eventName === undefined) return undefined;
  const input = inputOf(payload.tool_input);
  const tool = toolOf(agent, asString(payload.tool_name), input);
  const event = eventOf(eventName);
  return {
    ...NO_CALL,
    agent,
    event,
    eventName,
    session: idOf(payload.session_id),
    cwd: pathOf(payload.cwd),
    at: timeOf(payload.timestamp),
    transcript: pathOf(payload.transcript_path),
    tool,
    input,
    results: event === 'after' && tool?.kind === 'shell' ? [resultOf(tool, payload)] : [],
  };
}

function resultOf(
  { commands: [command = ''] }: Extract<ToolUse, { kind: 'shell' }>,
  payload: JsonObject,
): CommandResult {
  const response = asObject(payload.tool_response);
  const shown = asString(response?.returnDisplay);
  const exitCode = exitLine(asString(response?.llmContent) ?? '', shown);
  const plain = { command, truncated: false, interrupted: false, background: false };
  return { ...plain, output: shown ?? null, exitCode };
}

/**
 * The line behind the output; none means 0. What the command printed may look like one, so only the
 * text behind the output counts, and without the output nothing does.
 */
export function exitLine(content: string, output: string | undefined): number | null {
  const start = output === undefined ? -1 : content.lastIndexOf(output);
  if (output === undefined || start < 0 || content === '') return null;
  const rest = content.slice(start + output.length);
  if (/^Signal: (?!\(none\))/m.test(rest) || /^Error: (?!\(none\))/m.test(rest)) {
    const failed = /^Exit Code: (-?\d{1,10})$/m.exec(rest)?.[1];
    return failed === undefined ? null : Number(failed);
  }
  const code = /^Exit Code: (-?\d{1,10})$/m.exec(rest)?.[1];
  return code === undefined ? 0 : Number(code);
}

function answer(call: HookCall, verdict: HookVerdict): JsonObject | undefined {
  const { eventName: hookEventName, input } = call;
  switch (verdict.kind) {
    case 'deny':
      return { decision: 'deny', reason: verdict.text };
    case 'ask':
      return { decision: 'ask', systemMessage: verdict.text };
    case 'context':
      return { hookSpecificOutput: { hookEventName, additionalContext: verdict.text } };
    case 'rewrite': {
      const [command] = verdict.commands;
      return { hookSpecificOutput: { hookEventName, tool_input: { ...input, command } } };
    }
    default:
      return undefined;
  }
}
