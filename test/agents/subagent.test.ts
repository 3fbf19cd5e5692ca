// The commands of a subagent are recorded as those of the main agent are: once, as the subagent
// asked for them, and what the policy denies does not run there either.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { AgentCase } from './case.ts';
import { CLIENTS } from './clients/all.ts';
import { writeConfig } from './clients/client.ts';
import { HOOKS } from './hooks.ts';
import type { ScriptCall } from './model/script.ts';
import type { AgentName } from './programs.ts';

const POLICY = `default: allow
policies:
  - name: made by people
    commands:
      - pattern: touch refused
        decision: deny
        reason: people make this file
`;

const PART = { description: 'a part', prompt: 'work [[sub]]' };
/** Some clients let the main agent go on, and end, while its subagent works. */
const WAITED_FOR = { ...PART, run_in_background: false };

interface Subagent {
  /** What the main agent calls: to start the subagent, and to wait for it. */
  readonly start: readonly ScriptCall[];
  /** What ends the subagent's work, where words alone do not. */
  readonly end?: ScriptCall;
}

/** pi has no subagents; those of Cline are not tried. */
const SUBAGENTS: Partial<Record<AgentName, Subagent>> = {
  claude: {
    start: [{ name: 'Agent', input: { ...WAITED_FOR, subagent_type: 'general-purpose' } }],
  },
  codex: {
    start: [
      { name: /spawn_agent$/, input: { message: PART.prompt } },
      {
        name: /wait_agent$/,
        input: (last) => ({ targets: [JSON.parse(last).agent_id], timeout_ms: 100_000 }),
      },
    ],
  },
  gemini: {
    start: [{ name: 'invoke_agent', input: { agent_name: 'generalist', prompt: PART.prompt } }],
    end: { name: 'complete_task', input: { result: { response: 'done' } } },
  },
  opencode: { start: [{ name: 'task', input: { ...PART, subagent_type: 'general' } }] },
  copilot: {
    start: [{ name: 'task', input: { ...PART, name: 'part', agent_type: 'task', mode: 'sync' } }],
  },
  qwen: { start: [{ name: 'agent', input: { ...WAITED_FOR, subagent_type: 'general-purpose' } }] },
};

const TRIED = CLIENTS.filter(({ name }) => SUBAGENTS[name] !== undefined);

describe.each(TRIED)('a subagent of $name', (client) => {
  it('has one entry for each command, and runs nothing that is denied', async () => {
    const { start = [], end } = SUBAGENTS[client.name] ?? {};
    const works = ['echo fine; exit 3', 'touch refused'].map((one) => client.shell(one));
    const sub = end === undefined ? works : [...works, end];
    const turns = (calls: readonly ScriptCall[]) => calls.map((call) => ({ calls: [call] }));
    await using one = await AgentCase.start(client, { main: turns(start), sub: turns(sub) });
    writeConfig(join(one.home, '.config', 'cuff', 'policy.yml'), POLICY);
    HOOKS[client.name]?.(one, one.cuffProgram);
    if (client.hasShell) one.record();
    await one.agent('work [[main]]');
    await one.quiet();
    const [fine, refused] = one.model.results('sub').map(({ text }) => text);
    expect(fine).toContain('fine');
    expect(refused?.split('people make this file'), refused).toHaveLength(2);
    expect(existsSync(join(one.project, 'refused'))).toBe(false);
    expect(one.entries()).toMatchObject([
      { command: 'echo fine; exit 3', exit_code: 3, agent_id: client.name },
      { command: 'touch refused', end_reason: 'denied', agent_id: client.name },
    ]);
  });
});
