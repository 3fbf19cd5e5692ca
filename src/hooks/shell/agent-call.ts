// Which agent runs a shell, in which session and call, by the variables that it sets. None of it is
// checked: it says whose command this is, and decides nothing.

import { AGENTS, type AgentId, isAgentId } from '../../text/agents.ts';
import type { Env } from '../../types.ts';

export type AgentCall = {
  readonly agent: AgentId;
  readonly session: string | null;
  readonly toolCall: string | null;
};

/** Set by `cuff exec`, for agents that say nothing about themselves. */
export const AGENT_VARIABLE = 'CUFF_AGENT';

/**
 * Set by that agent alone, for its commands and not for itself. One agent may run inside of
 * another, so the best known sign comes first.
 */
const SIGNS: readonly (readonly [AgentId, (env: Env) => boolean])[] = [
  ['codex', (env) => some(env, 'CODEX_TOOL_CALL_ID', 'CODEX_THREAD_ID', 'CODEX_SESSION_ID')],
  ['gemini', (env) => some(env, 'GEMINI_CLI')],
  ['qwen', (env) => some(env, 'QWEN_CODE')],
  ['opencode', (env) => some(env, 'OPENCODE')],
  ['pi', (env) => env.AI_AGENT === 'pi' || some(env, 'PI_SESSION_ID')],
  ['copilot', (env) => some(env, 'COPILOT_CLI')],
  ['claude', (env) => some(env, 'CLAUDECODE')],
];

/** What makes a call worth a look: without any of them there is no agent. */
export const SIGN_VARIABLES: readonly string[] = [
  AGENT_VARIABLE,
  ...['CODEX_TOOL_CALL_ID', 'CODEX_THREAD_ID', 'CODEX_SESSION_ID', 'GEMINI_CLI', 'QWEN_CODE'],
  ...['OPENCODE', 'AI_AGENT', 'PI_SESSION_ID', 'COPILOT_CLI', 'CLAUDECODE'],
];

function some(env: Env, ...names: readonly string[]): boolean {
  return names.some((name) => (env[name] ?? '') !== '');
}

/** Undefined: no agent, and nothing is recorded. */
export function agentCall(env: Env): AgentCall | undefined {
  const named = env[AGENT_VARIABLE];
  const agent = isAgentId(named) ? named : SIGNS.find(([, has]) => has(env))?.[0];
  if (agent === undefined || /_harness$/.test(env.AI_AGENT ?? '')) return undefined;
  const { sessionVariables, callVariable } = AGENTS[agent];
  const session = sessionVariables.map((name) => env[name]).find((value) => value) ?? null;
  const toolCall = (callVariable === null ? undefined : env[callVariable]) || null;
  return { agent, session, toolCall };
}
