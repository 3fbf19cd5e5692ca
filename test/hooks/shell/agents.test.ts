// Rules for one agent, where its commands come by its shell: variables are whatever a process sets,
// so that the name counts where the agent's own hook has told of the very command.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { writeIntent } from '../../../src/hooks/intent.ts';
import { SHAPES, World } from './world.ts';

const world = new World();
afterAll(() => world.close());

const POLICY = `
policies:
  - name: rules
    commands:
      - pattern: "echo *"
        agents: [claude-code]
`;

it('a variable names no agent, and a registered hook does', async () => {
  const cwd = world.project();
  mkdirSync(join(cwd, '.cuff'));
  writeFileSync(join(cwd, '.cuff', 'policy.yml'), POLICY);
  const refused = await world.call(SHAPES.claude, 'echo variable', cwd);
  expect(refused.code).toBe(126);
  expect(refused.out).toContain('allows it to claude-code alone');

  for (const registered of [false, true]) {
    const command = `echo ${registered}`;
    writeIntent(world.env, {
      agent: 'claude',
      session: SHAPES.claude.env.CLAUDE_CODE_SESSION_ID ?? null,
      tool_call: null,
      command,
      description: null,
      cwd,
      permission_mode: 'default',
      ...(registered ? { registered: true as const } : {}),
      decision: null,
      at: Date.now(),
    });
    const { code } = await world.call(SHAPES.claude, command, cwd);
    expect([registered, code]).toEqual([registered, registered ? 0 : 126]);
  }
  // The intent was for one call.
  expect((await world.call(SHAPES.claude, 'echo true', cwd)).code).toBe(126);
});
