// The plugins that come with cuff, by the name that settings call them and their tools begin with.

import type { PluginClass } from '../host/plugin.ts';
import { RecorderPlugin } from './bash_recorder/dialect.ts';
import { ClaudeCode } from './claude_code/dialect.ts';
import { Codex } from './codex/dialect.ts';
import { CuffShellPlugin } from './cuff_shell/dialect.ts';
import { DerunPlugin } from './derun/dialect.ts';
import { PhoenixBashPlugin } from './phoenix_bash/dialect.ts';
import { PipeBashPlugin } from './pipe_bash/dialect.ts';

export const BUILTINS: Readonly<Record<string, PluginClass>> = {
  bash_recorder: RecorderPlugin,
  claude_code: ClaudeCode,
  codex: Codex,
  cuff_shell: CuffShellPlugin,
  derun: DerunPlugin,
  phoenix_bash: PhoenixBashPlugin,
  pipe_bash: PipeBashPlugin,
};

/** Those that run commands. */
export const SHELLS: readonly string[] = Object.keys(BUILTINS).filter((name) => name !== 'derun');
