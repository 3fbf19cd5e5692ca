// Codex.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type AgentClient, writeConfig } from './client.ts';

export const codex: AgentClient = {
  name: 'codex',
  init: 'codex',
  hasShell: true,
  prepare: ({ home }, url) => {
    const lines = [
      'model = "scripted"',
      'model_provider = "loopback"',
      'check_for_update_on_startup = false',
      '[features]',
      'plugins = false', // it would wait five seconds for a list of them
      'daemon_auto_start = false', // a window would leave it behind
      '[analytics]',
      'enabled = false',
      '[model_providers.loopback]',
      'name = "loopback"',
      `base_url = "${url}/v1"`,
      'wire_api = "responses"',
      '',
    ];
    writeConfig(join(home, '.codex', 'config.toml'), lines.join('\n'));
  },
  env: () => ({}),
  args: ({ prompt, permissions, args }) => [
    'exec',
    '--skip-git-repo-check',
    ...(permissions === 'all' ? ['--dangerously-bypass-approvals-and-sandbox'] : []),
    '--dangerously-bypass-hook-trust', // a person trusts hooks in its window
    ...args,
    prompt,
  ],
  window: {
    prepare: ({ home, project }) => {
      const path = join(home, '.codex', 'config.toml');
      const trusted = `[projects."${project}"]\ntrust_level = "trusted"\n`;
      writeFileSync(path, `${readFileSync(path, 'utf8')}${trusted}`);
    },
    args: ({ prompt, args }) => [...args, prompt],
  },
  // By itself it waits ten seconds for a command, then goes on beside it.
  shell: (cmd) => ({ name: 'exec_command', input: { cmd, yield_time_ms: 30_000 } }),
  mcp: (command) => ({ name: /cuff.*exec_command$/, input: { cmd: command } }),
};
