// Cline.
import { join } from 'node:path';
import { type AgentClient, writeConfig } from './client.ts';

export const cline: AgentClient = {
  name: 'cline',
  init: 'cline',
  hasShell: false,
  prepare: ({ home }, url) => {
    const provider = 'openai-compatible';
    const settings = { provider, apiKey: 'scripted', model: 'scripted', baseUrl: `${url}/v1` };
    writeConfig(join(home, '.cline', 'data', 'settings', 'providers.json'), {
      version: 1,
      lastUsedProvider: provider,
      modes: {},
      providers: {
        [provider]: { settings, updatedAt: new Date().toISOString(), tokenSource: 'manual' },
      },
    });
  },
  // Without a daemon, which would stay behind the task.
  env: () => ({ CLINE_SESSION_BACKEND_MODE: 'local' }),
  args: ({ prompt, permissions, args }) => [
    ...(permissions === 'all' ? ['--yolo'] : []),
    ...args,
    prompt,
  ],
  shell: (command) => ({ name: 'run_commands', input: { commands: [command] } }),
  mcp: undefined,
  // A summary of less than ten characters is refused, and the task goes on for ever.
  end: {
    name: 'submit_and_exit',
    input: { result: 'done', summary: 'all of it is done', verified: true },
  },
};
