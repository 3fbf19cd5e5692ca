// The clients that `cuff init` knows: where each keeps its MCP servers, and what an entry for cuff
// looks like there. The formats are theirs; the file around the entry is never rewritten.

import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { homeOf } from '../../places.ts';
import type { Env } from '../../types.ts';
import { type JsonRecord, mergeJson, readJson, removeJson } from './jsonc.ts';
import { hasToml, mergeToml, removeToml } from './toml.ts';

export const CLIENT_NAMES = ['claude', 'codex', 'cursor', 'vscode', 'opencode'] as const;

export type ClientName = (typeof CLIENT_NAMES)[number];

/** The command line with which a client starts the server. */
export type ServerCommand = {
  readonly command: string;
  readonly args: readonly string[];
  /** A client that can refuse to work without the server must do so. */
  readonly required?: boolean | undefined;
};

export type Client = {
  readonly title: string;
  /** The dialect whose tools its model knows best. */
  readonly dialect: string;
  readonly file: string;
  /** Arguments of its server besides the dialect. */
  readonly args: readonly string[];
  /** It can be told not to work without the server. */
  readonly canRequire?: boolean;
  /** The file is shared with the other people of the project. */
  readonly shared: boolean;
  /** There are signs that this client is used here. */
  readonly present: boolean;
  /** The text of a file without settings. */
  readonly empty: string;
  add(text: string, server: ServerCommand): string;
  /** Empty when nothing is left in it. */
  remove(text: string): string;
  has(text: string): boolean;
};

// A command may run for ten minutes, and Codex gives up after one.
const CODEX_TIMEOUT_SECONDS = 660;

// Where the client waits that long, a person may be away from the desk for five minutes.
const ASK_SECONDS = 300;

export function clientOf(name: ClientName, cwd: string, env: Env): Client {
  const here = (...names: string[]): boolean => names.some((one) => existsSync(join(cwd, one)));
  switch (name) {
    case 'claude': {
      const present = here('.mcp.json', '.claude', 'CLAUDE.md');
      const file = join(cwd, '.mcp.json');
      const client = jsonClient('Claude Code', file, present, ['mcpServers'], loaded);
      return { ...client, dialect: 'claude_code' };
    }
    case 'cursor': {
      const file = join(cwd, '.cursor', 'mcp.json');
      return jsonClient('Cursor', file, here('.cursor'), ['mcpServers'], stdio);
    }
    case 'vscode': {
      const file = join(cwd, '.vscode', 'mcp.json');
      return jsonClient('VS Code', file, here('.vscode'), ['servers'], stdio);
    }
    case 'opencode':
      return openCode(cwd, here('opencode.json', 'opencode.jsonc', '.opencode'));
    case 'codex':
      return codex(env, here('.codex'));
  }
}

const SERVER = 'cuff';

/** For models that were trained on no shell in particular. */
const NATIVE = 'cuff_shell';

type Entry = (server: ServerCommand) => JsonRecord;

const stdio: Entry = ({ command, args }) => ({ type: 'stdio', command, args });

/** Otherwise Claude Code looks for the tools only when it thinks of them, and uses its own. */
const loaded: Entry = (server) => ({ ...stdio(server), alwaysLoad: true });

function jsonClient(
  title: string,
  file: string,
  present: boolean,
  container: readonly string[],
  entry: Entry,
): Client {
  const path = [...container, SERVER];
  return {
    title,
    dialect: NATIVE,
    args: [],
    file,
    shared: true,
    present,
    empty: '{}\n',
    add: (text, server) => mergeJson(text, path, entry(server)),
    remove: (text) => removeJson(text, path),
    has: (text) => readJson(text, path) !== undefined,
  };
}

/** Servers stand in `mcp` itself, or since its second version in `mcp.servers`. It reads both. */
function openCode(cwd: string, present: boolean): Client {
  const commented = join(cwd, 'opencode.jsonc');
  const file = existsSync(commented) ? commented : join(cwd, 'opencode.json');
  const entry: Entry = ({ command, args }) => ({ type: 'local', command: [command, ...args] });
  const of = (container: readonly string[]) =>
    jsonClient('OpenCode', file, present, container, entry);
  const fitting = (text: string): Client => {
    const servers = readJson(text, ['mcp']) === undefined ? undefined : readJson(text, INNER);
    // A server may itself be called `servers`; then it has a type.
    const inner = typeof servers === 'object' && servers !== null && !('type' in servers);
    return of(inner ? INNER : ['mcp']);
  };
  return {
    ...of(['mcp']),
    add: (text, server) => fitting(text).add(text, server),
    remove: (text) => fitting(text).remove(text),
    has: (text) => fitting(text).has(text),
  };
}

const INNER = ['mcp', 'servers'];

function codex(env: Env, projectHasOne: boolean): Client {
  const home = env.CODEX_HOME || join(homeOf(env), '.codex');
  const table = ['mcp_servers', SERVER];
  return {
    title: 'Codex',
    dialect: 'codex',
    args: ['--ask-timeout', String(ASK_SECONDS)],
    file: join(home, 'config.toml'),
    shared: false,
    canRequire: true,
    present: projectHasOne || existsSync(home),
    empty: '',
    add: (text, { command, args, required }) =>
      mergeToml(text, table, {
        command,
        args,
        tool_timeout_sec: CODEX_TIMEOUT_SECONDS,
        ...(required === true && { required }),
      }),
    remove: (text) => removeToml(text, table),
    has: (text) => hasToml(text, table),
  };
}
