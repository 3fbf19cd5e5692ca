// The tools of `bash_recorder` as their callers see them: limits, answers as data, and what is said
// to a call that cannot be meant. Its answers to the letter are in `golden.test.ts`.
import { describe, expect, it } from 'vitest';
import { RecorderPlugin } from '../../../src/dialects/bash_recorder/dialect.ts';
import { call, conversation, World } from '../../recorder/helper.ts';

const NOON = Date.UTC(2026, 0, 18, 14, 30, 52, 123);

function noon(): World {
  return new World({ now: () => NOON });
}

describe('the tools', () => {
  it('say the limits that are in force', () => {
    const config = { execution: { default_timeout: 30, max_timeout: 40 } };
    const [execute] = new RecorderPlugin(config, new World().services).getTools();
    expect(execute?.description).toContain('Timeout in seconds (default: 30, max: 40)');
    expect(execute?.parameters.properties).toMatchObject({ timeout: { default: 30, maximum: 40 } });
  });

  it('that are not there are named', async () => {
    const plugin = await noon().plugin();
    expect(await call(plugin, 'bash')).toEqual({ success: false, text: 'Unknown tool: bash' });
  });

  it('declare the commands of the command line', () => {
    const names = RecorderPlugin.getCliCommands().map(({ name, help }) => `${name}: ${help}`);
    expect(names).toEqual(
      expect.arrayContaining([
        'list: List recording sessions',
        'show: Show recording session details',
        'stats: Show recording statistics',
        'generate: Generate policy rules from recordings',
        'clean: Clean old recordings',
        'export: Export recordings',
      ]),
    );
  });
});

describe('the answers', () => {
  it('to a plain command are text alone', async () => {
    const plugin = await noon().plugin();
    const result = await call(plugin, 'execute', { command: 'true' });
    expect(result.success).toBe(true);
    expect(result.structured).toBeUndefined();
  });

  it('about the session and the last commands are text and the same as data', async () => {
    const world = noon();
    const plugin = await world.plugin();
    await call(plugin, 'execute', { command: 'true', description: 'Works' }, conversation('c'));
    await call(plugin, 'execute', { command: 'exit 7' }, conversation('c'));
    for (const tool of ['session_info', 'list_recent']) {
      const { success, text, structured } = await call(plugin, tool, {}, conversation('c'));
      expect(success).toBe(true);
      expect(JSON.parse(text)).toEqual(structured);
    }
  });
});

describe('a call that cannot be meant', () => {
  async function refusal(tool: string, args: Readonly<Record<string, unknown>>): Promise<string> {
    const world = noon();
    const plugin = await world.plugin();
    const { success, text } = await call(plugin, tool, args);
    expect(success).toBe(false);
    expect(world.entries()).toEqual([]);
    return text;
  }

  it('has no command', async () => {
    const sentence = 'command is required: the bash command to execute.';
    expect(await refusal('execute', {})).toBe(sentence);
    expect(await refusal('execute', { command: null })).toBe(sentence);
    expect(await refusal('execute', { command: ' \n' })).toBe(sentence);
    expect(await refusal('execute', { command: ['ls'] })).toBe(
      'command must be a string, not ["ls"].',
    );
    expect(await refusal('execute', { command: 'a\0b' })).toBe(
      'command must not contain a NUL character.',
    );
  });

  it('has a timeout that is no number of seconds', async () => {
    for (const [timeout, shown] of [
      [0, '0'],
      [-5, '-5'],
      [1.5, '1.5'],
      ['60', '"60"'],
      [true, 'true'],
      [Number.NaN, 'null'],
      [{ seconds: 5 }, '{"seconds":5}'],
    ] as const) {
      expect(await refusal('execute', { command: 'true', timeout })).toBe(
        `timeout must be a whole number of seconds from 1 on, not ${shown}.`,
      );
    }
  });

  it('has an argument that would do nothing', async () => {
    expect(await refusal('execute', { command: 'ls', cwd: '/' })).toBe(
      `execute has no argument "cwd"; did you mean 'working_directory'?`,
    );
    expect(await refusal('session_info', { x: 1 })).toBe(
      'session_info has no argument "x"; it takes none.',
    );
    expect(await refusal('list_recent', { count: 101 })).toBe(
      'count must be at most 100, not 101.',
    );
    expect(await refusal('list_recent', { count: '5' })).toBe(
      'count must be a whole number from 1 on, not "5".',
    );
  });

  it('may say null for what it leaves out', async () => {
    const plugin = await noon().plugin();
    const args = { command: 'true', timeout: null, working_directory: null, description: null };
    expect((await call(plugin, 'execute', args)).success).toBe(true);
  });
});

describe('a recording as a resource', () => {
  it('is its session and its commands, without their output', async () => {
    const world = noon();
    const plugin = await world.plugin();
    await call(plugin, 'execute', { command: 'echo out' });
    const [template] = plugin.getResources();
    expect(template?.uriTemplate).toBe('cuff://recordings/{id}');
    const { session_id } = world.entry();
    const uri = `cuff://recordings/${session_id}`;
    const resource = await plugin.readResource(uri);
    expect(resource).toMatchObject({ uri, mimeType: 'application/json' });
    expect(JSON.parse(resource?.text ?? '')).toMatchObject({
      session_id,
      entry_count: 1,
      entries: [{ command: 'echo out', exit_code: 0 }],
    });
    expect(resource?.text).not.toContain('out\\n');
    expect(await plugin.readResource('cuff://recordings/none')).toBeUndefined();
    expect(await plugin.readResource('cuff://sessions/x/output')).toBeUndefined();
  });
});
