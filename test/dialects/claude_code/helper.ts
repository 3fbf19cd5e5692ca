// `claude_code` in a project of its own, with its tools as functions.
import { existsSync, readFileSync } from 'node:fs';
import { ClaudeCode } from '../../../src/dialects/claude_code/dialect.ts';
import type { CallContext, Plugin, ToolResult } from '../../../src/host/plugin.ts';
import { until } from '../../cli/helper.ts';
import { call, World } from '../../recorder/helper.ts';

type Args = Readonly<Record<string, unknown>>;

export class Claude {
  readonly world: World;
  readonly plugin: Plugin;

  static async open(config: unknown = {}): Promise<Claude> {
    const world = new World();
    return new Claude(world, await world.open(ClaudeCode, config));
  }

  private constructor(world: World, plugin: Plugin) {
    this.world = world;
    this.plugin = plugin;
  }

  tool(name: string, args: Args, about: Partial<CallContext> = {}): Promise<ToolResult> {
    return call(this.plugin, name, args, about);
  }

  bash(command: string, args: Args = {}, about: Partial<CallContext> = {}): Promise<ToolResult> {
    return this.tool('Bash', { command, ...args }, about);
  }

  /** In the background, and its file has `sign` in it. */
  async background(command: string, sign = ''): Promise<string> {
    const { text } = await this.bash(command, { run_in_background: true });
    const path = pathIn(text);
    const printed = (): string => (existsSync(path) ? readFileSync(path, 'latin1') : '');
    await until(() => printed().includes(sign), `${sign} of ${command}`);
    return text;
  }

  /** The shell is done, and its entry written. */
  async ended(id: string): Promise<void> {
    await this.tool('TaskOutput', { task_id: id, timeout: 60_000 });
  }
}

/** The file that an answer names. */
export function pathIn(text: string): string {
  return /\/\S+\/output\.bin/.exec(text)?.[0] ?? 'no path';
}

/** What is between the marks of BashOutput, to the byte. */
export function stdoutOf(text: string): string {
  const start = text.indexOf('<stdout>\n');
  const end = text.lastIndexOf('\n</stdout>');
  return start < 0 ? '' : text.slice(start + '<stdout>\n'.length, end);
}
