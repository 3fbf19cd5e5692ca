// Copilot CLI.
import { join } from 'node:path';
import { type AgentClient, writeConfig } from './client.ts';

export const copilot: AgentClient = {
  name: 'copilot',
  init: 'copilot',
  hasShell: false,
  addMcp: ({ home }) => {
    const cuff = {
      type: 'local',
      command: 'cuff',
      args: ['mcp', '--dialect', 'cuff_shell'],
      tools: ['*'],
    };
    writeConfig(join(home, '.copilot', 'mcp-config.json'), { mcpServers: { cuff } });
  },
  prepare: ({ home }) => {
    writeConfig(join(home, '.copilot', 'config.json'), { banner: 'never' });
  },
  env: (_, url) => ({
    COPILOT_OFFLINE: 'true',
    COPILOT_PROVIDER_TYPE: 'anthropic',
    COPILOT_PROVIDER_BASE_URL: url,
    COPILOT_PROVIDER_API_KEY: 'scripted',
    COPILOT_MODEL: 'claude-sonnet-4.5',
  }),
  args: ({ prompt, permissions, args }) => [
    '-p',
    prompt,
    ...(permissions === 'all' ? ['--allow-all-tools'] : []),
    ...args,
  ],
  shell: (command) => ({ name: 'bash', input: { command, description: 'a step' } }),
  mcp: (command) => ({ name: /cuff.*shell_run$/, input: { command } }),
};
