// OpenCode.
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { type AgentClient, writeConfig } from './client.ts';

export const opencode: AgentClient = {
  name: 'opencode',
  init: 'opencode',
  hasShell: true,
  prepare: ({ home }, url) => {
    writeConfig(join(home, '.config', 'opencode', 'opencode.json'), {
      autoupdate: false,
      share: 'disabled',
      experimental: { mcp_timeout: 300_000 },
      provider: {
        loopback: {
          npm: '@ai-sdk/openai-compatible',
          options: { baseURL: `${url}/v1`, apiKey: 'scripted' },
          models: { scripted: { name: 'scripted', tool_call: true } },
        },
      },
    });
    // As after its first start with a network: with a plugin it would look for this one first.
    const packages = { '': { dependencies: { '@opencode-ai/plugin': '*' } } };
    const config = join(home, '.config', 'opencode');
    writeConfig(join(config, 'package-lock.json'), { lockfileVersion: 3, packages });
    mkdirSync(join(config, 'node_modules'));
  },
  env: () => ({ OPENCODE_DISABLE_MODELS_FETCH: '1', OPENCODE_DISABLE_LSP_DOWNLOAD: '1' }),
  args: ({ prompt, args }) => ['run', '-m', 'loopback/scripted', ...args, prompt],
  shell: (command) => ({ name: 'bash', input: { command, description: 'a step' } }),
  mcp: (command) => ({ name: 'cuff_shell_run', input: { command } }),
};
