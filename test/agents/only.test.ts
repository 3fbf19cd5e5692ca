// `cuff init --only` in real agent programs: the model is not offered the program's own shell, a
// call of it runs nothing, and the tools of cuff run without a second question. `--rewrite` where
// the shell cannot be replaced: the command runs in the shell of cuff.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { AgentCase } from './case.ts';
import { CLIENTS } from './clients/all.ts';
import type { AgentClient } from './clients/client.ts';
import type { ScriptCall } from './model/script.ts';

const ONLY = CLIENTS.filter(({ name }) => ['claude', 'codex', 'gemini', 'opencode'].includes(name));

async function started(
  client: AgentClient,
  calls: readonly ScriptCall[],
  ...options: readonly string[]
): Promise<AgentCase> {
  const main = calls.map((call) => ({ calls: [call] }));
  const one = await AgentCase.start(client, { main });
  const init = ['init', '--client', client.init, ...options, '--yes'];
  const { code, err } = await one.cuff(...init);
  expect(code, err).toBe(0);
  return one;
}

describe.each(ONLY)('$name after cuff init --only', (client) => {
  it('has the shell of cuff and no other, and asks nothing', async () => {
    const own = client.shell('touch own');
    const ours = client.mcp?.('touch ours') ?? own;
    // That of cuff has the same name in Codex, so that a call of its own is one of cuff's.
    const calls = client.name === 'codex' ? [ours] : [own, ours];
    await using one = await started(client, calls, '--mcp', '--only');
    await one.agent('work [[main]]', { permissions: 'rules' });
    await one.quiet();
    expect(one.model.tools('main')).not.toContain(own.name);
    const made = ['own', 'ours'].filter((name) => existsSync(join(one.project, name)));
    expect(made, JSON.stringify(one.model.results('main'))).toEqual(['ours']);
    expect(one.entries()).toMatchObject([{ command: 'touch ours', exit_code: 0 }]);
  });
});

const REWRITTEN = CLIENTS.filter(({ name }) => ['copilot', 'cline'].includes(name));

describe.each(REWRITTEN)('$name after cuff init --rewrite', (client) => {
  it('runs its commands in the shell of cuff', async () => {
    const calls = [client.shell('echo fine; exit 3')];
    await using one = await started(client, calls, '--hooks', '--rewrite');
    await one.agent('work [[main]]');
    await one.quiet();
    const [entry, ...more] = one.entries();
    expect(more).toEqual([]);
    expect(entry).toMatchObject({ command: 'echo fine; exit 3', exit_code: 3, source: 'shell' });
  });
});
