// Copilot CLI, Cursor, VS Code and Cline: their shells cannot be replaced, so that a hook is all
// there is. VS Code reads the hooks of Claude Code and of Copilot; it gets no third registration.

import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { AppError } from '../../../errors.ts';
import {
  type Edit,
  isHookEntry,
  jsonEntry,
  jsonItem,
  jsonVersion,
  MARK,
  wholeFile,
} from '../edits.ts';
import { readConfig } from '../file.ts';
import { ConfigSyntaxError, type Json } from '../jsonc.ts';
import {
  type Context,
  type Gap,
  HOOK_SECONDS,
  hookLine,
  type Part,
  rewriteWarning,
  rewritingLine,
  type Setup,
  scoped,
  serverOf,
  TOOLS,
} from './agent.ts';
import { claudeHooks, claudeSettings, hasClaudeHooks } from './claude.ts';
import { clineHook } from './generated.ts';

const NO_SHELL = 'it has no setting for its shell; its hook and its transcript tell';
const JUDGED = 'each command is judged before it runs, and noted after it';

export const copilot: Setup = {
  id: 'copilot',
  programs: ['copilot'],
  traces: ({ home }) => [join(home, '.copilot')],
  parts: (context) => [
    {
      kind: 'hooks',
      file: copilotHooks(context),
      edits: versioned(
        ['preToolUse', 'postToolUse', 'postToolUseFailure', 'sessionStart', 'sessionEnd'],
        { type: 'command', bash: rewritingLine(context), timeoutSec: HOOK_SECONDS },
      ),
      gets: `${JUDGED}; it refuses commands when the hook is gone`,
      ...rewriteWarning(context),
    },
    { kind: 'shell', why: NO_SHELL },
    copilotServer(context),
  ],
};

function copilotHooks(context: Context): string {
  const user = join(context.home, '.copilot', 'hooks', 'cuff.json');
  return scoped(context, '.github/hooks/cuff.json', user);
}

function copilotServer(context: Context): Part | Gap {
  if (context.scope === 'project') return { kind: 'mcp', why: 'only for the user: --user' };
  const entry = { type: 'local', ...serverOf(context, 'cuff_shell'), tools: ['*'] };
  return {
    kind: 'mcp',
    file: join(context.home, '.copilot', 'mcp-config.json'),
    edits: [jsonEntry(['mcpServers', 'cuff'], entry)],
    gets: TOOLS + only(context, "start it with --deny-tool 'shell'"),
  };
}

/** Where no file takes the shell of a client away, its own option may. */
function only(context: Context, how: string): string {
  return context.only ? `; its own shell stays: ${how}` : '';
}

/** A file with `version: 1` and one list for each event. */
function versioned(events: readonly string[], hook: Json): Edit[] {
  const items = events.map((event) => jsonItem(['hooks', event], hook, isHookEntry));
  return [jsonVersion(), ...items];
}

export const cursor: Setup = {
  id: 'cursor',
  programs: ['cursor', 'cursor-agent'],
  traces: ({ home }) => [join(home, '.cursor')],
  parts: (context) => [
    {
      kind: 'hooks',
      file: scoped(context, '.cursor/hooks.json', join(context.home, '.cursor', 'hooks.json')),
      edits: cursorHooks(context),
      gets: JUDGED,
      ...rewriteWarning(context),
    },
    { kind: 'shell', why: NO_SHELL },
    {
      kind: 'mcp',
      file: scoped(context, '.cursor/mcp.json', join(context.home, '.cursor', 'mcp.json')),
      edits: [
        jsonEntry(['mcpServers', 'cuff'], { type: 'stdio', ...serverOf(context, 'cuff_shell') }),
      ],
      gets: TOOLS + only(context, 'switch it off in its settings'),
    },
  ],
};

/** It runs a command whose hook failed, unless it is told not to. */
function cursorHooks(context: Context): Edit[] {
  const hook = { command: hookLine(context), timeout: HOOK_SECONDS };
  const rewriting = { ...hook, command: rewritingLine(context) };
  const first = context.required === undefined ? hook : { ...hook, failClosed: true };
  return [
    ...versioned(['beforeShellExecution'], first),
    ...versioned(['afterShellExecution', 'sessionStart', 'sessionEnd'], hook).slice(1),
    // Only the hook for all tools can put another command in the place of one.
    ...(context.rewrite ? versioned(['preToolUse'], rewriting).slice(1) : []),
  ];
}

export const vscode: Setup = {
  id: 'vscode',
  programs: ['code', 'code-insiders', 'codium'],
  traces: ({ home }) => [join(home, '.config', 'Code')],
  parts: (context) => [
    vscodeHooks(context),
    { kind: 'shell', why: 'it types into a terminal; its hook tells' },
    {
      kind: 'mcp',
      file: scoped(
        context,
        '.vscode/mcp.json',
        join(context.home, '.config', 'Code', 'User', 'mcp.json'),
      ),
      edits: [
        jsonEntry(['servers', 'cuff'], { type: 'stdio', ...serverOf(context, 'cuff_shell') }),
      ],
      gets: TOOLS + only(context, 'switch it off in its tools'),
    },
  ],
};

/** In Claude's file, unless Copilot's, which it reads as well, has them. */
function vscodeHooks(context: Context): Part | Gap {
  const file = copilotHooks(context);
  const copilots = jsonItem(['hooks', 'preToolUse'], null, isHookEntry);
  const byCopilot = told(file, (text) => copilots.has(text));
  if (byCopilot && !told(claudeSettings(context), hasClaudeHooks)) {
    return { kind: 'hooks', why: `it reads ${file}` };
  }
  return { ...claudeHooks(context), gets: `${JUDGED}; one entry with Claude Code` };
}

/** Of a file of another client: one that cannot be read tells nothing. */
function told(file: string, tells: (text: string) => boolean): boolean {
  try {
    return tells(readConfig(file, file) ?? '');
  } catch (error) {
    if (error instanceof AppError || error instanceof ConfigSyntaxError) return false;
    throw error;
  }
}

export const cline: Setup = {
  id: 'cline',
  programs: ['cline'],
  traces: ({ home }) => [join(home, '.cline')],
  parts: (context) => [
    ...['PreToolUse', 'PostToolUse'].map(
      (event): Part => ({
        kind: 'hooks',
        file: clineFile(context, event),
        edits: [wholeFile(clineHook(rewritingLine(context)))],
        mode: 0o755,
        gets: event === 'PreToolUse' ? JUDGED : 'how it ended',
        ...rewriteWarning(context),
      }),
    ),
    { kind: 'shell', why: NO_SHELL },
    { kind: 'mcp', why: 'add it in Cline itself: `cuff mcp --dialect cuff_shell`' },
  ],
};

/** Cline runs `PreToolUse.sh`, too, where the user has a `PreToolUse` of their own. */
function clineFile(context: Context, event: string): string {
  const name = scoped(context, `.cline/hooks/${event}`, join(context.home, '.cline/hooks', event));
  if (!existsSync(name)) return name;
  return told(name, (text) => text.includes(MARK)) ? name : `${name}.sh`;
}
