// Every dialect that runs commands, by how an agent runs one with it.

import { RecorderPlugin } from '../../src/dialects/bash_recorder/dialect.ts';
import { ClaudeCode } from '../../src/dialects/claude_code/dialect.ts';
import { Codex } from '../../src/dialects/codex/dialect.ts';
import { CuffShellPlugin } from '../../src/dialects/cuff_shell/dialect.ts';
import { PhoenixBashPlugin } from '../../src/dialects/phoenix_bash/dialect.ts';
import { PipeBashPlugin } from '../../src/dialects/pipe_bash/dialect.ts';
import type { PluginClass } from '../../src/host/plugin.ts';

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
