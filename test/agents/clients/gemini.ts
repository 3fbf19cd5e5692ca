// Gemini CLI.
import { join } from 'node:path';
import { type AgentClient, writeConfig } from './client.ts';

export const gemini: AgentClient = {
  name: 'gemini',
  init: 'gemini',
  hasShell: true,
  addMcp: ({ project }) => {
    const cuff = { command: 'cuff', args: ['mcp', '--dialect', 'cuff_shell'] };
    writeConfig(join(project, '.gemini', 'settings.json'), { mcpServers: { cuff } });
  },
  prepare: ({ home }) => {
    writeConfig(join(home, '.gemini', 'settings.json'), {
      security: { auth: { selectedType: 'gemini-api-key' } },
      general: { enableAutoUpdate: false },
      privacy: { usageStatisticsEnabled: false },
      telemetry: { enabled: false },
    });
  },
  env: (_, url) => ({
    GOOGLE_GEMINI_BASE_URL: url,
    GEMINI_API_KEY: 'scripted',
    GEMINI_CLI_TRUST_WORKSPACE: 'true',
  }),
  args: ({ prompt, permissions, args }) => [
    '-m',
    'gemini-2.5-pro',
    ...(permissions === 'all' ? ['--approval-mode', 'yolo'] : []),
    ...args,
    '-p',
    prompt,
  ],
  shell: (command) => ({ name: 'run_shell_command', input: { command, description: 'a step' } }),
  mcp: (command) => ({ name: 'mcp_cuff_shell_run', input: { command } }),
};
