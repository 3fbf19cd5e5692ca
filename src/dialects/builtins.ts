// The plugins that come with cuff, by the name that settings call them and their tools begin with.

import type { PluginClass } from '../plugin.ts';
import { ClaudeCode } from './claude-code.ts';
import { Codex } from './codex.ts';
import { DerunPlugin } from './derun.ts';
import { CuffShellPlugin } from './native.ts';
import { PhoenixBashPlugin } from './phoenix.ts';
import { PipeBashPlugin } from './pipe.ts';
import { RecorderPlugin } from './recorder.ts';

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
