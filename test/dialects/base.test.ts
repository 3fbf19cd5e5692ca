// What all dialects have in common, shown with the smallest one there can be: settings, arguments,
// conversations, the cap on live runs, and entries that are written when nobody waits any more.
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import type { Caller } from '../../src/agent/caller.ts';
import { dialectConfig, type OwnSettings } from '../../src/dialects/agent-config.ts';
import type { Args } from '../../src/dialects/arguments.ts';
import { Dialect } from '../../src/dialects/dialect.ts';
import type { ConfigProblem, Services, ToolDefinition, ToolResult } from '../../src/host/plugin.ts';
import { OutputReader } from '../../src/shell/output/reader.ts';
import { until } from '../cli/helper.ts';
import { call, conversation, World } from '../recorder/helper.ts';

const config = dialectConfig('agent', { wait_ms: z.int().default(50_000) });

const RUN: ToolDefinition = {
  name: 'run',
  plain: true,
  description: 'Runs.',
  parameters: {
    type: 'object',
    additionalProperties: false,
    properties: {
      command: { type: 'string', description: 'what to run' },
      wait_ms: { type: 'integer', minimum: 0, maximum: 10_000 },
      env: { type: 'object' },
      kind: { type: 'string', enum: ['a', 'b'] },
      quiet: { type: 'boolean' },
    },
    required: ['command'],
  },
};

const KILL: ToolDefinition = {
  name: 'kill',
  plain: true,
  description: 'Kills.',
  parameters: { type: 'object', properties: { id: { type: 'string' } }, required: ['id'] },
};

class Smallest extends Dialect<OwnSettings<typeof config>> {
  static readonly pluginVersion = '1.0.0';
  static readonly configSchema = config.schema;

  static checkConfig(given: unknown): readonly ConfigProblem[] {
    return config.problems(given);
  }

  constructor(given: unknown, services: Services) {
    super({ name: 'smallest', version: '1.0.0', config }, given, services);
  }

  getTools(): readonly ToolDefinition[] {
    return [RUN, KILL];
  }

  protected async answer(tool: string, args: Args, caller: Caller): Promise<ToolResult> {
    if (tool === 'kill') {
      const found = this.shell.byId(caller, String(args.id));
      if (found === undefined) return { success: false, text: 'no such run' };
      const { ended } = await this.shell.kill(found);
      return { success: true, text: ended.endedBy };
    }
    const waitMs = typeof args.wait_ms === 'number' ? args.wait_ms : this.own.wait_ms;
    const run = await this.shell.start({ command: String(args.command) }, caller);
    const finished = await this.shell.wait(run, waitMs, caller);
    if (finished === undefined) return { success: true, text: run.id };
    const { text } = OutputReader.of(this.shell.open(run.id)).raw({ kind: 'tail' });
    return { success: true, text: `${text}${JSON.stringify(finished.ended.outcome)}` };
  }
}

describe('a dialect', () => {
  it('runs a command without the secrets of model providers, and writes its entry', async () => {
    const world = new World({
      env: { ...process.env, OPENAI_API_KEY: 'sk-12345678', PLAIN: 'yes' },
    });
    const plugin = await world.open(Smallest);
    const command = 'echo $PLAIN; echo $OPENAI_API_KEY $EDITOR; exit 3';
    const { text } = await call(plugin, 'run', { command });
    expect(text).toBe('yes\n/bin/false\n{"kind":"exited","code":3}');
    expect(world.entry()).toMatchObject({ command, exit_code: 3, timeout_seconds: 0 });
  });

  it('writes the entry of a run that was left running when it ends', async () => {
    const world = new World();
    const plugin = await world.open(Smallest);
    const { text: id } = await call(plugin, 'run', { command: 'sleep 60', wait_ms: 0 });
    expect(world.entries()).toEqual([]);
    expect(await call(plugin, 'kill', { id })).toEqual({ success: true, text: 'kill' });
    expect(world.entry()).toMatchObject({ run_id: id, end_reason: 'kill', exit_code: null });
  });

  it('keeps the head of a large output in its entry, and all of it in the capture', async () => {
    const world = new World();
    const plugin = await world.open(Smallest);
    const { text } = await call(plugin, 'run', { command: 'yes 1234567 | head -n 20000' });
    expect(text).toContain('{"kind":"exited","code":0}');
    const { stdout, output_truncated, output_truncated_bytes } = world.entry();
    expect({ stdout, output_truncated, output_truncated_bytes }).toEqual({
      stdout: '1234567\n'.repeat(16_384), // 131,072 bytes
      output_truncated: true,
      output_truncated_bytes: 160_000,
    });
  });

  it('does not find the runs of another conversation or connection', async () => {
    const plugin = await new World().open(Smallest);
    const start = { command: 'sleep 60', wait_ms: 0 };
    const { text: named } = await call(plugin, 'run', start, conversation('one'));
    const { text: unnamed } = await call(plugin, 'run', start, { connection: 'A' });
    const others = [conversation('two'), {}, { connection: 'B' }];
    for (const other of others) {
      for (const id of [named, unnamed]) {
        expect(await call(plugin, 'kill', { id }, other)).toMatchObject({ success: false });
      }
    }
    expect((await call(plugin, 'kill', { id: named }, conversation('one'))).success).toBe(true);
    expect((await call(plugin, 'kill', { id: unnamed }, { connection: 'A' })).success).toBe(true);
  });

  it('refuses one run more than it may have, with the list of those there are', async () => {
    const plugin = await new World().open(Smallest, { max_live_runs: 2 });
    const start = { command: 'sleep 60', wait_ms: 0 };
    const { text: first } = await call(plugin, 'run', start, { connection: 'A' });
    await call(plugin, 'run', start, { connection: 'B' });
    const refused = await call(plugin, 'run', start, { connection: 'A' });
    expect(refused.success).toBe(false);
    expect(refused.text.replace(/pid \d+/, 'pid 1')).toBe(
      '2 commands are running, and 2 may; this one was not started. ' +
        `Wait for one of these or kill it:\n  ${first} (pid 1): sleep 60\n` +
        '  and 1 of other conversations',
    );
    expect((await call(plugin, 'run', start, { connection: 'C' })).text).toBe(
      '2 commands are running, and 2 may; this one was not started. ' +
        'All of them are of other conversations: try again when one is over.',
    );
    await call(plugin, 'kill', { id: first }, { connection: 'A' });
    expect((await call(plugin, 'run', start, { connection: 'A' })).success).toBe(true);
  });

  it('lets a command wait for a place before it is refused', async () => {
    const world = new World();
    Object.assign(world.services, { roomWaitMs: 600_000 });
    const plugin = await world.open(Smallest, { max_live_runs: 1 });
    const { text: id } = await call(plugin, 'run', { command: 'sleep 60', wait_ms: 0 });
    const waiting = call(plugin, 'run', { command: 'echo its-turn' });
    await call(plugin, 'kill', { id });
    expect(await waiting).toMatchObject({ success: true });
    expect(world.entries().map(({ command }) => command)).toEqual(['sleep 60', 'echo its-turn']);
  });

  it('ends a run whose caller cancels', async () => {
    const world = new World();
    const plugin = await world.open(Smallest);
    const controller = new AbortController();
    const { signal } = controller;
    const answer = call(plugin, 'run', { command: 'sleep 60' }, { signal });
    await until(() => world.shell.list()[0]?.meta?.child !== undefined, 'it runs');
    controller.abort();
    expect((await answer).text).toBe('{"kind":"signaled","signal":"SIGTERM"}');
    expect(world.entry().end_reason).toBe('cancelled');
  });

  it.each([
    [{ comand: 'x' }, `run has no argument "comand"; did you mean 'command'?`],
    [{}, 'run needs the argument command: what to run.'],
    [{ command: 7 }, 'command must be a string, not 7.'],
    [{ command: 'a\0b' }, 'command must not contain a NUL character.'],
    [{ command: 'x', wait_ms: 1.5 }, 'wait_ms must be a whole number from 0 up to 10000, not 1.5.'],
    [{ command: 'x', wait_ms: '5' }, 'wait_ms must be a whole number from 0 up to 10000, not "5".'],
    [{ command: 'x', quiet: 'yes' }, 'quiet must be true or false, not "yes".'],
    [{ command: 'x', kind: 'c' }, 'kind must be one of a, b, not "c".'],
    [{ command: 'x', env: [] }, 'env must be an object of strings, not [].'],
    [{ command: 'x', env: { A: 1 } }, 'env.A must be a string, not 1.'],
  ])('says what is wrong with %j', async (args, text) => {
    const world = new World();
    const plugin = await world.open(Smallest);
    expect(await call(plugin, 'run', args)).toEqual({ success: false, text });
    expect(world.entries()).toEqual([]);
  });

  it('has settings with problems that are named', () => {
    const problems = Smallest.checkConfig({ recording: { capture_output: false }, wait_ms: 'x' });
    expect(problems).toEqual([
      {
        path: ['recording', 'capture_output'],
        message: 'must be true: answers are views of captured output; use bash_recorder',
      },
      { path: ['wait_ms'], message: "expected a number, found the text 'x'" },
    ]);
  });

  it('takes another environment by a reload, and what runs goes on', async () => {
    const world = new World({ env: { ...process.env, OPENAI_API_KEY: 'sk-12345678' } });
    const plugin = await world.open(Smallest);
    const { text: id } = await call(plugin, 'run', { command: 'sleep 60', wait_ms: 0 });
    for (const [environment, shown] of [
      ['inherit', 'sk-12345678\n'],
      ['agent', '\n'],
    ] as const) {
      await plugin.onConfigReload({ environment });
      const { text } = await call(plugin, 'run', { command: 'echo $OPENAI_API_KEY' });
      expect(text).toBe(`${shown}{"kind":"exited","code":0}`);
    }
    expect(await call(plugin, 'kill', { id })).toEqual({ success: true, text: 'kill' });
    const ends = world.entries().map(({ end_reason }) => end_reason);
    expect(ends.sort()).toEqual(['itself', 'itself', 'kill']);
  });
});
