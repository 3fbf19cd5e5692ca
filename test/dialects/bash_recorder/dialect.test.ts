// The tools of `bash_recorder` as their callers see them: definitions, answers to the letter, and
// what is said to a call that cannot be meant.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { RecorderPlugin } from '../../../src/dialects/bash_recorder/dialect.ts';
import { call, conversation, World } from '../../recorder/helper.ts';
import { BECOME } from '../hard-cases.ts';

function golden(name: string): string {
  return readFileSync(
    join(import.meta.dirname, '..', 'golden', 'bash_recorder', name),
    'utf8',
  ).trimEnd();
}

/** What is different each time, made equal. */
function steady(world: World, text: string): string {
  return text
    .replaceAll(world.project, '/project')
    .replace(/("duration_ms"|"total_duration_ms"): \d+/g, '$1: 0')
    .replace(/"pid": \d+/g, '"pid": 1234')
    .replace(/\d{8}-\d{6}-[0-9a-f]{8}/g, 'RUN')
    .replace(/(\d{8}_\d{6}_)[0-9a-f]{8}-[0-9a-f]{4}/g, '$1a7b3c9d2-e4f5')
    .replace(/(e_\d{8}_\d{6}_\d{3})-[0-9a-f]{4}/g, '$1-e4f5');
}

const NOON = Date.UTC(2026, 0, 18, 14, 30, 52, 123);

function noon(): World {
  return new World({ now: () => NOON });
}

describe('the tools', () => {
  it('are those of the seed, word for word', async () => {
    const tools = new RecorderPlugin({}, new World().services).getTools();
    expect(JSON.stringify(tools, null, 2)).toBe(golden('tools.txt'));
  });

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
  it('to a plain command are the fields of the seed and its session', async () => {
    const world = noon();
    const plugin = await world.plugin();
    const result = await call(plugin, 'execute', { command: 'echo "two\nlines"; echo e >&2' });
    expect(result.success).toBe(true);
    expect(result.structured).toBeUndefined();
    expect(steady(world, result.text)).toBe(golden('execute.txt'));
  });

  it('to a command with more to say have more fields', async () => {
    const world = noon();
    const plugin = await world.plugin({ execution: { max_timeout: 50 } });
    const command = `printf '\\xff'; sleep 60 & ${BECOME}; kill -TERM $$`;
    const { text } = await call(plugin, 'execute', { command, timeout: 900 });
    expect(steady(world, text)).toBe(golden('execute-more.txt'));
  });

  it('about the session and the last commands are text and the same as data', async () => {
    const world = noon();
    const plugin = await world.plugin();
    await call(plugin, 'execute', { command: 'true', description: 'Works' }, conversation('c'));
    await call(plugin, 'execute', { command: 'exit 7' }, conversation('c'));
    for (const tool of ['session_info', 'list_recent']) {
      const { success, text, structured } = await call(plugin, tool, {}, conversation('c'));
      expect(success).toBe(true);
      expect(steady(world, text)).toBe(golden(`${tool}.txt`));
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
