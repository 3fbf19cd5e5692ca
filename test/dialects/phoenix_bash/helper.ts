// `phoenix_bash` in a world of its own, and the parts of its answers that tests look at.
import * as fs from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { PhoenixBashPlugin } from '../../../src/dialects/phoenix_bash/dialect.ts';
import type { CallContext, Plugin, ToolResult } from '../../../src/host/plugin.ts';
import { until } from '../../cli/helper.ts';
import { call, World } from '../../recorder/helper.ts';

export function bash(
  plugin: Plugin,
  args: Readonly<Record<string, unknown>> | string,
  about: Partial<CallContext> = {},
): Promise<ToolResult> {
  return call(plugin, 'bash', typeof args === 'string' ? { command: args } : args, about);
}

/** With a directory for temporary files that goes with the world. */
export function newWorld(more: Readonly<Record<string, string>> = {}): World {
  const env: Record<string, string | undefined> = { ...process.env, ...more };
  const world = new World({ env });
  env.TMPDIR = join(world.dir, 'tmp');
  fs.mkdirSync(env.TMPDIR);
  return world;
}

export function phoenix(world: World, config: unknown = {}): Promise<Plugin> {
  return world.open(PhoenixBashPlugin, config);
}

/** The text of an answer that did what was asked. */
export async function text(answer: Promise<ToolResult>): Promise<string> {
  const { success, text } = await answer;
  expect(success, text).toBe(true);
  return text;
}

export type Background = {
  readonly pid: number;
  readonly path: string;
  readonly text: string;
  /** What is in the file now. */
  printed(): string;
  /** Resolves with all of the file once it has this. */
  has(words: string): Promise<string>;
};

export async function background(plugin: Plugin, command: string): Promise<Background> {
  const answer = await text(bash(plugin, { command, background: true }));
  const path = /<output_file>(.*)<\/output_file>/.exec(answer)?.[1] ?? '';
  const printed = (): string => fs.readFileSync(path, 'utf8');
  return {
    pid: Number(/<pid>(\d+)<\/pid>/.exec(answer)?.[1]),
    path,
    text: answer,
    printed,
    async has(words) {
      await until(() => printed().includes(words), `${words} in the file`);
      return printed();
    },
  };
}
