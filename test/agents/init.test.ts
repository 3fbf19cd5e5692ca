// What `cuff init --hooks --shell` writes works in the real program: a call is recorded once, and
// what the policy denies does not run.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { AgentCase } from './case.ts';
import { CLIENTS } from './clients/all.ts';
import { type AgentClient, writeConfig } from './clients/client.ts';

const POLICY = `default: allow
policies:
  - name: made by people
    commands:
      - pattern: touch refused
        decision: deny
        reason: people make this file
`;

const BY_INIT = ['claude', 'codex', 'gemini', 'opencode', 'copilot', 'qwen', 'pi'];

async function worked(client: AgentClient): Promise<AgentCase> {
  const calls = ['echo fine; exit 3', 'touch refused'].map((one) => client.shell(one));
  const script = { main: calls.map((call) => ({ calls: [call] })) };
  const one = await AgentCase.start(client, script);
  writeConfig(join(one.home, '.config', 'cuff', 'policy.yml'), POLICY);
  const init = ['init', '--client', client.init, '--hooks', '--shell', '--yes'];
  expect(await one.cuff(...init)).toMatchObject({ code: 0 });
  await one.agent('work [[main]]');
  await one.quiet();
  return one;
}

function expectRecorded(one: AgentCase): void {
  expect(existsSync(join(one.project, 'refused'))).toBe(false);
  expect(one.entries()).toMatchObject([
    { command: 'echo fine; exit 3', exit_code: 3 },
    { command: 'touch refused', end_reason: 'denied' },
  ]);
}

const clients = (names: readonly string[]) => CLIENTS.filter(({ name }) => names.includes(name));

describe.each(clients(BY_INIT))('$name after cuff init', (client) => {
  it('records each call once, and runs nothing that is denied', async () => {
    await using one = await worked(client);
    const [fine, refused] = one.model.results('main').map(({ text }) => text);
    expect(fine).toContain('fine');
    expect(refused?.split('people make this file'), refused).toHaveLength(2);
    expectRecorded(one);
  });
});

describe.each(clients(['cline']))('$name after cuff init', (client) => {
  it('records each call once, and ends its task at what is denied', async () => {
    await using one = await worked(client);
    expect(one.model.results('main')).toHaveLength(1);
    expectRecorded(one);
  });
});
