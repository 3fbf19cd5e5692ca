// The plugin alone lets Claude Code record: the hook at the start of a session adds our lines to
// `$CLAUDE_ENV_FILE`, whose text Claude puts in front of every command. Where its settings name our
// shell already, there is nothing to add.

import { appendFileSync, existsSync, readFileSync } from 'node:fs';
import { claudeEnvText, writeShellFiles } from '../hooks/shell/install.ts';
import type { Env } from '../types.ts';
import { enforcedWanted } from './own-shell.ts';

/** Never throws: a session without it begins all the same, and its hooks still tell. */
export async function addClaudeEnv(env: Env, program: string): Promise<void> {
  const { CLAUDE_ENV_FILE: file, CLAUDE_PLUGIN_ROOT: plugin, CLAUDE_CODE_SHELL: shell } = env;
  if (!file || !plugin || /\/shells\/(bash|zsh)$/.test(shell ?? '')) return;
  try {
    const enforced = await enforcedWanted(env);
    const text = claudeEnvText(writeShellFiles(env, { program, enforced }));
    const known = existsSync(file) ? readFileSync(file, 'utf8') : '';
    if (!known.includes(text)) appendFileSync(file, text, { mode: 0o600 });
  } catch {
    // No native runner, or a disk that cannot be written: `cuff doctor` says so.
  }
}
