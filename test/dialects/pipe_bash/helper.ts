// `pipe_bash` in a world of its own, and the parts of its answers that tests look at.
import { expect } from 'vitest';
import { PipeBashPlugin } from '../../../src/dialects/pipe_bash/dialect.ts';
import type { CallContext, Plugin, ToolResult } from '../../../src/host/plugin.ts';
import { until } from '../../cli/helper.ts';
import { call, World } from '../../recorder/helper.ts';

export async function bash(
  plugin: Plugin,
  args: Readonly<Record<string, unknown>> | string,
  about: Partial<CallContext> = {},
): Promise<ToolResult> {
  return call(plugin, 'bash', typeof args === 'string' ? { command: args } : args, about);
}

export function pipe(world: World, config: unknown = {}): Promise<Plugin> {
  return world.open(PipeBashPlugin, config);
}

/** The text of an answer that did what was asked. */
export async function text(answer: Promise<ToolResult>): Promise<string> {
  const { success, text } = await answer;
  expect(success, text).toBe(true);
  return text;
}

/** Starts a command that outlasts its timeout, and gives its pid and the answer. */
export async function background(
  plugin: Plugin,
  command: string,
  about: Partial<CallContext> = {},
): Promise<{ readonly pid: number; readonly text: string }> {
  const answer = await text(bash(plugin, { command, timeout: 150 }, about));
  return { pid: Number(/\(pid (\d+)\)/.exec(answer)?.[1]), text: answer };
}

export type Backgrounded = {
  readonly world: World;
  readonly plugin: Plugin;
  readonly pid: number;
  readonly text: string;
  /** Of its timeout. */
  readonly seconds: string;
};

/**
 * In a world of its own, once more with more time as long as its partial output has not `printed`:
 * how fast a busy machine starts a command is not what is tested.
 */
export async function backgrounded(
  command: string,
  printed: string,
  config: unknown = {},
): Promise<Backgrounded> {
  for (let timeout = 150; ; timeout *= 4) {
    const world = new World();
    const plugin = await pipe(world, config);
    const answer = await text(bash(plugin, { command, timeout }));
    const pid = Number(/\(pid (\d+)\)/.exec(answer)?.[1]);
    if (!answer.includes(printed) && timeout < 10_000) continue;
    return { world, plugin, pid, text: answer, seconds: `${timeout / 1000}s` };
  }
}

/** What an answer says is the file with everything. */
export function fullOutput(answer: string): string {
  return /Full output: ([^\]\n]+)/.exec(answer)?.[1] ?? '';
}

/** What is new of a process that runs, without the words around it. */
export async function added(plugin: Plugin, pid: number): Promise<string> {
  const answer = await text(bash(plugin, { check_pid: pid }));
  const [head, tail] = ['New output since last check (', '\nFull output: '];
  const [, count = '', output = ''] = new RegExp(
    `^\\[Process \\d+ still running\\.\n\n${escaped(head)}([^)]*)\\):\n(.*)${tail}`,
    's',
  ).exec(answer) ?? [answer];
  return count.endsWith('unfinished') ? output.replace(/\n$/, '') : output;
}

function escaped(words: string): string {
  return words.replaceAll('(', '\\(');
}

/** Everything that is new until `done` is in it. */
export async function addedUntil(plugin: Plugin, pid: number, done: string): Promise<string> {
  let all = '';
  for (;;) {
    all += await added(plugin, pid);
    if (all.includes(done)) return all;
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

/** The answer of the first check after it ended. */
export async function ended(world: World, plugin: Plugin, pid: number): Promise<ToolResult> {
  await until(() => world.entries().length > 0, 'an entry');
  return bash(plugin, { check_pid: pid });
}
