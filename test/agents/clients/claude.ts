// Claude Code.
import { join } from 'node:path';
import { type AgentClient, writeConfig } from './client.ts';

export const claude: AgentClient = {
  name: 'claude',
  init: 'claude',
  hasShell: true,
  prepare: ({ home }) => {
    writeConfig(join(home, '.claude.json'), { hasCompletedOnboarding: true });
    writeConfig(join(home, '.claude', 'settings.json'), { enableAllProjectMcpServers: true });
  },
  env: (_, url) => ({
    ANTHROPIC_BASE_URL: url,
    ANTHROPIC_API_KEY: 'scripted',
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
    DISABLE_AUTOUPDATER: '1',
    MCP_CONNECTION_NONBLOCKING: '0', // the model is not asked before it has the tools
    MCP_CONNECT_TIMEOUT_MS: '300000',
    MCP_TIMEOUT: '300000',
    IS_SANDBOX: '1', // as root it refuses to work without questions outside of one
  }),
  args: ({ prompt, permissions, args }) => [
    '-p',
    prompt,
    ...(permissions === 'all' ? ['--dangerously-skip-permissions'] : []),
    ...args,
  ],
  window: {
    prepare: ({ home, project }) =>
      writeConfig(join(home, '.claude.json'), {
        hasCompletedOnboarding: true,
        customApiKeyResponses: { approved: ['scripted'], rejected: [] },
        bypassPermissionsModeAccepted: true,
        projects: { [project]: { hasTrustDialogAccepted: true } },
      }),
    args: ({ prompt, args }) => [...args, prompt],
  },
  shell: (command) => ({ name: 'Bash', input: { command, description: 'a step' } }),
  mcp: (command) => ({ name: 'mcp__cuff__Bash', input: { command, description: 'a step' } }),
};
