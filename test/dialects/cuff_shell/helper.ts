// The native dialect as a model has it: calls and their texts, real bash, a journal of its own.

import { CuffShellPlugin } from '../../../src/dialects/cuff_shell/dialect.ts';
import type { CallContext, Plugin } from '../../../src/host/plugin.ts';
import { withTime } from '../../pace.ts';
import { call, World } from '../../recorder/helper.ts';

type Args = Readonly<Record<string, unknown>>;

export type Said = {
  readonly success: boolean;
  readonly text: string;
  /** The run that a call in the answer names. */
  readonly id: string;
  /** The text before the first of the lines at its end. */
  readonly body: string;
  /** Without their brackets. */
  readonly trailer: readonly string[];
};

export class Native {
  readonly world: World;
  readonly plugin: Plugin;

  static async open(config: unknown = {}, world = new World()): Promise<Native> {
    return new Native(world, await world.open(CuffShellPlugin, config));
  }

  /** Left running in a world of its own, with an answer that has `printed` in it. */
  static started(command: string, printed: RegExp, args: Args = {}) {
    const attempt = async (wait_ms: number) => {
      const native = await Native.open();
      return { native, said: await native.run(command, { wait_ms, ...args }) };
    };
    return withTime(3_000, attempt, ({ said }) => printed.test(said.text));
  }

  private constructor(world: World, plugin: Plugin) {
    this.world = world;
    this.plugin = plugin;
  }

  async call(tool: string, args: Args = {}, about: Partial<CallContext> = {}): Promise<Said> {
    const { success, text } = await call(this.plugin, tool, args, about);
    return said(success, text);
  }

  run(command: string, args: Args = {}, about: Partial<CallContext> = {}): Promise<Said> {
    return this.call('shell_run', { command, ...args }, about);
  }

  /** The bytes of the newest capture. */
  capture(): string {
    const [newest] = this.world.shell.list();
    return `${newest?.dir}/output.bin`;
  }
}

function said(success: boolean, text: string): Said {
  const lines = text.split('\n');
  let first = lines.length;
  while (first > 0 && /^\[.*\]$/.test(lines[first - 1] ?? '')) first -= 1;
  const body = lines
    .slice(0, first)
    .map((line) => `${line}\n`)
    .join('');
  const trailer = lines.slice(first).map((line) => line.slice(1, -1));
  const id = /"id":"([^"]+)"/.exec(text)?.[1] ?? '';
  return { success, text, id, body, trailer };
}

/** Durations and pids differ each time. */
export function steady(text: string): string {
  return text
    .replace(/\b\d+(\.\d+)? (ms|s)\b/g, '0 $2')
    .replace(/pid \d+/g, 'pid 1')
    .replace(/"[0-9a-f]{8}"/g, '"1a2b3c4d"')
    .replace(/\b(id|run) [0-9a-f]{8}\b/g, '$1 1a2b3c4d');
}
