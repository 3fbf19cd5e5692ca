// Every dialect that runs commands, by how an agent runs one with it.
import { ClaudeCode } from '../../src/dialects/claude-code.ts';
import { Codex } from '../../src/dialects/codex.ts';
import { CuffShellPlugin } from '../../src/dialects/native.ts';
import { PhoenixBashPlugin } from '../../src/dialects/phoenix.ts';
import { PipeBashPlugin } from '../../src/dialects/pipe.ts';
import { RecorderPlugin } from '../../src/dialects/recorder.ts';
import type { PluginClass } from '../../src/plugin.ts';

export type DialectCase = {
  readonly name: string;
  readonly plugin: PluginClass;
  /** As its plugin calls it. */
  readonly tool: string;
  /** As MCP clients see it. */
  readonly listed: string;
  /** Its argument for the command. */
  readonly argument: string;
};

export const DIALECTS: readonly DialectCase[] = [
  {
    name: 'bash_recorder',
    plugin: RecorderPlugin,
    tool: 'execute',
    listed: 'bash_recorder_execute',
    argument: 'command',
  },
  {
    name: 'pipe_bash',
    plugin: PipeBashPlugin,
    tool: 'bash',
    listed: 'bash',
    argument: 'command',
  },
  {
    name: 'phoenix_bash',
    plugin: PhoenixBashPlugin,
    tool: 'bash',
    listed: 'bash',
    argument: 'command',
  },
  {
    name: 'cuff_shell',
    plugin: CuffShellPlugin,
    tool: 'shell_run',
    listed: 'shell_run',
    argument: 'command',
  },
  {
    name: 'claude_code',
    plugin: ClaudeCode,
    tool: 'Bash',
    listed: 'Bash',
    argument: 'command',
  },
  {
    name: 'codex',
    plugin: Codex,
    tool: 'exec_command',
    listed: 'exec_command',
    argument: 'cmd',
  },
];

/** `echo` is allowed, one file must not be made, and everything else is asked about. */
export const POLICY = `# Nobody else's.
default: ask
policies:
  - name: test
    description: for a test
    commands:
      - pattern: echo *
      - pattern: touch denied
        decision: deny
        reason: it is only a test
`;
