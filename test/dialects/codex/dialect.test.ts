// What `codex` does besides its answers to the letter, which are in `golden.test.ts`.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { expectDocumented } from '../documented.ts';
import { CodexWorld, outputOf } from './helper.ts';

describe('exec_command answers', () => {
  it('with as much output as the call asks for, up to what the settings allow', async () => {
    const codex = await CodexWorld.open({ max_output_tokens: 200 });
    const shown = async (max_output_tokens: number): Promise<number> =>
      outputOf((await codex.exec('seq 1 20000', { max_output_tokens })).text).replace(
        /\[Full output: .*\]$/,
        '',
      ).length;
    expect(await shown(100)).toBeLessThan(400 + 150);
    expect(await shown(5_000)).toBeLessThan(800 + 150);
    expect(await shown(5_000)).toBeGreaterThan(800);
  });
});

describe('a session', () => {
  it('is not ended by the end of a wait, and a look takes at least five seconds', async () => {
    const { codex } = await CodexWorld.started(() => 'echo started; sleep 100', /started/);
    const startedAt = performance.now();
    const look = await codex.write(1_000, { yield_time_ms: 1 });
    expect(performance.now() - startedAt).toBeGreaterThan(4_900);
    expect(look.text).toContain('Process running with session ID 1000');
  });
});

describe('the shell', () => {
  it('reads the login files only when it is told to', async () => {
    const codex = await CodexWorld.open();
    writeFileSync(join(codex.world.dir, '.bash_profile'), 'export FROM_PROFILE=yes\n');
    const command = 'echo "[$FROM_PROFILE]"; env | grep -c ^BASH_ENV=';
    const env_overrides = { HOME: codex.world.dir };
    const home = async (config: object, args: object): Promise<string> => {
      const plugin = await codex.world.open(
        codex.plugin.constructor as Parameters<typeof codex.world.open>[0],
        { env_overrides, ...config },
      );
      const context = { meta: {}, client: undefined, signal: new AbortController().signal };
      return outputOf(
        (await plugin.callTool('exec_command', { cmd: command, ...args }, context)).text,
      );
    };
    expect(await home({}, {})).toBe('[]\n0\n');
    expect(await home({}, { login: true })).toMatch(/\[yes\]\n0\n$/);
    expect(await home({ login: true }, {})).toMatch(/\[yes\]\n0\n$/);
    expect(await home({ login: true }, { login: false })).toBe('[]\n0\n');
  });

  it('can be another one, in another directory', async () => {
    const codex = await CodexWorld.open();
    const { text } = await codex.exec('echo "$0 $PWD $TERM $PAGER"', {
      shell: '/bin/sh',
      workdir: '/',
    });
    expect(outputOf(text)).toBe('/bin/sh / dumb cat\n');
    expect(codex.world.entry()).toMatchObject({ shell: '/bin/sh', working_directory: '/' });
  });
});

it('the document shows these answers, and names every parameter', async () => {
  const path = 'docs/dialects/codex.md';
  expect(expectDocumented(path, 'codex').length).toBeGreaterThan(8);
  const text = readFileSync(join(import.meta.dirname, '../../..', path), 'utf8');
  const { plugin } = await CodexWorld.open();
  for (const { name, parameters } of plugin.getTools()) {
    const row = text.split('\n').find((line) => line.startsWith(`| \`${name}\` |`)) ?? '';
    const named = [...row.matchAll(/`(\w+)\??`/g)].map(([, one]) => one).slice(1);
    expect(named).toEqual(Object.keys(parameters.properties as object));
  }
});
