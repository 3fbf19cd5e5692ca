// The protocol of Claude Code, which Codex, Qwen Code and VS Code speak, too, and Copilot for hooks
// that it took from a file of Claude's. They differ in what an answer may say: Codex takes an allow
// or an ask of a tool for a broken hook, and runs the command.

import { AGENTS, type AgentId } from '../text/agents.ts';
import { asObject, asString, type JsonObject } from '../text/json.ts';
import type { CommandResult, HookCall, HookVerdict, Protocol, ToolUse } from './call.ts';
import {
  durationOf,
  eventOf,
  idOf,
  inputOf,
  NO_CALL,
  pathOf,
  textOf,
  timeOf,
  toolOf,
} from './fields.ts';
import { exitLine } from './protocol-gemini.ts';

export const CLAUDE_PROTOCOL: Protocol = { read, answer };

function read(payload: JsonObject, agent: AgentId): HookCall | undefined {
  const eventName = asString(payload.hook_event_name);
  if (eventName === undefined) return undefined;
  const input = inputOf(payload.tool_input);
  const tool = toolOf(agent, asString(payload.tool_name), input);
  const event = eventOf(eventName);
  const over = event === 'after' || event === 'failure';
  return {
    ...NO_CALL,
    agent,
    event,
    eventName,
    session: idOf(payload.session_id ?? payload.sessionId),
    toolCall: idOf(payload.tool_use_id ?? payload.tool_call_id),
    cwd: pathOf(payload.cwd),
    at: timeOf(payload.timestamp),
    permissionMode: idOf(payload.permission_mode),
    transcript: pathOf(payload.transcript_path),
    tool,
    input,
    results: over && tool?.kind === 'shell' ? [resultOf(tool, payload, agent)] : [],
    durationMs: durationOf(payload.duration_ms),
  };
}

function resultOf(
  { commands: [command = ''] }: Extract<ToolUse, { kind: 'shell' }>,
  payload: JsonObject,
  agent: AgentId,
): CommandResult {
  const error = asString(payload.error);
  const response = asObject(payload.tool_response);
  const interrupted = payload.is_interrupt === true || response?.interrupted === true;
  const plain = { command, truncated: false, interrupted, background: false };
  if (error !== undefined) return { ...plain, ...failureOf(error, agent) };
  if (response === undefined) {
    // Codex and VS Code: the text that the model gets, without an exit code.
    const output = asString(payload.tool_response) ?? null;
    return { ...plain, output, exitCode: null, truncated: cutBy(output) };
  }
  const shown = asString(response.returnDisplay);
  if (shown !== undefined) {
    const exitCode = exitLine(asString(response.llmContent) ?? '', shown);
    return { ...plain, output: shown, exitCode, truncated: cutBy(shown) };
  }
  const [stdout, stderr] = [asString(response.stdout) ?? '', asString(response.stderr) ?? ''];
  const background = response.backgroundTaskId !== undefined;
  // Claude calls some codes no failure that are not 0, and tells their meaning instead of them.
  const known = !background && !interrupted && response.returnCodeInterpretation === undefined;
  const output = stderr === '' ? stdout : `${stdout}\n${stderr}`;
  const exitCode = known && agent === 'claude' ? 0 : null;
  return { ...plain, output, exitCode, truncated: cutBy(output), background };
}

/** Claude: `Exit code 3`, then the output, cut in its middle. Qwen: a list of fields. */
function failureOf(
  error: string,
  agent: AgentId,
): Pick<CommandResult, 'output' | 'exitCode' | 'truncated'> {
  if (agent === 'qwen') {
    const codes = [...error.matchAll(/^Exit Code: (-?\d{1,10})$/gm)];
    const output = /^Output: ([\s\S]*?)\nError: /m.exec(error)?.[1] ?? error;
    const code = codes.at(-1)?.[1];
    return { output, exitCode: code === undefined ? null : Number(code), truncated: cutBy(error) };
  }
  const match = /^(?:Error: )?Exit code (\d{1,10})(?:\n|$)/.exec(error);
  if (match === null) return { output: error, exitCode: null, truncated: cutBy(error) };
  const output = error.slice(match[0].length);
  return { output, exitCode: Number(match[1]), truncated: cutBy(error) };
}

const FAILURE_LENGTH_MAX = 10_000; // Claude cuts the middle out of a longer one

function cutBy(text: string | null): boolean {
  if (text === null) return false;
  const says = /\[\d+ (?:characters|lines|tokens) (?:truncated|omitted)|\.\.\. \[.*truncated/;
  return text.length >= FAILURE_LENGTH_MAX || says.test(text);
}

function answer(call: HookCall, verdict: HookVerdict): JsonObject | undefined {
  const { agent, event, eventName } = call;
  if (event === 'permission') return permission(call, verdict);
  const say = (fields: JsonObject): JsonObject => ({
    // Copilot reads the flat form, and is sent Claude's for hooks of Claude's file.
    ...(agent === 'copilot' && fields),
    hookSpecificOutput: { hookEventName: eventName, ...fields },
  });
  switch (verdict.kind) {
    case 'silent':
      return undefined;
    case 'context':
      return agent === 'copilot' ? undefined : say({ additionalContext: verdict.text });
    case 'rewrite':
      return agent === 'codex' ? undefined : say(rewritten(call, verdict.commands));
    case 'allow':
      return agent === 'codex' ? undefined : say({ permissionDecision: 'allow' });
    case 'ask':
    case 'deny': {
      const permissionDecision = agent === 'codex' ? 'deny' : verdict.kind;
      return say({ permissionDecision, permissionDecisionReason: verdict.text });
    }
  }
}

function rewritten(call: HookCall, [command]: readonly string[]): JsonObject {
  const name = call.agent === 'copilot' ? 'modifiedArgs' : 'updatedInput';
  return { [name]: { ...call.input, command } };
}

/** The agent is about to ask its person, who may well say no: an ask stays theirs. */
function permission({ eventName }: HookCall, verdict: HookVerdict): JsonObject | undefined {
  if (verdict.kind !== 'deny' && verdict.kind !== 'allow') return undefined;
  const message = verdict.kind === 'deny' ? { message: verdict.text } : {};
  const decision = { behavior: verdict.kind, ...message };
  return { hookSpecificOutput: { hookEventName: eventName, decision } };
}

/** Of the agents that speak it, the one that this payload is from. */
export function claudeCaller(
  payload: JsonObject,
  env: { readonly COPILOT_CLI?: string | undefined },
  named: AgentId | undefined,
): AgentId {
  const tool = asString(payload.tool_name) ?? '';
  const transcript = textOf(payload.transcript_path) ?? '';
  if ('turn_id' in payload && 'model' in payload) return 'codex';
  if (/(?:^|\/)rollout-[^/]*\.jsonl(?:\.zst)?$/.test(transcript)) return 'codex';
  if (tool === 'run_shell_command' || 'tool_call_id' in payload) return 'qwen';
  if (/\/\.qwen\//.test(transcript)) return 'qwen';
  const only = (name: string): boolean =>
    [...AGENTS.vscode.shellTools, ...AGENTS.vscode.fileTools].includes(name) &&
    ![...AGENTS.claude.shellTools, ...AGENTS.claude.fileTools].includes(name);
  if (only(tool) && tool !== 'apply_patch') return 'vscode';
  if (typeof payload.timestamp === 'string' && transcript === '') {
    if (env.COPILOT_CLI) return 'copilot';
    return named === 'copilot' ? 'copilot' : 'vscode';
  }
  if (named === 'qwen' && typeof payload.timestamp === 'string') return 'qwen';
  return 'claude';
}
