// OpenCode and pi, which load a module of ours and have a setting for their shell, and goose and
// aider, which have no hooks and take their shell from the environment.

import { existsSync } from 'node:fs';
import { isAbsolute, join } from 'node:path';
import { type Edit, jsonEntry, jsonValue, wholeFile, yamlEntry } from '../edits.ts';
import { readJson } from '../jsonc.ts';
import { type Context, type Part, type Setup, scoped, serverOf, TOOLS } from './agent.ts';
import { isShell } from './claude.ts';
import { openCodePlugin, piExtension } from './generated.ts';

const RECORDED = 'every byte and exit code of its shell is recorded';
const JUDGED = 'each command is judged and noted before it runs';
const NO_HOOKS = 'it has no hooks; the shell records and refuses';

export const opencode: Setup = {
  id: 'opencode',
  programs: ['opencode'],
  traces: (context) => [configHome(context, 'opencode')],
  places: (context) => [configHome(context, 'opencode')],
  parts: (context) => {
    const home = configHome(context, 'opencode');
    const plugin = scoped(context, '.opencode/plugins/cuff.ts', join(home, 'plugins', 'cuff.ts'));
    const file = openCodeFile(scoped(context, '', home));
    const server: Edit[] = [openCodeServer(context)];
    if (context.only) server.push(denied());
    return [
      {
        kind: 'hooks',
        file: plugin,
        edits: [wholeFile(openCodePlugin(context.cuff))],
        gets: JUDGED,
      },
      {
        kind: 'shell',
        file,
        edits: [jsonValue(['shell'], context.shell.bash, isShell)],
        gets: RECORDED,
      },
      {
        kind: 'mcp',
        file,
        edits: server,
        gets: context.only ? `${TOOLS}, and its own bash is denied` : TOOLS,
      },
    ];
  },
};

function denied(): Edit {
  return jsonValue(['permission', 'bash'], 'deny', (known) => known === 'deny', '"deny"');
}

function configHome({ env, home }: Context, name: string): string {
  const xdg = env.XDG_CONFIG_HOME;
  return join(xdg && isAbsolute(xdg) ? xdg : join(home, '.config'), name);
}

function openCodeFile(directory: string): string {
  const commented = join(directory, 'opencode.jsonc');
  return existsSync(commented) ? commented : join(directory, 'opencode.json');
}

/** Servers stand in `mcp` itself, or since its second version in `mcp.servers`. It reads both. */
function openCodeServer(context: Context): Edit {
  const { command, args } = serverOf(context, 'cuff_shell');
  const entry = { type: 'local', command: [command, ...args] };
  const fitting = (text: string): Edit => {
    const servers = readJson(text, ['mcp']) === undefined ? undefined : readJson(text, INNER);
    // A server may itself be called `servers`; then it has a type.
    const inner = typeof servers === 'object' && servers !== null && !('type' in servers);
    return jsonEntry([...(inner ? INNER : ['mcp']), 'cuff'], entry);
  };
  return {
    name: 'mcp.cuff',
    add: (text) => fitting(text).add(text),
    remove: (text, added) => fitting(text).remove(text, added),
    has: (text) => fitting(text).has(text),
  };
}

const INNER = ['mcp', 'servers'];

export const pi: Setup = {
  id: 'pi',
  programs: ['pi'],
  traces: ({ home }) => [join(home, '.pi')],
  parts: (context) => {
    const home = join(context.home, '.pi', 'agent');
    const extension = scoped(context, '.pi/extensions/cuff.ts', join(home, 'extensions/cuff.ts'));
    return [
      {
        kind: 'hooks',
        file: extension,
        edits: [wholeFile(piExtension(context.cuff))],
        gets: JUDGED,
      },
      {
        kind: 'shell',
        file: scoped(context, '.pi/settings.json', join(home, 'settings.json')),
        edits: [jsonValue(['shellPath'], context.shell.bash, isShell)],
        gets: RECORDED,
      },
      { kind: 'mcp', why: 'its mcp.json is not written yet' },
    ];
  },
};

export const goose: Setup = {
  id: 'goose',
  programs: ['goose'],
  traces: (context) => [configHome(context, 'goose')],
  places: (context) => [configHome(context, 'goose')],
  parts: (context) => [
    { kind: 'hooks', why: NO_HOOKS },
    // It reads GOOSE_SHELL from the environment alone.
    { kind: 'shell', why: 'start it with `cuff exec goose`' },
    ...gooseServer(context),
  ],
};

const TOOL_SECONDS = 660; // a command may run for ten minutes

function gooseServer(context: Context): (Part | { kind: 'mcp'; why: string })[] {
  if (context.scope === 'project') return [{ kind: 'mcp', why: 'only for the user: --user' }];
  const { command, args } = serverOf(context, 'cuff_shell');
  const rest = { cmd: command, args, timeout: TOOL_SECONDS };
  const entry = { enabled: true, type: 'stdio', name: 'cuff', ...rest };
  const own = context.only ? '; its own shell stays: switch `developer` off' : '';
  return [
    {
      kind: 'mcp',
      file: join(configHome(context, 'goose'), 'config.yaml'),
      edits: [yamlEntry('extensions', 'cuff', entry)],
      gets: TOOLS + own,
    },
  ];
}

export const aider: Setup = {
  id: 'aider',
  programs: ['aider'],
  traces: () => [],
  parts: () => [
    { kind: 'hooks', why: NO_HOOKS },
    { kind: 'shell', why: 'start it with `cuff exec aider`' },
    { kind: 'mcp', why: 'it speaks no MCP' },
  ],
};
