// pi.
import { join } from 'node:path';
import { type AgentClient, writeConfig } from './client.ts';

export const pi: AgentClient = {
  name: 'pi',
  init: 'pi',
  hasShell: true,
  prepare: ({ home }, url) => {
    const loopback = {
      baseUrl: `${url}/v1`,
      api: 'openai-completions',
      apiKey: 'scripted',
      models: [{ id: 'scripted' }],
    };
    writeConfig(join(home, '.pi', 'agent', 'models.json'), { providers: { loopback } });
  },
  env: () => ({ PI_OFFLINE: '1', PI_TELEMETRY: '0' }),
  args: ({ prompt, args }) => [
    '-p',
    '--provider',
    'loopback',
    '--model',
    'scripted',
    ...args,
    prompt,
  ],
  shell: (command) => ({ name: 'bash', input: { command } }),
  mcp: undefined,
};
