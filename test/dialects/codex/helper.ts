// `codex` in a project of its own, with its tools as functions and its answers in parts.
import { Codex } from '../../../src/dialects/codex/dialect.ts';
import type { CallContext, Plugin, ToolResult } from '../../../src/host/plugin.ts';
import { withTime } from '../../pace.ts';
import { call, World } from '../../recorder/helper.ts';

type Args = Readonly<Record<string, unknown>>;

export class CodexWorld {
  readonly world: World;
  readonly plugin: Plugin;

  static async open(config: unknown = {}): Promise<CodexWorld> {
    const world = new World();
    return new CodexWorld(world, await world.open(Codex, config));
  }

  private constructor(world: World, plugin: Plugin) {
    this.world = world;
    this.plugin = plugin;
  }

  tool(name: string, args: Args, about: Partial<CallContext> = {}): Promise<ToolResult> {
    return call(this.plugin, name, args, about);
  }

  /** To its end, unless a wait is given. */
  exec(cmd: string, args: Args = {}, about: Partial<CallContext> = {}): Promise<ToolResult> {
    return this.tool('exec_command', { cmd, yield_time_ms: 30_000, ...args }, about);
  }

  /** Left running: it does not end within the wait. */
  start(cmd: string, args: Args = {}, about: Partial<CallContext> = {}): Promise<ToolResult> {
    return this.exec(cmd, { yield_time_ms: 3_000, ...args }, about);
  }

  /** Left running in a world of its own, with an answer that has `printed` in it. */
  static started(cmd: (world: World) => string, printed: RegExp, args: Args = {}) {
    const attempt = async (yield_time_ms: number) => {
      const codex = await CodexWorld.open();
      const { text } = await codex.start(cmd(codex.world), { yield_time_ms, ...args });
      return { codex, text };
    };
    return withTime(3_000, attempt, ({ text }) => printed.test(text));
  }

  write(
    session_id: number,
    args: Args = {},
    about: Partial<CallContext> = {},
  ): Promise<ToolResult> {
    return this.tool('write_stdin', { session_id, ...args }, about);
  }
}

/** What is behind the header. */
export function outputOf(text: string): string {
  const mark = '\nOutput:\n';
  return text.slice(text.indexOf(mark) + mark.length);
}

export function tokensOf(text: string): number {
  return Number(/\nOriginal token count: (\d+)\n/.exec(text)?.[1]);
}
