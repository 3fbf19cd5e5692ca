// Codex: hooks in `hooks.json`, which count when a person has accepted them in Codex, and the
// server and the shell in `config.toml`. Its bash has a fixed path, so the shell comes by BASH_ENV.

import { join } from 'node:path';
import { BELOW_A_SHELL } from '../../../hooks/shell/exec.ts';
import { realOf } from '../../../places.ts';
import { isHookEntry, tomlItem, tomlTable, tomlValue } from '../edits.ts';
import { readConfig } from '../file.ts';
import { readJson } from '../jsonc.ts';
import { readTomlValue } from '../toml.ts';
import {
  type Context,
  type Gap,
  HOOK_SECONDS,
  hookEdits,
  hookLine,
  type Part,
  type Setup,
  scoped,
  serverOf,
  TOOLS,
} from './agent.ts';

const MATCHED = ['PreToolUse', 'PermissionRequest', 'PostToolUse'];
const EVENTS = [...MATCHED, 'SessionStart'];
const SESSION_END_SECONDS = 3; // the most that it gives

// A command may run for ten minutes, and Codex gives up after one.
const TOOL_SECONDS = 660;

// Where the client waits that long, a person may be away from the desk for five minutes.
const ASK_SECONDS = 300;

export const codex: Setup = {
  id: 'codex',
  programs: ['codex'],
  traces: (context) => [codexHome(context)],
  places: (context) => [codexHome(context)],
  parts: (context) => [hooks(context), ...shell(context), ...server(context)],
};

export function codexHome({ env, home }: Context): string {
  return env.CODEX_HOME || join(home, '.codex');
}

function codexHooksFile(context: Context): string {
  return scoped(context, '.codex/hooks.json', join(codexHome(context), 'hooks.json'));
}

function hooks(context: Context): Part {
  const hook = { type: 'command', command: hookLine(context) };
  const end = { ...hook, timeout: SESSION_END_SECONDS };
  return {
    kind: 'hooks',
    file: codexHooksFile(context),
    edits: [
      ...hookEdits(EVENTS, MATCHED, 'Bash|apply_patch', { ...hook, timeout: HOOK_SECONDS }),
      ...hookEdits(['SessionEnd'], [], '', end),
    ],
    gets: 'each command is judged and noted before it runs',
    // Its hash of the trusted hook is the person's signature, not ours.
    next: 'Start codex once and accept "Hooks need review": until then it runs no hook.',
  };
}

function config(context: Context): string {
  return join(codexHome(context), 'config.toml');
}

function shell(context: Context): (Part | Gap)[] {
  if (context.scope === 'project') return [{ kind: 'shell', why: 'only for the user: --user' }];
  const { bashEnv, captures } = context.shell;
  const ours = (known: string): boolean => /\/bash-env$/.test(known);
  return [
    {
      kind: 'shell',
      file: config(context),
      edits: [
        tomlValue(['shell_environment_policy', 'set'], 'BASH_ENV', bashEnv, ours),
        tomlValue(['shell_environment_policy', 'set'], 'SHLVL', BELOW_A_SHELL),
        tomlItem(['sandbox_workspace_write'], 'writable_roots', captures),
      ],
      gets: 'every byte and exit code of its bash is recorded, in its sandbox, too',
    },
  ];
}

function server(context: Context): (Part | Gap)[] {
  if (context.scope === 'project') return [{ kind: 'mcp', why: 'only for the user: --user' }];
  const ask = ['--ask-timeout', String(ASK_SECONDS)];
  const required = context.required !== undefined;
  const entry = {
    ...serverOf(context, 'codex', ask),
    tool_timeout_sec: TOOL_SECONDS,
    ...(required && { required, default_tools_approval_mode: 'approve' }),
  };
  const edits = [tomlTable(['mcp_servers', 'cuff'], entry)];
  if (context.only) edits.push(tomlValue(['features'], 'shell_tool', false));
  const gets = required ? `${TOOLS}, without which it does not start` : TOOLS;
  return [
    {
      kind: 'mcp',
      file: config(context),
      edits,
      gets: context.only ? `${gets}; its own shell is off` : gets,
    },
  ];
}

/**
 * Whether a person has accepted our hook of this file in Codex, in the words of its own record.
 * It names the file of a plugin by the plugin: a version has another path, and the same hook.
 */
export function codexTrust(context: Context, file: string, plugin?: string): boolean {
  const groups = readJson(readConfig(file, file) ?? '', ['hooks', 'PreToolUse']);
  const index = Array.isArray(groups) ? groups.findIndex(isHookEntry) : -1;
  const record = readConfig(config(context), config(context)) ?? '';
  const own = plugin === undefined ? [] : [`${plugin}:hooks/hooks.json`];
  return [file, realOf(file), ...own].some((path) => {
    const key = `${path}:pre_tool_use:${index}:0`;
    return readTomlValue(record, ['hooks', 'state', key], 'trusted_hash') !== undefined;
  });
}
