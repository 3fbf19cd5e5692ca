// The plugin directory of the package, installed by the real programs as docs/agents.md says: its
// hook fires, so what a policy denies does not run, and the model reads the reason once.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { AgentCase } from './case.ts';
import { CLIENTS } from './clients/all.ts';
import { type AgentClient, writeConfig } from './clients/client.ts';
import type { AgentName } from './programs.ts';

const PLUGIN = join(import.meta.dirname, '..', '..', 'dist', 'plugin');

interface Install {
  /** What the program is started with, once for each line. */
  readonly lines: readonly (readonly string[])[];
  /** What it needs to take plugins into account. */
  readonly args?: readonly string[];
}

const MARKETPLACE = ['plugin', 'marketplace', 'add', PLUGIN];
const WITH_PLUGINS = ['-c', 'features.plugins=true']; // the configuration of the cases says false

const INSTALLS: Partial<Record<AgentName, Install>> = {
  claude: { lines: [MARKETPLACE, ['plugin', 'install', 'cuff@cuff']] },
  codex: {
    lines: [MARKETPLACE, ['plugin', 'add', 'cuff@cuff']].map((one) => [...WITH_PLUGINS, ...one]),
    args: WITH_PLUGINS,
  },
  gemini: { lines: [['extensions', 'install', join(PLUGIN, 'cuff'), '--consent']] },
  copilot: { lines: [MARKETPLACE, ['plugin', 'install', 'cuff@cuff']] },
};

const POLICY = `default: allow
policies:
  - name: made by people
    commands:
      - pattern: touch refused
        decision: deny
        reason: people make this file
`;

/** What `cuff doctor --agents` says: no person has accepted the hook in Codex. */
const STATUS: Partial<Record<AgentName, string>> = { codex: 'not firing' };

/** The doctor minds the speed of the machine, this test does not. */
async function statusOf(one: AgentCase, client: AgentClient): Promise<string> {
  const { out } = await one.cuff('doctor', '--agents', '--json');
  const { agents } = JSON.parse(out);
  const report = agents.find((agent: { client: string }) => agent.client === client.init);
  return report.found.startsWith('it is slow') ? statusOf(one, client) : report.status;
}

const COMMANDS = ['echo fine; exit 3', 'touch refused'];

describe.each(CLIENTS.filter(({ name }) => INSTALLS[name] !== undefined))('$name', (client) => {
  const { lines = [], args = [] } = INSTALLS[client.name] ?? {};

  it('installs the plugin, whose hook notes each call once and refuses the denied', async () => {
    const main = COMMANDS.map((command) => ({ calls: [client.shell(command)] }));
    await using one = await AgentCase.start(client, { main });
    writeConfig(join(one.home, '.config', 'cuff', 'policy.yml'), POLICY);
    for (const line of lines) {
      const { code, out, err } = await one.run([one.program, ...line]);
      expect(code, out + err).toBe(0);
    }
    await one.agent('work [[main]]', { args });
    await one.quiet();
    const [fine, refused] = one.model.results('main').map(({ text }) => text);
    expect(fine).toContain('fine');
    expect(refused?.split('people make this file'), refused).toHaveLength(2);
    expect(existsSync(join(one.project, 'refused'))).toBe(false);
    // In Claude Code the plugin brings the shell that records, too.
    const source = client.name === 'claude' ? 'shell' : 'hook';
    expect(one.entries()).toMatchObject([
      { command: 'echo fine; exit 3', agent_id: client.name, source },
      { command: 'touch refused', agent_id: client.name, end_reason: 'denied' },
    ]);
    if (source === 'shell') expect(one.entries()[0]).toMatchObject({ exit_code: 3 });
    expect(await statusOf(one, client)).toBe(STATUS[client.name] ?? 'live');
  });
});
