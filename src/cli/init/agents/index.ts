// Every client that `cuff init` sets up, in the order in which it lists them.

import type { AgentId } from '../../../text/agents.ts';
import type { Setup } from './agent.ts';
import { claude } from './claude.ts';
import { codex } from './codex.ts';
import { cline, copilot, cursor, vscode } from './editors.ts';
import { gemini, qwen } from './gemini.ts';
import { aider, goose, opencode, pi } from './others.ts';

export const SETUPS: { readonly [id in AgentId]: Setup } = {
  claude,
  codex,
  gemini,
  qwen,
  copilot,
  cursor,
  vscode,
  opencode,
  pi,
  cline,
  goose,
  aider,
};
