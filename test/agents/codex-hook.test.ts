// Codex and the answers of `cuff hook`: they fit the schemas that the program itself carries, and a
// hook that a person accepted in its window is called, and denies.
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { programCommand } from './cache.ts';
import { AgentCase } from './case.ts';
import { CLIENTS } from './clients/all.ts';
import { type AgentClient, writeConfig } from './clients/client.ts';

const POLICY = `default: allow
answer_prompts: true
policies:
  - name: made by people
    commands:
      - { pattern: touch refused, decision: deny, reason: people make this file }
      - { pattern: touch asked, decision: ask }
`;

/** The generated schemas are text in the program. */
function schemaOf(event: string): z.ZodType {
  const [program = ''] = programCommand('codex').slice(-1);
  const bytes = readFileSync(program);
  const end = bytes.indexOf(`"title": "${event}.command.output"`);
  const start = bytes.lastIndexOf('{\n  "$schema"', end);
  const text = bytes.toString('utf8', start, bytes.indexOf('\n}', end) + 2);
  return z.fromJSONSchema(JSON.parse(text));
}

async function started(client: AgentClient): Promise<AgentCase> {
  const one = await AgentCase.start(client, { main: [{ calls: [client.shell('touch refused')] }] });
  writeConfig(join(one.home, '.config', 'cuff', 'policy.yml'), POLICY);
  return one;
}

/** What the doctor says of Codex; it minds the speed of the machine, this test does not. */
async function statusOf(one: AgentCase): Promise<string> {
  const { out } = await one.cuff('doctor', '--agents', '--json');
  const agents: readonly { client: string; status: string; found: string }[] =
    JSON.parse(out).agents;
  const { status = 'missing', found = '' } = agents.find(({ client }) => client === 'codex') ?? {};
  return found.startsWith('it is slow') ? statusOf(one) : status;
}

const CODEX = CLIENTS.filter(({ name }) => name === 'codex');

describe.each(CODEX)('$name', (client) => {
  it.each([
    ['PreToolUse', 'pre-tool-use'],
    ['PermissionRequest', 'permission-request'],
    ['PostToolUse', 'post-tool-use'],
  ])('has a schema for %s that every answer fits', async (event, schema) => {
    await using one = await started(client);
    const known = schemaOf(schema);
    expect(known.safeParse({ hookSpecificOutput: { hookEventName: 'Other' } }).success).toBe(false);
    for (const command of ['echo fine', 'touch refused', 'touch asked']) {
      const payload = {
        ...{ session_id: 's', turn_id: 't', model: 'm', tool_use_id: command },
        ...{ transcript_path: null, cwd: one.project, permission_mode: 'default' },
        ...{ hook_event_name: event, tool_name: 'Bash', tool_input: { command } },
        ...(event === 'PostToolUse' && { tool_response: '' }),
      };
      const { code, out } = await one.run([
        'sh',
        '-c',
        `printf %s "$1" | cuff hook`,
        'sh',
        JSON.stringify(payload),
      ]);
      expect(code).toBe(0);
      if (out !== '')
        expect(known.safeParse(JSON.parse(out)), out).toMatchObject({ success: true });
      if (command === 'touch refused' && event !== 'PostToolUse') expect(out).toContain('deny');
    }
  });

  it('calls a hook that a person accepted in its window, then and later', async () => {
    await using one = await started(client);
    const init = ['init', '--client', 'codex', '--hooks', '--yes'];
    expect(await one.cuff(...init)).toMatchObject({ code: 0 });
    const window = one.openWindow('work [[main]]');
    try {
      await window.shows(/Hooks need review/);
      window.press('2');
      await window.shows(/› 2\. Trust all/);
      window.press('Enter');
      await window.shows(/• done/);
    } finally {
      await window.close();
    }
    await one.quiet();
    const bypass = '--dangerously-bypass-hook-trust';
    const args = client.args({ prompt: 'work [[main]]', permissions: 'all', args: [] });
    await one.run([one.program, ...args.filter((word) => word !== bypass)]);
    await one.quiet();
    expect(existsSync(join(one.project, 'refused'))).toBe(false);
    const denied = { command: 'touch refused', end_reason: 'denied', source: 'hook' };
    expect(one.entries()).toMatchObject([denied, denied]);
    expect(await statusOf(one)).toBe('live');
  });
});
