// The tools of a dialect for a program that imports us: the same plugin that an MCP server offers,
// without a server. The first call initialises the plugin.

import { BUILTINS } from '../dialects/builtins.ts';
import { AppError } from '../errors.ts';
import { toolNames } from '../host/checked-output.ts';
import type { Plugin, ToolDefinition } from '../host/plugin.ts';
import { asObject } from '../text/json.ts';
import type { BashTool, HouseOptions, InputSchema, ToolAnswer } from './bash-tool.ts';
import { type House, openHouse, refuseProblems } from './house.ts';

/** Each dialect and its main tool. */
const MAIN_TOOLS = {
  bash_recorder: 'execute',
  pipe_bash: 'bash',
  phoenix_bash: 'bash',
  cuff_shell: 'shell_run',
  claude_code: 'Bash',
  codex: 'exec_command',
} as const;

export type DialectName = keyof typeof MAIN_TOOLS;

export const DIALECT_NAMES = Object.keys(MAIN_TOOLS) as readonly DialectName[];

export type BashToolOptions = HouseOptions & {
  readonly dialect: DialectName;
  /** A policy file that says which commands may run; it is followed while the tools are used. */
  readonly policy?: string | false;
};

/**
 * The main tool of a dialect. Throws an `AppError`: `usage` for an unknown dialect,
 * `settings_invalid` for a config that it refuses.
 */
export function createBashTool(options: BashToolOptions): BashTool {
  const { main, tools } = toolsOf(options);
  const tool = tools.find(({ definition }) => definition.name === main);
  if (tool === undefined) throw new Error(`${options.dialect} has no tool ${main}`);
  return tool.made;
}

/** All tools of a dialect; they share what it remembers. Throws as `createBashTool` does. */
export function createBashTools(options: BashToolOptions): readonly BashTool[] {
  return toolsOf(options).tools.map(({ made }) => made);
}

type Made = { readonly definition: ToolDefinition; readonly made: BashTool };

function toolsOf(options: BashToolOptions): { main: string; tools: readonly Made[] } {
  const dialect = options?.dialect;
  const main: string | undefined = Object.hasOwn(MAIN_TOOLS, dialect)
    ? MAIN_TOOLS[dialect]
    : undefined;
  const Class = BUILTINS[dialect];
  if (main === undefined || Class === undefined) {
    throw new AppError('usage', `There is no dialect '${dialect}'.`, {
      hint: `Take one of ${DIALECT_NAMES.join(', ')}.`,
    });
  }
  const house = openHouse(options);
  refuseProblems(dialect, Class.checkConfig?.(house.config) ?? []);
  const plugin = new Class(house.config, house.services);
  const shared = sharedPlugin(plugin, house);
  const tools = plugin.getTools().map((definition) => ({
    definition,
    made: makeTool(dialect, definition, shared),
  }));
  return { main, tools };
}

type Shared = {
  readonly house: House;
  /** The first call initialises the plugin; all others wait for that. */
  readonly ready: () => Promise<Plugin>;
  readonly close: () => Promise<void>;
};

function sharedPlugin(plugin: Plugin, house: House): Shared {
  let starting: Promise<Plugin> | undefined;
  const start = async (): Promise<Plugin> => {
    await house.ready();
    await plugin.initialize();
    return plugin;
  };
  return {
    house,
    ready() {
      starting ??= start();
      return starting;
    },
    close: () =>
      house.close(async () => {
        if (starting === undefined) return;
        await starting.catch(() => undefined); // its callers were told; it is shut down anyway
        await plugin.shutdown();
      }),
  };
}

function makeTool(dialect: string, definition: ToolDefinition, shared: Shared): BashTool {
  const { name, description, parameters } = definition;
  const { house, ready, close } = shared;
  const call: BashTool['call'] = (input, options) =>
    house.during(options, async (context): Promise<ToolAnswer> => {
      const plugin = await ready();
      // A model may send nothing at all where every argument is optional.
      const result = await plugin.callTool(name, asObject(input) ?? {}, context);
      const { text, structured = result.parts } = result;
      return { text, isError: !result.success, ...(structured && { structured }) };
    });
  return {
    name: toolNames(dialect, definition).underscore, // as the MCP server names it
    description,
    inputSchema: parameters as InputSchema,
    call,
    execute: async (input, options) => (await call(input, options)).text,
    close,
    [Symbol.asyncDispose]: close,
  };
}
