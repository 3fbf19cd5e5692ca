// OpenCode.
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
  },
  env: () => ({ OPENCODE_DISABLE_MODELS_FETCH: '1', OPENCODE_DISABLE_LSP_DOWNLOAD: '1' }),
  args: ({ prompt, args }) => ['run', '-m', 'loopback/scripted', ...args, prompt],
  shell: (command) => ({ name: 'bash', input: { command, description: 'a step' } }),
  mcp: (command) => ({ name: 'cuff_shell_run', input: { command } }),
};
