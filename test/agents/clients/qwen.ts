// Qwen Code.
import { join } from 'node:path';
import { type AgentClient, writeConfig } from './client.ts';

export const qwen: AgentClient = {
  name: 'qwen',
  init: 'qwen',
  hasShell: true,
  prepare: ({ home }) => {
    writeConfig(join(home, '.qwen', 'settings.json'), {
      general: { enableAutoUpdate: false },
      privacy: { usageStatisticsEnabled: false },
      telemetry: { enabled: false },
    });
  },
  env: (_, url) => ({
    OPENAI_BASE_URL: `${url}/v1`,
    OPENAI_API_KEY: 'scripted',
    OPENAI_MODEL: 'scripted',
    QWEN_CODE_SUPPRESS_YOLO_WARNING: '1',
  }),
  args: ({ prompt, permissions, args }) => [
    '--auth-type',
    'openai',
    ...(permissions === 'all' ? ['--yolo'] : []),
    ...args,
    prompt,
  ],
  shell: (command) => ({ name: 'run_shell_command', input: { command, description: 'a step' } }),
  mcp: undefined,
};
