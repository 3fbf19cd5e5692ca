// Claude Code: hooks and shell in its settings, the server in `~/.claude.json` or `.mcp.json`.
// VS Code and Cursor read the same settings, so their hooks are here, too.

import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { AGENTS } from '../../../text/agents.ts';
import { type Edit, isHookEntry, jsonEntry, jsonItem, jsonValue } from '../edits.ts';
import type { Json } from '../jsonc.ts';
import { programPath } from '../program-path.ts';
import {
  type Context,
  HOOK_SECONDS,
  hookEdits,
  hookLine,
  type Part,
  type Setup,
  scoped,
  serverOf,
  TOOLS,
} from './agent.ts';

const MATCHED = ['PreToolUse', 'PostToolUse', 'PostToolUseFailure'];
const EVENTS = [...MATCHED, 'SessionStart', 'SessionEnd'];

const { shellTools, fileTools } = AGENTS.claude;

export const claude: Setup = {
  id: 'claude',
  programs: ['claude'],
  traces: (context) => [claudeDirectory(context)],
  places: (context) => [claudeDirectory(context)],
  parts: (context) => [claudeHooks(context), shell(context), server(context), ...access(context)],
};

export function claudeDirectory({ env, home }: Context): string {
  return env.CLAUDE_CONFIG_DIR || join(home, '.claude');
}

export function claudeSettings(context: Context): string {
  return scoped(context, '.claude/settings.json', join(claudeDirectory(context), 'settings.json'));
}

/** It is there, or was: its directory alone may have been made for VS Code. */
export function usesClaude(context: Context): boolean {
  if (programPath('claude', context.env) !== undefined) return true;
  return existsSync(join(claudeDirectory(context), 'projects'));
}

export function claudeHooks(context: Context): Part {
  const matcher = [...shellTools, ...fileTools].join('|');
  return {
    kind: 'hooks',
    file: claudeSettings(context),
    edits: hookEdits(EVENTS, MATCHED, matcher, hook(context)),
    gets: 'each command is judged and noted before it runs',
  };
}

/** Whether a text of its settings has hooks of cuff. */
export function hasClaudeHooks(text: string): boolean {
  return jsonItem(['hooks', 'PreToolUse'], null, isHookEntry).has(text);
}

/** The exec form starts no shell. Others that read the file would start the program alone. */
function hook(context: Context): Json {
  const rest = { timeout: HOOK_SECONDS };
  if (context.claudeFileShared) return { type: 'command', command: hookLine(context), ...rest };
  return { type: 'command', command: context.cuff, args: ['hook'], ...rest };
}

/** The path is one of this machine, so that a shared file is no place for it. */
function shell(context: Context): Part {
  const user = join(claudeDirectory(context), 'settings.json');
  return {
    kind: 'shell',
    file: scoped(context, '.claude/settings.local.json', user),
    edits: [jsonValue(['env', 'CLAUDE_CODE_SHELL'], context.shell.bash, isShell)],
    gets: 'every byte and exit code of its Bash is recorded',
  };
}

/** The shell of this or an earlier state root. */
export function isShell(known: Json): boolean {
  return typeof known === 'string' && /\/shells\/(bash|zsh)$/.test(known);
}

function server(context: Context): Part {
  const entry = { type: 'stdio', ...serverOf(context, 'claude_code'), alwaysLoad: true };
  return {
    kind: 'mcp',
    file: scoped(context, '.mcp.json', userServers(context)),
    edits: [jsonEntry(['mcpServers', 'cuff'], entry)],
    gets: TOOLS,
  };
}

function userServers({ env, home }: Context): string {
  return join(env.CLAUDE_CONFIG_DIR || home, '.claude.json');
}

/** Where a policy of cuff answers, its tools need no second question. */
function access(context: Context): Part[] {
  if (context.required === undefined) return [];
  const edits: Edit[] = [jsonItem(['permissions', 'allow'], 'mcp__cuff')];
  if (context.only)
    edits.push(...shellTools.map((tool) => jsonItem(['permissions', 'deny'], tool)));
  const gets = `${TOOLS} need no second question`;
  return [
    {
      kind: 'mcp',
      file: claudeSettings(context),
      edits,
      gets: context.only ? `${gets}, and its own Bash is denied` : gets,
    },
  ];
}
