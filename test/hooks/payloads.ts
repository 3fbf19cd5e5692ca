// The payload of a call before it runs, in the form of each agent. Those of Cursor and VS Code are
// from their documents; the others have the form of real ones.
import type { AgentId } from '../../src/text/agents.ts';
import type { JsonObject } from '../../src/text/json.ts';

export type ToolCall = {
  readonly cwd: string;
  readonly tool: string;
  readonly input: JsonObject;
  readonly id?: string;
  /** Epoch milliseconds; clients that say no time leave it out. */
  readonly at?: number;
};

const SESSION = 'd44028a0-b5a2-4936-880a-3a57056a3d5b';
const AT = Date.parse('2026-11-18T12:00:00.000Z');

function iso({ at = AT }: ToolCall): string {
  return new Date(at).toISOString();
}

function claude({ cwd, tool, input, id = 'toolu_1' }: ToolCall): JsonObject {
  return {
    session_id: SESSION,
    transcript_path: `/h/.claude/projects/p/${SESSION}.jsonl`,
    cwd,
    prompt_id: 'p',
    permission_mode: 'default',
    hook_event_name: 'PreToolUse',
    tool_name: tool,
    tool_input: input,
    tool_use_id: id,
  };
}

/** By agent, what it sends before a tool runs. */
export const BEFORE = {
  claude,
  codex: (call: ToolCall) => ({
    ...claude(call),
    turn_id: 't',
    model: 'gpt',
    transcript_path: '/h/.codex/sessions/2026/11/17/rollout-x.jsonl',
  }),
  qwen: (call: ToolCall) => ({
    ...claude(call),
    timestamp: iso(call),
    tool_call_id: 'call_0',
    transcript_path: '/h/.qwen/projects/p/chats/x.jsonl',
  }),
  vscode: ({ cwd, tool, input, id = 'toolu_1', at = AT }: ToolCall) => ({
    hook_event_name: 'PreToolUse',
    session_id: SESSION,
    timestamp: new Date(at).toISOString(),
    cwd,
    tool_name: tool,
    tool_input: input,
    tool_use_id: id,
  }),
  gemini: ({ cwd, tool, input, at = AT }: ToolCall) => ({
    session_id: SESSION,
    transcript_path: '/h/.gemini/tmp/p/chats/session-x.jsonl',
    cwd,
    hook_event_name: 'BeforeTool',
    timestamp: new Date(at).toISOString(),
    tool_name: tool,
    tool_input: input,
  }),
  copilot: ({ cwd, tool, input, at = AT }: ToolCall) => ({
    sessionId: SESSION,
    timestamp: at,
    cwd,
    toolName: tool,
    toolArgs: input,
  }),
  cursor: ({ cwd, tool, input, id = 'toolu_1' }: ToolCall) => ({
    conversation_id: SESSION,
    generation_id: 'g',
    model: 'm',
    hook_event_name: 'preToolUse',
    cursor_version: '2.0',
    workspace_roots: [cwd],
    user_email: 'person@mail.example',
    tool_name: tool,
    tool_input: input,
    tool_use_id: id,
  }),
  cline: ({ cwd, tool, input, id = 'call_1', at = AT }: ToolCall) => ({
    clineVersion: '',
    timestamp: new Date(at).toISOString(),
    taskId: 'conv_1',
    workspaceRoots: [cwd],
    hookName: 'tool_call',
    tool_call: { id, name: tool, input },
  }),
  opencode: ({ cwd, tool, input, id = 'call_1' }: ToolCall) => ({
    before: { tool, sessionID: 'ses_1', callID: id },
    args: input,
    cwd,
  }),
  pi: ({ cwd, tool, input, id = 'call_1' }: ToolCall) => ({
    toolName: tool,
    toolCallId: id,
    input,
    cwd,
    session: 's',
  }),
} as const satisfies Partial<Record<AgentId, (call: ToolCall) => JsonObject>>;

export type HookedAgent = keyof typeof BEFORE;

export const HOOKED = Object.keys(BEFORE) as HookedAgent[];

/** How each agent says that a command shall run. */
const SHELL_CALL: Readonly<
  Record<HookedAgent, (command: string) => Pick<ToolCall, 'tool' | 'input'>>
> = {
  claude: (command) => ({ tool: 'Bash', input: { command, description: 'd' } }),
  codex: (command) => ({ tool: 'Bash', input: { command } }),
  qwen: (command) => ({ tool: 'run_shell_command', input: { command, is_background: false } }),
  vscode: (command) => ({ tool: 'run_in_terminal', input: { command, isBackground: false } }),
  gemini: (command) => ({ tool: 'run_shell_command', input: { command } }),
  copilot: (command) => ({ tool: 'bash', input: { command, description: 'd' } }),
  cursor: (command) => ({ tool: 'Shell', input: { command } }),
  cline: (command) => ({ tool: 'run_commands', input: { commands: [command] } }),
  opencode: (command) => ({ tool: 'bash', input: { command, description: 'd' } }),
  pi: (command) => ({ tool: 'bash', input: { command } }),
};

export function shellCall(
  agent: HookedAgent,
  command: string,
  more: { readonly cwd: string; readonly id?: string; readonly at?: number },
): JsonObject {
  return BEFORE[agent]({ ...SHELL_CALL[agent](command), ...more });
}
