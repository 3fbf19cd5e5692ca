// `cuff mcp` in real agent programs, with the configuration that `cuff init` writes: its tools are
// offered to the model, a call runs and is recorded with the ids that the program gives it, and the
// session ends in order when the program does.
import { describe, expect, it } from 'vitest';
import { AgentCase } from './case.ts';
import { CLIENTS } from './clients/all.ts';
import type { AgentName } from './programs.ts';

/** The id of the model's first call. */
const CALL = 'call_main_0_0';

/** Which ids each program sends along with a call of an MCP tool. */
const IDS = {
  claude: { agent_id: 'claude-code', conversation_id: expect.any(String), tool_call_id: CALL },
  codex: { agent_id: 'codex-mcp-client', conversation_id: expect.any(String), tool_call_id: CALL },
  gemini: { agent_id: 'gemini-cli-mcp-client', conversation_id: null, tool_call_id: null },
  opencode: { agent_id: 'opencode', conversation_id: null, tool_call_id: null },
  copilot: { agent_id: 'copilot-cli', conversation_id: expect.any(String), tool_call_id: null },
  qwen: {},
  pi: {},
  cline: {},
};

/**
 * Codex asks its model without the tools of a server that is not there within its first moments,
 * unless it may not start without that server.
 */
const WAITING: Partial<Record<AgentName, readonly string[]>> = {
  codex: ['required=true', 'startup_timeout_sec=120'].flatMap((one) => [
    '-c',
    `mcp_servers.cuff.${one}`,
  ]),
};

/**
 * Claude Code kills a server half a second after it asked it to end, others after two. How soon a
 * server ends on a busy machine is not what is tested.
 */
const ATTEMPTS_MAX = 10;

describe.each(CLIENTS.filter(({ mcp }) => mcp !== undefined))('$name with cuff mcp', (client) => {
  it('offers its tools, runs a call, records it, and ends the session', async () => {
    // Copilot kills its servers a moment after it asked them to end.
    const wanted = client.name === 'copilot' ? /active|shutdown/ : /shutdown/;
    let status = '';
    for (let attempt = 1; attempt <= ATTEMPTS_MAX && !wanted.test(status); attempt += 1) {
      status = await worked();
    }
    expect(status).toMatch(wanted);
  });

  /** How the session ended. */
  async function worked(): Promise<string> {
    const call = client.mcp?.('echo out; exit 3') ?? [];
    const script = { main: [{ calls: [call].flat() }] };
    await using one = await AgentCase.start(client, script);
    await one.addMcp();
    const { code } = await one.agent('work [[main]]', { args: WAITING[client.name] ?? [] });
    await one.quiet();

    expect(code).toBe(0);
    expect(one.model.tools('main')).toContainEqual(
      expect.stringMatching(/cuff.*derun_read_output/),
    );
    const [result, ...others] = one.model.results('main');
    expect(others).toEqual([]);
    expect(result?.text).toContain('out\n');
    expect(result?.text).toMatch(/code 3|exit 3/i);
    const [session, ...more] = one.sessions();
    expect(more).toEqual([]);
    expect(session?.entries).toEqual([
      expect.objectContaining({
        command: 'echo out; exit 3',
        exit_code: 3,
        stdout: 'out\n',
        working_directory: one.project,
        ...IDS[client.name],
      }),
    ]);
    return session?.metadata.status ?? '';
  }
});
