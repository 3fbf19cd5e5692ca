// What `cuff doctor --agents` says of a hook that `cuff init` registered is what the real program
// does with that hook: `live` where it is asked, `not firing` where the program goes on without it.
import { existsSync, mkdirSync, renameSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { AgentCase } from './case.ts';
import { CLIENTS } from './clients/all.ts';
import { type AgentClient, writeConfig } from './clients/client.ts';

const POLICY =
  'default: allow\npolicies:\n  - commands: [{ pattern: touch refused, decision: deny }]\n';

/** Its hooks are those that `cuff init` registers; its model wants what the policy denies. */
async function registered(client: AgentClient): Promise<AgentCase> {
  const one = await AgentCase.start(client, { main: [{ calls: [client.shell('touch refused')] }] });
  writeConfig(join(one.home, '.config', 'cuff', 'policy.yml'), POLICY);
  const { code, err } = await one.cuff('init', '--client', client.init, '--hooks', '--yes');
  expect(code, err).toBe(0);
  return one;
}

async function reportOf(one: AgentCase, client: AgentClient, cuff = one.cuffProgram) {
  const { out } = await one.run([cuff, 'doctor', '--agents', '--json']);
  const { ok, agents } = JSON.parse(out);
  const report = agents.find((agent: { client: string }) => agent.client === client.init);
  // The doctor minds the speed of the machine, this test does not.
  if (report.found.startsWith('it is slow')) return await reportOf(one, client, cuff);
  return { ok, ...report };
}

function ran(one: AgentCase): boolean {
  return existsSync(join(one.project, 'refused'));
}

describe.each(CLIENTS.filter(({ name }) => name === 'claude'))('$name', (client) => {
  it('has a live hook, and the doctor knows when the program last called it', async () => {
    await using one = await registered(client);
    expect(await reportOf(one, client)).toMatchObject({
      ...{ ok: true, status: 'live', last_event_at: null },
    });
    await one.agent('work [[main]]');
    expect(ran(one)).toBe(false);
    const { status, last_event_at } = await reportOf(one, client);
    expect([status, typeof last_event_at]).toEqual(['live', 'string']);
  });
});

describe.each(CLIENTS.filter(({ name }) => name === 'codex'))('$name', (client) => {
  it('does not call a hook that no person has accepted, and the doctor says so', async () => {
    await using one = await registered(client);
    const args = client.args({ prompt: 'work [[main]]', permissions: 'all', args: [] });
    const trusting = '--dangerously-bypass-hook-trust';
    await one.run([one.program, ...args.filter((word) => word !== trusting)]);
    expect(ran(one)).toBe(true);
    expect(await reportOf(one, client)).toMatchObject({
      ok: false,
      status: 'not firing',
      found: 'Codex has not been told to trust it',
      hint: 'start codex, "Hooks need review"',
      last_event_at: null,
    });
  });
});

const MOVED = CLIENTS.filter(({ name }) => ['claude', 'codex'].includes(name));

describe.each(MOVED)('$name', (client) => {
  it('goes on without a hook whose program has moved, and the doctor names it', async () => {
    await using one = await registered(client);
    const moved = join(dirname(one.home), 'moved', 'cuff');
    mkdirSync(dirname(moved));
    renameSync(one.cuffProgram, moved);
    await one.agent('work [[main]]');
    expect(ran(one)).toBe(true);
    const report = await reportOf(one, client, moved);
    expect(report).toMatchObject({ ok: false, status: 'not firing' });
    expect(report.found).toContain(one.cuffProgram);
  });
});
