// The agent programs as the tests use them: what makes each talk to the scripted model, how it is
// started without a person, and what its tools are called.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { programCommand } from './cache.ts';
import type { ScriptCall } from './model/script.ts';
import type { AgentName } from './programs.ts';

/** Where a case lives. */
export interface Places {
  readonly home: string;
  readonly project: string;
}

/** One start of the program with a prompt. */
export interface Start {
  readonly prompt: string;
  /** All tools without a question, or as the client's own rules say. */
  readonly permissions: 'all' | 'rules';
  readonly args: readonly string[];
}

export interface AgentClient {
  readonly name: AgentName;
  /** Its name for `cuff init`. */
  readonly init: string;
  /** Adds `cuff mcp` where `cuff init` does not know the program. */
  addMcp?(places: Places): void;
  /** Configuration that makes the program work alone, with the model at `url`. */
  prepare(places: Places, url: string): void;
  env(places: Places, url: string): Readonly<Record<string, string>>;
  command(start: Start): readonly string[];
  /** The call of its own shell tool. */
  shell(command: string): ScriptCall;
  /** The call of the shell tool that `cuff mcp` gives it. */
  mcp(command: string): ScriptCall;
}

const claude: AgentClient = {
  name: 'claude',
  init: 'claude',
  prepare: ({ home }) => {
    write(join(home, '.claude.json'), { hasCompletedOnboarding: true });
    write(join(home, '.claude', 'settings.json'), { enableAllProjectMcpServers: true });
  },
  env: (_, url) => ({
    ANTHROPIC_BASE_URL: url,
    ANTHROPIC_API_KEY: 'scripted',
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
    DISABLE_AUTOUPDATER: '1',
    IS_SANDBOX: '1', // as root it refuses to work without questions outside of one
  }),
  command: ({ prompt, permissions, args }) => [
    ...programCommand('claude'),
    '-p',
    prompt,
    ...(permissions === 'all' ? ['--dangerously-skip-permissions'] : []),
    ...args,
  ],
  shell: (command) => ({ name: 'Bash', input: { command, description: 'a step' } }),
  mcp: (command) => ({ name: 'mcp__cuff__Bash', input: { command, description: 'a step' } }),
};

const codex: AgentClient = {
  name: 'codex',
  init: 'codex',
  prepare: ({ home }, url) => {
    const lines = [
      'model = "scripted"',
      'model_provider = "loopback"',
      'check_for_update_on_startup = false',
      'features.plugins = false', // it would wait five seconds for a list of them
      '[analytics]',
      'enabled = false',
      '[model_providers.loopback]',
      'name = "loopback"',
      `base_url = "${url}/v1"`,
      'wire_api = "responses"',
      '',
    ];
    write(join(home, '.codex', 'config.toml'), lines.join('\n'));
  },
  env: () => ({}),
  command: ({ prompt, permissions, args }) => [
    ...programCommand('codex'),
    'exec',
    '--skip-git-repo-check',
    ...(permissions === 'all' ? ['--dangerously-bypass-approvals-and-sandbox'] : []),
    ...args,
    prompt,
  ],
  shell: (command) => ({ name: 'exec_command', input: { cmd: command } }),
  mcp: (command) => ({ name: /cuff.*exec_command$/, input: { cmd: command } }),
};

const gemini: AgentClient = {
  name: 'gemini',
  init: 'gemini',
  addMcp: ({ project }) => {
    const cuff = { command: 'cuff', args: ['mcp', '--dialect', 'cuff_shell'] };
    write(join(project, '.gemini', 'settings.json'), { mcpServers: { cuff } });
  },
  prepare: ({ home }) => {
    write(join(home, '.gemini', 'settings.json'), {
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
  command: ({ prompt, permissions, args }) => [
    ...programCommand('gemini'),
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

const opencode: AgentClient = {
  name: 'opencode',
  init: 'opencode',
  prepare: ({ home }, url) => {
    write(join(home, '.config', 'opencode', 'opencode.json'), {
      autoupdate: false,
      share: 'disabled',
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
  command: ({ prompt, args }) => [
    ...programCommand('opencode'),
    'run',
    '-m',
    'loopback/scripted',
    ...args,
    prompt,
  ],
  shell: (command) => ({ name: 'bash', input: { command, description: 'a step' } }),
  mcp: (command) => ({ name: 'cuff_shell_run', input: { command } }),
};

export const CLIENTS: readonly AgentClient[] = [claude, codex, gemini, opencode];

function write(path: string, content: string | object): void {
  mkdirSync(join(path, '..'), { recursive: true });
  const text = typeof content === 'string' ? content : `${JSON.stringify(content, null, 2)}\n`;
  writeFileSync(path, text);
}
