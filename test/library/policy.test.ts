// A policy in front of tools that have no server around them.
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import {
  createAnthropicBash,
  createBashTool,
  createOpenAIShell,
  isAppError,
} from '../../src/index.ts';
import { closing, home } from './home.ts';

const POLICY = `default: allow
policies:
  - name: test
    commands:
      - { pattern: touch *, decision: deny, reason: nothing is made here }
`;

it('tools ask the policy that they are given, and no other', async () => {
  const { dir, options } = home();
  const made = join(dir, 'made');
  writeFileSync(join(dir, 'rules.yml'), POLICY);
  const policy = 'rules.yml';
  const tool = closing(createBashTool({ dialect: 'cuff_shell', policy, ...options }));
  expect(await tool.call({ command: 'touch made' })).toMatchObject({
    isError: false,
    text: expect.stringContaining('nothing is made here'),
  });
  expect(await tool.execute({ command: 'echo fine' })).toContain('fine');
  expect(existsSync(made)).toBe(false);
  for (const without of [{}, { policy: false } as const]) {
    const free = closing(createBashTool({ dialect: 'cuff_shell', ...options, ...without }));
    expect(await free.call({ command: 'touch made; rm made' })).toMatchObject({ isError: false });
  }
  const wrong = closing(
    createBashTool({ dialect: 'cuff_shell', ...options, policy: 'missing.yml' }),
  );
  const error = await wrong.call({ command: 'true' }).catch((error: unknown) => error);
  expect(isAppError(error) && error.code).toBe('settings_invalid');
});

it.each([
  ['createAnthropicBash', createAnthropicBash],
  ['createOpenAIShell', createOpenAIShell],
])('%s refuses a policy that it would not ask', async (_, create) => {
  const { options } = home();
  const withPolicy = (policy: unknown) => closing(create({ ...options, ...{ policy } }));
  for (const policy of ['rules.yml', true, null]) {
    const error = caught(() => withPolicy(policy));
    expect(isAppError(error) && error.code).toBe('settings_invalid');
    expect(String(error)).toContain("has no option 'policy'");
  }
  for (const policy of [undefined, false]) {
    expect(caught(() => withPolicy(policy))).toBeUndefined();
  }
});

function caught(make: () => unknown): unknown {
  try {
    make();
    return undefined;
  } catch (error) {
    return error;
  }
}
