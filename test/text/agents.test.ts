// The table of agents holds together, and names no variable that a person's terminal has.
import { expect, it } from 'vitest';
import { AGENT_IDS, AGENT_VARIABLES, AGENTS, isAgentId } from '../../src/text/agents.ts';
import { type AgentName, PROGRAMS } from '../agents/programs.ts';

it.each(AGENT_IDS)('the row of %s is its own, and its ids are among its variables', (id) => {
  const { variables, sessionVariables, callVariable, ...row } = AGENTS[id];
  expect(row.id).toBe(id);
  expect(variables).toEqual(expect.arrayContaining([...sessionVariables]));
  if (callVariable !== null) expect(variables).toContain(callVariable);
  expect(row.shellTools.filter((name) => row.fileTools.includes(name))).toEqual([]);
});

it.each(Object.entries(PROGRAMS))('%s was tried with the version that is pinned', (id, program) => {
  expect(AGENTS[id as AgentName].triedWith).toBe(program.version.replace('-linux-x64', ''));
});

it('the variables of all agents are one set', () => {
  expect([...AGENT_VARIABLES].sort()).toEqual([
    ...['AGENT', 'AI_AGENT', 'CLAUDECODE', 'CLAUDE_CODE_SESSION_ID', 'CLAUDE_PID', 'CODEX_CI'],
    ...['CODEX_SANDBOX_NETWORK_DISABLED', 'CODEX_SESSION_ID', 'CODEX_THREAD_ID'],
    ...['CODEX_TOOL_CALL_ID', 'CODEX_VERSION', 'COPILOT_AGENT_SESSION_ID', 'COPILOT_CLI'],
    ...['GEMINI_CLI', 'OPENCODE', 'OPENCODE_PID', 'PI_SESSION_FILE', 'PI_SESSION_ID', 'QWEN_CODE'],
  ]);
});

it('only ids of the table are ids', () => {
  expect(['claude', 'Claude', '', undefined, 'toString'].map(isAgentId)).toEqual([
    ...[true, false, false, false, false],
  ]);
});
